//===- ReductionLoops.cpp - Loop nests of reductions ----------------------===//
//
// Sums of floats are accurate and the same on every run: many lanes, sequential
// runs of at most `runLength` steps, and everything else combined pairwise or
// run by run. The order depends on extents and vector width alone.
//
//===----------------------------------------------------------------------===//

#include "ElementEmitter.h"

#include "wok/IR/Scalar.h"
#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace wok;

/// Additions one after the other before a partial sum starts anew.
static constexpr int64_t runLength = 64;

static Type operandElementType(Operation *op) {
  return getElementTypeOrSelf(op->getOperand(0).getType());
}

static ReduceKind kindOf(ArgReduceOp op) {
  return op.getKind() == ArgReduceKind::Max ? ReduceKind::Max : ReduceKind::Min;
}

SmallVector<Type> ElementEmitter::accumulatorTypes(Operation *op) {
  Type type = computeType(operandElementType(op));
  if (isa<ReduceOp>(op))
    return {type};
  return {type, IntegerType::get(op->getContext(), 64)};
}

SmallVector<Value> ElementEmitter::neutralAccumulators(Operation *op) {
  Type elementType = operandElementType(op);
  SmallVector<Type> types = accumulatorTypes(op);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return {buildNeutral(builder, loc, reduce.getKind(), vectorOf(types[0]),
                         elementType)};
  return {buildNeutral(builder, loc, kindOf(cast<ArgReduceOp>(op)),
                       vectorOf(types[0]), elementType),
          buildConstant(builder, loc, vectorOf(types[1]),
                        std::numeric_limits<int64_t>::max())};
}

/// Combines accumulators of `op` of any shape.
static SmallVector<Value> combine(OpBuilder &builder, Operation *op,
                                  ValueRange a, ValueRange b) {
  Location loc = op->getLoc();
  Type elementType = operandElementType(op);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return {
        buildCombine(builder, loc, reduce.getKind(), a[0], b[0], elementType)};

  // The better value; of equals, and of two NaNs, the smaller index.
  bool isMax = cast<ArgReduceOp>(op).getKind() == ArgReduceKind::Max;
  auto better = isMax ? ComparePredicate::Gt : ComparePredicate::Lt;
  Value wins = buildCompare(builder, loc, better, b[0], a[0], elementType);
  Value ties =
      buildCompare(builder, loc, ComparePredicate::Eq, b[0], a[0], elementType);
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(builder, loc, x, y);
  };
  auto either = [&](Value x, Value y) -> Value {
    return arith::OrIOp::create(builder, loc, x, y);
  };
  if (isa<FloatType>(elementType)) {
    using Predicate = arith::CmpFPredicate;
    Value nanA =
        arith::CmpFOp::create(builder, loc, Predicate::UNO, a[0], a[0]);
    Value nanB =
        arith::CmpFOp::create(builder, loc, Predicate::UNO, b[0], b[0]);
    Value ordered =
        arith::CmpFOp::create(builder, loc, Predicate::ORD, a[0], a[0]);
    wins = either(wins, both(nanB, ordered));
    ties = either(ties, both(nanA, nanB));
  }
  Value earlier = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        b[1], a[1]);
  Value take = either(wins, both(ties, earlier));
  return {arith::SelectOp::create(builder, loc, take, b[0], a[0]),
          arith::SelectOp::create(builder, loc, take, b[1], a[1])};
}

Value ElementEmitter::finishReduction(Operation *op, ValueRange accumulators) {
  if (isa<ReduceOp>(op))
    return buildRound(builder, loc, accumulators[0], operandElementType(op));
  Type type = accumulators[1].getType();
  Value none =
      buildConstant(builder, loc, type, std::numeric_limits<int64_t>::max());
  Value isNone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       accumulators[1], none);
  Value zero = buildConstant(builder, loc, type, int64_t(0));
  return arith::SelectOp::create(builder, loc, isNone, zero, accumulators[1]);
}

SmallVector<Value> ElementEmitter::combineLanes(Operation *op,
                                                ValueRange accumulators) {
  SmallVector<Value> current = llvm::to_vector(accumulators);
  auto type = dyn_cast<VectorType>(current.front().getType());
  if (!type)
    return current;
  for (int64_t width = type.getNumElements() / 2; width >= 1; width /= 2) {
    auto part = [&](int64_t from) {
      auto lanes = llvm::to_vector(llvm::seq(from, from + width));
      SmallVector<Value> values;
      for (Value value : current)
        values.push_back(
            vector::ShuffleOp::create(builder, loc, value, value, lanes));
      return values;
    };
    SmallVector<Value> lower = part(0), upper = part(width);
    current = combine(builder, op, lower, upper);
  }
  for (Value &value : current)
    value = vector::ExtractOp::create(builder, loc, value, 0);
  return current;
}

