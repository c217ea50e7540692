//===- FusionKernels.cpp - Loop nests of a fusion -------------------------===//
//
// Three kinds of kernels, all of them loops around `ElementEmitter`:
//
// - Elementwise: one loop nest over an output's shape.
// - Rows and columns: one pass over the kept dimensions of the reductions, and
//   for each place all reductions, level by level, and then what needs them.
//   Lanes run along the innermost dimension, be it reduced (rows) or kept
//   (columns).
// - Everything reduced: blocks of the operand in parallel, a fixed number of
//   them, so that the result does not depend on the number of threads; then the
//   rest.
//
//===----------------------------------------------------------------------===//

#include "DimGroups.h"
#include "EntryBuilder.h"

#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace wok;

namespace {

/// Blocks of a full reduction; a power of two.
constexpr int64_t partialCount = 64;

using Groups = SmallVector<SmallVector<unsigned>>;

struct Output {
  Value value; ///< What the body yields.
  Buffer buffer;
};

/// Operations that take tens of instructions.
bool isHeavy(Operation *op) {
  return isa<ExpOp, Exp2Op, Expm1Op, LogOp, Log2Op, Log10Op, Log1pOp, SinOp,
             CosOp, TanOp, TanhOp, ErfOp, SigmoidOp, PowOp, FmodOp, RemainderOp,
             FloorDivOp>(op);
}

class FusionLowering {
public:
  FusionLowering(EntryBuilder &entry, FusionOp fusion);
  void run();

private:
  using Prologue = function_ref<void(KernelBuilder &)>;

  // Analysis.
  void findReductions();
  bool isKeptShape(Value value) const;
  /// Whether `value` has the shape of what is reduced.
  bool isFullShape(Value value) const;
  int64_t chooseLanes(int64_t innerExtent) const;
  int64_t unroll(int64_t light, int64_t heavy) const {
    return weight > 12 ? heavy : light;
  }
  int64_t grainElements() const {
    return std::max<int64_t>(2048, 65536 / (1 + weight / 2));
  }
  SmallVector<unsigned> dimsOf(Value value) const {
    return llvm::to_vector(llvm::seq<unsigned>(
        0, cast<RankedTensorType>(value.getType()).getRank()));
  }
  static int64_t staticExtent(Value value, ArrayRef<unsigned> group);

  // Helpers of kernels.
  void bindArguments(KernelBuilder &kernel);
  /// The extent of `value`, a tensor of the body, in the entry function.
  Value entryExtent(Value value, unsigned dim);
  Value kernelExtent(ElementEmitter &e, Value value, ArrayRef<unsigned> group);
  /// Indices of `rank` dimensions from one index for each group.
  IndexList spread(ElementEmitter &e, unsigned rank, const Groups &groups,
                   ArrayRef<Index> at);
  /// One index for each of `groups`, of `value`, from their linear index.
  IndexList unravel(ElementEmitter &e, Value linear, Value value,
                    ArrayRef<SmallVector<unsigned>> groups);
  /// Indices of a value of the kept shape, whatever unit dimensions it has.
  IndexList keptIndices(ElementEmitter &e, Value value, ArrayRef<Index> kept);
  /// Runs `body` on vectors of indices that cover [low, high).
  void vectorLoop(ElementEmitter &e, Value low, Value high, int64_t copies,
                  function_ref<void(ArrayRef<Index>)> body);
  void storeAll(KernelBuilder &kernel, ArrayRef<Output> outputs,
                ArrayRef<IndexList> at);

  // Kernels.
  void elementwise(ArrayRef<Output> outputs, Prologue prologue);
  void rows();
  void columns();
  void everything();
  /// The reductions of one level, for each of `kept`; what they give is
  /// remembered.
  void reduceLevel(ElementEmitter &e, ArrayRef<Operation *> level,
                   ArrayRef<IndexList> kept, bool alongLanes, int64_t copies);

  EntryBuilder &entry;
  FusionOp fusion;
  DimGroups dimGroups;
  SmallVector<Output> outputs;
  /// Reductions by level: one needs only those of levels before.
  SmallVector<SmallVector<Operation *>> levels;
  /// All reductions reduce `reducedDims` of operands of one shape.
  bool isUniform = true;
  Value operand;
  SmallVector<unsigned> reducedDims, keptDims;
  Groups reducedGroups, keptGroups;
  int64_t weight = 0;
  int64_t elementBytes = 1;
};

} // namespace

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

  int64_t floats = 0, integers = 0;
  auto count = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
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
    if (isHeavy(&op))
      weight += 12;
    else if (isa<DivOp, SqrtOp, RsqrtOp>(op))
      weight += 3;
    else if (isa<ElementwiseOpInterface>(op))
      weight += 1;
  }
  // Masks of narrow elements are slow before AVX-512: fewer lanes, shorter
  // tails.
  elementBytes = floats ? floats : integers;
  if (!entry.target.features.avx512)
    elementBytes = std::max<int64_t>(elementBytes, 2);
}

