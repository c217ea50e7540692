//===- MovementTest.cpp - Data movement, alone and fused --------*- C++ -*-===//

#include "Harness.h"

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using Dims = std::vector<int64_t>;

namespace {

struct MovementTest : TargetTest {
  /// Checks the graph whose outputs are set, and what stays of it when each
  /// output is an operand of an operation.
  void checkAloneAndFused(const std::vector<Tensor> &inputs) {
    check(inputs);
    for (ValueId &output : graph.outputs)
      if (b.dtype(output) != DType::I1)
        output = b.binary("add", output, output).value();
      else
        output = b.unary("not", output).value();
    check(inputs);
  }
};

const DType someDTypes[] = {DType::F32, DType::F64, DType::BF16,
                            DType::I1,  DType::U8,  DType::I64};

TEST_P(MovementTest, Transpose) {
  for (DType dtype : someDTypes)
    for (Dims permutation : {Dims{1, 0}, Dims{0, 2, 1}, Dims{2, 0, 1},
                             Dims{2, 1, 0}, Dims{3, 1, 0, 2}}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                   std::to_string(permutation.size()));
      Dims shape = {5, 18, 3, 4};
      shape.resize(permutation.size());
      reset();
      ValueId x = input(dtype, shape);
      graph.outputs = {b.transpose(x, permutation).value()};
      checkAloneAndFused({makeTensor(dtype, shape, Fill::Edges, 1)});
    }
}

TEST_P(MovementTest, TransposeSymbolic) {
  ValueId x = symbolicInput(DType::F32, {-1, -1});
  ValueId t = b.transpose(x, Dims{1, 0}).value();
  graph.outputs = {t, b.binary("mul", t, t).value()};
  auto code = compile();
  for (Dims shape : {Dims{3, 50}, Dims{50, 3}, Dims{0, 3}, Dims{1, 1}})
    checkWith(code.get(), {makeTensor(DType::F32, shape, Fill::Edges, 2)}, {});
}

TEST_P(MovementTest, BroadcastTo) {
  for (DType dtype : someDTypes)
    for (auto [from, to] : {std::pair<Dims, Dims>{{}, {5, 7}},
                            {{7}, {5, 7}},
                            {{5, 1}, {5, 7}},
                            {{1, 7}, {5, 7}},
                            {{4, 1, 6}, {3, 4, 5, 6}},
                            {{1, 1}, {40, 3}}}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                   std::to_string(from.size()) + " to " +
                   std::to_string(to.size()));
      reset();
      ValueId x = input(dtype, from);
      graph.outputs = {b.broadcastTo(x, b.extents(to)).value()};
      checkAloneAndFused({makeTensor(dtype, from, Fill::Edges, 3)});
    }
}

TEST_P(MovementTest, BroadcastsOfSymbolicExtents) {
  ValueId x = symbolicInput(DType::F32, {-1}),
          y = symbolicInput(DType::F32, {-1, 1});
  std::vector<ExtentId> extents = {b.type(y).extents[0], b.type(x).extents[0]};
  graph.outputs = {b.binary("sub", b.broadcastTo(x, extents).value(),
                            b.broadcastTo(y, extents).value())
                       .value()};
  auto code = compile();
  for (auto [n, m] :
       {std::pair<int64_t, int64_t>{5, 3}, {3, 40}, {0, 4}, {1, 1}})
    checkWith(code.get(),
              {makeTensor(DType::F32, {n}, Fill::Tame, 4),
               makeTensor(DType::F32, {m, 1}, Fill::Tame, 5)},
              {});
}

TEST_P(MovementTest, Slice) {
  struct Case {
    Dims shape, offsets, sizes, strides;
  };
  const Case cases[] = {{{50}, {3}, {20}, {1}},
                        {{50}, {49}, {50}, {-1}},
                        {{50}, {1}, {17}, {3}},
                        {{50}, {40}, {9}, {-5}},
                        {{50}, {7}, {0}, {1}},
                        {{6, 40}, {0, 5}, {6, 30}, {1, 1}},
                        {{6, 40}, {5, 39}, {3, 20}, {-2, -2}},
                        {{6, 40}, {2, 0}, {1, 40}, {1, 1}},
                        {{3, 4, 5}, {1, 0, 4}, {2, 2, 3}, {1, 2, -2}}};
  for (DType dtype : someDTypes)
    for (const Case &c : cases) {
      SCOPED_TRACE(std::string(toString(dtype)) + " case " +
                   std::to_string(&c - cases));
      reset();
      ValueId x = input(dtype, c.shape);
      graph.outputs = {
          b.slice(x, c.offsets, b.extents(c.sizes), c.strides).value()};
      checkAloneAndFused({makeTensor(dtype, c.shape, Fill::Edges, 6)});
    }
}

