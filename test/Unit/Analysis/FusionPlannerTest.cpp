//===- FusionPlannerTest.cpp - Which operations become one kernel ---------===//

#include "wok/Analysis/FusionPlanner.h"
#include "gtest/gtest.h"

#include <random>

using namespace wok;
using Kind = FusionNode::Kind;
using Set = std::vector<uint32_t>;
using Shape = std::vector<int64_t>;

namespace {
/// Builds graphs in few words.
class GraphBuilder {
public:
  uint32_t source(Shape shape, Set operands = {}) {
    for (uint32_t operand : operands)
      graph[operand].needed = true;
    return add({.kind = Kind::Source, .operands = operands, .shape = shape});
  }
  uint32_t pointwise(Set operands, uint32_t cost = 1) {
    Shape shape = graph[operands[0]].shape;
    return add({.kind = Kind::Pointwise,
                .operands = operands,
                .shape = shape,
                .cost = cost});
  }
  uint32_t reduce(uint32_t operand, Shape dims) {
    Shape shape;
    for (size_t i = 0; i < graph[operand].shape.size(); ++i)
      if (std::find(dims.begin(), dims.end(), int64_t(i)) == dims.end())
        shape.push_back(graph[operand].shape[i]);
    return add({.kind = Kind::Reduce,
                .operands = {operand},
                .shape = shape,
                .dims = dims});
  }
  uint32_t broadcast(uint32_t operand, Shape shape, Shape dims) {
    return add({.kind = Kind::Broadcast,
                .operands = {operand},
                .shape = shape,
                .dims = dims});
  }
  uint32_t move(Kind kind, Set operands, Shape shape) {
    return add({.kind = kind, .operands = operands, .shape = shape});
  }
  uint32_t add(FusionNode node) {
    graph.push_back(std::move(node));
    return graph.size() - 1;
  }
  void need(uint32_t index) { graph[index].needed = true; }

  FusionGraph graph;
};

/// A kernel of all members computes all outputs with one walk.
void expectClassifies(const FusionGraph &graph, const FusionGroup &group) {
  EXPECT_TRUE(classifyFusion(graph, group.members, group.outputs).has_value());
}
} // namespace

TEST(FusionPlanner, ChainIsOneKernel) {
  GraphBuilder b;
  uint32_t x = b.source({4, 8});
  uint32_t y = b.pointwise({x}, 16), z = b.pointwise({y, x}, 16);
  b.need(z);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].members, (Set{y, z}));
  EXPECT_EQ(groups[0].outputs, (Set{z}));
}

// exp(x - max(x)) / sum(exp(x - max(x))) along the last dimension.
TEST(FusionPlanner, SoftmaxIsOneKernel) {
  for (int64_t rows : {64, -1, 1}) {
    GraphBuilder b;
    uint32_t x = b.source({rows, 32});
    uint32_t max = b.reduce(x, {1});
    uint32_t shifted = b.pointwise({x, b.broadcast(max, {rows, 32}, {0})});
    uint32_t exp = b.pointwise({shifted}, 16);
    uint32_t sum = b.reduce(exp, {1});
    uint32_t y = b.pointwise({exp, b.broadcast(sum, {rows, 32}, {0})}, 6);
    b.need(y);
    auto groups = planFusions(b.graph);
    ASSERT_EQ(groups.size(), 1u) << rows;
    EXPECT_EQ(groups[0].outputs, (Set{y}));
    auto shape = classifyFusion(b.graph, groups[0].members, groups[0].outputs);
    EXPECT_EQ(shape->kind, FusionShape::Kind::Rows);
    EXPECT_EQ(shape->space, (Shape{rows, 32}));
    EXPECT_EQ(shape->reduced, (Shape{1}));
    EXPECT_EQ(shape->levels.front(), FusionShape::Level::Row);
    EXPECT_EQ(shape->levels.back(), FusionShape::Level::Element);
  }
}

// With keepdim: the row values have a unit dimension.
TEST(FusionPlanner, UnitDimensionsOfRowsDoNotMatter) {
  GraphBuilder b;
  uint32_t x = b.source({-1, 32}), w = b.source({32});
  uint32_t mean = b.move(Kind::Reshape, {b.reduce(x, {1})}, {-1, 1});
  uint32_t centred = b.pointwise({x, b.broadcast(mean, {-1, 32}, {0, 1})});
  uint32_t variance = b.move(
      Kind::Reshape, {b.reduce(b.pointwise({centred, centred}), {1})}, {-1, 1});
  uint32_t scale = b.pointwise({variance}, 16);
  uint32_t y = b.pointwise({centred, b.broadcast(scale, {-1, 32}, {0, 1})});
  uint32_t z = b.pointwise({y, b.broadcast(w, {-1, 32}, {1})});
  b.need(z);
  b.need(scale);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].outputs, (Set{scale, z}));
  expectClassifies(b.graph, groups[0]);
}

