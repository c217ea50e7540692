//===- Faults.cpp - Faults of what is not wholly computed -----------------===//

#include "Faults.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wok;

static void demand(Operation &op) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(&op);
  DemandOp::create(builder, op.getLoc(), op.getResult(0));
}

void wok::demandFaults(SubgraphOp subgraph) {
  for (Operation &op : llvm::make_early_inc_range(subgraph.getBody().front()))
    if (canFault(&op) && llvm::none_of(op.getUsers(), llvm::IsaPred<DemandOp>))
      demand(op);
}

/// Whether `extents` are none of 0, as far as the type says.
static bool hasElements(ArrayRef<int64_t> extents) {
  return llvm::all_of(extents, [](int64_t extent) {
    return ShapedType::isStatic(extent) && extent != 0;
  });
}

/// Whether a result whose dimensions may be longer than those of the operand is
/// empty only if the operand is.
static bool showsWholeOperand(BroadcastOp op) {
  SmallVector<int64_t> extents(op.getType().getShape());
  for (auto [dim, extent] :
       llvm::zip(op.getDims(), op.getOperand().getType().getShape()))
    if (extent == extents[dim])
      extents[dim] = 1;
  return hasElements(extents);
}

/// Whether every element of `use` is read where the results of its owner are
/// wholly computed.
static bool isReadWholly(OpOperand &use) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<ElementwiseOpInterface, TransposeOp, ReshapeOp, ReduceOp,
            ArgReduceOp, ConcatOp, ContractOp, ReturnOp>(
          [](Operation *) { return true; })
      .Case([](BroadcastOp op) { return showsWholeOperand(op); })
      .Case([&](PadOp) { return use.getOperandNumber() == 0; })
      .Case([&](GatherOp op) {
        ArrayRef<int64_t> extents = op.getOperand().getType().getShape();
        return use.getOperandNumber() == 1 &&
               hasElements(extents.take_front(op.getDim())) &&
               hasElements(extents.drop_front(op.getDim() + 1));
      })
      .Default([](Operation *) { return false; });
}

void wok::dropNeedlessDemands(SubgraphOp subgraph) {
  // Of `needed` all elements are computed; of `demanded` those where something
  // faults must be.
  DenseSet<Value> needed, demanded;
  SmallVector<Operation *> incomplete, old;
  for (Operation &op : llvm::reverse(subgraph.getBody().front())) {
    if (auto demand = dyn_cast<DemandOp>(op)) {
      demanded.insert(demand.getOperand());
      old.push_back(&op);
      continue;
    }
    auto contains = [&](const DenseSet<Value> &set) {
      return llvm::any_of(op.getResults(),
                          [&](Value result) { return set.contains(result); });
    };
    bool isNeeded = op.hasTrait<OpTrait::IsTerminator>() || contains(needed);
    bool isDemanded = contains(demanded);
    if (!isNeeded && isDemanded && canFault(&op)) {
      incomplete.push_back(&op);
      isNeeded = true;
    }
    for (OpOperand &operand : op.getOpOperands()) {
      if (!isReadWholly(operand))
        continue;
      if (isNeeded)
        needed.insert(operand.get());
      else if (isDemanded)
        demanded.insert(operand.get());
    }
  }
  for (Operation *op : old)
    op->erase();
  for (Operation *op : incomplete)
    demand(*op);
}
