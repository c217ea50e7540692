//===- FusionLowering.cpp - Which kernels a fusion becomes ----------------===//

#include "FusionLowering.h"

#include "wok/IR/Types.h"

using namespace mlir;
using namespace wok;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

static bool mergesInMemory(EntryBuilder &entry, FusionOp fusion, Value argument,
                           unsigned dim) {
  unsigned number = cast<BlockArgument>(argument).getArgNumber();
  const Buffer &buffer = entry.buffers[fusion.getInputs()[number]];
  // Dense buffers have strides that were computed from extents.
  auto stride = constantValue(buffer.strides[dim]);
  auto inner = constantValue(buffer.strides[dim + 1]);
  auto extent = constantValue(buffer.extents[dim + 1]);
  if (stride && inner && extent)
    return *stride == *inner * *extent;
  auto type = cast<MemRefType>(fusion.getInputs()[number].getType());
  return type.getLayout().isIdentity();
}

FusionLowering::FusionLowering(EntryBuilder &entry, FusionOp fusion)
    : entry(entry), fusion(fusion),
      dimGroups(fusion, [&](Value argument, unsigned dim) {
        return mergesInMemory(entry, fusion, argument, dim);
      }) {
  for (auto [value, memory] :
       llvm::zip_equal(fusion.getYield().getValues(), fusion.getOutputs()))
    outputs.push_back({value, entry.buffers[memory]});
  findReductions();
  weigh();
}

void FusionLowering::weigh() {
  int64_t floats = 0, integers = 0;
  auto count = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    hasHalves |= tensor.getElementType().isF16();
    Type compute = computeType(tensor.getElementType());
    int64_t bytes = std::max<int64_t>(1, compute.getIntOrFloatBitWidth() / 8);
    int64_t &widest = isa<FloatType>(compute) ? floats : integers;
    widest = std::max(widest, bytes);
  };
  Block &body = fusion.getBody().front();
  for (Type type : body.getArgumentTypes())
    count(type);
  for (Operation &op : body) {
    llvm::for_each(op.getResultTypes(), count);
    // What is computed once for a row weighs nothing.
    if (operand && op.getNumResults() == 1 && !isFullShape(op.getResult(0)))
      continue;
    weight += elementCost(&op);
  }
  // Masks of narrow elements are slow before AVX-512: fewer lanes, shorter
  // tails.
  elementBytes = floats ? floats : integers;
  if (!entry.target.features.avx512)
    elementBytes = std::max<int64_t>(elementBytes, 2);
}

void FusionLowering::findReductions() {
  DenseMap<Value, unsigned> depth;
  // The body is in order; what no output needs is not emitted.
  DenseSet<Operation *> needed;
  SmallVector<Value> pending;
  for (const Output &output : outputs)
    pending.push_back(output.value);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !needed.insert(op).second)
      continue;
    llvm::append_range(pending, op->getOperands());
  }
  for (Operation &op : fusion.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    unsigned level = 0;
    for (Value value : op.getOperands())
      level = std::max(level, depth.lookup(value));
    SmallVector<unsigned> dims;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      dims.assign(reduce.getDims().begin(), reduce.getDims().end());
    else if (auto arg = dyn_cast<ArgReduceOp>(op))
      dims.push_back(arg.getDim());
    if (!dims.empty()) {
      Value of = op.getOperand(0);
      if (!operand) {
        operand = of;
        reducedDims = dims;
      }
      isUniform &= dims == reducedDims &&
                   cast<RankedTensorType>(of.getType()).getShape() ==
                       cast<RankedTensorType>(operand.getType()).getShape();
      if (levels.size() <= level)
        levels.resize(level + 1);
      levels[level].push_back(&op);
      ++level;
    }
    for (Value result : op.getResults())
      depth[result] = level;
  }
  if (!operand || !isUniform)
    return;

  for (unsigned dim : dimsOf(operand))
    if (!llvm::is_contained(reducedDims, dim))
      keptDims.push_back(dim);
  SmallVector<Value> full;
  for (auto &level : levels)
    for (Operation *op : level)
      full.push_back(op->getOperand(0));
  for (const Output &output : outputs)
    if (isFullShape(output.value))
      full.push_back(output.value);
  reducedGroups = dimGroups.groups(full, reducedDims);
  keptGroups = dimGroups.groups(full, keptDims);
}

bool FusionLowering::isFullShape(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getShape() ==
                     cast<RankedTensorType>(operand.getType()).getShape();
}

