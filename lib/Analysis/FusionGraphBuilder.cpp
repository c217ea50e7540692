//===- FusionGraphBuilder.cpp - Fusion decisions on MLIR ------------------===//

#include "wok/Analysis/FusionGraphBuilder.h"

#include "wok/Analysis/ElementCost.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wok;

using Kind = FusionNode::Kind;

namespace {
class BlockGrapher {
public:
  explicit BlockGrapher(Block &block) : block(block) {}
  BlockGraph run();

private:
  /// An extent: static, or `-1 - symbol`.
  using Extent = int64_t;
  using Shape = std::vector<Extent>;

  Extent newSymbol() {
    parents.push_back(parents.size());
    return -Extent(parents.size());
  }
  Extent find(Extent extent) {
    if (extent >= 0)
      return extent;
    size_t root = -1 - extent;
    while (parents[root] != root)
      root = parents[root] = parents[parents[root]];
    return -1 - Extent(root);
  }
  void unify(Extent lhs, Extent rhs) {
    lhs = find(lhs), rhs = find(rhs);
    if (lhs < 0 && rhs < 0)
      parents[-1 - std::max(lhs, rhs)] = -1 - std::min(lhs, rhs);
  }

  Extent extentOf(Value index);
  const Shape &shapeOf(Value value) const {
    return result.graph[result.nodes.at(value)].shape;
  }
  void addNode(Value value, FusionNode node);
  void addOperation(Operation &op);
  Shape resultShape(Operation &op, RankedTensorType type);
  void setKind(Operation &op, FusionNode &node);
  void need(Operation &op);

  Block &block;
  BlockGraph result;
  std::vector<size_t> parents;
  llvm::DenseMap<Value, Extent> indices;
};
} // namespace

BlockGrapher::Extent BlockGrapher::extentOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto dim = index.getDefiningOp<DimOp>())
    if (auto node = result.nodes.find(dim.getOperand());
        node != result.nodes.end())
      return result.graph[node->second].shape[dim.getDim()];
  auto [entry, isNew] = indices.try_emplace(index, 0);
  if (isNew)
    entry->second = newSymbol();
  return entry->second;
}

void BlockGrapher::addNode(Value value, FusionNode node) {
  result.nodes[value] = result.graph.size();
  result.graph.push_back(std::move(node));
  result.values.push_back(value);
}

/// The extents of the result of `op`, as far as possible from its operands.
BlockGrapher::Shape BlockGrapher::resultShape(Operation &op,
                                              RankedTensorType type) {
  Shape shape(type.getShape());
  auto fill = [&](ValueRange extents) {
    for (Extent &extent : shape)
      if (ShapedType::isDynamic(extent)) {
        extent = extentOf(extents.front());
        extents = extents.drop_front();
      }
  };
  llvm::TypeSwitch<Operation *>(&op)
      .Case<ReshapeOp>([&](ReshapeOp reshape) { fill(reshape.getExtents()); })
      .Case<IotaOp>([&](IotaOp iota) { fill(iota.getExtents()); })
      .Case<SliceOp>([&](SliceOp slice) {
        fill(slice.getDynamic().take_back(type.getNumDynamicDims()));
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        fill(broadcast.getExtents());
        for (auto [dim, extent] :
             llvm::zip(broadcast.getDims(), shapeOf(broadcast.getOperand())))
          unify(extent, shape[dim]);
      })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        for (auto [extent, dim] : llvm::zip(shape, transpose.getPermutation()))
          extent = shapeOf(transpose.getOperand())[dim];
      })
      .Case<ReduceOp, ArgReduceOp>([&](auto reduce) {
        SmallVector<int64_t> dims;
        if constexpr (std::is_same_v<decltype(reduce), ReduceOp>)
          llvm::append_range(dims, reduce.getDims());
        else
          dims.push_back(reduce.getDim());
        size_t next = 0;
        for (auto [dim, extent] : llvm::enumerate(shapeOf(reduce.getOperand())))
          if (!llvm::is_contained(dims, int64_t(dim)))
            shape[next++] = extent;
      })
      .Case<GatherOp>([&](GatherOp gather) {
        const Shape &operand = shapeOf(gather.getOperand());
        const Shape &indices = shapeOf(gather.getIndices());
        size_t dim = gather.getDim();
        shape.assign(operand.begin(), operand.begin() + dim);
        shape.insert(shape.end(), indices.begin(), indices.end());
        shape.insert(shape.end(), operand.begin() + dim + 1, operand.end());
      })
      .Case<ConcatOp>([&](ConcatOp concat) {
        for (Value operand : concat.getOperands())
          for (auto [dim, extent] : llvm::enumerate(shapeOf(operand)))
            if (dim != concat.getDim() && ShapedType::isDynamic(shape[dim]))
              shape[dim] = extent;
      })
      .Case<PadOp>([&](PadOp pad) {
        for (auto [dim, extent] : llvm::enumerate(shapeOf(pad.getOperand())))
          if (pad.getLow()[dim] == 0 && pad.getHigh()[dim] == 0)
            shape[dim] = extent;
      })
      .Case<ElementwiseOpInterface>([&](Operation *elementwise) {
        shape = shapeOf(elementwise->getOperand(0));
        for (Value operand : elementwise->getOperands().drop_front())
          for (auto [lhs, rhs] : llvm::zip(shape, shapeOf(operand)))
            unify(lhs, rhs);
      });
  for (Extent &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = newSymbol();
  return shape;
}

