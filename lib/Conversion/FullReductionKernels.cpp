//===- FullReductionKernels.cpp - Everything reduced ----------------------===//

#include "FusionLowering.h"

using namespace mlir;
using namespace wok;

/// Blocks of a full reduction; a power of two.
static constexpr int64_t partialCount = 64;

/// Up to so many elements are one row.
static constexpr int64_t rowElements = 8192;

FusionLowering::Partial FusionLowering::allocatePartial(Operation *op) {
  Partial partial{op, {}};
  for (Type type : ElementEmitter::accumulatorTypes(op)) {
    Type memory = type.isInteger(1) ? entry.builder.getI8Type() : type;
    partial.buffers.push_back({entry.allocate(memory, partialCount),
                               type,
                               {entry.math.constant(partialCount)},
                               {entry.math.constant(1)}});
  }
  return partial;
}

void FusionLowering::recall(KernelBuilder &kernel, ArrayRef<Partial> partials) {
  ElementEmitter &e = kernel.emitter;
  for (const auto &[op, buffers] : partials) {
    int64_t outer = std::exchange(e.lanes, partialCount);
    SmallVector<Value> accumulators;
    for (const Buffer &buffer : buffers)
      accumulators.push_back(
          e.read(kernel.capture(buffer), e.contiguous(e.math.constant(0))));
    accumulators = e.combineLanes(op, accumulators);
    e.lanes = outer;
    e.remember(op->getResult(0), {}, e.finishReduction(op, accumulators));
  }
}

SmallVector<FusionLowering::Partial>
FusionLowering::reduceBlocks(ArrayRef<Operation *> level,
                             ArrayRef<Partial> partials) {
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  e.fullLanes = e.lanes =
      chooseLanes(staticExtent(operand, reducedGroups.back()));
  int64_t copies = unroll(4, 2);
  recall(kernel, partials);

  // The first group in blocks; whole vectors if it is the only one.
  Value size = kernelExtent(e, operand, reducedGroups.front());
  Value block = e.math.ceilDiv(size, partialCount);
  if (reducedGroups.size() == 1) {
    int64_t stride = e.lanes * copies;
    block = e.math.mul(e.math.ceilDiv(block, stride), e.math.constant(stride));
  }
  SmallVector<Partial> results;
  for (Operation *op : level)
    results.push_back(allocatePartial(op));
  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value number, ValueRange) {
    Value low = e.math.min(e.math.mul(number, block), size);
    Value high = e.math.min(e.math.add(low, block), size);
    ReductionNest nest{llvm::to_vector(level), reducedGroups, copies};
    SmallVector<Value> accumulators =
        e.accumulate(nest, IndexList{}, /*alongLanes=*/true, low, high);
    auto value = accumulators.begin();
    for (const Partial &partial : results)
      for (const Buffer &buffer : partial.buffers)
        e.store(*value++, kernel.capture(buffer), e.uniform(number));
    return SmallVector<Value>();
  });
  kernel.launch(entry.math.constant(partialCount), entry.math.constant(1));
  return results;
}

void FusionLowering::everything() {
  int64_t elements = staticExtent(operand, reducedDims);
  if (ShapedType::isStatic(elements) && elements <= rowElements)
    return rows();

  SmallVector<Partial> partials;
  for (ArrayRef<Operation *> level : levels)
    llvm::append_range(partials, reduceBlocks(level, partials));

  // The rest, by shape.
  SmallVector<Output> single;
  for (const Output &output : outputs) {
    if (isKeptShape(output.value) && !isFullShape(output.value))
      single.push_back(output);
    else
      elementwise(output,
                  [&](KernelBuilder &kernel) { recall(kernel, partials); });
  }
  if (single.empty())
    return;
  KernelBuilder kernel(entry, fusion);
  bindArguments(kernel);
  recall(kernel, partials);
  storeKept(kernel, single, {});
  kernel.launch(entry.math.constant(1), entry.math.constant(1));
}
