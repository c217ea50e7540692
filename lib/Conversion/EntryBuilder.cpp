//===- EntryBuilder.cpp ---------------------------------------------------===//

#include "EntryBuilder.h"

#include "wok/Analysis/Extents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace wok;

static Type pointerType(Builder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext());
}

//===----------------------------------------------------------------------===//
// EntryBuilder
//===----------------------------------------------------------------------===//

EntryBuilder::EntryBuilder(ModuleOp module, func::FuncOp entry,
                           const KernelTarget &target)
    : module(module), entry(entry), target(target),
      builder(OpBuilder::atBlockEnd(&entry.getBody().front())),
      loc(entry.getLoc()), math(builder, loc, entry.getBody().front()) {}

func::FuncOp EntryBuilder::runtimeFunction(StringRef name, FunctionType type) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(atEnd, loc, name, type);
  function.setPrivate();
  return function;
}

void EntryBuilder::addStatus(Value next) {
  status = status ? arith::OrIOp::create(builder, loc, status, next) : next;
}

void EntryBuilder::finish() {
  if (!status)
    status =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, loc, status);
}

Value EntryBuilder::extent(Value value, unsigned dim) {
  int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
  if (ShapedType::isStatic(size))
    return math.constant(size);
  ExtentBuilder extents(builder, loc, [&](Value leaf, unsigned dim) -> Value {
    if (Value known = indices.lookup(leaf))
      return known;
    if (auto known = buffers.find(leaf); known != buffers.end())
      return known->second.extents[dim];
    return {};
  });
  return extents.extent(value, dim);
}

Value EntryBuilder::allocate(Type elementType, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&entry.getBody().front());
  Value size =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(builder, loc, pointerType(builder), elementType,
                                size, /*alignment=*/64);
}

//===----------------------------------------------------------------------===//
// KernelBuilder
//===----------------------------------------------------------------------===//

static func::FuncOp createKernel(EntryBuilder &entry, Location loc) {
  MLIRContext *context = entry.module.getContext();
  Builder types(context);
  auto signature = FunctionType::get(
      context, {types.getIndexType(), types.getIndexType(), pointerType(types)},
      {types.getI32Type()});
  std::string name =
      (entry.entry.getSymName() + "_kernel" + Twine(entry.kernels++)).str();
  OpBuilder before(entry.entry);
  auto function = func::FuncOp::create(before, loc, name, signature);
  function.setPrivate();
  function.addEntryBlock();
  return function;
}

KernelBuilder::KernelBuilder(EntryBuilder &entry, FusionOp fusion)
    : entry(entry), function(createKernel(entry, fusion.getLoc())),
      builder(entry.module.getContext()),
      emitter(builder, function, entry.target.features,
              entry.target.vectorBytes) {}

Value KernelBuilder::capture(Value value) {
  if (auto constant = constantValue(value))
    return emitter.math.constant(*constant);
  Value &result = inside[value];
  if (result)
    return result;
  int64_t slot = captured.size();
  captured.push_back(value);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = emitter.loc;
  Type i64 = builder.getI64Type();
  Value place = function.getArgument(2);
  if (slot != 0)
    place = LLVM::GEPOp::create(builder, loc, pointerType(builder), i64, place,
                                ArrayRef<LLVM::GEPArg>{int32_t(slot)});
  if (value.getType().isIndex()) {
    Value loaded = LLVM::LoadOp::create(builder, loc, i64, place);
    result = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        loaded);
  } else {
    result = LLVM::LoadOp::create(builder, loc, value.getType(), place);
  }
  return result;
}

Buffer KernelBuilder::capture(const Buffer &buffer) {
  Buffer result{capture(buffer.pointer), buffer.elementType, {}, {}};
  for (Value extent : buffer.extents)
    result.extents.push_back(capture(extent));
  for (Value stride : buffer.strides)
    result.strides.push_back(capture(stride));
  return result;
}

void KernelBuilder::launch(Value count, Value grain) {
  func::ReturnOp::create(builder, emitter.loc, emitter.finalStatus());

  OpBuilder &b = entry.builder;
  Location loc = emitter.loc;
  Type i64 = b.getI64Type(), i32 = b.getI32Type(), index = b.getIndexType();
  Type pointer = pointerType(b);
  Value context =
      entry.allocate(i64, std::max<int64_t>(1, int64_t(captured.size())));
  for (auto [slot, value] : llvm::enumerate(captured)) {
    Value place = context;
    if (slot != 0)
      place = LLVM::GEPOp::create(b, loc, pointer, i64, place,
                                  ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, loc, i64, value);
    LLVM::StoreOp::create(b, loc, value, place);
  }

  // Nothing to share out.
  auto whole = constantValue(count), part = constantValue(grain);
  if (whole && part && *whole <= *part) {
    Value zero = entry.math.constant(0);
    auto call = func::CallOp::create(b, loc, function,
                                     ValueRange{zero, count, context});
    entry.addStatus(call.getResult(0));
    return;
  }
  func::FuncOp parallelFor = entry.runtimeFunction(
      "wok_parallel_for",
      b.getFunctionType(
          {index, index, index, function.getFunctionType(), pointer}, {i32}));
  Value body = func::ConstantOp::create(b, loc, function.getFunctionType(),
                                        function.getSymName());
  Value zero = entry.math.constant(0);
  auto call = func::CallOp::create(
      b, loc, parallelFor, ValueRange{zero, count, grain, body, context});
  entry.addStatus(call.getResult(0));
}