/// The state of one `accumulate`: accumulators travel as one flat list.
class ElementEmitter::ReductionLoops {
public:
  ReductionLoops(ElementEmitter &emitter, const ReductionNest &nest,
                 ArrayRef<IndexList> kept, bool alongLanes)
      : e(emitter), nest(nest), kept(kept), alongLanes(alongLanes),
        copies(alongLanes ? nest.unroll : kept.size()) {
    for (Operation *op : nest.ops) {
      sizes.push_back(accumulatorTypes(op).size());
      width += sizes.back();
      auto reduce = dyn_cast<ReduceOp>(op);
      sums |= reduce && reduce.getKind() == ReduceKind::Sum &&
              isa<FloatType>(operandElementType(op));
    }
    rank = cast<RankedTensorType>(nest.ops.front()->getOperand(0).getType())
               .getRank();
    for (ArrayRef<unsigned> group : nest.groups)
      reduced.append(group.begin(), group.end());
  }

  SmallVector<Value> run(Value low, Value high);

private:
  using Values = SmallVector<Value>;

  Values neutral() {
    Values result;
    for (int64_t copy = 0; copy < copies; ++copy)
      for (Operation *op : nest.ops)
        result.append(e.neutralAccumulators(op));
    return result;
  }

  /// Combines two lists, place by place.
  Values combineAll(ValueRange a, ValueRange b) {
    Values result;
    for (unsigned from = 0, op = 0; from < a.size();
         from += sizes[op], op = (op + 1) % sizes.size())
      result.append(combine(e.builder, nest.ops[op], a.slice(from, sizes[op]),
                            b.slice(from, sizes[op])));
    return result;
  }

  Value groupExtent(unsigned group) {
    Value extent = e.math.constant(1);
    for (unsigned dim : nest.groups[group])
      extent = e.math.mul(extent, e.extent(nest.ops[0]->getOperand(0), dim));
    return extent;
  }

  /// One list of operand indices from kept and walked ones.
  IndexList indices(const IndexList &keptAt) {
    IndexList at;
    unsigned next = 0;
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (!llvm::is_contained(reduced, dim)) {
        at.push_back(keptAt[next++]);
        continue;
      }
      at.push_back(e.constantIndex(0));
      for (auto [group, index] : llvm::zip(nest.groups, walked))
        if (group.back() == dim)
          at.back() = index;
    }
    return at;
  }

  /// Takes one element (or vector) into the accumulators of one copy.
  Values take(ValueRange accumulators, const IndexList &keptAt) {
    IndexList at = indices(keptAt);
    Values result;
    unsigned from = 0;
    for (auto [op, size] : llvm::zip(nest.ops, sizes)) {
      Values found{e.vectorElement(op->getOperand(0), at)};
      if (e.keepOperand)
        e.store(found.front(), *e.keepOperand, at);
      if (auto arg = dyn_cast<ArgReduceOp>(op))
        found.push_back(e.splat(e.asInteger(at[arg.getDim()])));
      result.append(
          combine(e.builder, op, accumulators.slice(from, size), found));
      from += size;
    }
    return result;
  }

  Values walk(unsigned group, ValueRange accumulators, Value low, Value high);
  Values inner(unsigned group, ValueRange accumulators, Value low, Value high);

  ElementEmitter &e;
  const ReductionNest &nest;
  ArrayRef<IndexList> kept;
  bool alongLanes;
  int64_t copies;
  unsigned width = 0, rank = 0;
  bool sums = false;
  SmallVector<unsigned> sizes, reduced;
  IndexList walked;
};

SmallVector<Value> ElementEmitter::ReductionLoops::walk(unsigned group,
                                                        ValueRange accumulators,
                                                        Value low, Value high) {
  bool isInner = group + 1 == nest.groups.size();
  int64_t run = isInner ? runLength : 1;
  if (isInner && alongLanes)
    run *= e.lanes * nest.unroll;

  // Short enough for one run, or no matter.
  auto from = constantValue(low), to = constantValue(high);
  bool isShort = from && to && *to - *from <= run;
  if (isInner && (!sums || isShort))
    return inner(group, accumulators, low, high);

  return e.loop(
      low, high, run, accumulators, [&](Value index, ValueRange outer) {
        auto fresh = [&](function_ref<Values(ValueRange)> body) {
          if (!sums)
            return body(outer);
          return combineAll(outer, body(neutral()));
        };
        if (isInner) {
          Value end = e.math.min(e.math.add(index, e.math.constant(run)), high);
          return fresh([&](ValueRange local) {
            return inner(group, local, index, end);
          });
        }
        walked.push_back(e.uniform(index));
        Values result = fresh([&](ValueRange local) {
          return walk(group + 1, local, e.math.constant(0),
                      groupExtent(group + 1));
        });
        walked.pop_back();
        return result;
      });
}

