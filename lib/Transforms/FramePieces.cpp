//===- FramePieces.cpp ----------------------------------------------------===//

#include "wok/Transforms/FramePieces.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace wok;

/// Constants and extents: made where they are needed, not passed on.
static bool isRemade(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() ||
         llvm::all_of(op.getResultTypes(), llvm::IsaPred<IndexType>);
}

/// Where a piece ends.
static bool endsPiece(Operation &op) {
  return op.hasTrait<OpTrait::IsTerminator>() ||
         isa<BreakOp, GuardOp, RunOp>(op);
}

/// Whether something at or after `end` uses `value`, itself or through an
/// extent.
static bool isUsedFrom(Operation *end, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *inBlock = end->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock->isBeforeInBlock(end))
      return true;
    return isRemade(*inBlock) &&
           llvm::any_of(inBlock->getResults(),
                        [&](Value result) { return isUsedFrom(end, result); });
  });
}

/// Calls `visit` for each tensor that `op` needs to be there, looking through
/// what is remade.
static void forEachTensorOperand(Operation *op,
                                 llvm::function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (definition && isRemade(*definition))
      forEachTensorOperand(definition, visit);
    else
      visit(operand);
  }
}

FramePiece wok::collectPiece(Operation *first) {
  FramePiece piece;
  SmallVector<Operation *> candidates;
  Operation *op = first;
  for (; !endsPiece(*op); op = op->getNextNode())
    if (!isRemade(*op))
      candidates.push_back(op);
  piece.end = op;

  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, candidates);
  llvm::SmallPtrSet<Operation *, 16> needed;
  for (Operation *candidate : llvm::reverse(candidates)) {
    bool isOutput = llvm::any_of(candidate->getResults(), [&](Value result) {
      return isUsedFrom(piece.end, result);
    });
    // A fault is one also where nobody reads the result.
    if (isOutput || canFault(candidate))
      needed.insert(candidate);
    if (needed.contains(candidate))
      forEachTensorOperand(candidate, [&](Value operand) {
        if (Operation *definition = operand.getDefiningOp();
            definition && inside.contains(definition))
          needed.insert(definition);
      });
  }

  for (Operation *candidate : candidates) {
    if (!needed.contains(candidate))
      continue;
    piece.operations.push_back(candidate);
    for (Value result : candidate->getResults())
      if (isUsedFrom(piece.end, result))
        piece.outputs.push_back(result);
  }
  collectInputs(piece);
  return piece;
}

void wok::collectInputs(FramePiece &piece) {
  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, piece.operations);
  llvm::SetVector<Value> inputs;
  for (Operation *op : piece.operations)
    forEachTensorOperand(op, [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || !inside.contains(definition))
        inputs.insert(operand);
    });
  piece.inputs = inputs.takeVector();
}

/// Clones what is remade among the operands of `op`, then `op`.
static void cloneWithOperands(OpBuilder &builder, Operation *op,
                              IRMapping &mapping) {
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      cloneWithOperands(builder, operand.getDefiningOp(), mapping);
  builder.clone(*op, mapping);
}

SubgraphOp wok::buildSubgraph(OpBuilder &builder, const FramePiece &piece,
                              StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations;
  for (Operation *op : piece.operations)
    locations.push_back(op->getLoc());
  auto type = builder.getFunctionType(TypeRange(ValueRange(piece.inputs)),
                                      TypeRange(ValueRange(piece.outputs)));
  auto subgraph =
      SubgraphOp::create(builder, builder.getFusedLoc(locations), name, type);
  Block &body = subgraph.getBody().front();
  builder.setInsertionPointToStart(&body);

  IRMapping mapping;
  mapping.map(piece.inputs, body.getArguments());
  for (Operation *op : piece.operations)
    cloneWithOperands(builder, op, mapping);
  SmallVector<Value> results;
  for (Value output : piece.outputs)
    results.push_back(mapping.lookup(output));
  ReturnOp::create(builder, piece.end->getLoc(), results);
  return subgraph;
}
