//===- RandomGraphTest.cpp - Random graphs of exact operations --*- C++ -*-===//
//
// Graphs of operations whose results are exact, so that any difference is a
// fault. What differs depends on the seed alone.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "wok/Runtime/Parallel.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using Dims = std::vector<int64_t>;

namespace {

/// Larger values are not used any further: the reference is slow.
constexpr int64_t maxElements = 20000;

class RandomGraphTest : public TargetTest {
public:
  void makeGraph(unsigned seed);
  /// The inputs that the graph was made for.
  std::vector<Tensor> makeInputs() const;
  /// Other extents for the same code; nothing where the graph has no symbols or
  /// an extent would be negative.
  std::optional<std::vector<Tensor>> makeOtherInputs();

private:
  size_t below(size_t limit) { return random() % limit; }
  template <class T>
  T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  ValueId any() { return values[below(values.size())]; }
  /// The extents of `value` on the inputs.
  Dims extentsOf(ValueId value) const;
  int64_t randomExtent();
  void addInput(DType dtype, std::vector<ExtentId> extents, Dims shape,
                Fill::Kind kind);
  void addInputs();
  /// Appends one operation if it can.
  void step();
  GraphBuilder::Result elementwise(ValueId a);
  GraphBuilder::Result division(ValueId a);
  GraphBuilder::Result movement(ValueId a);
  GraphBuilder::Result slice(ValueId a);
  GraphBuilder::Result reshape(ValueId a);
  GraphBuilder::Result gather(ValueId a);
  GraphBuilder::Result reduction(ValueId a);
  GraphBuilder::Result contraction(ValueId a);
  GraphBuilder::Result generated();
  /// Whole numbers from -8 to 8 (or NaN): sums of them are exact.
  ValueId tamed(ValueId a);
  ValueId filledLike(ValueId a, int64_t value) {
    return b.filled(b.dtype(a), value, std::vector(b.type(a).extents)).value();
  }
  /// A value that can be combined with `a`: cast and broadcast, or `a`.
  ValueId partner(ValueId a);

