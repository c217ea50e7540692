//===- ElementEmitter.cpp - Scopes and elementwise operations -------------===//

#include "ElementEmitter.h"

#include "wok/Analysis/Extents.h"
#include "wok/IR/Scalar.h"
#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace wok;

ElementEmitter::ElementEmitter(OpBuilder &builder, func::FuncOp kernel,
                               const TargetFeatures &target,
                               unsigned vectorBytes)
    : math(builder, kernel.getLoc(), kernel.getBody().front()),
      builder(builder), loc(kernel.getLoc()), target(target), kernel(kernel),
      vectorBytes(vectorBytes) {
  Block *entry = &kernel.getBody().front();
  scopes.emplace_back();
  scopes.back().block = entry;
  builder.setInsertionPointToEnd(entry);
}

void ElementEmitter::bind(Value argument, Buffer buffer) {
  buffers[argument] = std::move(buffer);
}

void ElementEmitter::readFrom(Value tensor, Buffer buffer) {
  cached[tensor] = {std::move(buffer),
                    static_cast<unsigned>(scopes.size() - 1)};
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

unsigned ElementEmitter::depthOf(Value value) const {
  if (!value)
    return 0;
  Block *block = value.getParentBlock();
  for (unsigned depth = scopes.size(); depth-- > 0;)
    if (scopes[depth].block == block)
      return depth;
  llvm_unreachable("a value of a scope that is closed");
}

unsigned ElementEmitter::depthOf(ArrayRef<Index> at) const {
  unsigned depth = 0;
  for (const Index &index : at)
    depth = std::max({depth, depthOf(index.base), depthOf(index.lanes)});
  return depth;
}

unsigned ElementEmitter::depthOfArm() const {
  unsigned depth = scopes.size() - 1;
  while (depth > 0 && !scopes[depth].isArm)
    --depth;
  return depth;
}

/// Emits in an outer scope, in front of the loop that is being filled.
class ElementEmitter::Hoist {
public:
  Hoist(ElementEmitter &emitter, unsigned depth)
      : emitter(emitter), guard(emitter.builder) {
    if (depth + 1 == emitter.scopes.size())
      return;
    emitter.builder.setInsertionPoint(emitter.scopes[depth + 1].op);
    inner.assign(std::make_move_iterator(emitter.scopes.begin() + depth + 1),
                 std::make_move_iterator(emitter.scopes.end()));
    emitter.scopes.truncate(depth + 1);
  }
  ~Hoist() {
    emitter.scopes.append(std::make_move_iterator(inner.begin()),
                          std::make_move_iterator(inner.end()));
  }

private:
  ElementEmitter &emitter;
  OpBuilder::InsertionGuard guard;
  SmallVector<Scope, 4> inner;
};

void ElementEmitter::fill(Operation *op, Block *block, bool isArm,
                          function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(builder);
  scopes.emplace_back();
  scopes.back().op = op;
  scopes.back().block = block;
  scopes.back().isArm = isArm;
  if (block->mightHaveTerminator())
    builder.setInsertionPoint(block->getTerminator());
  else
    builder.setInsertionPointToEnd(block);
  body();
  scopes.pop_back();
}

SmallVector<Value> ElementEmitter::loop(Value low, Value high, int64_t step,
                                        ValueRange carried, LoopBody body) {
  auto from = constantValue(low), to = constantValue(high);
  if (from && to) {
    if (*from >= *to)
      return llvm::to_vector(carried);
    if (*from + step >= *to)
      return body(low, carried);
  }
  auto loop =
      scf::ForOp::create(builder, loc, low, high, math.constant(step), carried);
  fill(loop, loop.getBody(), /*isArm=*/false, [&] {
    SmallVector<Value> next =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(builder, loc, next);
  });
  return llvm::to_vector_of<Value>(loop.getResults());
}

void ElementEmitter::branch(Value condition, function_ref<void()> then,
                            function_ref<void()> otherwise) {
  auto known = constantValue(condition);
  if (known) {
    if (*known)
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  auto op = scf::IfOp::create(builder, loc, TypeRange{}, condition,
                              /*addThenBlock=*/true,
                              /*addElseBlock=*/static_cast<bool>(otherwise));
  auto arm = [&](Block *block, function_ref<void()> body) {
    fill(op, block, /*isArm=*/true, [&] {
      body();
      if (!block->mightHaveTerminator())
        scf::YieldOp::create(builder, loc);
    });
  };
  arm(op.thenBlock(), then);
  if (otherwise)
    arm(op.elseBlock(), otherwise);
}

Value ElementEmitter::lanesBelow(Value base, Value high) {
  Value left = math.sub(high, base);
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return vector::CreateMaskOp::create(builder, loc, type, left);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Type ElementEmitter::vectorOf(Type type) const {
  return lanes > 1 ? Type(VectorType::get({lanes}, type)) : type;
}

Value ElementEmitter::splat(Value scalar) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  unsigned depth = depthOf(scalar);
  Value &result = scopes[depth].splats[{scalar, lanes}];
  if (!result) {
    OpBuilder::InsertionGuard guard(builder);
    // Right behind the scalar, so that whatever follows finds it.
    builder.setInsertionPointAfterValue(scalar);
    result = vector::BroadcastOp::create(builder, loc,
                                         vectorOf(scalar.getType()), scalar);
  }
  return result;
}

void ElementEmitter::remember(Value tensor, ArrayRef<Index> at, Value value) {
  scopes[depthOf(value)].remembered.push_back(
      {tensor, IndexList(at), {}, 0, value});
}

Value ElementEmitter::element(Value tensor, ArrayRef<Index> at) {
  bool isUniform = llvm::all_of(at, [](auto &i) { return i.isUniform(); });
  // A uniform element does not care which lanes are wanted.
  SmallVector<Value, 2> relevant;
  for (Value condition : conditions)
    if (!isUniform || !isa<VectorType>(condition.getType()))
      relevant.push_back(condition);

  unsigned depth = std::max(depthOf(at), depthOfArm());
  for (Value condition : relevant)
    depth = std::max(depth, depthOf(condition));
  // What a loop has stored is not known in front of that loop.
  for (auto &entry : cached)
    depth = std::max(depth, entry.second.depth);
  depth = std::min<unsigned>(depth, scopes.size() - 1);

  for (const Scope &scope : scopes)
    for (const Remembered &known : scope.remembered)
      if (known.tensor == tensor && ArrayRef<Index>(known.at) == at &&
          (known.lanes == 0 || (known.conditions == relevant &&
                                (isUniform || known.lanes == lanes))))
        return known.result;

  Hoist hoist(*this, depth);
  SmallVector<Value, 4> outer = std::exchange(
      conditions, SmallVector<Value, 4>(relevant.begin(), relevant.end()));
  Value result = compute(tensor, at);
  conditions = std::move(outer);
  scopes[depth].remembered.push_back(
      {tensor, IndexList(at), std::move(relevant), lanes, result});
  return result;
}

Value ElementEmitter::compute(Value tensor, ArrayRef<Index> at) {
  if (auto known = cached.find(tensor); known != cached.end())
    return load(known->second.buffer, at);
  if (isa<BlockArgument>(tensor))
    return load(buffers.find(tensor)->second, at);
  Operation *op = tensor.getDefiningOp();
  if (auto elementwiseOp = dyn_cast<ElementwiseOpInterface>(op))
    return elementwise(elementwiseOp, at);
  if (isa<ReduceOp, ArgReduceOp>(op))
    return reduction(op, at);
  return movement(op, at);
}

Value ElementEmitter::elementwise(ElementwiseOpInterface op,
                                  ArrayRef<Index> at) {
  SmallVector<Value> operands;
  bool anyVector = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(element(operand, at));
    anyVector |= isa<VectorType>(operands.back().getType());
  }
  if (anyVector)
    for (Value &operand : operands)
      operand = splat(operand);
  Type elementType = getElementTypeOrSelf(op->getResult(0).getType());
  if (op.canFault())
    reportFault(op.buildFault(builder, op->getLoc(), operands),
                /*Status::DivisionByZero=*/2);
  Value result =
      op.buildScalar(builder, op->getLoc(), operands, computeType(elementType));
  return buildRound(builder, op->getLoc(), result, elementType);
}

Value ElementEmitter::extent(Value tensor, unsigned dim) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (ShapedType::isStatic(size))
    return math.constant(size);
  // Extents depend on arguments alone.
  Hoist hoist(*this, 0);
  ExtentBuilder extents(builder, loc, [&](Value value, unsigned dim) -> Value {
    if (Value known = indexValues.lookup(value))
      return known;
    if (auto known = buffers.find(value); known != buffers.end())
      return known->second.extents[dim];
    return {};
  });
  return extents.extent(tensor, dim);
}