TEST_P(MovementTest, SliceSymbolic) {
  ValueId x = symbolicInput(DType::F32, {-1, 4});
  ExtentId n = b.type(x).extents[0];
  ExtentId less = graph.binary(ExtentExpr::Kind::Sub, n, graph.constant(1));
  std::vector<ExtentId> sizes = {less, graph.constant(4)};
  ValueId head = b.slice(x, Dims{0, 0}, sizes, Dims{1, 1}).value();
  ValueId tail = b.slice(x, Dims{1, 0}, sizes, Dims{1, 1}).value();
  std::vector<ExtentId> end = {less, graph.constant(0)};
  ValueId last = b.slice(x, end, b.extents({1, 4}), Dims{1, 1}).value();
  ValueId reversed = b.slice(x, end, b.type(x).extents, Dims{-1, 1}).value();
  graph.outputs = {b.binary("sub", tail, head).value(), last, reversed};
  auto code = compile();
  for (int64_t n : {1, 2, 9, 100})
    checkWith(code.get(), {makeTensor(DType::F32, {n, 4}, Fill::Tame, 7)}, {});
}

TEST_P(MovementTest, Pad) {
  for (DType dtype : someDTypes)
    for (auto [shape, low, high] :
         {std::tuple<Dims, Dims, Dims>{{10}, {3}, {4}},
          {{5, 30}, {0, 2}, {1, 0}},
          {{5, 30}, {2, 0}, {2, 0}},
          {{3, 0}, {1, 1}, {1, 1}},
          {{2, 3, 4}, {1, 0, 2}, {0, 3, 1}}}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                   std::to_string(shape.size()));
      reset();
      ValueId x = input(dtype, shape), value = input(dtype, {});
      graph.outputs = {b.pad(x, value, low, high).value()};
      checkAloneAndFused({makeTensor(dtype, shape, Fill::Edges, 8),
                          makeTensor(dtype, {}, Fill::Tame, 9)});
    }
}

TEST_P(MovementTest, Concat) {
  for (DType dtype : someDTypes)
    for (int64_t dim : {0, 1, 2}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " dim " +
                   std::to_string(dim));
      std::vector<Dims> shapes(3, Dims{4, 3, 20});
      shapes[0][dim] = 2;
      shapes[1][dim] = 1;
      shapes[2][dim] = 33;
      reset();
      std::vector<ValueId> values;
      std::vector<Tensor> data;
      for (const Dims &shape : shapes) {
        values.push_back(input(dtype, shape));
        data.push_back(makeTensor(dtype, shape, Fill::Edges,
                                  static_cast<unsigned>(data.size())));
      }
      graph.outputs = {b.concat(values, dim).value()};
      checkAloneAndFused(data);
    }
}

TEST_P(MovementTest, ConcatSymbolic) {
  ValueId x = symbolicInput(DType::F32, {-1}),
          y = symbolicInput(DType::F32, {-1});
  ValueId joined =
      b.concat(std::vector{b.unary("neg", x).value(), y, x}, 0).value();
  graph.outputs = {b.unary("abs", joined).value()};
  auto code = compile();
  for (auto [n, m] :
       {std::pair<int64_t, int64_t>{5, 3}, {0, 40}, {0, 0}, {33, 1}})
    checkWith(code.get(),
              {makeTensor(DType::F32, {n}, Fill::Tame, 10),
               makeTensor(DType::F32, {m}, Fill::Tame, 11)},
              {});
}

TEST_P(MovementTest, Reshape) {
  for (DType dtype : someDTypes)
    for (auto [from, to] : {std::pair<Dims, Dims>{{12}, {3, 4}},
                            {{3, 4}, {12}},
                            {{4, 6, 10}, {24, 10}},
                            {{4, 6, 10}, {10, 24}},
                            {{1}, {}},
                            {{}, {1, 1}},
                            {{0, 3}, {3, 0, 5}}}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " rank " +
                   std::to_string(from.size()) + " to " +
                   std::to_string(to.size()));
      reset();
      ValueId x = input(dtype, from);
      graph.outputs = {b.reshape(x, b.extents(to)).value()};
      checkAloneAndFused({makeTensor(dtype, from, Fill::Edges, 12)});
    }
}

TEST_P(MovementTest, ReshapeOfTransposeAndBack) {
  ValueId x = symbolicInput(DType::F32, {-1, 6});
  ValueId t = b.transpose(x, Dims{1, 0}).value();
  ExtentId count = b.elementCount(b.type(x).extents);
  ValueId flat = b.reshape(t, std::vector{count}).value();
  graph.outputs = {flat, b.binary("add", flat, flat).value()};
  auto code = compile();
  for (int64_t n : {0, 1, 5, 40})
    checkWith(code.get(), {makeTensor(DType::F32, {n, 6}, Fill::Tame, 13)}, {});
}

