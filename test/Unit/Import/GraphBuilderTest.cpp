//===- GraphBuilderTest.cpp - Checks and shape inference --------*- C++ -*-===//

#include "wok/Import/GraphBuilder.h"

#include "wok/Runtime/CompiledSubgraph.h"
#include "gtest/gtest.h"

using namespace wok;
using namespace wok::importer;
using Failure = GraphBuilder::Failure;
using Dims = std::vector<int64_t>;

namespace {

struct GraphBuilderTest : testing::Test {
  Graph graph;
  GraphBuilder b{graph};

  ValueId input(DType dtype, std::initializer_list<int64_t> extents) {
    return graph.addInput({dtype, b.extents(extents)}, false);
  }
  /// A 1-d input with a symbolic extent.
  ValueId symbolic(DType dtype = DType::F32) {
    ExtentId n = graph.symbol(static_cast<ValueId>(graph.allNodes().size()), 0);
    return graph.addInput({dtype, {n}}, false);
  }
  const Node &last() { return graph.allNodes().back(); }
  Dims shape(ValueId value) { return b.staticExtents(value).value(); }
  template <class T>
  T attribute(std::string_view name) {
    for (auto &[key, value] : last().attributes)
      if (key == name)
        return std::get<T>(value);
    ADD_FAILURE() << "no attribute " << name;
    return T();
  }
  void expectFailure(GraphBuilder::Result result, Failure why, size_t nodes) {
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(b.failure(), why) << b.failureText();
    EXPECT_EQ(graph.allNodes().size(), nodes)
        << "a failure leaves the graph alone";
  }
};

TEST_F(GraphBuilderTest, ElementwiseKeepsTheType) {
  ValueId x = input(DType::F32, {2, 3}), y = input(DType::F32, {2, 3});
  ValueId sum = b.binary("add", x, y).value();
  EXPECT_EQ(last().op, "wok.add");
  EXPECT_EQ(last().operands, (std::vector{x, y}));
  EXPECT_EQ(shape(sum), (Dims{2, 3}));
  EXPECT_EQ(b.dtype(b.unary("is_nan", sum).value()), DType::I1);
  ValueId less = b.compare("lt", x, y).value();
  EXPECT_EQ(b.dtype(less), DType::I1);
  EXPECT_EQ(attribute<std::string>("predicate"), "lt");
  EXPECT_EQ(b.dtype(b.select(less, x, y).value()), DType::F32);
  EXPECT_EQ(b.dtype(b.cast(x, DType::BF16).value()), DType::BF16);
}

TEST_F(GraphBuilderTest, ElementwiseRefusesOtherTypes) {
  ValueId x = input(DType::F32, {4}), y = input(DType::F64, {4}),
          z = input(DType::F32, {5});
  ValueId i = input(DType::I32, {4}), n = symbolic();
  size_t nodes = graph.allNodes().size();
  expectFailure(b.binary("add", x, y), Failure::Invalid, nodes);
  expectFailure(b.binary("add", x, z), Failure::Invalid, nodes);
  expectFailure(b.binary("add", x, n), Failure::DynamicExtent, nodes);
  expectFailure(b.binary("and", x, x), Failure::Invalid, nodes);
  expectFailure(b.unary("exp", i), Failure::Invalid, nodes);
  expectFailure(b.unary("no_such", x), Failure::Invalid, nodes);
  expectFailure(b.compare("less", x, x), Failure::Invalid, nodes);
  expectFailure(b.select(x, x, x), Failure::Invalid, nodes);
  expectFailure(b.fma(i, i, i), Failure::Invalid, nodes);
}

TEST_F(GraphBuilderTest, WhatChangesNothingIsNotAppended) {
  ValueId x = input(DType::F32, {2, 3}), i = input(DType::I32, {2});
  size_t nodes = graph.allNodes().size();
  EXPECT_EQ(b.cast(x, DType::F32), x);
  EXPECT_EQ(b.reshape(x, b.extents({2, 3})), x);
  EXPECT_EQ(b.broadcastTo(x, b.extents({2, 3})), x);
  EXPECT_EQ(b.transpose(x, Dims{0, 1}), x);
  EXPECT_EQ(b.slice(x, Dims{0, 0}, b.extents({2, 3}), Dims{1, 1}), x);
  EXPECT_EQ(b.reduce("sum", x, {}), x);
  EXPECT_EQ(b.concat(std::vector{x}, 0), x);
  EXPECT_EQ(b.unary("floor", i), i);
  EXPECT_EQ(graph.allNodes().size(), nodes);
}

TEST_F(GraphBuilderTest, BroadcastingIsNumPys) {
  ValueId x = input(DType::F32, {3, 1}), s = symbolic();
  ValueId y = b.broadcastTo(x, b.extents({2, 3, 4})).value();
  EXPECT_EQ(shape(y), (Dims{2, 3, 4}));
  EXPECT_EQ(attribute<Dims>("dims"), (Dims{1, 2}));

  auto common = b.broadcastExtents(
      std::vector{b.extents({3, 1}), b.extents({5}), b.extents({})});
  EXPECT_EQ(common.value(), b.extents({3, 5}));
  ExtentId n = b.type(s).extents[0];
  EXPECT_EQ(b.broadcastExtents(std::vector{b.extents({3, 1}), {n}}).value(),
            (std::vector{graph.constant(3), n}));
  EXPECT_FALSE(b.broadcastExtents(std::vector{b.extents({3}), b.extents({4})}));
  EXPECT_EQ(b.failure(), Failure::Invalid);
  EXPECT_FALSE(b.broadcastExtents(std::vector{b.extents({3}), {n}}));
  EXPECT_EQ(b.failure(), Failure::DynamicExtent);

  size_t nodes = graph.allNodes().size();
  expectFailure(b.broadcastTo(x, b.extents({3})), Failure::Invalid, nodes);
  expectFailure(b.broadcastTo(x, b.extents({4, 4})), Failure::Invalid, nodes);
  expectFailure(b.broadcastTo(s, b.extents({4})), Failure::DynamicExtent,
                nodes);

  // A symbolic result extent is an operand.
  ValueId row = b.broadcastTo(s, std::vector{graph.constant(2), n}).value();
  EXPECT_EQ(graph.allNodes()[row].extentOperands, std::vector{n});
}

TEST_F(GraphBuilderTest, ReductionsDropDimensions) {
  ValueId x = input(DType::F32, {2, 3, 4}), flags = input(DType::I1, {2, 3});
  ValueId empty = input(DType::F32, {0, 3});
  EXPECT_EQ(shape(b.reduce("sum", x, Dims{2, 0}).value()), (Dims{3}));
  EXPECT_EQ(attribute<Dims>("dims"), (Dims{0, 2}));
  EXPECT_EQ(shape(b.reduce("any", flags, Dims{1}).value()), (Dims{2}));
  ValueId arg = b.argReduce("max", x, 1).value();
  EXPECT_EQ(shape(arg), (Dims{2, 4}));
  EXPECT_EQ(b.dtype(arg), DType::I64);
  EXPECT_EQ(shape(b.reduce("sum", empty, Dims{0}).value()), (Dims{3}));

  size_t nodes = graph.allNodes().size();
  expectFailure(b.reduce("sum", x, Dims{3}), Failure::Invalid, nodes);
  expectFailure(b.reduce("sum", x, Dims{1, 1}), Failure::Invalid, nodes);
  expectFailure(b.reduce("mean", x, Dims{1}), Failure::Invalid, nodes);
  expectFailure(b.reduce("any", x, Dims{1}), Failure::Invalid, nodes);
  expectFailure(b.reduce("sum", flags, Dims{1}), Failure::Invalid, nodes);
  expectFailure(b.reduce("max", empty, Dims{0}), Failure::Invalid, nodes);
  expectFailure(b.argReduce("max", empty, 0), Failure::Invalid, nodes);
  expectFailure(b.argReduce("sum", x, 0), Failure::Invalid, nodes);
}

TEST_F(GraphBuilderTest, ContractionsReadTransposed) {
  ValueId a = input(DType::F32, {5, 2, 3}), bt = input(DType::F32, {5, 4, 3});
  EXPECT_EQ(shape(b.contract(a, bt, false, true).value()), (Dims{5, 2, 4}));
  ValueId at = input(DType::F32, {3, 2}), c = input(DType::F32, {3, 7});
  EXPECT_EQ(shape(b.contract(at, c, true).value()), (Dims{2, 7}));

  ValueId v = input(DType::F32, {3});
  size_t nodes = graph.allNodes().size();
  expectFailure(b.contract(a, bt), Failure::Invalid, nodes);
  expectFailure(b.contract(at, c), Failure::Invalid, nodes);
  expectFailure(b.contract(at, v), Failure::Invalid, nodes);
}

TEST_F(GraphBuilderTest, ReshapeCancelsSymbols) {
  ExtentId n = graph.symbol(0, 0), m = graph.symbol(0, 1);
  ValueId x = graph.addInput({DType::F32, {n, m, graph.constant(6)}}, false);
  ExtentId flat = b.elementCount(b.type(x).extents);
  EXPECT_EQ(flat, b.elementCount(
                      std::vector{graph.constant(2), m, graph.constant(3), n}));
  ValueId y = b.reshape(x, std::vector{flat}).value();
  EXPECT_EQ(graph.allNodes()[y].extentOperands, std::vector{flat});
  EXPECT_TRUE(b.reshape(y, std::vector{m, graph.constant(6), n}));
  size_t nodes = graph.allNodes().size();
  expectFailure(b.reshape(x, std::vector{n, m}), Failure::DynamicExtent, nodes);
  ValueId s = input(DType::F32, {2, 3});
  EXPECT_EQ(shape(b.reshape(s, b.extents({3, 2})).value()), (Dims{3, 2}));
  expectFailure(b.reshape(s, b.extents({4})), Failure::Invalid, nodes + 2);
}

TEST_F(GraphBuilderTest, SlicesStayInside) {
  ValueId x = input(DType::F32, {8}), s = symbolic();
  EXPECT_EQ(shape(b.slice(x, Dims{7}, b.extents({8}), Dims{-1}).value()),
            (Dims{8}));
  EXPECT_EQ(shape(b.slice(x, Dims{1}, b.extents({4}), Dims{2}).value()),
            (Dims{4}));
  EXPECT_EQ(shape(b.slice(x, Dims{8}, b.extents({0}), Dims{1}).value()),
            (Dims{0}));
  ExtentId less = graph.binary(ExtentExpr::Kind::Sub, b.type(s).extents[0],
                               graph.constant(1));
  ValueId tail = b.slice(s, Dims{1}, std::vector{less}, Dims{1}).value();
  EXPECT_EQ(attribute<Dims>("sizes"), Dims{runtime::dynamicExtent});
  EXPECT_EQ(graph.allNodes()[tail].extentOperands, std::vector{less});
  // The last element of a symbolic extent.
  ValueId end = b.slice(s, std::vector{less}, b.extents({1}), Dims{1}).value();
  EXPECT_EQ(attribute<Dims>("offsets"), Dims{runtime::dynamicExtent});
  EXPECT_EQ(graph.allNodes()[end].extentOperands, std::vector{less});

  size_t nodes = graph.allNodes().size();
  expectFailure(b.slice(x, Dims{1}, b.extents({8}), Dims{1}), Failure::Invalid,
                nodes);
  expectFailure(b.slice(x, Dims{3}, b.extents({5}), Dims{-1}), Failure::Invalid,
                nodes);
  expectFailure(b.slice(x, Dims{0}, b.extents({1}), Dims{0}), Failure::Invalid,
                nodes);
  expectFailure(b.slice(x, Dims{0}, b.extents({3}), Dims{INT64_MAX}),
                Failure::Invalid, nodes);
  expectFailure(b.slice(x, Dims{}, {}, Dims{}), Failure::Invalid, nodes);
}

TEST_F(GraphBuilderTest, DataMovementExtents) {
  ValueId x = input(DType::F32, {2, 3}), y = input(DType::F32, {4, 3}),
          s = symbolic();
  ValueId zero = b.constant(DType::F32, 0.0);
  EXPECT_EQ(shape(b.transpose(x, Dims{1, 0}).value()), (Dims{3, 2}));
  EXPECT_EQ(shape(b.pad(x, zero, Dims{1, 0}, Dims{2, 5}).value()),
            (Dims{5, 8}));
  EXPECT_EQ(shape(b.concat(std::vector{x, y, x}, 0).value()), (Dims{8, 3}));
  ValueId joined = b.concat(std::vector{s, s}, 0).value();
  EXPECT_EQ(graph.extent(b.type(joined).extents[0]).kind,
            ExtentExpr::Kind::Add);
  ValueId index = b.constantList(DType::I64, Dims{1, 0, 1, 1}).value();
  EXPECT_EQ(shape(b.gather(x, index, 1).value()), (Dims{2, 4}));
  EXPECT_EQ(shape(b.iota(DType::I64, b.extents({3, 5}), 1).value()),
            (Dims{3, 5}));

  size_t nodes = graph.allNodes().size();
  expectFailure(b.transpose(x, Dims{0, 0}), Failure::Invalid, nodes);
  expectFailure(b.pad(x, zero, Dims{-1, 0}, Dims{0, 0}), Failure::Invalid,
                nodes);
  expectFailure(b.concat(std::vector{x, y}, 1), Failure::Invalid, nodes);
  expectFailure(b.gather(x, x, 0), Failure::Invalid, nodes);
  expectFailure(b.iota(DType::I64, b.extents({3}), 1), Failure::Invalid, nodes);
}

TEST_F(GraphBuilderTest, AnExtentAsAValue) {
  ValueId s = symbolic();
  ValueId known = b.extentValue(DType::F32, graph.constant(3)).value();
  EXPECT_EQ(graph.allNodes()[known].op, "wok.constant");
  EXPECT_EQ(attribute<double>("value"), 3.0);
  ValueId counted = b.extentValue(DType::F32, b.type(s).extents[0]).value();
  EXPECT_EQ(b.dtype(counted), DType::F32);
  EXPECT_EQ(b.rank(counted), 0u);
}

} // namespace
