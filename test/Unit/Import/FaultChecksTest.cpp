//===- FaultChecksTest.cpp - Which operations need a test of their own ----===//

#include "wok/Import/FaultChecks.h"

#include "wok/Import/GraphBuilder.h"
#include "gtest/gtest.h"

using namespace wok;
using namespace wok::importer;

namespace {

struct FaultChecksTest : testing::Test {
  Graph graph;
  GraphBuilder b{graph};
  ValueId x = input(DType::I64, {4}), y = input(DType::I64, {4});
  ValueId table = input(DType::F32, {8, 3}), index = input(DType::I64, {4});

  ValueId input(DType dtype, std::initializer_list<int64_t> extents) {
    return graph.addInput({dtype, b.extents(extents)}, false);
  }
  size_t checks(std::initializer_list<ValueId> outputs) {
    graph.outputs = outputs;
    size_t before = graph.allNodes().size();
    std::vector<ValueId> checks = appendFaultChecks(graph);
    for (ValueId check : checks) {
      EXPECT_GE(check, before);
      EXPECT_EQ(b.dtype(check), DType::I1);
      EXPECT_EQ(b.rank(check), 0u);
    }
    return checks.size();
  }
};

TEST_F(FaultChecksTest, WhatIsComputedWholeReportsItself) {
  ValueId quotient = b.binary("floor_div", x, y).value();
  EXPECT_EQ(checks({quotient}), 0u);
  EXPECT_EQ(checks({b.cast(quotient, DType::F32).value()}), 0u);
  ValueId rows = b.gather(table, index, 0).value();
  EXPECT_EQ(checks({quotient, rows}), 0u);
  EXPECT_EQ(checks({quotient, b.unary("exp", rows).value()}), 0u);
  int64_t dims[] = {1};
  EXPECT_EQ(checks({quotient, b.reduce("sum", rows, dims).value()}), 0u);
}

TEST_F(FaultChecksTest, DeadOperations) {
  b.binary("remainder", x, y).value();
  b.gather(table, index, 0).value();
  EXPECT_EQ(checks({x}), 2u);
}

TEST_F(FaultChecksTest, WhatMayNotBeComputedWhole) {
  ValueId quotient = b.binary("div", x, y).value();
  int64_t offset[] = {0}, stride[] = {1};
  EXPECT_EQ(checks({b.slice(quotient, offset, b.extents({2}), stride).value()}),
            1u);
  EXPECT_EQ(checks({b.binary("mul", quotient, x).value()}), 1u);
  ValueId less = b.compare("lt", x, y).value();
  EXPECT_EQ(checks({b.select(less, quotient, x).value()}), 1u);
  // Once more as an output: it reports itself.
  EXPECT_EQ(checks({b.select(less, quotient, x).value(), quotient}), 0u);
}

TEST_F(FaultChecksTest, FloatsDoNotFault) {
  ValueId a = input(DType::F32, {4}), c = input(DType::F32, {4});
  b.binary("div", a, c).value();
  b.binary("fmod", a, c).value();
  EXPECT_EQ(checks({a}), 0u);
}

} // namespace
