//===- FusionPlanner.cpp - Which operations become one kernel -------------===//
//
// Greedy: each node that computes starts as a kernel of its own; in order, each
// is merged with the kernels it reads from, and at last kernels that read the
// same data are merged. A merge happens if one walk can do both
// (`classifyFusion`), if no cycle arises, and if nothing that costs much would
// be computed more than once for an element.
//
//===----------------------------------------------------------------------===//

#include "wok/Analysis/FusionPlanner.h"

#include <algorithm>
#include <iterator>
#include <map>

using namespace wok;

namespace {
using Kind = FusionNode::Kind;
using Level = FusionShape::Level;
using Set = std::vector<uint32_t>; // increasing

/// What a kernel may compute twice for an element rather than store: a few
/// additions.
constexpr uint32_t cheapCost = 4;

/// Bounds what one kernel costs to compile.
constexpr size_t maxMembers = 256;

constexpr uint32_t none = ~uint32_t(0);
} // namespace

static bool contains(const Set &set, uint32_t value) {
  return std::binary_search(set.begin(), set.end(), value);
}

static void insert(Set &set, uint32_t value) {
  auto place = std::lower_bound(set.begin(), set.end(), value);
  if (place == set.end() || *place != value)
    set.insert(place, value);
}

static Set unite(const Set &lhs, const Set &rhs) {
  Set result;
  result.reserve(lhs.size() + rhs.size());
  std::set_union(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(),
                 std::back_inserter(result));
  return result;
}

static bool computes(const FusionNode &node) {
  return node.kind == Kind::Pointwise || node.kind == Kind::Reduce;
}

/// A node that moves or generates costs nothing by itself: each kernel that
/// reads it has its own copy.
static bool isGlue(const FusionNode &node) {
  return node.kind != Kind::Source && !computes(node);
}

static bool isSingleElement(const std::vector<int64_t> &shape) {
  return std::all_of(shape.begin(), shape.end(),
                     [](int64_t extent) { return extent == 1; });
}

//===----------------------------------------------------------------------===//
// What a kernel computes more than once
//===----------------------------------------------------------------------===//

namespace {
/// From which places the elements of a map value are asked for. Two askers with
/// one place share the value; each change of the index on the way makes another
/// place.
class Places {
public:
  static constexpr uint64_t space = 0, row = 1, single = 2;

  void add(uint64_t place) {
    if (count == 0 || (count == 1 && places[0] != place))
      places[count++] = place;
  }
  void add(const Places &other) {
    for (uint8_t i = 0; i < other.count; ++i)
      add(other.places[i]);
    isRepeated |= other.isRepeated;
  }
  /// The same elements, seen through operand `operand` of `node`.
  Places through(uint32_t node, size_t operand) const {
    Places result = *this;
    for (uint8_t i = 0; i < count; ++i)
      result.places[i] = (places[i] * 1000003 + node) * 1000003 + operand + 3;
    return result;
  }
  bool isMany() const { return count > 1 || isRepeated; }

  /// An element is asked for from several places of the space.
  bool isRepeated = false;

private:
  uint64_t places[2];
  uint8_t count = 0;
};
} // namespace

/// The places that operand `number` of `node` is asked for at, if the node's
/// elements are at `places`.
static Places placesOfOperand(const FusionGraph &graph, uint32_t index,
                              size_t number, const Places &places) {
  const FusionNode &node = graph[index];
  const std::vector<int64_t> &operandShape = graph[node.operands[number]].shape;
  switch (node.kind) {
  case Kind::Pointwise:
  case Kind::Reshape:
    return places;
  case Kind::Broadcast: {
    Places result;
    if (isSingleElement(operandShape)) {
      result.add(Places::single);
      return result;
    }
    std::vector<int64_t> from = operandShape, to = node.shape;
    std::erase(from, 1);
    std::erase(to, 1);
    if (from == to)
      return places;
    result = places.through(index, number);
    result.isRepeated = true;
    return result;
  }
  case Kind::Concat: {
    // Where lanes differ in the operand they take, all operands are computed.
    Places result = places.through(index, number);
    result.isRepeated = true;
    return result;
  }
  case Kind::Gather: {
    Places result = places.through(index, number);
    bool onePerIndex = graph[node.operands[0]].shape.size() == 1;
    if (number == 1 && onePerIndex)
      return places;
    result.isRepeated = true;
    return result;
  }
  case Kind::Source:
  case Kind::Generator:
  case Kind::Reduce:
  case Kind::Index:
    break;
  }
  return places.through(index, number);
}

