//===- ElementMemory.cpp - Loads and stores of elements -------------------===//
//
// Addresses are pointers and element offsets, not descriptors of memory: a
// kernel reads a handful of pointers and strides from its context once, and
// what remains is one `getelementptr` an access.
//
//===----------------------------------------------------------------------===//

#include "ElementEmitter.h"

#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace wok;

/// How an element is loaded: i1 takes a byte, a half float is its bits.
static Type memoryTypeOf(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isInteger(1) || elementType.isUnsignedInteger())
    return IntegerType::get(context, 8);
  if (elementType.isF16() || elementType.isBF16())
    return IntegerType::get(context, 16);
  return elementType;
}

static Type withShapeOf(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

/// From memory to the compute type.
static Value fromMemory(OpBuilder &builder, Location loc, Value value,
                        Type elementType) {
  if (elementType.isInteger(1)) {
    Type type = value.getType();
    TypedAttr zero = builder.getZeroAttr(type);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 arith::ConstantOp::create(builder, loc, zero));
  }
  if (elementType.isF16() || elementType.isBF16()) {
    Value half = arith::BitcastOp::create(
        builder, loc, withShapeOf(value, elementType), value);
    return arith::ExtFOp::create(
        builder, loc, withShapeOf(value, builder.getF32Type()), half);
  }
  return value;
}

/// From the compute type to memory; `value` is rounded already.
static Value toMemory(OpBuilder &builder, Location loc, Value value,
                      Type elementType) {
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(
        builder, loc, withShapeOf(value, builder.getI8Type()), value);
  if (elementType.isF16() || elementType.isBF16()) {
    Value half = arith::TruncFOp::create(
        builder, loc, withShapeOf(value, elementType), value);
    return arith::BitcastOp::create(
        builder, loc, withShapeOf(value, builder.getI16Type()), half);
  }
  return value;
}

/// What lanes hold in memory that nobody asked for: ones, with which hardly any
/// operation divides by zero or raises a floating-point exception.
static Value fillerOf(OpBuilder &builder, Location loc, Type elementType,
                      int64_t lanes) {
  Type memoryType = memoryTypeOf(elementType);
  TypedAttr one = builder.getOneAttr(memoryType);
  if (isa<FloatType>(elementType) && isa<IntegerType>(memoryType)) {
    auto type = cast<FloatType>(elementType);
    llvm::APFloat number(type.getFloatSemantics(), 1);
    one = builder.getIntegerAttr(memoryType, number.bitcastToAPInt());
  }
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(VectorType::get({lanes}, memoryType),
                             ArrayRef<Attribute>(one)));
}

static unsigned bytesOf(Type memoryType) {
  return memoryType.getIntOrFloatBitWidth() / 8;
}

ElementEmitter::Address ElementEmitter::address(const Buffer &buffer,
                                                ArrayRef<Index> at) {
  Address result{math.constant(0), 0, {}, {}};
  for (auto [index, stride] : llvm::zip_equal(at, buffer.strides)) {
    if (index.lanes) {
      Value scale = arith::IndexCastOp::create(builder, loc,
                                               builder.getI64Type(), stride);
      Value part = index.lanes;
      if (constantValue(stride) != 1)
        part = arith::MulIOp::create(builder, loc, part, splat(scale));
      result.offsets =
          result.offsets
              ? arith::AddIOp::create(builder, loc, result.offsets, part)
              : part;
      continue;
    }
    result.offset = math.add(result.offset, math.mul(index.base, stride));
    if (index.step == 0)
      continue;
    Value step = math.mul(math.constant(index.step), stride);
    auto known = constantValue(step);
    if (known && !result.stepValue) {
      result.step += *known;
      continue;
    }
    Value before =
        result.stepValue ? result.stepValue : math.constant(result.step);
    result.stepValue = math.add(before, step);
  }
  if (result.offsets) {
    // Everything into one vector of offsets.
    Index affine{result.offset, result.step, {}};
    Value rest = splat(asInteger(affine));
    if (result.stepValue) {
      Value step = arith::IndexCastOp::create(
          builder, loc, builder.getI64Type(), result.stepValue);
      Value lane = asInteger(Index{math.constant(0), 1, {}});
      rest = arith::AddIOp::create(
          builder, loc, splat(asInteger(uniform(result.offset))),
          arith::MulIOp::create(builder, loc, lane, splat(step)));
    }
    result.offsets = arith::AddIOp::create(builder, loc, result.offsets, rest);
  }
  return result;
}

Value ElementEmitter::elementPointer(Value pointer, Value offset,
                                     Type memoryType) {
  if (constantValue(offset) == 0)
    return pointer;
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), memoryType,
                             pointer, ArrayRef<LLVM::GEPArg>{integer});
}

Value ElementEmitter::mask(bool vector) {
  Value result;
  for (Value condition : conditions) {
    if (!vector && isa<VectorType>(condition.getType()))
      continue;
    if (vector)
      condition = splat(condition);
    result = result ? arith::AndIOp::create(builder, loc, result, condition)
                    : condition;
  }
  return result;
}