  struct Input {
    DType dtype;
    Dims shape;
    Fill::Kind kind;
  };
  std::mt19937 random;
  std::vector<ValueId> values, indexInputs;
  std::vector<Input> inputs;
  /// What symbols may become in another run of the same code: all that are
  /// equal now stay equal.
  std::vector<int64_t> base;
  bool isSmall = false;
};

Dims RandomGraphTest::extentsOf(ValueId value) const {
  std::vector<int64_t> all = evaluateExtents(graph, makeInputs());
  Dims result;
  for (ExtentId id : b.type(value).extents)
    result.push_back(all[id]);
  return result;
}

int64_t RandomGraphTest::randomExtent() {
  if (below(30) == 0)
    return 0;
  return oneOf<int64_t>(
      {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 40, 64, 65, 100});
}

void RandomGraphTest::addInput(DType dtype, std::vector<ExtentId> extents,
                               Dims shape, Fill::Kind kind) {
  values.push_back(graph.addInput({dtype, std::move(extents)}, below(3) == 0));
  inputs.push_back({dtype, std::move(shape), kind});
}

void RandomGraphTest::addInputs() {
  size_t rank = 1 + below(3);
  bool isSymbolic = below(2);
  isSmall = below(2);
  Fill::Kind kind = isSmall ? Fill::Small : Fill::Edges;
  base.clear();
  for (size_t i = 0; i < rank; ++i)
    base.push_back(randomExtent());
  // Enough for several threads, now and then.
  if (rank == 2 && below(12) == 0)
    base = {oneOf<int64_t>({3, 130, 1000}), oneOf<int64_t>({97, 256, 1100})};
  while (countOf(base) > 4 * maxElements)
    base.back() = (base.back() + 1) / 2;
  std::vector<ExtentId> ids;
  for (size_t i = 0; i < rank; ++i)
    ids.push_back(isSymbolic ? graph.symbol(0, static_cast<uint32_t>(i))
                             : graph.constant(base[i]));

  DType dtype = allDTypes[below(std::size(allDTypes))];
  for (int i = 0; i < 3; ++i) {
    std::vector<ExtentId> extents = ids;
    Dims shape = base;
    if (i == 1 && below(2)) {
      extents.erase(extents.begin());
      shape.erase(shape.begin());
    } else if (i == 2 && below(2)) {
      extents.back() = graph.constant(1);
      shape.back() = 1;
    }
    addInput(below(4) ? dtype : allDTypes[below(std::size(allDTypes))], extents,
             shape, kind);
  }
  indexInputs.clear();
  if (below(2)) {
    Dims shape = {oneOf<int64_t>({1, 3, 8, 17})};
    if (below(3) == 0)
      shape.push_back(2);
    if (below(5) == 0)
      shape.clear();
    indexInputs.push_back(static_cast<ValueId>(graph.allNodes().size()));
    addInput(oneOf({DType::I32, DType::I64}), b.extents(shape), shape,
             below(8) ? Fill::Small : Fill::Edges);
  }
}

ValueId RandomGraphTest::partner(ValueId a) {
  ValueId other = any();
  auto cast = b.cast(other, b.dtype(a));
  auto wide = b.broadcastTo(*cast, std::vector(b.type(a).extents));
  return wide ? *wide : a;
}

ValueId RandomGraphTest::tamed(ValueId a) {
  if (isFloat(b.dtype(a)))
    a = b.unary("round", a).value();
  a = b.binary("min", a, filledLike(a, 8)).value();
  return b.binary("max", a, filledLike(a, b.dtype(a) == DType::U8 ? 0 : -8))
      .value();
}

GraphBuilder::Result RandomGraphTest::division(ValueId a) {
  ValueId divisor = partner(a);
  if (below(6))
    divisor = b.binary("max", b.unary("abs", divisor).value(), filledLike(a, 1))
                  .value();
  return b.binary(oneOf({"div", "floor_div", "remainder", "fmod"}), a, divisor);
}

GraphBuilder::Result RandomGraphTest::elementwise(ValueId a) {
  DType dtype = b.dtype(a);
  if (dtype == DType::I1) {
    if (below(4) == 0)
      return b.cast(a, allDTypes[below(std::size(allDTypes))]);
    if (below(2))
      return b.unary("not", a);
    return b.binary(oneOf({"and", "or", "xor"}), a, partner(a));
  }
  switch (below(7)) {
  case 0:
    return b.unary(oneOf({"neg", "abs", "sign"}), a);
  case 1: {
    ValueId other = partner(a);
    ValueId condition =
        b.compare(oneOf({"eq", "ne", "lt", "le", "gt", "ge"}), a, other)
            .value();
    return below(2) ? condition : b.select(condition, a, other);
  }
  case 2:
    return b.cast(a, allDTypes[below(std::size(allDTypes))]);
  case 3:
    if (isFloat(dtype))
      return b.unary(oneOf({"floor", "ceil", "round", "trunc", "sqrt"}), a);
    if (below(2))
      return division(a);
    return b.binary(oneOf({"and", "or", "xor", "shl", "shr"}), a, partner(a));
  case 4:
    if (isFloat(dtype))
      return b.fma(a, partner(a), partner(a));
    return b.unary("not", a);
  default:
    return b.binary(oneOf({"add", "sub", "mul", "min", "max"}), a, partner(a));
  }
}

/// A part of each dimension, perhaps from the other end, perhaps with gaps.
GraphBuilder::Result RandomGraphTest::slice(ValueId a) {
  std::vector<ExtentId> sizes = b.type(a).extents;
  size_t rank = sizes.size();
  std::vector<ExtentId> offsets(rank, graph.constant(0));
  Dims strides(rank, 1), now = extentsOf(a);
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t known = graph.constantValue(sizes[dim]);
    switch (below(4)) {
    case 0:
      offsets[dim] =
          graph.binary(ExtentExpr::Kind::Sub, sizes[dim], graph.constant(1));
      strides[dim] = -1;
      break;
    case 1:
      if (now[dim] == 0)
        break;
      offsets[dim] = graph.constant(1);
      sizes[dim] =
          graph.binary(ExtentExpr::Kind::Sub, sizes[dim], graph.constant(1));
      break;
    case 2: {
      if (known <= 0)
        break;
      int64_t stride = 1 + static_cast<int64_t>(below(3));
      int64_t first = static_cast<int64_t>(below(known));
      bool backwards = below(2);
      int64_t room = backwards ? first : known - 1 - first;
      int64_t size = static_cast<int64_t>(below(room / stride + 2));
      offsets[dim] = graph.constant(first);
      sizes[dim] = graph.constant(size);
      strides[dim] = backwards ? -stride : stride;
      break;
    }
    default:
      break;
    }
  }
  return b.slice(a, offsets, sizes, strides);
}