void FusionLowering::findReductions() {
  DenseMap<Value, unsigned> depth;
  llvm::SmallSetVector<Operation *, 4> live;
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

int64_t FusionLowering::staticExtent(Value value, ArrayRef<unsigned> group) {
  int64_t size = 1;
  for (unsigned dim : group) {
    int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(extent))
      return extent;
    size *= extent;
  }
  return size;
}

int64_t FusionLowering::chooseLanes(int64_t innerExtent) const {
  int64_t lanes = std::max<int64_t>(1, entry.target.vectorBytes / elementBytes);
  if (ShapedType::isStatic(innerExtent))
    lanes = std::min<int64_t>(
        lanes, llvm::bit_floor(uint64_t(std::max<int64_t>(1, innerExtent))));
  return lanes;
}

//===----------------------------------------------------------------------===//
// Helpers of kernels
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
                                   ArrayRef<unsigned> group) {
  Value size = e.math.constant(1);
  for (unsigned dim : group)
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
                                  ArrayRef<SmallVector<unsigned>> groups) {
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

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

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
  auto entrySize = [&](ArrayRef<SmallVector<unsigned>> groups) {
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
    kernel.launch(entrySize(groups), entry.math.constant(grain));
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
  Value rowGrain = entry.math.max(
      entry.math.constant(1),
      entry.math.floorDiv(
          entry.math.constant(grain),
          entry.math.max(entry.math.constant(1), entrySize(groups.back()))));
  kernel.launch(entrySize(outer), rowGrain);
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

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

void FusionLowering::rows() {
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t innerExtent = staticExtent(operand, reducedGroups.back());
  e.lanes = e.fullLanes = chooseLanes(innerExtent);
  int64_t copies = unroll(4, 2);

  // An expensive operand that an output needs again is kept in the output's
  // row.
  SmallVector<Output> keptOutputs, fullOutputs;
  for (const Output &output : outputs)
    (isFullShape(output.value) ? fullOutputs : keptOutputs).push_back(output);
  DenseMap<Operation *, const Output *> keeps;
  for (const Output &output : fullOutputs) {
    SmallVector<Value> pending{output.value};
    DenseSet<Value> seen;
    bool found = false;
    while (!pending.empty() && !found) {
      Value value = pending.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (!op || isa<ReduceOp, ArgReduceOp>(op))
        continue;
      if (isHeavy(op) && isFullShape(value) &&
          getElementTypeOrSelf(value.getType()) == output.buffer.elementType)
        for (Operation *user : value.getUsers())
          if (isa<ReduceOp>(user) && !keeps.count(user) && !found) {
            keeps[user] = &output;
            found = true;
          }
      llvm::append_range(pending, op->getOperands());
    }
  }

  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value row, ValueRange) {
    IndexList place = unravel(e, row, operand, keptGroups);
    IndexList all = spread(e, type.getRank(), keptGroups, place);
    IndexList kept;
    for (unsigned dim : keptDims)
      kept.push_back(all[dim]);

    for (ArrayRef<Operation *> level : levels) {
      SmallVector<Operation *> plain;
      for (Operation *op : level) {
        auto keep = keeps.find(op);
        if (keep == keeps.end()) {
          plain.push_back(op);
          continue;
        }
        Buffer memory = kernel.capture(keep->second->buffer);
        e.keepOperand = &memory;
        reduceLevel(e, op, kept, /*alongLanes=*/true, copies);
        e.keepOperand = nullptr;
        e.readFrom(op->getOperand(0), memory);
      }
      if (!plain.empty())
        reduceLevel(e, plain, kept, /*alongLanes=*/true, copies);
    }

    for (const Output &output : keptOutputs) {
      IndexList at = keptIndices(e, output.value, kept);
      e.store(e.element(output.value, at), kernel.capture(output.buffer), at);
    }
    if (fullOutputs.empty())
      return SmallVector<Value>();

    // Loops over the reduced dimensions; the innermost by vectors.
    IndexList reducedAt;
    auto walk = [&](auto &&walk, unsigned group) -> void {
      Value size = kernelExtent(e, operand, reducedGroups[group]);
      if (group + 1 < reducedGroups.size()) {
        e.loop(e.math.constant(0), size, 1, {}, [&](Value index, ValueRange) {
          reducedAt.push_back(e.uniform(index));
          walk(walk, group + 1);
          reducedAt.pop_back();
          return SmallVector<Value>();
        });
        return;
      }
      vectorLoop(
          e, e.math.constant(0), size, copies, [&](ArrayRef<Index> vectors) {
            SmallVector<IndexList> at;
            for (const Index &index : vectors) {
              at.push_back(all);
              for (auto [group, value] : llvm::zip(reducedGroups, reducedAt))
                at.back()[group.back()] = value;
              at.back()[reducedGroups.back().back()] = index;
            }
            storeAll(kernel, fullOutputs, at);
          });
    };
    walk(walk, 0);
    e.forgetReads();
    return SmallVector<Value>();
  });

  Value rowCount = entry.math.constant(1), rowSize = entry.math.constant(1);
  for (unsigned dim : keptDims)
    rowCount = entry.math.mul(rowCount, entryExtent(operand, dim));
  for (unsigned dim : reducedDims)
    rowSize = entry.math.mul(rowSize, entryExtent(operand, dim));
  Value one = entry.math.constant(1);
  Value grain = entry.math.max(
      one, entry.math.floorDiv(entry.math.constant(grainElements()),
                               entry.math.max(one, rowSize)));
  kernel.launch(rowCount, grain);
}

