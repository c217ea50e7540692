//===- ElementwiseKernels.cpp - Loops over an output's shape --------------===//

#include "FusionLowering.h"

using namespace mlir;
using namespace wok;

/// Rows that are walked together where reads run across memory: each line of
/// the cache that a vector touches serves them all.
static constexpr int64_t tileRows = 16;

bool FusionLowering::readsAcross() {
  for (Value input : fusion.getInputs()) {
    auto type = dyn_cast<MemRefType>(input.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (type && type.getRank() > 0 &&
        succeeded(type.getStridesAndOffset(strides, offset)) &&
        ShapedType::isStatic(strides.back()) && strides.back() > 1)
      return true;
  }
  return llvm::any_of(fusion.getBody().getOps<TransposeOp>(),
                      [](TransposeOp op) {
                        ArrayRef<int64_t> permutation = op.getPermutation();
                        return !permutation.empty() &&
                               permutation.back() + 1 !=
                                   static_cast<int64_t>(permutation.size());
                      });
}

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
  if (readsAcross()) {
    e.loop(kernel.begin(), kernel.end(), tileRows, {},
           [&](Value first, ValueRange) {
             Value last = e.math.min(
                 e.math.add(first, e.math.constant(tileRows)), kernel.end());
             vectorLoop(
                 e, e.math.constant(0), innerSize, 1,
                 [&](ArrayRef<Index> vectors) {
                   e.loop(first, last, 1, {}, [&](Value row, ValueRange) {
                     IndexList place = unravel(e, row, shape, outer);
                     place.push_back(vectors.front());
                     storeAll(kernel, outputs, spread(e, rank, groups, place));
                     return SmallVector<Value>();
                   });
                 });
             return SmallVector<Value>();
           });
    Value tiles =
        entry.math.ceilDiv(grainOf(sizeOf(groups.back()), grain), tileRows);
    kernel.launch(sizeOf(outer),
                  entry.math.mul(tiles, entry.math.constant(tileRows)));
    return;
  }

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