GraphBuilder::Result RandomGraphTest::reshape(ValueId a) {
  std::vector<ExtentId> extents = b.type(a).extents;
  switch (below(3)) {
  case 0:
    return b.reshape(a, std::vector{b.elementCount(extents)});
  case 1:
    extents.insert(extents.begin() + below(extents.size() + 1),
                   graph.constant(1));
    return b.reshape(a, extents);
  default: {
    // Splits or joins two dimensions.
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      int64_t known = graph.constantValue(extents[dim]);
      if (known > 0 && known % 4 == 0) {
        extents[dim] = graph.constant(known / 4);
        extents.insert(extents.begin() + dim + below(2), graph.constant(4));
        return b.reshape(a, extents);
      }
    }
    if (extents.size() < 2)
      return std::nullopt;
    size_t dim = below(extents.size() - 1);
    extents[dim] =
        graph.binary(ExtentExpr::Kind::Mul, extents[dim], extents[dim + 1]);
    extents.erase(extents.begin() + dim + 1);
    return b.reshape(a, extents);
  }
  }
}

GraphBuilder::Result RandomGraphTest::gather(ValueId a) {
  if (b.rank(a) == 0 || indexInputs.empty())
    return std::nullopt;
  return b.gather(a, indexInputs[below(indexInputs.size())],
                  static_cast<int64_t>(below(b.rank(a))));
}

GraphBuilder::Result RandomGraphTest::movement(ValueId a) {
  size_t rank = b.rank(a);
  switch (below(7)) {
  case 0: {
    Dims permutation(rank);
    for (size_t i = 0; i < rank; ++i)
      permutation[i] = static_cast<int64_t>(i);
    std::shuffle(permutation.begin(), permutation.end(), random);
    return b.transpose(a, permutation);
  }
  case 1:
  case 2:
    return slice(a);
  case 3:
    return reshape(a);
  case 4: {
    if (rank == 0)
      return std::nullopt;
    std::vector<ValueId> parts = {a, partner(a)};
    if (below(3) == 0)
      parts.push_back(parts[below(2)]);
    return b.concat(parts, static_cast<int64_t>(below(rank)));
  }
  case 5:
    return gather(a);
  default: {
    Dims low(rank, 0), high(rank, 0);
    for (size_t i = 0; i < rank; ++i) {
      low[i] = static_cast<int64_t>(below(3));
      high[i] = static_cast<int64_t>(below(3));
    }
    return b.pad(a, b.constant(b.dtype(a), int64_t{1}), low, high);
  }
  }
}

GraphBuilder::Result RandomGraphTest::reduction(ValueId a) {
  size_t rank = b.rank(a);
  if (rank == 0)
    return std::nullopt;
  DType dtype = b.dtype(a);
  Dims dims, kept;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    (below(2) ? dims : kept).push_back(i);
  if (dims.empty())
    return std::nullopt;
  GraphBuilder::Result reduced;
  if (dtype == DType::I1) {
    reduced = b.reduce(oneOf({"any", "all"}), a, dims);
  } else if (below(5) == 0) {
    int64_t dim = dims[0];
    if (extentsOf(a)[dim] == 0)
      return std::nullopt;
    return b.argReduce(oneOf({"min", "max"}), a, dim);
  } else if (!isFloat(dtype)) {
    reduced = b.reduce(oneOf({"min", "max", "sum", "prod"}), a, dims);
  } else if (isSmall && below(2)) {
    reduced = b.reduce("sum", tamed(a), dims);
  } else {
    reduced = b.reduce(oneOf({"min", "max"}), a, dims);
  }
  // The builder refuses extrema of nothing.
  if (!reduced || below(2))
    return reduced;
  // And back over the rows, as a softmax does.
  ValueId wide =
      b.broadcast(*reduced, std::vector(b.type(a).extents), kept).value();
  return dtype == DType::I1 ? b.binary("xor", a, wide)
                            : b.binary("max", a, wide);
}

GraphBuilder::Result RandomGraphTest::contraction(ValueId a) {
  size_t rank = b.rank(a);
  DType dtype = b.dtype(a);
  if (rank < 2 || dtype == DType::I1 || (isFloat(dtype) && !isSmall))
    return std::nullopt;
  ValueId other = partner(a);
  if (isFloat(dtype)) {
    a = tamed(a);
    other = tamed(other);
  }
  // x · yᵗ or xᵗ · y.
  return below(2) ? b.contract(a, other, false, true)
                  : b.contract(a, other, true, false);
}

GraphBuilder::Result RandomGraphTest::generated() {
  std::vector<ExtentId> extents = b.type(any()).extents;
  DType dtype = allDTypes[1 + below(std::size(allDTypes) - 1)];
  if (extents.empty() || below(3) == 0)
    return b.filled(dtype, static_cast<int64_t>(below(4)), extents);
  return b.iota(dtype, extents, static_cast<int64_t>(below(extents.size())));
}