/// What members that are computed at more than one place cost.
static uint32_t repeatedCost(const FusionGraph &graph, const Set &members,
                             const Set &outputs, const FusionShape &shape) {
  std::vector<Places> places(members.size());
  auto positionOf = [&](uint32_t index) {
    auto found = std::lower_bound(members.begin(), members.end(), index);
    return found != members.end() && *found == index ? found - members.begin()
                                                     : ptrdiff_t(-1);
  };
  uint32_t cost = 0;
  for (size_t i = members.size(); i-- > 0;) {
    const FusionNode &node = graph[members[i]];
    Places &own = places[i];
    if (shape.levels[i] != Level::Map) {
      // Row and element values are computed at their own place, once.
      own = Places();
      own.add(shape.levels[i] == Level::Row ? Places::row : Places::space);
    } else if (contains(outputs, members[i])) {
      own.add(node.shape == shape.space ? Places::space : Places::row);
    }
    if (computes(node) && own.isMany())
      cost += node.cost;
    for (size_t operand = 0; operand < node.operands.size(); ++operand) {
      ptrdiff_t position = positionOf(node.operands[operand]);
      if (position < 0)
        continue;
      Places asked;
      if (node.kind == Kind::Reduce)
        asked.add(Places::space);
      else
        asked = placesOfOperand(graph, members[i], operand, own);
      places[position].add(asked);
    }
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Planner
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  explicit Planner(const FusionGraph &graph);
  std::vector<FusionGroup> run();

private:
  /// Nodes that become one kernel; or a source that reads needed nodes, alone.
  struct Group {
    Set own; ///< Nodes that compute, and glue that is needed.
    bool isKernel;
  };

  void mergeWithProducers(uint32_t node);
  void mergeSiblings();
  bool tryMerge(uint32_t lhs, uint32_t rhs);
  bool hasPathAround(uint32_t from, uint32_t to) const;

  Set baseReads(const Set &own) const;
  Set membersOf(const Set &own) const;
  Set outputsOf(const Set &own) const;
  Set successorsOf(uint32_t group) const;
  FusionGroup finish(const Group &group) const {
    return {membersOf(group.own), outputsOf(group.own)};
  }

  const FusionGraph &graph;
  std::vector<Group> groups;
  std::vector<uint32_t> groupOf; ///< Of owned nodes; `none` for others.
  std::vector<Set>
      readers; ///< The owned nodes that read a node, directly or through glue.
};
} // namespace

Planner::Planner(const FusionGraph &graph)
    : graph(graph), groupOf(graph.size(), none), readers(graph.size()) {
  for (uint32_t index = 0; index < graph.size(); ++index) {
    const FusionNode &node = graph[index];
    bool isKernel = computes(node) || (isGlue(node) && node.needed);
    if (!isKernel && (node.kind != Kind::Source || node.operands.empty()))
      continue;
    groupOf[index] = groups.size();
    groups.push_back({{index}, isKernel});
    for (uint32_t read : baseReads({index}))
      insert(readers[read], index);
  }
}

/// The values that nodes of `own` read from other nodes' memory: through glue,
/// which is copied. What is no kernel reads glue from memory.
Set Planner::baseReads(const Set &own) const {
  Set reads, seen, work = own;
  while (!work.empty()) {
    uint32_t index = work.back();
    work.pop_back();
    for (uint32_t operand : graph[index].operands) {
      if (contains(seen, operand))
        continue;
      insert(seen, operand);
      if (isGlue(graph[operand]) && graph[index].kind != Kind::Source)
        work.push_back(operand);
      else if (!contains(own, operand))
        insert(reads, operand);
    }
  }
  return reads;
}

/// `own` and the glue on the way to what it reads.
Set Planner::membersOf(const Set &own) const {
  Set members = own, work = own;
  while (!work.empty()) {
    uint32_t index = work.back();
    work.pop_back();
    for (uint32_t operand : graph[index].operands)
      if (isGlue(graph[operand]) && !contains(members, operand)) {
        insert(members, operand);
        work.push_back(operand);
      }
  }
  return members;
}