void BlockGrapher::setKind(Operation &op, FusionNode &node) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<ElementwiseOpInterface>([&](Operation *) {
        node.kind = Kind::Pointwise;
        node.cost = elementCost(&op);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        node.kind = Kind::Reduce;
        node.dims.assign(reduce.getDims().begin(), reduce.getDims().end());
      })
      .Case<ArgReduceOp>([&](ArgReduceOp reduce) {
        node.kind = Kind::Reduce;
        node.dims = {int64_t(reduce.getDim())};
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        node.kind = Kind::Broadcast;
        node.dims.assign(broadcast.getDims().begin(),
                         broadcast.getDims().end());
      })
      // Which reshapes are views is known when all extents are.
      .Case<ReshapeOp>([&](Operation *) { node.kind = Kind::Reshape; })
      .Case<TransposeOp, SliceOp, PadOp>(
          [&](Operation *) { node.kind = Kind::Index; })
      .Case<ConcatOp>([&](Operation *) { node.kind = Kind::Concat; })
      .Case<GatherOp>([&](Operation *) { node.kind = Kind::Gather; })
      .Case<IotaOp, ConstantOp>(
          [&](Operation *) { node.kind = Kind::Generator; })
      .Default([&](Operation *) { node.kind = Kind::Source; });
}

void BlockGrapher::addOperation(Operation &op) {
  for (Value value : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    FusionNode node;
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        node.operands.push_back(result.nodes.at(operand));
    node.shape = resultShape(op, type);
    setKind(op, node);
    addNode(value, std::move(node));
  }
}

/// Marks the tensors that `op` wants in memory.
void BlockGrapher::need(Operation &op) {
  if (op.hasTrait<Fusable>() && !isa<DimOp>(op))
    return;
  for (Value operand : op.getOperands())
    if (auto node = result.nodes.find(operand); node != result.nodes.end())
      result.graph[node->second].needed = true;
}

BlockGraph BlockGrapher::run() {
  for (Value argument : block.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
      FusionNode node;
      for (int64_t extent : type.getShape())
        node.shape.push_back(ShapedType::isDynamic(extent) ? newSymbol()
                                                           : extent);
      addNode(argument, std::move(node));
    }
  for (Operation &op : block)
    addOperation(op);
  for (FusionNode &node : result.graph)
    for (Extent &extent : node.shape)
      extent = find(extent);

  // Users first: what a view reads is needed.
  for (Operation &op : llvm::reverse(block)) {
    need(op);
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape)
      continue;
    FusionNode &node = result.graph[result.nodes[reshape.getResult()]];
    FusionNode &operand = result.graph[node.operands[0]];
    Shape from = operand.shape, to = node.shape;
    std::erase(from, 1);
    std::erase(to, 1);
    bool movesOnlyUnits = from == to;
    // Nothing is gained by a kernel that copies what can be viewed.
    if (movesOnlyUnits && !(node.needed && operand.kind == Kind::Source))
      continue;
    node.kind = Kind::Source;
    operand.needed = true;
  }
  return std::move(result);
}

BlockGraph wok::buildFusionGraph(SubgraphOp subgraph) {
  return BlockGrapher(subgraph.getBody().front()).run();
}