Value ElementEmitter::index(Value value) {
  if (auto constant = constantValue(value))
    return math.constant(*constant);
  if (Value known = indexValues.lookup(value))
    return known;
  Hoist hoist(*this, 0);
  ExtentBuilder extents(builder, loc, [&](Value leaf, unsigned dim) -> Value {
    if (Value known = indexValues.lookup(leaf))
      return known;
    if (auto known = buffers.find(leaf); known != buffers.end())
      return known->second.extents[dim];
    return {};
  });
  Value result = extents.index(value);
  indexValues[value] = result;
  return result;
}

Value ElementEmitter::asInteger(const Index &index) {
  Type i64 = builder.getI64Type();
  if (index.lanes)
    return index.lanes;
  Value base = arith::IndexCastOp::create(builder, loc, i64, index.base);
  if (index.step == 0)
    return base;
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(lane * index.step);
  auto type = VectorType::get({lanes}, i64);
  Value offsets = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef(steps)));
  return arith::AddIOp::create(builder, loc, splat(base), offsets);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void ElementEmitter::reportFault(Value fault, int32_t status) {
  bool isVector = isa<VectorType>(fault.getType());
  if (Value wanted = mask(isVector))
    fault = arith::AndIOp::create(builder, loc, fault, wanted);
  Type i32 = builder.getI32Type();
  if (!statusSlot) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    statusSlot = LLVM::AllocaOp::create(builder, loc, pointer, i32, one);
    LLVM::StoreOp::create(builder, loc, zero, statusSlot);
  }
  if (isVector)
    fault = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                        fault);
  branch(fault, [&] {
    Value old = LLVM::LoadOp::create(builder, loc, i32, statusSlot);
    Value bits = arith::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(status));
    Value both = arith::OrIOp::create(builder, loc, old, bits);
    LLVM::StoreOp::create(builder, loc, both, statusSlot);
  });
}

Value ElementEmitter::finalStatus() {
  if (statusSlot)
    return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), statusSlot);
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
}