Set Planner::outputsOf(const Set &own) const {
  Set outputs;
  for (uint32_t index : own)
    if (graph[index].needed ||
        std::any_of(readers[index].begin(), readers[index].end(),
                    [&](uint32_t reader) { return !contains(own, reader); }))
      outputs.push_back(index);
  return outputs;
}

Set Planner::successorsOf(uint32_t group) const {
  Set successors;
  for (uint32_t index : groups[group].own)
    for (uint32_t reader : readers[index])
      if (groupOf[reader] != group)
        insert(successors, groupOf[reader]);
  return successors;
}

/// Whether a path leads from one group to another by way of a third.
bool Planner::hasPathAround(uint32_t from, uint32_t to) const {
  Set seen, work;
  for (uint32_t next : successorsOf(from))
    if (next != to)
      work.push_back(next);
  while (!work.empty()) {
    uint32_t group = work.back();
    work.pop_back();
    if (group == to)
      return true;
    if (contains(seen, group))
      continue;
    insert(seen, group);
    for (uint32_t next : successorsOf(group))
      work.push_back(next);
  }
  return false;
}

/// Merges the group `rhs` into `lhs`, if that is one kernel.
bool Planner::tryMerge(uint32_t lhs, uint32_t rhs) {
  if (lhs == rhs || !groups[lhs].isKernel || !groups[rhs].isKernel)
    return false;
  Set own = unite(groups[lhs].own, groups[rhs].own);
  Set members = membersOf(own);
  if (members.size() > maxMembers)
    return false;
  // A kernel without outputs is dead code: it stays as it is.
  Set outputs = outputsOf(own);
  std::optional<FusionShape> shape = classifyFusion(graph, members, outputs);
  if (!shape || repeatedCost(graph, members, outputs, *shape) > cheapCost)
    return false;
  if (hasPathAround(lhs, rhs) || hasPathAround(rhs, lhs))
    return false;
  for (uint32_t index : groups[rhs].own)
    groupOf[index] = lhs;
  groups[lhs].own = std::move(own);
  groups[rhs].own.clear();
  return true;
}

void Planner::mergeWithProducers(uint32_t node) {
  Set reads = baseReads({node});
  // The nearest first: what it reads may be fused with it already.
  for (auto read = reads.rbegin(); read != reads.rend(); ++read)
    if (groupOf[*read] != none)
      tryMerge(groupOf[*read], groupOf[node]);
}

/// Kernels that read the same tensor read it once if they are one.
void Planner::mergeSiblings() {
  std::map<uint32_t, Set> readersOfValue;
  for (uint32_t group = 0; group < groups.size(); ++group)
    if (groups[group].isKernel && !groups[group].own.empty())
      for (uint32_t read : baseReads(groups[group].own))
        if (!isSingleElement(graph[read].shape))
          insert(readersOfValue[read], group);
  for (const auto &[value, siblings] : readersOfValue)
    for (size_t i = 0; i < siblings.size(); ++i)
      for (size_t j = i + 1;
           j < siblings.size() && !groups[siblings[i]].own.empty(); ++j)
        if (!groups[siblings[j]].own.empty())
          tryMerge(siblings[i], siblings[j]);
}

std::vector<FusionGroup> Planner::run() {
  for (uint32_t index = 0; index < graph.size(); ++index)
    if (groupOf[index] != none && groups[groupOf[index]].isKernel)
      mergeWithProducers(index);
  mergeSiblings();

  // In an order in which groups read only earlier ones.
  std::vector<uint32_t> waitsFor(groups.size(), 0);
  for (uint32_t group = 0; group < groups.size(); ++group)
    for (uint32_t next : successorsOf(group))
      ++waitsFor[next];
  Set ready;
  for (uint32_t group = groups.size(); group-- > 0;)
    if (!groups[group].own.empty() && waitsFor[group] == 0)
      ready.push_back(group);
  std::vector<FusionGroup> result;
  while (!ready.empty()) {
    uint32_t group = ready.back();
    ready.pop_back();
    if (groups[group].isKernel && !outputsOf(groups[group].own).empty())
      result.push_back(finish(groups[group]));
    for (uint32_t next : successorsOf(group))
      if (--waitsFor[next] == 0)
        ready.push_back(next);
  }
  return result;
}

std::vector<FusionGroup> wok::planFusions(const FusionGraph &graph) {
  return Planner(graph).run();
}