void FusionLowering::columns() {
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  auto type = cast<RankedTensorType>(operand.getType());
  ArrayRef<unsigned> inner = keptGroups.back();
  e.lanes = e.fullLanes = chooseLanes(staticExtent(operand, inner));
  int64_t copies = unroll(8, 2);
  int64_t tile = e.lanes * copies;

  SmallVector<Output> keptOutputs, fullOutputs;
  for (const Output &output : outputs)
    (isFullShape(output.value) ? fullOutputs : keptOutputs).push_back(output);

  Value innerSize = kernelExtent(e, operand, inner);
  Value tiles = e.math.ceilDiv(innerSize, tile);
  auto outer = ArrayRef(keptGroups).drop_back();
  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value number, ValueRange) {
    IndexList place =
        unravel(e, e.math.floorDiv(number, tiles), operand, outer);
    Value start =
        e.math.mul(e.math.remainder(number, tiles), e.math.constant(tile));

    auto columnsAt = [&](ArrayRef<Index> vectors) {
      SmallVector<IndexList> all, kept;
      for (const Index &index : vectors) {
        IndexList at(place);
        at.push_back(index);
        all.push_back(spread(e, type.getRank(), keptGroups, at));
        kept.emplace_back();
        for (unsigned dim : keptDims)
          kept.back().push_back(all.back()[dim]);
      }
      for (ArrayRef<Operation *> level : levels)
        reduceLevel(e, level, kept, /*alongLanes=*/false, 1);
      for (const Output &output : keptOutputs)
        for (const IndexList &each : kept) {
          IndexList at = keptIndices(e, output.value, each);
          e.store(e.element(output.value, at), kernel.capture(output.buffer),
                  at);
        }
      if (fullOutputs.empty())
        return;
      auto walk = [&](auto &&walk, unsigned group) -> void {
        if (group == reducedGroups.size())
          return storeAll(kernel, fullOutputs, all);
        Value size = kernelExtent(e, operand, reducedGroups[group]);
        e.loop(e.math.constant(0), size, 1, {}, [&](Value index, ValueRange) {
          for (IndexList &at : all)
            at[reducedGroups[group].back()] = e.uniform(index);
          walk(walk, group + 1);
          return SmallVector<Value>();
        });
      };
      walk(walk, 0);
    };

    Value end = e.math.add(start, e.math.constant(tile));
    auto whole = [&] {
      SmallVector<Index> vectors;
      for (int64_t copy = 0; copy < copies; ++copy)
        vectors.push_back(
            e.contiguous(e.math.add(start, e.math.constant(copy * e.lanes))));
      columnsAt(vectors);
    };
    auto part = [&] {
      e.loop(start, innerSize, e.lanes, {}, [&](Value index, ValueRange) {
        ElementEmitter::Where where(
            e, e.lanes > 1 ? e.lanesBelow(index, innerSize) : Value());
        columnsAt(e.contiguous(index));
        return SmallVector<Value>();
      });
    };
    int64_t extent = staticExtent(operand, inner);
    if (ShapedType::isStatic(extent) && extent % tile == 0)
      whole();
    else
      e.branch(arith::CmpIOp::create(e.builder, e.loc,
                                     arith::CmpIPredicate::sle, end, innerSize),
               whole, part);
    return SmallVector<Value>();
  });

  Value count = entry.math.constant(1), innerCount = entry.math.constant(1);
  for (ArrayRef<unsigned> group : outer)
    for (unsigned dim : group)
      count = entry.math.mul(count, entryExtent(operand, dim));
  for (unsigned dim : inner)
    innerCount = entry.math.mul(innerCount, entryExtent(operand, dim));
  count = entry.math.mul(count, entry.math.ceilDiv(innerCount, tile));
  Value work = entry.math.constant(tile);
  for (unsigned dim : reducedDims)
    work = entry.math.mul(work, entryExtent(operand, dim));
  Value one = entry.math.constant(1);
  Value grain = entry.math.max(
      one, entry.math.floorDiv(entry.math.constant(grainElements()),
                               entry.math.max(one, work)));
  kernel.launch(count, grain);
}