TEST(FusionPlanner, FullReductionEndsBeforeItsElementwiseConsumers) {
  GraphBuilder b;
  uint32_t x = b.source({64, 64});
  uint32_t square = b.pointwise({x, x});
  uint32_t sum = b.reduce(square, {0, 1});
  uint32_t root = b.pointwise({sum}, 6);
  uint32_t y = b.pointwise({x, b.broadcast(root, {64, 64}, {})}, 6);
  b.need(y);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].members, (Set{square, sum, root}));
  EXPECT_EQ(classifyFusion(b.graph, groups[0].members, groups[0].outputs)->kind,
            FusionShape::Kind::Full);
  EXPECT_EQ(groups[1].outputs, (Set{y}));
}

TEST(FusionPlanner, ReductionsOfDifferentDimensionsAreTwoKernels) {
  GraphBuilder b;
  uint32_t x = b.source({8, 8});
  uint32_t rows = b.reduce(x, {1}), columns = b.reduce(x, {0});
  b.need(rows), b.need(columns);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(classifyFusion(b.graph, groups[1].members, groups[1].outputs)->kind,
            FusionShape::Kind::Columns);
}

TEST(FusionPlanner, SiblingsThatReadOneTensorAreOneKernel) {
  GraphBuilder b;
  uint32_t x = b.source({8, 8}), other = b.source({8, 8});
  uint32_t sin = b.pointwise({x}, 16), cos = b.pointwise({x}, 16),
           rows = b.reduce(x, {1});
  uint32_t apart = b.pointwise({other});
  for (uint32_t needed : {sin, cos, rows, apart})
    b.need(needed);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].outputs, (Set{sin, cos, rows}));
}

// A merge that would read its own output by way of a contraction makes a cycle.
TEST(FusionPlanner, NothingIsFusedAcrossWhatItFeeds) {
  GraphBuilder b;
  uint32_t x = b.source({8, 8});
  uint32_t y = b.pointwise({x});
  uint32_t product = b.source({8, 8}, {y, y});
  uint32_t z = b.pointwise({y, product});
  b.need(z);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].outputs, (Set{y}));
  EXPECT_EQ(groups[1].outputs, (Set{z}));
}

// What costs much is stored rather than computed for every row.
TEST(FusionPlanner, CostlyValuesAreNotRepeated) {
  for (uint32_t cost : {1u, 16u}) {
    GraphBuilder b;
    uint32_t x = b.source({64, 64}), bias = b.source({64});
    uint32_t computed = b.pointwise({bias}, cost);
    uint32_t y = b.pointwise({x, b.broadcast(computed, {64, 64}, {1})});
    b.need(y);
    EXPECT_EQ(planFusions(b.graph).size(), cost == 1 ? 1u : 2u);
  }
}

// A single element is computed before the loops, whatever it costs.
TEST(FusionPlanner, ScalarsAreFusedWithTheirReaders) {
  GraphBuilder b;
  uint32_t x = b.source({64, 64}), s = b.source({});
  uint32_t y =
      b.pointwise({x, b.broadcast(b.pointwise({s}, 64), {64, 64}, {})});
  b.need(y);
  EXPECT_EQ(planFusions(b.graph).size(), 1u);
}

// x + exp(x) transposed: exp would be computed at two places of the space only
// if the value itself is needed there too.
TEST(FusionPlanner, TransposedReadOfComputedValue) {
  for (bool isNeeded : {false, true}) {
    GraphBuilder b;
    uint32_t x = b.source({8, 8});
    uint32_t exp = b.pointwise({x}, 16);
    uint32_t y = b.pointwise({x, b.move(Kind::Index, {exp}, {8, 8})});
    b.need(y);
    if (isNeeded)
      b.need(exp);
    EXPECT_EQ(planFusions(b.graph).size(), isNeeded ? 2u : 1u);
  }
}

TEST(FusionPlanner, RowsAreNotMoved) {
  GraphBuilder b;
  uint32_t x = b.source({8, 8, 8});
  uint32_t sum = b.reduce(x, {2});
  uint32_t moved = b.pointwise({b.move(Kind::Index, {sum}, {8, 8})});
  b.need(moved);
  EXPECT_EQ(planFusions(b.graph).size(), 2u);
  // Broadcast along a dimension that is kept: not the row's own place.
  GraphBuilder c;
  uint32_t s = c.reduce(c.source({8, 8}), {1});
  c.need(c.pointwise({c.broadcast(s, {8, 8}, {1}), 0}));
  EXPECT_EQ(planFusions(c.graph).size(), 2u);
}

