//===- RandomGraphTest.cpp - Random graphs of exact operations --*- C++ -*-===//
//
// Graphs of operations whose results are exact, so that any difference is a
// fault. What differs depends on the seed alone.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <random>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using Dims = std::vector<int64_t>;

namespace {

class RandomGraphTest : public CompilerTest {
public:
  void makeGraph(unsigned seed);
  std::vector<Tensor> makeInputs(unsigned seed);

private:
  size_t below(size_t limit) { return random() % limit; }
  ValueId any() { return values[below(values.size())]; }
  void addInputs();
  /// Appends one operation if it can.
  void step();
  GraphBuilder::Result elementwise(ValueId a);
  GraphBuilder::Result movement(ValueId a);
  GraphBuilder::Result reduction(ValueId a);
  /// A value that can be combined with `a`: cast and broadcast, or `a`.
  ValueId partner(ValueId a);

  std::mt19937 random;
  std::vector<ValueId> values;
  std::vector<Dims> inputExtents;
};

void RandomGraphTest::addInputs() {
  // Symbols with these values; the reference evaluates them again.
  Dims base = {static_cast<int64_t>(1 + below(5)),
               static_cast<int64_t>(1 + below(40))};
  bool symbolic = below(2);
  std::vector<ExtentId> ids;
  ids.push_back(symbolic ? graph.symbol(0, 0) : graph.constant(base[0]));
  ids.push_back(symbolic ? graph.symbol(0, 1) : graph.constant(base[1]));
  const DType dtypes[] = {DType::F32, DType::F64,  DType::I32,
                          DType::I64, DType::BF16, DType::U8};
  DType dtype = dtypes[below(std::size(dtypes))];
  for (int i = 0; i < 3; ++i) {
    std::vector<ExtentId> extents = ids;
    Dims shape = base;
    if (i == 1 && below(2)) {
      extents.erase(extents.begin());
      shape.erase(shape.begin());
    } else if (i == 2 && below(2)) {
      extents[1] = graph.constant(1);
      shape[1] = 1;
    }
    values.push_back(graph.addInput(
        {below(4) ? dtype : dtypes[below(std::size(dtypes))], extents},
        below(3) == 0));
    inputExtents.push_back(shape);
  }
}

ValueId RandomGraphTest::partner(ValueId a) {
  ValueId other = any();
  auto cast = b.cast(other, b.dtype(a));
  auto wide = b.broadcastTo(*cast, std::vector(b.type(a).extents));
  return wide ? *wide : a;
}

GraphBuilder::Result RandomGraphTest::elementwise(ValueId a) {
  DType dtype = b.dtype(a);
  if (dtype == DType::I1) {
    const char *names[] = {"and", "or", "xor"};
    if (below(2))
      return b.unary("not", a);
    return b.binary(names[below(3)], a, partner(a));
  }
  switch (below(5)) {
  case 0: {
    const char *names[] = {"neg", "abs", "sign"};
    return b.unary(names[below(3)], a);
  }
  case 1: {
    const char *predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    ValueId other = partner(a);
    ValueId condition = *b.compare(predicates[below(6)], a, other);
    return below(2) ? condition : b.select(condition, a, other);
  }
  case 2: {
    const DType dtypes[] = {DType::F32, DType::I32, DType::I64, DType::F64};
    return b.cast(a, dtypes[below(4)]);
  }
  default: {
    const char *names[] = {"add", "sub", "mul", "min", "max"};
    return b.binary(names[below(5)], a, partner(a));
  }
  }
}

GraphBuilder::Result RandomGraphTest::movement(ValueId a) {
  std::vector<ExtentId> extents = b.type(a).extents;
  size_t rank = extents.size();
  switch (below(6)) {
  case 0: {
    Dims permutation(rank);
    for (size_t i = 0; i < rank; ++i)
      permutation[i] = static_cast<int64_t>(i);
    std::shuffle(permutation.begin(), permutation.end(), random);
    return b.transpose(a, permutation);
  }
  case 1: {
    // Everything, from the other end.
    if (rank == 0)
      return a;
    size_t dim = below(rank);
    std::vector<ExtentId> offsets(rank, graph.constant(0));
    offsets[dim] =
        graph.binary(ExtentExpr::Kind::Sub, extents[dim], graph.constant(1));
    Dims strides(rank, 1);
    strides[dim] = -1;
    return b.slice(a, offsets, extents, strides);
  }
  case 2: {
    // All but the first.
    if (rank == 0)
      return a;
    size_t dim = below(rank);
    Dims offsets(rank, 0), strides(rank, 1);
    offsets[dim] = 1;
    std::vector<ExtentId> sizes = extents;
    sizes[dim] =
        graph.binary(ExtentExpr::Kind::Sub, extents[dim], graph.constant(1));
    return b.slice(a, offsets, sizes, strides);
  }
  case 3:
    return b.reshape(a, std::vector{b.elementCount(extents)});
  case 4: {
    if (rank == 0)
      return a;
    return b.concat(std::vector{a, partner(a)},
                    static_cast<int64_t>(below(rank)));
  }
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
    return a;
  Dims dims = {static_cast<int64_t>(below(rank))};
  if (b.dtype(a) == DType::I1)
    return b.reduce(below(2) ? "any" : "all", a, dims);
  // Sums of floats are not exact; sums of integers wrap.
  const char *kinds[] = {"min", "max", "sum", "prod"};
  ValueId reduced =
      *b.reduce(kinds[below(isFloat(b.dtype(a)) ? 2 : 4)], a, dims);
  if (below(2))
    return reduced;
  // And back over the rows, as a softmax does.
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    if (i != dims[0])
      kept.push_back(i);
  ValueId wide = *b.broadcast(reduced, std::vector(b.type(a).extents), kept);
  return b.dtype(a) == DType::I1 ? b.binary("xor", a, wide)
                                 : b.binary("max", a, wide);
}

void RandomGraphTest::step() {
  ValueId a = below(2) ? values.back() : any();
  size_t choice = below(10);
  GraphBuilder::Result result = choice < 6   ? elementwise(a)
                                : choice < 8 ? movement(a)
                                             : reduction(a);
  if (result)
    values.push_back(*result);
}

void RandomGraphTest::makeGraph(unsigned seed) {
  reset();
  random.seed(seed);
  values.clear();
  inputExtents.clear();
  addInputs();
  size_t steps = 2 + below(14);
  for (size_t i = 0; i < steps; ++i)
    step();
  graph.outputs = {values.back()};
  for (size_t i = below(3); i > 0; --i)
    graph.outputs.push_back(any());
}

std::vector<Tensor> RandomGraphTest::makeInputs(unsigned seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < inputExtents.size(); ++i)
    inputs.push_back(makeTensor(b.dtype(static_cast<ValueId>(i)),
                                inputExtents[i],
                                seed % 2 ? Fill::Edges : Fill::Small,
                                seed * 3 + static_cast<unsigned>(i)));
  return inputs;
}

TEST_F(RandomGraphTest, AgreesWithTheReference) {
  unsigned count = 150;
  if (const char *more = std::getenv("WOK_RANDOM_GRAPHS"))
    count = static_cast<unsigned>(std::atoi(more));
  for (unsigned seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    makeGraph(seed);
    auto code = compile();
    std::vector<Tensor> inputs = makeInputs(seed);
    Layout layout = static_cast<Layout>(seed % 4);
    // Which zero wins is not said; the order of NaN and zero is.
    checkWith(code.get(), inputs, {{.signOfZero = false}}, {}, layout);
  }
}

} // namespace