//===----------------------------------------------------------------------===//
// Everything reduced
//===----------------------------------------------------------------------===//

void FusionLowering::everything() {
  int64_t innerExtent = staticExtent(operand, reducedGroups.back());
  int64_t lanes = chooseLanes(innerExtent);
  int64_t copies = unroll(4, 2);
  bool inOne = ShapedType::isStatic(staticExtent(operand, reducedDims)) &&
               staticExtent(operand, reducedDims) <= 8192;
  if (inOne)
    return rows();

  // Where the blocks of each reduction left their accumulators.
  SmallVector<std::pair<Operation *, SmallVector<Buffer>>> partials;
  auto recall = [&](KernelBuilder &kernel) {
    ElementEmitter &e = kernel.emitter;
    for (auto &[op, buffers] : partials) {
      int64_t outer = std::exchange(e.lanes, partialCount);
      SmallVector<Value> accumulators;
      for (const Buffer &buffer : buffers)
        accumulators.push_back(
            e.read(kernel.capture(buffer), e.contiguous(e.math.constant(0))));
      accumulators = e.combineLanes(op, accumulators);
      e.lanes = outer;
      e.remember(op->getResult(0), {}, e.finishReduction(op, accumulators));
    }
  };

  for (ArrayRef<Operation *> level : levels) {
    KernelBuilder kernel(entry, fusion);
    ElementEmitter &e = kernel.emitter;
    bindArguments(kernel);
    e.fullLanes = e.lanes = lanes;
    recall(kernel);

    // The first group in blocks; whole vectors if it is the only one.
    Value size = kernelExtent(e, operand, reducedGroups.front());
    Value block = e.math.ceilDiv(size, partialCount);
    if (reducedGroups.size() == 1) {
      Value stride = e.math.constant(lanes * copies);
      block = e.math.mul(e.math.ceilDiv(block, lanes * copies), stride);
    }
    SmallVector<std::pair<Operation *, SmallVector<Buffer>>> next;
    for (Operation *op : level) {
      next.push_back({op, {}});
      for (Type type : ElementEmitter::accumulatorTypes(op)) {
        Type memory = type.isInteger(1) ? Type(e.builder.getI8Type()) : type;
        next.back().second.push_back({entry.allocate(memory, partialCount),
                                      type,
                                      {entry.math.constant(partialCount)},
                                      {entry.math.constant(1)}});
      }
    }
    e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value number, ValueRange) {
      Value low = e.math.min(e.math.mul(number, block), size);
      Value high = e.math.min(e.math.add(low, block), size);
      ReductionNest nest{llvm::to_vector(level), reducedGroups, copies};
      SmallVector<Value> accumulators =
          e.accumulate(nest, IndexList{}, /*alongLanes=*/true, low, high);
      auto value = accumulators.begin();
      for (auto &[op, buffers] : next)
        for (const Buffer &buffer : buffers)
          e.store(*value++, kernel.capture(buffer), e.uniform(number));
      return SmallVector<Value>();
    });
    kernel.launch(entry.math.constant(partialCount), entry.math.constant(1));
    partials.append(std::make_move_iterator(next.begin()),
                    std::make_move_iterator(next.end()));
  }

  // The rest, by shape.
  SmallVector<Output> single;
  for (const Output &output : outputs) {
    if (isKeptShape(output.value) && !isFullShape(output.value))
      single.push_back(output);
    else
      elementwise(output, recall);
  }
  if (single.empty())
    return;
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  recall(kernel);
  for (const Output &output : single) {
    IndexList at = keptIndices(e, output.value, {});
    e.store(e.element(output.value, at), kernel.capture(output.buffer), at);
  }
  kernel.launch(entry.math.constant(1), entry.math.constant(1));
}

//===----------------------------------------------------------------------===//

Value FusionLowering::entryExtent(Value value, unsigned dim) {
  return entry.extent(value, dim);
}

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