TEST(FusionPlanner, NeededMovementIsAKernel) {
  GraphBuilder b;
  uint32_t x = b.source({8, 4});
  uint32_t y = b.move(Kind::Index, {x}, {4, 8});
  uint32_t c = b.move(Kind::Generator, {}, {3});
  b.need(y), b.need(c);
  auto groups = planFusions(b.graph);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].outputs, (Set{y}));
  EXPECT_EQ(groups[1].outputs, (Set{c}));
}

TEST(FusionPlanner, DeadCodeIsInNoKernel) {
  GraphBuilder b;
  uint32_t x = b.source({8});
  b.pointwise({x});
  EXPECT_TRUE(planFusions(b.graph).empty());
  EXPECT_TRUE(planFusions({}).empty());
}

// Concatenations that double their operand: as many paths as elements.
TEST(FusionPlanner, ManyPathsAreQuick) {
  GraphBuilder b;
  uint32_t value = b.pointwise({b.source({1})});
  int64_t extent = 1;
  for (int i = 0; i < 40; ++i)
    value = b.move(Kind::Concat, {value, value}, {extent *= 2});
  b.need(value);
  EXPECT_FALSE(planFusions(b.graph).empty());
}

// On random graphs: every needed value is written once, kernels read only what
// is in memory by then, and each kernel is one walk.
TEST(FusionPlanner, RandomGraphs) {
  std::mt19937 random(7);
  auto pick = [&](size_t n) { return uint32_t(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    GraphBuilder b;
    std::vector<Set> byShape(3); // [8, 8], [8], []
    const Shape shapes[] = {{8, 8}, {8}, {}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        byShape[i].push_back(b.source(shapes[i]));
    for (int i = 0, n = 2 + pick(30); i < n; ++i) {
      uint32_t rank = pick(3), x = byShape[rank][pick(byShape[rank].size())];
      switch (pick(7)) {
      case 0:
      case 1: {
        uint32_t y = byShape[rank][pick(byShape[rank].size())];
        byShape[rank].push_back(b.pointwise({x, y}, pick(2) ? 1 : 16));
        break;
      }
      case 2:
        if (rank == 0)
          byShape[1].push_back(b.reduce(x, {int64_t(pick(2))}));
        else if (rank == 1)
          byShape[2].push_back(b.reduce(x, {0}));
        break;
      case 3:
        if (rank == 1)
          byShape[0].push_back(b.broadcast(x, {8, 8}, {int64_t(pick(2))}));
        else if (rank == 2)
          byShape[0].push_back(b.broadcast(x, {8, 8}, {}));
        break;
      case 4:
        byShape[rank].push_back(b.move(Kind::Index, {x}, shapes[rank]));
        break;
      case 5:
        byShape[rank].push_back(b.source(shapes[rank], {x}));
        break;
      case 6:
        b.need(x);
        break;
      }
    }
    b.need(b.graph.size() - 1);

    auto groups = planFusions(b.graph);
    std::vector<int> writers(b.graph.size(), 0);
    std::vector<bool> inMemory(b.graph.size(), false);
    // Sources appear once what they read is there.
    auto settle = [&] {
      for (uint32_t i = 0; i < b.graph.size(); ++i)
        if (b.graph[i].kind == Kind::Source)
          inMemory[i] = std::all_of(
              b.graph[i].operands.begin(), b.graph[i].operands.end(),
              [&](uint32_t operand) { return inMemory[operand]; });
    };
    settle();
    for (const FusionGroup &group : groups) {
      expectClassifies(b.graph, group);
      for (uint32_t member : group.members)
        for (uint32_t operand : b.graph[member].operands)
          EXPECT_TRUE(std::binary_search(group.members.begin(),
                                         group.members.end(), operand) ||
                      inMemory[operand]);
      for (uint32_t output : group.outputs) {
        EXPECT_TRUE(std::binary_search(group.members.begin(),
                                       group.members.end(), output));
        ++writers[output];
        inMemory[output] = true;
      }
      settle();
    }
    for (uint32_t i = 0; i < b.graph.size(); ++i) {
      EXPECT_LE(writers[i], 1);
      if (b.graph[i].needed)
        EXPECT_TRUE(inMemory[i]);
    }
  }
}
