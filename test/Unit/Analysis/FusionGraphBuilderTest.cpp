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

  /// The walk of the only fusion of a module.
  FailureOr<FusionWalk> walk(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    FusionOp fusion;
    module->walk([&](FusionOp op) { fusion = op; });
    return getFusionWalk(fusion);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// After planning: the extents of buffers are extents like others. `%n` is an
// operand, and known to be the first extent of `%x` because both meet in an
// addition.
TEST_F(FusionGraphBuilder, RowsWithSymbolicExtents) {
  auto result = walk(R"(
    wok.subgraph @f(%x: memref<?x8xf32>, %out: memref<?x8xf32>) {
      %c0 = arith.constant 0 : index
      wok.fusion(%x, %c0) outs(%out : memref<?x8xf32>) : (memref<?x8xf32>, index) -> () {
      ^bb0(%y: tensor<?x8xf32>, %n: index):
        %s = wok.reduce sum %y dims [1] : tensor<?x8xf32> -> tensor<?xf32>
        %b = wok.broadcast %s extents [%n] dims [0] : tensor<?xf32> -> tensor<?x8xf32>
        %d = wok.sub %y, %b : tensor<?x8xf32>
        wok.yield %d : tensor<?x8xf32>
      }
      wok.return
    })");
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->kind, FusionShape::Kind::Rows);
  EXPECT_EQ(result->reduced, SmallVector<int64_t>{1});
  EXPECT_TRUE(isa<BlockArgument>(result->space));
  for (auto [value, level] : result->levels)
    if (Operation *op = value.getDefiningOp()) {
      EXPECT_EQ(level, isa<ReduceOp>(op) ? FusionShape::Level::Row
                                         : FusionShape::Level::Element);
    }
}

TEST_F(FusionGraphBuilder, PointwiseMayReshape) {
  auto result = walk(R"(
    wok.subgraph @f(%x: tensor<4x8xf32>) -> tensor<32xf32> {
      %0 = wok.fusion(%x) : (tensor<4x8xf32>) -> tensor<32xf32> {
      ^bb0(%y: tensor<4x8xf32>):
        %r = wok.reshape %y : tensor<4x8xf32> -> tensor<32xf32>
        %n = wok.neg %r : tensor<32xf32>
        wok.yield %n : tensor<32xf32>
      }
      wok.return %0 : tensor<32xf32>
    })");
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->kind, FusionShape::Kind::Pointwise);
  EXPECT_EQ(result->space.getType().getShape(), llvm::ArrayRef<int64_t>{32});
}

TEST_F(FusionGraphBuilder, ColumnsAndFull) {
  const char *text = R"(
    wok.subgraph @f(%%x: tensor<4x8x2xf32>) -> tensor<%sf32> {
      %%0 = wok.fusion(%%x) : (tensor<4x8x2xf32>) -> tensor<%sf32> {
      ^bb0(%%y: tensor<4x8x2xf32>):
        %%s = wok.reduce max %%y dims [%s] : tensor<4x8x2xf32> -> tensor<%sf32>
        wok.yield %%s : tensor<%sf32>
      }
      wok.return %%0 : tensor<%sf32>
    })";
  auto of = [&](const char *dims, const char *shape) {
    char buffer[1024];
    snprintf(buffer, sizeof(buffer), text, shape, shape, dims, shape, shape,
             shape);
    return walk(buffer)->kind;
  };
  EXPECT_EQ(of("0, 1, 2", ""), FusionShape::Kind::Full);
  EXPECT_EQ(of("0, 1", "2x"), FusionShape::Kind::Columns);
  EXPECT_EQ(of("1", "4x2x"), FusionShape::Kind::Columns);
  EXPECT_EQ(of("0, 2", "8x"), FusionShape::Kind::Rows);
  EXPECT_EQ(of("2", "4x8x"), FusionShape::Kind::Rows);
}

// Two spaces are no walk.
TEST_F(FusionGraphBuilder, RefusesWhatIsNoWalk) {
  EXPECT_TRUE(failed(walk(R"(
    wok.subgraph @f(%x: tensor<8x8xf32>) -> tensor<8xf32> {
      %0 = wok.fusion(%x) : (tensor<8x8xf32>) -> tensor<8xf32> {
      ^bb0(%y: tensor<8x8xf32>):
        %a = wok.reduce max %y dims [0] : tensor<8x8xf32> -> tensor<8xf32>
        %b = wok.reduce max %y dims [1] : tensor<8x8xf32> -> tensor<8xf32>
        %c = wok.add %a, %b : tensor<8xf32>
        wok.yield %c : tensor<8xf32>
      }
      wok.return %0 : tensor<8xf32>
    })")));
  EXPECT_TRUE(failed(walk(R"(
    wok.subgraph @f(%x: tensor<8xf32>, %z: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
      %0:2 = wok.fusion(%x, %z) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
      ^bb0(%y: tensor<8xf32>, %w: tensor<4xf32>):
        wok.yield %y, %w : tensor<8xf32>, tensor<4xf32>
      }
      wok.return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
    })")));
}

// A reshape is a node where it moves unit dimensions only; otherwise it is a
// view, and what it views is needed. One that is needed itself and views what
// is in memory is no kernel either.
TEST_F(FusionGraphBuilder, ViewsAreSources) {
  module = parseSourceString<ModuleOp>(R"(
    wok.subgraph @f(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>) {
      %0 = wok.neg %x : tensor<4x8xf32>
      %1 = wok.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
      %2 = wok.reshape %x : tensor<4x8xf32> -> tensor<4x1x8xf32>
      %3 = wok.reduce max %2 dims [1] : tensor<4x1x8xf32> -> tensor<4x8xf32>
      wok.return %1, %2, %3 : tensor<32xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  BlockGraph block =
      buildFusionGraph(cast<SubgraphOp>(module->getBody()->front()));
  using Kind = FusionNode::Kind;
  ASSERT_EQ(block.graph.size(), 5u);
  EXPECT_EQ(block.graph[1].kind, Kind::Pointwise);
  EXPECT_TRUE(block.graph[1].needed);
  EXPECT_EQ(block.graph[2].kind, Kind::Source);
  EXPECT_EQ(block.graph[3].kind, Kind::Source);
  EXPECT_EQ(block.graph[4].kind, Kind::Reduce);
  EXPECT_EQ(planFusions(block.graph).size(), 2u);
}