bool FusionLowering::isKeptShape(Value value) const {
  SmallVector<int64_t> kept, shape;
  auto type = cast<RankedTensorType>(operand.getType());
  for (unsigned dim : keptDims)
    if (type.getDimSize(dim) != 1)
      kept.push_back(type.getDimSize(dim));
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    if (size != 1)
      shape.push_back(size);
  return kept == shape;
}

std::pair<SmallVector<FusionLowering::Output>,
          SmallVector<FusionLowering::Output>>
FusionLowering::splitOutputs() const {
  SmallVector<Output> full, kept;
  for (const Output &output : outputs)
    (isFullShape(output.value) ? full : kept).push_back(output);
  return {full, kept};
}

FusionLowering::Dims FusionLowering::dimsOf(Value value) {
  return llvm::to_vector(llvm::seq<unsigned>(
      0, cast<RankedTensorType>(value.getType()).getRank()));
}

int64_t FusionLowering::staticExtent(Value value, ArrayRef<unsigned> dims) {
  int64_t size = 1;
  for (unsigned dim : dims) {
    int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(extent))
      return extent;
    size *= extent;
  }
  return size;
}

int64_t FusionLowering::chooseLanes(int64_t innerExtent) const {
  int64_t lanes = std::max<int64_t>(1, entry.target.vectorBytes / elementBytes);
  if (ShapedType::isDynamic(innerExtent))
    return lanes;
  int64_t needed = llvm::bit_floor(uint64_t(std::max<int64_t>(1, innerExtent)));
  // LLVM divides fewer lanes of f16 as eight, the others of which hold zeros:
  // floating-point flags would tell of divisions that nobody asked for.
  if (hasHalves && needed > 1)
    needed = std::max<int64_t>(needed, 8);
  return std::min(lanes, needed);
}

//===----------------------------------------------------------------------===//
// In the entry function
//===----------------------------------------------------------------------===//

Value FusionLowering::entrySize(Value value, ArrayRef<unsigned> dims,
                                int64_t times) {
  Value size = entry.math.constant(times);
  for (unsigned dim : dims)
    size = entry.math.mul(size, entry.extent(value, dim));
  return size;
}