void RandomGraphTest::step() {
  ValueId a = below(2) ? values.back() : any();
  size_t choice = below(24);
  GraphBuilder::Result result = choice < 13   ? elementwise(a)
                                : choice < 18 ? movement(a)
                                : choice < 22 ? reduction(a)
                                : choice < 23 ? contraction(a)
                                              : generated();
  if (result && countOf(extentsOf(*result)) <= maxElements)
    values.push_back(*result);
}

void RandomGraphTest::makeGraph(unsigned seed) {
  reset();
  random.seed(seed);
  values.clear();
  inputs.clear();
  addInputs();
  size_t steps = 2 + below(14);
  for (size_t i = 0; i < steps; ++i)
    step();
  graph.outputs = {values.back()};
  for (size_t i = below(4); i > 0; --i)
    graph.outputs.push_back(any());
}

std::vector<Tensor> RandomGraphTest::makeInputs() const {
  std::vector<Tensor> result;
  for (const Input &input : inputs)
    result.push_back(makeTensor(input.dtype, input.shape, input.kind,
                                static_cast<unsigned>(7 * result.size() + 1)));
  return result;
}

std::optional<std::vector<Tensor>> RandomGraphTest::makeOtherInputs() {
  if (graph.allSymbols().empty())
    return std::nullopt;
  std::vector<Input> before = inputs;
  Dims other;
  for (size_t i = 0; i < base.size(); ++i)
    other.push_back(randomExtent());
  while (countOf(other) > maxElements)
    other.back() /= 2;
  for (size_t i = 0; i < 3; ++i) {
    // Shapes are the base's, without the first or with 1 for the last.
    Dims &shape = inputs[i].shape;
    bool isUnit = i == 2 && b.type(2).extents.back() == graph.constant(1);
    Dims replaced(other.end() - shape.size(), other.end());
    if (isUnit)
      replaced.back() = 1;
    shape = replaced;
  }
  std::vector<Tensor> result = makeInputs();
  std::vector<int64_t> all = evaluateExtents(graph, result);
  bool isLegal = true;
  for (const Node &node : graph.allNodes()) {
    int64_t count = 1;
    for (ExtentId id : node.type.extents) {
      isLegal &= all[id] >= 0 && all[id] <= maxElements;
      count *= std::clamp<int64_t>(all[id], 0, maxElements);
    }
    isLegal &= count <= 4 * maxElements;
    if (node.op == "wok.arg_reduce")
      for (ExtentId id : graph.type(node.operands[0]).extents)
        isLegal &= all[id] > 0;
  }
  inputs = before;
  if (!isLegal)
    return std::nullopt;
  return result;
}

bool equalBits(const Tensor &a, const Tensor &b) {
  return a.elements.size() == b.elements.size() &&
         (a.elements.empty() ||
          std::memcmp(a.elements.data(), b.elements.data(),
                      a.elements.size() * sizeof(Element)) == 0);
}

TEST_P(RandomGraphTest, AgreesWithTheReference) {
  unsigned first = 0, count = 80;
  if (const char *from = std::getenv("WOK_RANDOM_FIRST"))
    first = static_cast<unsigned>(std::atoi(from));
  if (const char *more = std::getenv("WOK_RANDOM_GRAPHS"))
    count = static_cast<unsigned>(std::atoi(more));
  for (unsigned seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    makeGraph(seed);
    auto code = compile();
    if (!code)
      continue;
    Layout layout = static_cast<Layout>(seed % 4);
    std::vector<Tensor> inputs = makeInputs();
    // Which zero wins is not said; the order of NaN and zero is.
    checkWith(code.get(), inputs, {{.signOfZero = false}}, {}, layout);
    if (HasFailure())
      break;
    // The same bits on any number of threads.
    runtime::Status status, otherStatus;
    runtime::setOwnPoolThreads(1);
    std::vector<Tensor> alone = run(*code, inputs, status, layout);
    runtime::setOwnPoolThreads(3);
    std::vector<Tensor> together = run(*code, inputs, otherStatus, layout);
    EXPECT_EQ(static_cast<int>(status), static_cast<int>(otherStatus));
    for (size_t i = 0; i < alone.size() && status == runtime::Status::Ok; ++i)
      EXPECT_TRUE(equalBits(alone[i], together[i])) << "output " << i;
    // The same code on other extents.
    if (auto others = makeOtherInputs()) {
      SCOPED_TRACE("other extents");
      checkWith(code.get(), *others, {{.signOfZero = false}}, {}, layout);
    }
  }
}

WOK_FOR_ALL_TARGETS(RandomGraphTest);

} // namespace
