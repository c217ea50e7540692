//===- ReductionTest.cpp - Reductions and contractions ----------*- C++ -*-===//

#include "Harness.h"

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using Dims = std::vector<int64_t>;

namespace {

struct ReductionTest : TargetTest {};

const Dims shapes[] = {{7},       {1000},    {1},        {3, 5},
                       {17, 100}, {100, 17}, {4, 1, 33}, {2, 3, 4, 5}};

/// Every set of dimensions of a shape that is a row of bits.
Dims dimsOf(unsigned bits) {
  Dims dims;
  for (int64_t dim = 0; bits >> dim; ++dim)
    if (bits >> dim & 1)
      dims.push_back(dim);
  return dims;
}

TEST_P(ReductionTest, EveryKindTypeAndDimension) {
  for (DType dtype : allDTypes) {
    std::vector<const char *> kinds = {"sum", "prod", "min", "max"};
    if (dtype == DType::I1)
      kinds = {"any", "all"};
    for (const Dims &shape : shapes) {
      for (unsigned bits = 1; bits < 1u << shape.size(); ++bits) {
        SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                     std::to_string(shape.size()) + " of " +
                     std::to_string(shape[0]) + " dims " +
                     std::to_string(bits));
        reset();
        ValueId x = input(dtype, shape);
        for (const char *kind : kinds)
          graph.outputs.push_back(b.reduce(kind, x, dimsOf(bits)).value());
        check({makeTensor(dtype, shape, Fill::Tame, bits)});
      }
    }
  }
}

TEST_P(ReductionTest, SymbolicExtents) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I32}) {
    for (unsigned bits : {1u, 2u, 3u}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " dims " +
                   std::to_string(bits));
      reset();
      ValueId x = symbolicInput(dtype, {-1, -1});
      graph.outputs = {b.reduce("sum", x, dimsOf(bits)).value(),
                       b.reduce("max", x, dimsOf(bits)).value()};
      auto code = compile();
      for (Dims shape :
           {Dims{5, 40}, Dims{1, 1}, Dims{40, 5}, Dims{3, 1000}, Dims{64, 64}})
        checkWith(code.get(), {makeTensor(dtype, shape, Fill::Tame, 1)}, {});
    }
  }
}

// What a vector too many would read is not there.
TEST_P(ReductionTest, ColumnsOfAnyNumber) {
  for (DType dtype : {DType::I8, DType::F32})
    for (int64_t columns : {1, 2, 3, 7, 9, 20, 33, 130}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " columns " +
                   std::to_string(columns));
      reset();
      ValueId x = input(dtype, {3, columns});
      graph.outputs = {
          b.unary("neg", b.reduce("max", x, Dims{0}).value()).value()};
      check({makeTensor(dtype, {3, columns}, Fill::Tame, 3)});
    }
}

TEST_P(ReductionTest, NothingReduced) {
  for (DType dtype : {DType::F32, DType::I64, DType::I1}) {
    SCOPED_TRACE(std::string(toString(dtype)));
    reset();
    ValueId x = symbolicInput(dtype, {3, -1});
    for (const char *kind : {"sum", "prod"})
      if (dtype != DType::I1)
        graph.outputs.push_back(b.reduce(kind, x, Dims{1}).value());
    if (dtype == DType::I1)
      graph.outputs = {b.reduce("any", x, Dims{1}).value(),
                       b.reduce("all", x, Dims{1}).value()};
    check({Tensor(dtype, {3, 0})});
  }
}

TEST_P(ReductionTest, NaNAndInfinityWin) {
  for (DType dtype : floatDTypes) {
    SCOPED_TRACE(std::string(toString(dtype)));
    Tensor data = makeTensor(dtype, {6, 50}, Fill::Tame, 3);
    double infinity = std::numeric_limits<double>::infinity();
    data.elements[20].f = std::numeric_limits<double>::quiet_NaN();
    data.elements[50 + 49].f = std::numeric_limits<double>::quiet_NaN();
    data.elements[100 + 7].f = infinity;
    data.elements[150 + 7].f = -infinity;
    data.elements[200 + 1].f = infinity;
    data.elements[200 + 2].f = -infinity;
    for (int i = 250; i < 300; ++i)
      data.elements[i].f = -infinity;
    reset();
    ValueId x = input(dtype, {6, 50});
    graph.outputs = {b.reduce("min", x, Dims{1}).value(),
                     b.reduce("max", x, Dims{1}).value(),
                     b.reduce("sum", x, Dims{1}).value(),
                     b.argReduce("min", x, 1).value(),
                     b.argReduce("max", x, 1).value()};
    check({data});
  }
}

