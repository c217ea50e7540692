//===- FusionShape.cpp - How a kernel walks -------------------------------===//

#include "wok/Analysis/FusionPlanner.h"

#include <algorithm>

using namespace wok;

namespace {
using Kind = FusionNode::Kind;
using Level = FusionShape::Level;

/// Finds the level of each member in order.
class Classifier {
public:
  Classifier(const FusionGraph &graph, std::span<const uint32_t> members)
      : graph(graph), members(members) {}

  std::optional<FusionShape> run(std::span<const uint32_t> outputs);

private:
  /// The dimension of the space that a dimension of a row value stands for, or
  /// `unit`.
  using Axes = std::vector<int64_t>;
  static constexpr int64_t unit = -1;

  struct Member {
    Level level = Level::Map;
    Axes axes; // of row values
  };

  bool findSpace();
  bool classify(uint32_t index);
  bool classifyReduce(const FusionNode &node, Member &result) const;
  bool classifyPointwise(const FusionNode &node, Member &result) const;
  bool classifyBroadcast(const FusionNode &node, Member &result) const;
  bool classifyReshape(const FusionNode &node, Member &result) const;
  bool classifyGather(const FusionNode &node, Member &result) const;
  bool isOutputShape(const std::vector<int64_t> &shape) const;

  /// A value that is no member comes from memory, or is a map value of another
  /// kernel's.
  const Member &operand(const FusionNode &node, size_t number) const {
    static const Member outside;
    auto found =
        std::lower_bound(members.begin(), members.end(), node.operands[number]);
    if (found == members.end() || *found != node.operands[number])
      return outside;
    return found_[found - members.begin()];
  }
  Axes keptAxes() const;

  const FusionGraph &graph;
  std::span<const uint32_t> members;
  std::vector<Member> found_;
  FusionShape shape;
};
} // namespace

/// The first reduction says what the space is.
bool Classifier::findSpace() {
  bool reduces = false;
  for (uint32_t index : members) {
    const FusionNode &node = graph[index];
    if (node.kind != Kind::Reduce)
      continue;
    const std::vector<int64_t> &operandShape = graph[node.operands[0]].shape;
    if (reduces && (operandShape != shape.space || node.dims != shape.reduced))
      return false;
    if (node.dims.empty())
      return false;
    reduces = true;
    shape.space = operandShape;
    shape.reduced = node.dims;
  }
  if (!reduces)
    return true;
  if (shape.reduced.size() == shape.space.size())
    shape.kind = FusionShape::Kind::Full;
  else if (shape.reduced.back() + 1 == int64_t(shape.space.size()))
    shape.kind = FusionShape::Kind::Rows;
  else
    shape.kind = FusionShape::Kind::Columns;
  return true;
}

Classifier::Axes Classifier::keptAxes() const {
  Axes axes;
  for (size_t dim = 0; dim < shape.space.size(); ++dim)
    if (!std::binary_search(shape.reduced.begin(), shape.reduced.end(),
                            int64_t(dim)))
      axes.push_back(dim);
  return axes;
}

bool Classifier::classifyReduce(const FusionNode &node, Member &result) const {
  // `findSpace` has checked the shape; a row value of that shape would be
  // reduced along dimensions in which it does not vary.
  if (operand(node, 0).level == Level::Row)
    return false;
  result = {Level::Row, keptAxes()};
  return true;
}

bool Classifier::classifyPointwise(const FusionNode &node,
                                   Member &result) const {
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Member &from = operand(node, i);
    if (from.level == Level::Map)
      continue;
    // Row and element values have one shape only where nothing is gained by
    // reducing: extents of 1.
    if (result.level != Level::Map &&
        (result.level != from.level || result.axes != from.axes))
      return false;
    result = from;
  }
  return true;
}

