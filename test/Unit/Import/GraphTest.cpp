//===- GraphTest.cpp - Extents, locations and checkpoints -------*- C++ -*-===//

#include "wok/Import/Graph.h"

#include "wok/Runtime/CompiledSubgraph.h"
#include "gtest/gtest.h"

using namespace wok;
using namespace wok::importer;
using Kind = ExtentExpr::Kind;

namespace {

struct GraphExtents : testing::Test {
  Graph graph;
  ExtentId n = graph.symbol(0, 0);
  ExtentId m = graph.symbol(0, 1);
  ExtentId c(int64_t value) { return graph.constant(value); }
  ExtentId op(Kind kind, ExtentId a, ExtentId b) {
    return graph.binary(kind, a, b);
  }
};

TEST_F(GraphExtents, EqualExpressionsHaveOneId) {
  EXPECT_NE(n, m);
  EXPECT_EQ(c(4), c(4));
  EXPECT_EQ(op(Kind::Add, n, m), op(Kind::Add, m, n));
  EXPECT_EQ(op(Kind::Mul, n, m), op(Kind::Mul, m, n));
  EXPECT_NE(op(Kind::Sub, n, m), op(Kind::Sub, m, n));
  EXPECT_EQ(op(Kind::Sub, n, c(3)), op(Kind::Add, c(-3), n));
}

TEST_F(GraphExtents, ConstantsFold) {
  EXPECT_EQ(op(Kind::Add, c(2), c(3)), c(5));
  EXPECT_EQ(op(Kind::Sub, c(2), c(3)), c(-1));
  EXPECT_EQ(op(Kind::Mul, c(2), c(3)), c(6));
  EXPECT_EQ(op(Kind::FloorDiv, c(7), c(2)), c(3));
  EXPECT_EQ(op(Kind::FloorDiv, c(-7), c(2)), c(-4));
  EXPECT_EQ(op(Kind::CeilDiv, c(7), c(2)), c(4));
  EXPECT_EQ(op(Kind::CeilDiv, c(-7), c(2)), c(-3));
  EXPECT_EQ(op(Kind::CeilDiv, c(6), c(2)), c(3));
  EXPECT_EQ(graph.constantValue(c(6)), 6);
  EXPECT_EQ(graph.constantValue(n), runtime::dynamicExtent);
}

TEST_F(GraphExtents, WhatHasNoValueStays) {
  EXPECT_EQ(graph.extent(op(Kind::FloorDiv, c(7), c(0))).kind, Kind::FloorDiv);
  EXPECT_EQ(graph.extent(op(Kind::Mul, c(INT64_MAX), c(2))).kind, Kind::Mul);
  EXPECT_EQ(graph.extent(op(Kind::Add, c(INT64_MAX), c(1))).kind, Kind::Add);
}

TEST_F(GraphExtents, NeutralElementsAndCancellation) {
  EXPECT_EQ(op(Kind::Add, n, c(0)), n);
  EXPECT_EQ(op(Kind::Sub, n, c(0)), n);
  EXPECT_EQ(op(Kind::Mul, c(1), n), n);
  EXPECT_EQ(op(Kind::Mul, c(0), n), c(0));
  EXPECT_EQ(op(Kind::FloorDiv, n, c(1)), n);
  EXPECT_EQ(op(Kind::Sub, n, n), c(0));
  EXPECT_EQ(op(Kind::Add, op(Kind::Add, n, c(1)), c(2)),
            op(Kind::Add, n, c(3)));
  EXPECT_EQ(op(Kind::Sub, op(Kind::Add, n, c(1)), c(1)), n);
  EXPECT_EQ(op(Kind::Sub, op(Kind::Add, n, m), n), m);
  EXPECT_EQ(op(Kind::Add, op(Kind::Sub, n, m), m), n);
  EXPECT_EQ(op(Kind::FloorDiv, op(Kind::Mul, n, c(6)), c(2)),
            op(Kind::Mul, n, c(3)));
  EXPECT_EQ(op(Kind::Mul, op(Kind::Mul, n, c(2)), c(3)),
            op(Kind::Mul, n, c(6)));
}

TEST(Graph, TruncateForgetsNodesExtentsAndSymbols) {
  Graph graph;
  ExtentId n = graph.symbol(0, 0);
  ValueId x = graph.addInput({DType::F32, {n}}, /*strided=*/true);
  Graph::Checkpoint before = graph.checkpoint();

  ExtentId k = graph.symbol(1, 0);
  graph.addInput({DType::F64, {k}}, false);
  graph.truncate(before);

  ASSERT_EQ(graph.allNodes().size(), 1u);
  EXPECT_EQ(graph.allSymbols().size(), 1u);
  EXPECT_EQ(graph.type(x).extents, std::vector{n});
  EXPECT_TRUE(graph.allNodes()[x].strided);
  // The id is free again, and a new symbol takes it.
  EXPECT_EQ(graph.symbol(1, 0), k);
  EXPECT_EQ(graph.allSymbols().back().input, 1u);
}

TEST(Graph, NodesRememberTheirLine) {
  Graph graph;
  ValueId before = graph.addInput({DType::F32, {}}, false);
  graph.setLocation("a.py", 3);
  ValueId first = graph.addInput({DType::F32, {}}, false);
  graph.setLocation("b.py", 3);
  ValueId second = graph.addInput({DType::F32, {}}, false);
  graph.setLocation("a.py", 3);
  ValueId third = graph.addInput({DType::F32, {}}, false);

  auto at = [&](ValueId value) {
    return graph.location(graph.allNodes()[value].location);
  };
  EXPECT_EQ(at(before), std::pair(std::string_view(), 0u));
  EXPECT_EQ(at(first), std::pair(std::string_view("a.py"), 3u));
  EXPECT_EQ(at(second), std::pair(std::string_view("b.py"), 3u));
  EXPECT_EQ(at(third), at(first));
}

} // namespace
