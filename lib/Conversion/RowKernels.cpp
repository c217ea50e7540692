//===- RowKernels.cpp - Reductions along the lanes ------------------------===//

#include "FusionLowering.h"

using namespace mlir;
using namespace wok;

/// A reduction that reads a heavy value which `output`, of the same element
/// type, is computed from; null if there is none but those in `taken`.
Operation *FusionLowering::findReduced(const Output &output,
                                       const Homes &taken) const {
  SmallVector<Value> pending{output.value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || isa<ReduceOp, ArgReduceOp>(op))
      continue;
    if (elementCost(op) >= heavyElement && isFullShape(value) &&
        getElementTypeOrSelf(value.getType()) == output.buffer.elementType)
      for (Operation *user : value.getUsers())
        if (isa<ReduceOp>(user) && !taken.contains(user))
          return user;
    llvm::append_range(pending, op->getOperands());
  }
  return nullptr;
}

FusionLowering::Homes
FusionLowering::findHomes(ArrayRef<Output> outputs) const {
  Homes homes;
  for (const Output &output : outputs)
    if (Operation *reduction = findReduced(output, homes))
      homes[reduction] = &output;
  return homes;
}

void FusionLowering::reduceRow(KernelBuilder &kernel,
                               ArrayRef<Operation *> level, const Homes &homes,
                               ArrayRef<Index> kept) {
  ElementEmitter &e = kernel.emitter;
  int64_t copies = unroll(4, 2);
  IndexList place(kept);
  Operations plain;
  for (Operation *op : level) {
    auto home = homes.find(op);
    if (home == homes.end()) {
      plain.push_back(op);
      continue;
    }
    Buffer memory = kernel.capture(home->second->buffer);
    e.keepOperand = &memory;
    reduceLevel(e, op, place, /*alongLanes=*/true, copies);
    e.keepOperand = nullptr;
    e.readFrom(op->getOperand(0), memory);
  }
  if (!plain.empty())
    reduceLevel(e, plain, place, /*alongLanes=*/true, copies);
}

/// Loops over the reduced dimensions; the innermost by vectors. `all` says
/// which row.
void FusionLowering::storeRow(KernelBuilder &kernel, ArrayRef<Output> outputs,
                              IndexList all) {
  ElementEmitter &e = kernel.emitter;
  auto walk = [&](auto &&walk, unsigned group) -> void {
    Value size = kernelExtent(e, operand, reducedGroups[group]);
    unsigned dim = reducedGroups[group].back();
    if (group + 1 < reducedGroups.size()) {
      e.loop(e.math.constant(0), size, 1, {}, [&](Value index, ValueRange) {
        all[dim] = e.uniform(index);
        walk(walk, group + 1);
        return SmallVector<Value>();
      });
      return;
    }
    vectorLoop(e, e.math.constant(0), size, unroll(4, 2),
               [&](ArrayRef<Index> vectors) {
                 SmallVector<IndexList> at;
                 for (const Index &index : vectors) {
                   at.push_back(all);
                   at.back()[dim] = index;
                 }
                 storeAll(kernel, outputs, at);
               });
  };
  walk(walk, 0);
}

void FusionLowering::rows() {
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  e.lanes = e.fullLanes =
      chooseLanes(staticExtent(operand, reducedGroups.back()));
  auto [fullOutputs, keptOutputs] = splitOutputs();
  Homes homes = findHomes(fullOutputs);
  unsigned rank = dimsOf(operand).size();

  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value row, ValueRange) {
    IndexList place = unravel(e, row, operand, keptGroups);
    IndexList all = spread(e, rank, keptGroups, place);
    IndexList kept = keptOf(all);
    for (ArrayRef<Operation *> level : levels)
      reduceRow(kernel, level, homes, kept);
    storeKept(kernel, keptOutputs, kept);
    if (!fullOutputs.empty()) {
      storeRow(kernel, fullOutputs, all);
      e.forgetReads();
    }
    return SmallVector<Value>();
  });

  Value rowCount = entrySize(operand, keptDims);
  Value rowSize = entrySize(operand, reducedDims);
  kernel.launch(rowCount, grainOf(rowSize, grainElements()));
}