bool Classifier::classifyBroadcast(const FusionNode &node,
                                   Member &result) const {
  const Member &from = operand(node, 0);
  if (from.level == Level::Map)
    return true;
  if (from.level == Level::Element)
    return false;
  const std::vector<int64_t> &operandShape = graph[node.operands[0]].shape;
  // Still one value a row: only unit dimensions are new.
  Axes axes(node.shape.size(), unit);
  bool isRow = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto found = std::find(node.dims.begin(), node.dims.end(), int64_t(i));
    bool isOld = found != node.dims.end();
    size_t source = found - node.dims.begin();
    if (isOld && operandShape[source] == node.shape[i])
      axes[i] = from.axes[source];
    else
      isRow &= node.shape[i] == 1;
  }
  if (isRow) {
    result = {Level::Row, std::move(axes)};
    return true;
  }
  // To the space: each kept dimension comes from itself.
  if (node.shape != shape.space || shape.kind == FusionShape::Kind::Full)
    return false;
  Axes kept = keptAxes();
  for (size_t i = 0; i < axes.size(); ++i) {
    bool isKept = std::binary_search(kept.begin(), kept.end(), int64_t(i));
    bool comesFromItself =
        axes[i] == int64_t(i) || (axes[i] == unit && node.shape[i] == 1);
    if (isKept ? !comesFromItself : axes[i] != unit && node.shape[i] != 1)
      return false;
  }
  result = {Level::Element, {}};
  return true;
}

bool Classifier::classifyReshape(const FusionNode &node, Member &result) const {
  const Member &from = operand(node, 0);
  if (from.level == Level::Map)
    return true;
  if (from.level == Level::Element)
    return false;
  // Extents of 1 come and go; the others keep their order.
  const std::vector<int64_t> &operandShape = graph[node.operands[0]].shape;
  Axes axes;
  size_t next = 0;
  for (int64_t extent : node.shape) {
    if (extent == 1) {
      axes.push_back(unit);
      continue;
    }
    while (next < operandShape.size() && operandShape[next] == 1)
      ++next;
    if (next == operandShape.size())
      return false;
    axes.push_back(from.axes[next++]);
  }
  result = {Level::Row, std::move(axes)};
  return true;
}

bool Classifier::classifyGather(const FusionNode &node, Member &result) const {
  if (operand(node, 0).level != Level::Map)
    return false;
  // One element for each index: as a pointwise node of the indices.
  const Member &indices = operand(node, 1);
  if (indices.level != Level::Map && graph[node.operands[0]].shape.size() != 1)
    return false;
  result = indices;
  return true;
}

bool Classifier::classify(uint32_t index) {
  const FusionNode &node = graph[index];
  Member result;
  bool ok = true;
  switch (node.kind) {
  case Kind::Source:
    return false;
  case Kind::Generator:
    break;
  case Kind::Pointwise:
    ok = classifyPointwise(node, result);
    break;
  case Kind::Reduce:
    ok = classifyReduce(node, result);
    break;
  case Kind::Broadcast:
    ok = classifyBroadcast(node, result);
    break;
  case Kind::Reshape:
    ok = classifyReshape(node, result);
    break;
  case Kind::Gather:
    ok = classifyGather(node, result);
    break;
  case Kind::Index:
  case Kind::Concat:
    for (size_t i = 0; i < node.operands.size(); ++i)
      ok &= operand(node, i).level == Level::Map;
    break;
  }
  found_.push_back(std::move(result));
  return ok;
}

/// The shape of the space, or of its kept dimensions with or without dimensions
/// of extent 1.
bool Classifier::isOutputShape(const std::vector<int64_t> &output) const {
  if (output == shape.space)
    return true;
  if (shape.kind == FusionShape::Kind::Pointwise)
    return false;
  std::vector<int64_t> kept, extents;
  for (int64_t axis : keptAxes())
    if (shape.space[axis] != 1)
      kept.push_back(shape.space[axis]);
  std::copy_if(output.begin(), output.end(), std::back_inserter(extents),
               [](int64_t extent) { return extent != 1; });
  return kept == extents;
}

std::optional<FusionShape> Classifier::run(std::span<const uint32_t> outputs) {
  if (outputs.empty() || !findSpace())
    return std::nullopt;
  if (shape.kind == FusionShape::Kind::Pointwise)
    shape.space = graph[outputs.front()].shape;
  found_.reserve(members.size());
  for (uint32_t index : members)
    if (!classify(index))
      return std::nullopt;
  for (uint32_t index : outputs)
    if (!isOutputShape(graph[index].shape))
      return std::nullopt;
  for (const Member &member : found_)
    shape.levels.push_back(member.level);
  return std::move(shape);
}

std::optional<FusionShape>
wok::classifyFusion(const FusionGraph &graph, std::span<const uint32_t> members,
                    std::span<const uint32_t> outputs) {
  return Classifier(graph, members).run(outputs);
}