TEST_P(ReductionTest, ArgReduce) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64,
                      DType::I8, DType::U8, DType::I32, DType::I64}) {
    for (const Dims &shape : shapes)
      for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
        SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                     std::to_string(shape.size()) + " dim " +
                     std::to_string(dim));
        reset();
        ValueId x = input(dtype, shape);
        graph.outputs = {b.argReduce("min", x, dim).value(),
                         b.argReduce("max", x, dim).value()};
        auto code = compile();
        checkWith(code.get(), {makeTensor(dtype, shape, Fill::Tame, 5)}, {});
        // Ties: the first.
        checkWith(code.get(), {makeTensor(dtype, shape, Fill::Small, 6)}, {});
      }
  }
}

// A long sum stays as accurate as a pairwise one.
TEST_P(ReductionTest, LongSumsAreAccurate) {
  int64_t count = 1000003;
  ValueId x = symbolicInput(DType::F32, {-1});
  graph.outputs = {b.reduce("sum", x, Dims{0}).value()};
  Tensor data(DType::F32, {count});
  for (Element &element : data.elements)
    element.f = roundTo(DType::F32, 0.1);
  auto code = compile();
  if (!code)
    return;
  runtime::Status status;
  double got = run(*code, {data}, status)[0].elements[0].f;
  double want = count * roundTo(DType::F32, 0.1);
  // A sequential sum is off by more than 800.
  EXPECT_NEAR(got, want, 0.5);
}

TEST_P(ReductionTest, SoftmaxAndLayerNorm) {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (bool symbolic : {false, true}) {
      SCOPED_TRACE(std::string(toString(dtype)) +
                   (symbolic ? " symbolic" : " static"));
      auto make = [&](Dims extents) {
        return symbolic ? symbolicInput(dtype, Dims(extents.size(), -1))
                        : input(dtype, extents);
      };
      auto over = [&](ValueId row, ValueId like) {
        std::vector<ExtentId> extents = b.type(like).extents;
        return b.broadcast(row, extents, Dims{0}).value();
      };
      reset();
      ValueId x = make({13, 65});
      ValueId most = b.reduce("max", x, Dims{1}).value();
      ValueId e =
          b.unary("exp", b.binary("sub", x, over(most, x)).value()).value();
      ValueId sum = b.reduce("sum", e, Dims{1}).value();
      graph.outputs = {b.binary("div", e, over(sum, e)).value()};
      Tensor data = makeTensor(dtype, {13, 65}, Fill::Tame, 30);
      auto code = compile();
      checkWith(code.get(), {data}, {{.relative = 1e-5}});
      if (code && dtype == DType::F32) {
        EXPECT_EQ(code->kernels, 1u) << "softmax is one kernel";
      }

      reset();
      x = make({13, 65});
      ValueId count = b.extentValue(dtype, b.type(x).extents[1]).value();
      ValueId counts =
          b.broadcastTo(count, std::vector{b.type(x).extents[0]}).value();
      ValueId mean =
          b.binary("div", b.reduce("sum", x, Dims{1}).value(), counts).value();
      ValueId centered = b.binary("sub", x, over(mean, x)).value();
      ValueId square = b.binary("mul", centered, centered).value();
      ValueId variance =
          b.binary("div", b.reduce("sum", square, Dims{1}).value(), counts)
              .value();
      ValueId eps =
          b.broadcastTo(b.constant(dtype, 1e-5), b.type(variance).extents)
              .value();
      ValueId scale =
          b.unary("rsqrt", b.binary("add", variance, eps).value()).value();
      graph.outputs = {
          b.binary("mul", centered, over(scale, centered)).value()};
      checkWith(compile().get(), {data},
                {{.relative = 1e-5, .absolute = 1e-5}});
    }
  }
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

