//===- Types.cpp - Element types in MLIR ----------------------------------===//

#include "wok/IR/Types.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

Type wok::toMLIR(DType dtype, MLIRContext *context) {
  switch (dtype) {
  case DType::I1:
    return IntegerType::get(context, 1);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DType::I16:
    return IntegerType::get(context, 16);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  }
  llvm_unreachable("not an element type");
}

std::optional<wok::DType> wok::fromMLIR(Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::I1;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  }
  return std::nullopt;
}

Type wok::computeType(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  if (type.isUnsignedInteger(8))
    return IntegerType::get(type.getContext(), 8);
  return type;
}