Value ElementEmitter::load(const Buffer &buffer, ArrayRef<Index> at) {
  Type memoryType = memoryTypeOf(buffer.elementType);
  Address where = address(buffer, at);
  auto finish = [&](Value raw) {
    return fromMemory(builder, loc, raw, buffer.elementType);
  };

  bool isScalar =
      lanes == 1 || (!where.offsets && !where.stepValue && where.step == 0);
  if (isScalar) {
    Value pointer = elementPointer(buffer.pointer, where.offset, memoryType);
    Value wanted = mask(/*vector=*/false);
    if (!wanted)
      return finish(LLVM::LoadOp::create(builder, loc, memoryType, pointer,
                                         bytesOf(memoryType)));
    // A vector of one lane, which knows masks.
    auto type = VectorType::get({1}, memoryType);
    Value condition = vector::BroadcastOp::create(
        builder, loc, VectorType::get({1}, builder.getI1Type()), wanted);
    Value none = fillerOf(builder, loc, buffer.elementType, 1);
    Value loaded = LLVM::MaskedLoadOp::create(
        builder, loc, type, pointer, condition, none, bytesOf(memoryType));
    return finish(vector::ExtractOp::create(builder, loc, loaded, 0));
  }

  if (!where.offsets && !where.stepValue && where.step == 1)
    return finish(
        loadContiguous(elementPointer(buffer.pointer, where.offset, memoryType),
                       buffer.elementType));
  if (!where.offsets && !where.stepValue && where.step == -1)
    return finish(loadReversed(buffer, where.offset));

  if (!where.offsets && where.stepValue) {
    // Strides that are known only when the kernel runs are mostly 1.
    Value isDense =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              where.stepValue, math.constant(1));
    auto type = VectorType::get({lanes}, memoryType);
    auto either = scf::IfOp::create(builder, loc, TypeRange{type}, isDense,
                                    /*withElseRegion=*/true);
    fill(either, either.thenBlock(), /*isArm=*/true, [&] {
      Value pointer = elementPointer(buffer.pointer, where.offset, memoryType);
      scf::YieldOp::create(builder, loc,
                           loadContiguous(pointer, buffer.elementType));
    });
    fill(either, either.elseBlock(), /*isArm=*/true, [&] {
      scf::YieldOp::create(builder, loc, loadGathered(buffer, where));
    });
    return finish(either.getResult(0));
  }
  return finish(loadGathered(buffer, where));
}

Value ElementEmitter::loadContiguous(Value pointer, Type elementType,
                                     bool reversed) {
  Type memoryType = memoryTypeOf(elementType);
  auto type = VectorType::get({lanes}, memoryType);
  Value wanted = mask(/*vector=*/true);
  if (wanted && reversed)
    wanted = reverse(wanted);
  if (!wanted)
    return LLVM::LoadOp::create(builder, loc, type, pointer,
                                bytesOf(memoryType));
  Value none = fillerOf(builder, loc, elementType, lanes);
  return LLVM::MaskedLoadOp::create(builder, loc, type, pointer, wanted, none,
                                    bytesOf(memoryType));
}

/// Lane 0 last.
Value ElementEmitter::reverse(Value vector) {
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, lanes)));
  return vector::ShuffleOp::create(builder, loc, vector, vector, order);
}

/// Elements at `offset`, `offset` - 1, ...
Value ElementEmitter::loadReversed(const Buffer &buffer, Value offset) {
  Type memoryType = memoryTypeOf(buffer.elementType);
  Value first = math.add(offset, math.constant(1 - lanes));
  Value pointer = elementPointer(buffer.pointer, first, memoryType);
  return reverse(
      loadContiguous(pointer, buffer.elementType, /*reversed=*/true));
}

Value ElementEmitter::loadGathered(const Buffer &buffer,
                                   const Address &address) {
  Type memoryType = memoryTypeOf(buffer.elementType);
  Value offsets = address.offsets;
  if (!offsets && address.stepValue) {
    Value step = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            address.stepValue);
    Value lane = asInteger(Index{math.constant(0), 1, {}});
    offsets = arith::AddIOp::create(
        builder, loc, splat(asInteger(uniform(address.offset))),
        arith::MulIOp::create(builder, loc, lane, splat(step)));
  } else if (!offsets) {
    offsets = asInteger(Index{address.offset, address.step, {}});
  }
  auto pointers = VectorType::get(
      {lanes}, LLVM::LLVMPointerType::get(builder.getContext()));
  Value places =
      LLVM::GEPOp::create(builder, loc, pointers, memoryType, buffer.pointer,
                          ArrayRef<LLVM::GEPArg>{offsets});
  auto type = VectorType::get({lanes}, memoryType);
  Value wanted = mask(/*vector=*/true);
  if (!wanted)
    wanted = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(VectorType::get({lanes}, builder.getI1Type()),
                               true));
  Value none = fillerOf(builder, loc, buffer.elementType, lanes);
  return LLVM::masked_gather::create(builder, loc, type, places, wanted, none,
                                     bytesOf(memoryType));
}

void ElementEmitter::store(Value value, const Buffer &buffer,
                           ArrayRef<Index> at) {
  Type memoryType = memoryTypeOf(buffer.elementType);
  Address where = address(buffer, at);
  Value pointer = elementPointer(buffer.pointer, where.offset, memoryType);
  bool isVector = lanes > 1 && where.step != 0;
  if (isVector)
    value = splat(value);
  value = toMemory(builder, loc, value, buffer.elementType);
  Value wanted = isVector ? mask(/*vector=*/true) : Value();
  if (wanted)
    LLVM::MaskedStoreOp::create(builder, loc, value, pointer, wanted,
                                bytesOf(memoryType));
  else
    LLVM::StoreOp::create(builder, loc, value, pointer, bytesOf(memoryType));
}
