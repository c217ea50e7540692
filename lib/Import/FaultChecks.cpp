//===- FaultChecks.cpp - Operations that raise although unread ------------===//

#include "wok/Import/FaultChecks.h"

#include "wok/Import/GraphBuilder.h"

#include <algorithm>
#include <numeric>
#include <string_view>

using namespace wok;
using namespace wok::importer;

namespace {

bool isDivision(std::string_view op) {
  return op == "wok.div" || op == "wok.floor_div" || op == "wok.remainder" ||
         op == "wok.fmod";
}

bool mayFault(const Graph &graph, const Node &node) {
  return node.op == "wok.gather" ||
         (isDivision(node.op) && !isFloat(graph.type(node.operands[1]).dtype));
}

/// Whether all elements of operand `index` are computed wherever all elements
/// of the node are, whatever is simplified on the way. Says no where that is
/// not plain.
bool readsWhole(const Graph &graph, const Node &node, size_t index) {
  std::string_view op = node.op;
  if (op == "wok.gather")
    return index == 1; // Only some of what is gathered from.
  if (op == "wok.slice" || op == "wok.select" || op == "wok.dim" ||
      op == "wok.pow")
    return false;
  if (op == "wok.reshape" || op == "wok.transpose" || op == "wok.cast" ||
      op == "wok.concat" || op == "wok.pad" || op == "wok.reduce" ||
      op == "wok.arg_reduce")
    return true;
  bool hasElements =
      std::ranges::all_of(node.type.extents, [&](ExtentId extent) {
        return graph.constantValue(extent) > 0;
      });
  if (op == "wok.broadcast")
    return hasElements;
  if (op == "wok.contract")
    return hasElements && isFloat(node.type.dtype);
  // On integers x * 0, x - x, x & 0 and their like are constants; on floats no
  // operation is.
  if (node.operands.size() > 1)
    return isFloat(node.type.dtype);
  return node.operands.size() == 1;
}

} // namespace

std::vector<ValueId> wok::importer::appendFaultChecks(Graph &graph) {
  size_t count = graph.allNodes().size();
  std::vector<bool> whole(count, false);
  for (ValueId output : graph.outputs)
    whole[output] = true;
  for (size_t i = count; i-- > 0;)
    if (whole[i])
      for (size_t k = 0; k < graph.allNodes()[i].operands.size(); ++k)
        if (readsWhole(graph, graph.allNodes()[i], k))
          whole[graph.allNodes()[i].operands[k]] = true;

  GraphBuilder builder(graph);
  std::vector<ValueId> checks;
  for (size_t i = 0; i < count; ++i) {
    const Node node = graph.allNodes()[i];
    if (whole[i] || !mayFault(graph, node))
      continue;
    ValueId tested = node.operands[1];
    GraphBuilder::Result fault;
    auto number = [&](ExtentId extent) -> GraphBuilder::Result {
      GraphBuilder::Result value = builder.extentValue(DType::I64, extent);
      return value ? builder.broadcastTo(*value, graph.type(tested).extents)
                   : value;
    };
    if (node.op == "wok.gather") {
      auto dim = std::ranges::find(node.attributes, "dim",
                                   [](const auto &row) { return row.first; });
      GraphBuilder::Result index = builder.cast(tested, DType::I64);
      if (dim == node.attributes.end() || !index)
        continue;
      auto at = static_cast<size_t>(std::get<int64_t>(dim->second));
      GraphBuilder::Result none = number(graph.constant(0)),
                           bound =
                               number(graph.type(node.operands[0]).extents[at]);
      GraphBuilder::Result below, above;
      if (none && bound) {
        below = builder.compare("lt", *index, *none);
        above = builder.compare("ge", *index, *bound);
      }
      if (below && above)
        fault = builder.binary("or", *below, *above);
    } else {
      ValueId zero = builder.constant(graph.type(tested).dtype, 0);
      if (auto zeros = builder.broadcastTo(zero, graph.type(tested).extents))
        fault = builder.compare("eq", tested, *zeros);
    }
    if (!fault)
      continue;
    std::vector<int64_t> dims(graph.type(*fault).extents.size());
    std::iota(dims.begin(), dims.end(), 0);
    if (auto any = builder.reduce("any", *fault, dims))
      checks.push_back(*any);
  }
  return checks;
}
