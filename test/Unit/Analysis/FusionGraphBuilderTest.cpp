//===- FusionGraphBuilderTest.cpp - Fusion decisions on MLIR --------------===//

#include "wok/Analysis/FusionGraphBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace wok;

namespace {
class FusionGraphBuilder : public testing::Test {
protected:
  FusionGraphBuilder() { context.loadDialect<WokDialect>(); }

  /// The graph of a module that is one subgraph.
  BlockGraph graph(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return buildFusionGraph(cast<SubgraphOp>(module->getBody()->front()));
  }

  /// How the kernels walk that the subgraph becomes.
  SmallVector<FusionShape> shapes(llvm::StringRef text) {
    BlockGraph block = graph(text);
    SmallVector<FusionShape> result;
    for (const FusionGroup &group : planFusions(block.graph)) {
      auto shape = classifyFusion(block.graph, group.members, group.outputs);
      EXPECT_TRUE(shape);
      if (shape)
        result.push_back(std::move(*shape));
    }
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// `%n` is an operand, and known to be the first extent of `%x` because both
// meet in a subtraction.
TEST_F(FusionGraphBuilder, RowsWithSymbolicExtents) {
  auto kernels = shapes(R"(
    wok.subgraph @f(%x: tensor<?x8xf32>, %y: tensor<?xf32>) -> tensor<?x8xf32> {
      %n = wok.dim %y, 0 : tensor<?xf32>
      %s = wok.reduce sum %x dims [1] : tensor<?x8xf32> -> tensor<?xf32>
      %b = wok.broadcast %s extents [%n] dims [0] : tensor<?xf32> -> tensor<?x8xf32>
      %d = wok.sub %x, %b : tensor<?x8xf32>
      wok.return %d : tensor<?x8xf32>
    })");
  ASSERT_EQ(kernels.size(), 1u);
  using Level = FusionShape::Level;
  EXPECT_EQ(kernels[0].kind, FusionShape::Kind::Rows);
  EXPECT_EQ(kernels[0].reduced, std::vector<int64_t>{1});
  EXPECT_EQ(kernels[0].levels,
            (std::vector<Level>{Level::Row, Level::Element, Level::Element}));
}

TEST_F(FusionGraphBuilder, ColumnsAndFull) {
  const char *text = R"(
    wok.subgraph @f(%%x: tensor<4x8x2xf32>) -> tensor<%sf32> {
      %%s = wok.reduce max %%x dims [%s] : tensor<4x8x2xf32> -> tensor<%sf32>
      wok.return %%s : tensor<%sf32>
    })";
  auto of = [&](const char *dims, const char *shape) {
    char buffer[1024];
    snprintf(buffer, sizeof(buffer), text, shape, dims, shape, shape);
    auto kernels = shapes(buffer);
    EXPECT_EQ(kernels.size(), 1u);
    return kernels.front().kind;
  };
  EXPECT_EQ(of("0, 1, 2", ""), FusionShape::Kind::Full);
  EXPECT_EQ(of("0, 1", "2x"), FusionShape::Kind::Columns);
  EXPECT_EQ(of("1", "4x2x"), FusionShape::Kind::Columns);
  EXPECT_EQ(of("0, 2", "8x"), FusionShape::Kind::Rows);
  EXPECT_EQ(of("2", "4x8x"), FusionShape::Kind::Rows);
}

// No walk computes reductions of different dimensions.
TEST_F(FusionGraphBuilder, TwoSpacesAreTwoKernels) {
  auto kernels = shapes(R"(
    wok.subgraph @f(%x: tensor<8x8xf32>) -> tensor<8xf32> {
      %a = wok.reduce max %x dims [0] : tensor<8x8xf32> -> tensor<8xf32>
      %b = wok.reduce max %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
      %c = wok.add %a, %b : tensor<8xf32>
      wok.return %c : tensor<8xf32>
    })");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_NE(kernels[0].kind, kernels[1].kind);
}

// A reshape is a node where it moves unit dimensions only; otherwise it is a
// view, and what it views is needed. One that is needed itself and views what
// is in memory is no kernel either.
TEST_F(FusionGraphBuilder, ViewsAreSources) {
  BlockGraph block = graph(R"(
    wok.subgraph @f(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>) {
      %0 = wok.neg %x : tensor<4x8xf32>
      %1 = wok.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
      %2 = wok.reshape %x : tensor<4x8xf32> -> tensor<4x1x8xf32>
      %3 = wok.reduce max %2 dims [1] : tensor<4x1x8xf32> -> tensor<4x8xf32>
      wok.return %1, %2, %3 : tensor<32xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>
    })");
  using Kind = FusionNode::Kind;
  ASSERT_EQ(block.graph.size(), 5u);
  EXPECT_EQ(block.graph[1].kind, Kind::Pointwise);
  EXPECT_TRUE(block.graph[1].needed);
  EXPECT_EQ(block.graph[2].kind, Kind::Source);
  EXPECT_EQ(block.graph[3].kind, Kind::Source);
  EXPECT_EQ(block.graph[4].kind, Kind::Reduce);
  EXPECT_EQ(planFusions(block.graph).size(), 2u);
}