SmallVector<Value>
ElementEmitter::ReductionLoops::inner(unsigned group, ValueRange accumulators,
                                      Value low, Value high) {
  auto step = [&](Index index, ValueRange of, const IndexList &keptAt) {
    walked.push_back(index);
    Values result = take(of, keptAt);
    walked.pop_back();
    return result;
  };

  if (!alongLanes)
    return e.loop(low, high, 1, accumulators, [&](Value index, ValueRange of) {
      Values result;
      for (int64_t copy = 0; copy < copies; ++copy)
        result.append(
            step(e.uniform(index), of.slice(copy * width, width), kept[copy]));
      return result;
    });

  int64_t stride = e.lanes * nest.unroll;
  Value whole = e.math.roundDown(e.math.sub(high, low), stride);
  Value middle = e.math.add(low, whole);
  Values result = e.loop(
      low, middle, stride, accumulators, [&](Value index, ValueRange of) {
        Values next;
        for (int64_t copy = 0; copy < copies; ++copy) {
          Value at = e.math.add(index, e.math.constant(copy * e.lanes));
          next.append(step(e.contiguous(at), of.slice(copy * width, width),
                           kept.front()));
        }
        return next;
      });
  auto from = constantValue(middle), to = constantValue(high);
  if (from && to && *from == *to)
    return result;

  // What is left, into the accumulators of the first copy.
  ArrayRef<Value> first = ArrayRef(result).take_front(width);
  Values rest =
      e.loop(middle, high, e.lanes, first, [&](Value index, ValueRange of) {
        if (e.lanes == 1)
          return step(e.contiguous(index), of, kept.front());
        Value wanted = e.lanesBelow(index, high);
        Where where(e, wanted);
        Values next = step(e.contiguous(index), of, kept.front());
        for (auto [value, old] : llvm::zip(next, of))
          value = arith::SelectOp::create(e.builder, e.loc, wanted, value, old);
        return next;
      });
  llvm::copy(rest, result.begin());
  return result;
}

SmallVector<Value> ElementEmitter::ReductionLoops::run(Value low, Value high) {
  Values all = walk(0, neutral(), low ? low : e.math.constant(0),
                    high ? high : groupExtent(0));
  if (!alongLanes)
    return all;

  // Copies pairwise, then lanes.
  for (int64_t count = copies; count > 1; count /= 2) {
    Values half;
    for (int64_t copy = 0; copy < count / 2; ++copy) {
      auto of = [&](int64_t which) {
        return ValueRange(all).slice(which * width, width);
      };
      half.append(combineAll(of(copy), of(copy + count / 2)));
    }
    all = std::move(half);
  }
  Values result;
  unsigned from = 0;
  for (auto [op, size] : llvm::zip(nest.ops, sizes)) {
    result.append(e.combineLanes(op, ValueRange(all).slice(from, size)));
    from += size;
  }
  return result;
}

SmallVector<Value> ElementEmitter::accumulate(const ReductionNest &nest,
                                              ArrayRef<IndexList> kept,
                                              bool alongLanes, Value low,
                                              Value high) {
  return ReductionLoops(*this, nest, kept, alongLanes).run(low, high);
}

Value ElementEmitter::reduction(Operation *op, ArrayRef<Index> at) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> dims;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    dims = llvm::to_vector(reduce.getDims());
  else
    dims.push_back(cast<ArgReduceOp>(op).getDim());
  if (dims.empty())
    return element(op->getOperand(0), at);

  ReductionNest nest;
  nest.ops.push_back(op);
  for (int64_t dim : dims)
    nest.groups.push_back({static_cast<unsigned>(dim)});
  bool isUniform =
      llvm::all_of(at, [](auto &index) { return index.isUniform(); });
  bool alongLanes = isUniform && dims.back() == type.getRank() - 1;

  // With uniform indices, lanes are free: along the innermost dimension, or
  // none.
  int64_t outerLanes = lanes;
  if (isUniform)
    lanes = alongLanes ? fullLanes : 1;
  IndexList kept(at);
  SmallVector<Value> accumulators = accumulate(nest, kept, alongLanes);
  Value result = finishReduction(op, accumulators);
  lanes = outerLanes;
  return result;
}
