//===- ElementwiseKernels.cpp - Loops over an output's shape --------------===//

#include "FusionLowering.h"

using namespace mlir;
using namespace wok;

void FusionLowering::elementwise(ArrayRef<Output> outputs, Prologue prologue) {
  Value shape = outputs.front().value;
  SmallVector<Value> values;
  for (const Output &output : outputs)
    values.push_back(output.value);
  Groups groups = dimGroups.groups(values, dimsOf(shape));
  unsigned rank = dimsOf(shape).size();

  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  e.fullLanes = chooseLanes(ShapedType::kDynamic);
  if (prologue)
    prologue(kernel);
  const Buffer &memory = outputs.front().buffer;
  auto sizeOf = [&](ArrayRef<Dims> groups) {
    Value size = entry.math.constant(1);
    for (ArrayRef<unsigned> group : groups)
      for (unsigned dim : group)
        size = entry.math.mul(size, memory.extents[dim]);
    return size;
  };

  if (groups.empty()) {
    storeAll(kernel, outputs, {IndexList{}});
    kernel.launch(entry.math.constant(1), entry.math.constant(1));
    return;
  }
  e.lanes = chooseLanes(staticExtent(shape, groups.back()));
  int64_t copies = unroll(4, 2);
  int64_t grain =
      llvm::divideCeil(grainElements(), e.lanes * copies) * (e.lanes * copies);

  if (groups.size() == 1) {
    vectorLoop(e, kernel.begin(), kernel.end(), copies,
               [&](ArrayRef<Index> vectors) {
                 SmallVector<IndexList> at;
                 for (const Index &index : vectors)
                   at.push_back(spread(e, rank, groups, index));
                 storeAll(kernel, outputs, at);
               });
    kernel.launch(sizeOf(groups), entry.math.constant(grain));
    return;
  }

  auto outer = ArrayRef(groups).drop_back();
  Value innerSize = kernelExtent(e, shape, groups.back());
  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value row, ValueRange) {
    IndexList place = unravel(e, row, shape, outer);
    place.emplace_back();
    vectorLoop(e, e.math.constant(0), innerSize, copies,
               [&](ArrayRef<Index> vectors) {
                 SmallVector<IndexList> at;
                 for (const Index &index : vectors) {
                   place.back() = index;
                   at.push_back(spread(e, rank, groups, place));
                 }
                 storeAll(kernel, outputs, at);
               });
    return SmallVector<Value>();
  });
  Value rowGrain = grainOf(sizeOf(groups.back()), grain);
  kernel.launch(sizeOf(outer), rowGrain);
}