TEST_P(ReductionTest, Contract) {
  struct Sizes {
    Dims batch;
    int64_t m, k, n;
  };
  const Sizes cases[] = {{{}, 1, 1, 1},    {{}, 3, 5, 7},    {{}, 16, 64, 32},
                         {{}, 33, 17, 65}, {{}, 1, 100, 9},  {{}, 9, 100, 1},
                         {{3}, 4, 5, 6},   {{2, 2}, 3, 3, 3}};
  for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16,
                      DType::I32, DType::I64, DType::I8, DType::U8}) {
    for (const Sizes &sizes : cases)
      for (bool transposeLhs : {false, true})
        for (bool transposeRhs : {false, true}) {
          SCOPED_TRACE(std::string(toString(dtype)) + " " +
                       std::to_string(sizes.m) + "x" + std::to_string(sizes.k) +
                       "x" + std::to_string(sizes.n));
          auto shape = [&](int64_t rows, int64_t columns, bool transposed) {
            Dims result = sizes.batch;
            if (transposed)
              std::swap(rows, columns);
            result.insert(result.end(), {rows, columns});
            return result;
          };
          Dims lhs = shape(sizes.m, sizes.k, transposeLhs);
          Dims rhs = shape(sizes.k, sizes.n, transposeRhs);
          reset();
          ValueId x = input(dtype, lhs), y = input(dtype, rhs);
          graph.outputs = {
              b.contract(x, y, transposeLhs, transposeRhs).value()};
          check({makeTensor(dtype, lhs, Fill::Tame, 40),
                 makeTensor(dtype, rhs, Fill::Tame, 41)});
        }
  }
}

TEST_P(ReductionTest, ContractOfNothing) {
  ValueId x = symbolicInput(DType::F32, {3, -1}),
          y = graph.addInput(
              {DType::F32, {b.type(x).extents[1], graph.constant(4)}}, false);
  graph.outputs = {b.contract(x, y).value()};
  auto code = compile();
  checkWith(code.get(),
            {Tensor(DType::F32, {3, 0}), Tensor(DType::F32, {0, 4})}, {});
  checkWith(code.get(),
            {makeTensor(DType::F32, {3, 20}, Fill::Tame, 1),
             makeTensor(DType::F32, {20, 4}, Fill::Tame, 2)},
            {});
}

TEST_P(ReductionTest, ContractBetweenFusions) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (bool symbolic : {false, true}) {
      SCOPED_TRACE(std::string(toString(dtype)) +
                   (symbolic ? " symbolic" : " static"));
      reset();
      ValueId x =
          symbolic ? symbolicInput(dtype, {-1, 20}) : input(dtype, {9, 20});
      ValueId w = input(dtype, {30, 20}, /*strided=*/true);
      ValueId bias = input(dtype, {30});
      ValueId product =
          b.contract(b.unary("abs", x).value(), w, false, true).value();
      std::vector<ExtentId> extents = b.type(product).extents;
      ValueId biased =
          b.binary("add", product, b.broadcastTo(bias, extents).value())
              .value();
      ValueId zero = b.broadcastTo(b.constant(dtype, 0.0), extents).value();
      graph.outputs = {b.binary("max", biased, zero).value(),
                       b.reduce("sum", biased, Dims{0}).value()};
      std::vector<Tensor> data = {makeTensor(dtype, {9, 20}, Fill::Tame, 42),
                                  makeTensor(dtype, {30, 20}, Fill::Tame, 43),
                                  makeTensor(dtype, {30}, Fill::Tame, 44)};
      double unit = dtype == DType::F32 ? 1e-5 : 0.05;
      auto code = compile();
      for (Layout layout : {Layout::Dense, Layout::Transposed, Layout::Gaps})
        checkWith(
            code.get(), data,
            {{.relative = unit, .absolute = 10 * unit, .signOfZero = false}},
            {}, layout);
    }
  }
}

WOK_FOR_ALL_TARGETS(ReductionTest);

} // namespace