Value FusionLowering::grainOf(Value size, int64_t grain) {
  Value one = entry.math.constant(1);
  return entry.math.max(one, entry.math.floorDiv(entry.math.constant(grain),
                                                 entry.math.max(one, size)));
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

void FusionLowering::bindArguments(KernelBuilder &kernel) {
  for (auto [argument, input] :
       llvm::zip_equal(fusion.getBody().getArguments(), fusion.getInputs())) {
    if (argument.use_empty())
      continue;
    if (argument.getType().isIndex())
      kernel.emitter.bindIndex(argument, kernel.capture(entry.indices[input]));
    else
      kernel.emitter.bind(argument, kernel.capture(entry.buffers[input]));
  }
}

Value FusionLowering::kernelExtent(ElementEmitter &e, Value value,
                                   ArrayRef<unsigned> dims) {
  Value size = e.math.constant(1);
  for (unsigned dim : dims)
    size = e.math.mul(size, e.extent(value, dim));
  return size;
}

IndexList FusionLowering::spread(ElementEmitter &e, unsigned rank,
                                 const Groups &groups, ArrayRef<Index> at) {
  IndexList result(rank, e.constantIndex(0));
  for (auto [group, index] : llvm::zip_equal(groups, at))
    result[group.back()] = index;
  return result;
}

IndexList FusionLowering::unravel(ElementEmitter &e, Value linear, Value value,
                                  ArrayRef<Dims> groups) {
  IndexList result(groups.size(), e.constantIndex(0));
  for (unsigned group = groups.size(); group-- > 0;) {
    if (group == 0) {
      result[0] = e.uniform(linear);
      break;
    }
    Value size = kernelExtent(e, value, groups[group]);
    result[group] = e.uniform(e.math.remainder(linear, size));
    linear = e.math.floorDiv(linear, size);
  }
  return result;
}

IndexList FusionLowering::keptOf(ArrayRef<Index> all) const {
  IndexList kept;
  for (unsigned dim : keptDims)
    kept.push_back(all[dim]);
  return kept;
}

IndexList FusionLowering::keptIndices(ElementEmitter &e, Value value,
                                      ArrayRef<Index> kept) {
  auto operandType = cast<RankedTensorType>(operand.getType());
  auto type = cast<RankedTensorType>(value.getType());
  IndexList result;
  unsigned next = 0;
  for (int64_t size : type.getShape()) {
    if (size == 1) {
      result.push_back(e.constantIndex(0));
      continue;
    }
    while (operandType.getDimSize(keptDims[next]) == 1)
      ++next;
    result.push_back(kept[next++]);
  }
  return result;
}

void FusionLowering::vectorLoop(ElementEmitter &e, Value low, Value high,
                                int64_t copies,
                                function_ref<void(ArrayRef<Index>)> body) {
  int64_t stride = e.lanes * copies;
  Value middle =
      e.math.add(low, e.math.roundDown(e.math.sub(high, low), stride));
  e.loop(low, middle, stride, {}, [&](Value index, ValueRange) {
    SmallVector<Index> at;
    for (int64_t copy = 0; copy < copies; ++copy)
      at.push_back(
          e.contiguous(e.math.add(index, e.math.constant(copy * e.lanes))));
    body(at);
    return SmallVector<Value>();
  });
  if (middle == high)
    return;
  e.loop(middle, high, e.lanes, {}, [&](Value index, ValueRange) {
    ElementEmitter::Where where(e, e.lanes > 1 ? e.lanesBelow(index, high)
                                               : Value());
    body(e.contiguous(index));
    return SmallVector<Value>();
  });
}

/// All elements first, then all stores: nothing is waited for that need not be.
void FusionLowering::storeAll(KernelBuilder &kernel, ArrayRef<Output> outputs,
                              ArrayRef<IndexList> at) {
  ElementEmitter &e = kernel.emitter;
  SmallVector<Value> values;
  for (const IndexList &indices : at)
    for (const Output &output : outputs)
      values.push_back(e.element(output.value, indices));
  auto value = values.begin();
  for (const IndexList &indices : at)
    for (const Output &output : outputs)
      e.store(*value++, kernel.capture(output.buffer), indices);
}

void FusionLowering::storeKept(KernelBuilder &kernel, ArrayRef<Output> outputs,
                               ArrayRef<Index> kept) {
  ElementEmitter &e = kernel.emitter;
  for (const Output &output : outputs) {
    IndexList at = keptIndices(e, output.value, kept);
    e.store(e.element(output.value, at), kernel.capture(output.buffer), at);
  }
}

void FusionLowering::reduceLevel(ElementEmitter &e, ArrayRef<Operation *> level,
                                 ArrayRef<IndexList> kept, bool alongLanes,
                                 int64_t copies) {
  ReductionNest nest{llvm::to_vector(level), reducedGroups, copies};
  SmallVector<Value> accumulators = e.accumulate(nest, kept, alongLanes);
  unsigned from = 0;
  for (const IndexList &at : kept)
    for (Operation *op : level) {
      unsigned size = ElementEmitter::accumulatorTypes(op).size();
      Value result =
          e.finishReduction(op, ValueRange(accumulators).slice(from, size));
      e.remember(op->getResult(0), at, result);
      from += size;
    }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

void FusionLowering::run() {
  if (operand && isUniform) {
    // Outputs of other shapes get kernels of their own.
    SmallVector<Output> others;
    llvm::erase_if(outputs, [&](const Output &output) {
      bool fits = isFullShape(output.value) || isKeptShape(output.value);
      if (!fits && !keptDims.empty())
        others.push_back(output);
      return !fits && !keptDims.empty();
    });
    if (!outputs.empty()) {
      unsigned rank = dimsOf(operand).size();
      if (keptDims.empty())
        everything();
      else if (reducedDims.back() + 1 == rank)
        rows();
      else
        columns();
    }
    for (const Output &output : others)
      elementwise(output, nullptr);
    return;
  }

  // One kernel for each shape.
  SmallVector<bool> done(outputs.size(), false);
  for (unsigned first = 0; first < outputs.size(); ++first) {
    if (done[first])
      continue;
    SmallVector<Output> same;
    for (unsigned other = first; other < outputs.size(); ++other)
      if (cast<RankedTensorType>(outputs[other].value.getType()).getShape() ==
          cast<RankedTensorType>(outputs[first].value.getType()).getShape()) {
        same.push_back(outputs[other]);
        done[other] = true;
      }
    elementwise(same, nullptr);
  }
}

void wok::lowerFusion(EntryBuilder &entry, FusionOp fusion) {
  FusionLowering(entry, fusion).run();
}