TEST_P(MovementTest, Gather) {
  for (DType dtype : someDTypes)
    for (DType indexType : {DType::I32, DType::I64})
      for (int64_t dim : {0, 1, 2}) {
        SCOPED_TRACE(std::string(toString(dtype)) + " dim " +
                     std::to_string(dim));
        reset();
        ValueId x = input(dtype, {4, 5, 21}), i = input(indexType, {2, 9});
        graph.outputs = {b.gather(x, i, dim).value()};
        Tensor data = makeTensor(dtype, {4, 5, 21}, Fill::Edges, 14);
        Tensor indices = makeTensor(indexType, {2, 9}, Fill::Small, 15);
        checkAloneAndFused({data, indices});
        // Faults, in the middle and at the end.
        auto code = compile();
        for (auto [place, index] : {std::pair<int, int>{3, 100}, {17, -1}}) {
          Tensor wrong = indices;
          wrong.elements[place].i = index;
          checkWith(code.get(), {data, wrong}, {});
        }
      }
}

TEST_P(MovementTest, GatherSymbolic) {
  ValueId x = symbolicInput(DType::F32, {-1, 8}),
          i = symbolicInput(DType::I64, {-1});
  graph.outputs = {b.unary("neg", b.gather(x, i, 0).value()).value()};
  auto code = compile();
  for (int64_t n : {0, 1, 30})
    checkWith(code.get(),
              {makeTensor(DType::F32, {4, 8}, Fill::Tame, 16),
               makeTensor(DType::I64, {n}, Fill::Small, 17)},
              {});
}

TEST_P(MovementTest, Iota) {
  for (DType dtype :
       {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::BF16})
    for (int64_t dim : {0, 1}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " dim " +
                   std::to_string(dim));
      reset();
      ValueId x = input(dtype, {7, 40});
      ValueId i = b.iota(dtype, b.type(x).extents, dim).value();
      graph.outputs = {i, b.binary("add", i, x).value()};
      check({makeTensor(dtype, {7, 40}, Fill::Tame, 18)});
    }
  reset();
  ValueId x = symbolicInput(DType::I64, {-1});
  graph.outputs = {b.iota(DType::I64, b.type(x).extents, 0).value()};
  auto code = compile();
  for (int64_t n : {0, 1, 100})
    checkWith(code.get(), {makeTensor(DType::I64, {n}, Fill::Tame, 19)}, {});
}

// A fault is one also where its element is not read.
TEST_P(MovementTest, FaultsOfWhatIsNotRead) {
  for (bool symbolic : {false, true}) {
    SCOPED_TRACE(symbolic ? "symbolic" : "static");
    reset();
    ExtentId extent = symbolic ? graph.symbol(0, 0) : graph.constant(20);
    auto make = [&](DType dtype) {
      return graph.addInput({dtype, {extent}}, /*strided=*/false);
    };
    ValueId x = make(DType::I32), y = make(DType::I32);
    ValueId t = make(DType::F32), i = make(DType::I64);
    ValueId quotient = b.binary("floor_div", x, y).value();
    ValueId found = b.gather(t, i, 0).value();
    ValueId few = b.slice(quotient, Dims{0}, b.extents({3}), Dims{1}).value();
    graph.outputs = {few, b.binary("add", x, y).value()};
    (void)found;
    auto code = compile();
    Tensor numbers = makeTensor(DType::I32, {20}, Fill::Tame, 50);
    Tensor divisors = makeTensor(DType::I32, {20}, Fill::Nonzero, 51);
    Tensor table = makeTensor(DType::F32, {20}, Fill::Tame, 52);
    Tensor places = makeTensor(DType::I64, {20}, Fill::Small, 53);
    checkWith(code.get(), {numbers, divisors, table, places}, {});
    Tensor badDivisors = divisors, badPlaces = places;
    badDivisors.elements[19].i = 0;
    badPlaces.elements[19].i = 20;
    checkWith(code.get(), {numbers, badDivisors, table, places}, {});
    checkWith(code.get(), {numbers, divisors, table, badPlaces}, {});
  }
}

// An input, a constant or a value may be an output, and twice.
TEST_P(MovementTest, UnusualOutputs) {
  ValueId x = input(DType::F32, {3, 4});
  ValueId y = b.unary("neg", x).value();
  ValueId list = b.constantList(DType::I64, Dims{4, 5, 6}).value();
  graph.outputs = {x,    y,
                   y,    b.constant(DType::F32, 2.5),
                   list, b.transpose(x, Dims{1, 0}).value()};
  check({makeTensor(DType::F32, {3, 4}, Fill::Edges, 20)});
}

TEST_P(MovementTest, NoInputs) {
  ValueId i = b.iota(DType::F32, b.extents({100}), 0).value();
  graph.outputs = {b.unary("sqrt", i).value()};
  check({});
}

WOK_FOR_ALL_TARGETS(MovementTest);

} // namespace
