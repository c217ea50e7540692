//===- Graph.cpp - A subgraph while it is captured --------------*- C++ -*-===//

#include "wok/Import/Graph.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <cassert>
#include <optional>

using namespace wok::importer;
using Kind = ExtentExpr::Kind;

namespace {

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/// The value of `kind` on constants; nothing if it overflows or divides by
/// zero.
std::optional<int64_t> fold(Kind kind, int64_t a, int64_t b) {
  int64_t result;
  switch (kind) {
  case Kind::Constant:
  case Kind::Symbol:
    return std::nullopt;
  case Kind::Add:
    if (__builtin_add_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::Sub:
    if (__builtin_sub_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::Mul:
    if (__builtin_mul_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::FloorDiv:
  case Kind::CeilDiv:
    if (b == 0 || (b == -1 && a == INT64_MIN))
      return std::nullopt;
    result = floorDiv(a, b);
    return kind == Kind::CeilDiv && a % b != 0 ? result + 1 : result;
  }
  return std::nullopt;
}

} // namespace

ExtentId Graph::intern(const ExtentExpr &expr) {
  // A graph has few extents, and the latest are the likeliest.
  for (size_t i = extentTable.size(); i-- > 0;)
    if (extentTable[i] == expr)
      return static_cast<ExtentId>(i);
  extentTable.push_back(expr);
  return static_cast<ExtentId>(extentTable.size() - 1);
}

ExtentId Graph::constant(int64_t value) {
  return intern({Kind::Constant, value});
}

ExtentId Graph::symbol(ValueId input, uint32_t dim) {
  symbols.push_back({input, dim});
  return intern({Kind::Symbol, static_cast<int64_t>(symbols.size() - 1)});
}

int64_t Graph::constantValue(ExtentId id) const {
  const ExtentExpr &expr = extentTable[id];
  return expr.kind == Kind::Constant ? expr.constant : runtime::dynamicExtent;
}

ExtentId Graph::binary(Kind kind, ExtentId lhs, ExtentId rhs) {
  assert(kind != Kind::Constant && kind != Kind::Symbol &&
         "not a binary expression");
  auto isConstant = [&](ExtentId id) {
    return extentTable[id].kind == Kind::Constant;
  };
  auto is = [&](ExtentId id, int64_t value) {
    return isConstant(id) && extentTable[id].constant == value;
  };

  if (isConstant(lhs) && isConstant(rhs))
    if (auto value =
            fold(kind, extentTable[lhs].constant, extentTable[rhs].constant))
      return constant(*value);

  // One form for equal expressions: `x - c` is `x + -c`, a constant stands at
  // the right, and operands of a commutative operation are ordered.
  if (kind == Kind::Sub && isConstant(rhs) &&
      extentTable[rhs].constant != INT64_MIN) {
    kind = Kind::Add;
    rhs = constant(-extentTable[rhs].constant);
  }
  if (kind == Kind::Add || kind == Kind::Mul)
    if (isConstant(lhs) || (!isConstant(rhs) && rhs < lhs))
      std::swap(lhs, rhs);

  switch (kind) {
  case Kind::Constant:
  case Kind::Symbol:
    break;
  case Kind::Add: {
    if (is(rhs, 0))
      return lhs;
    // (x - y) + y and (x + c) + d.
    const ExtentExpr inner = extentTable[lhs];
    if (inner.kind == Kind::Sub && inner.rhs == rhs)
      return inner.lhs;
    const ExtentExpr other = extentTable[rhs];
    if (other.kind == Kind::Sub && other.rhs == lhs)
      return other.lhs;
    if (isConstant(rhs) && inner.kind == Kind::Add && isConstant(inner.rhs))
      if (auto sum = fold(kind, extentTable[inner.rhs].constant,
                          extentTable[rhs].constant))
        return binary(kind, inner.lhs, constant(*sum));
    break;
  }
  case Kind::Sub: {
    if (lhs == rhs)
      return constant(0);
    // (x + y) - x, (x + y) - y.
    const ExtentExpr inner = extentTable[lhs];
    if (inner.kind == Kind::Add) {
      if (inner.rhs == rhs)
        return inner.lhs;
      if (inner.lhs == rhs)
        return inner.rhs;
    }
    break;
  }
  case Kind::Mul: {
    if (is(rhs, 0))
      return rhs;
    if (is(rhs, 1))
      return lhs;
    const ExtentExpr inner = extentTable[lhs];
    if (isConstant(rhs) && inner.kind == Kind::Mul && isConstant(inner.rhs))
      if (auto product = fold(kind, extentTable[inner.rhs].constant,
                              extentTable[rhs].constant))
        return binary(kind, inner.lhs, constant(*product));
    break;
  }
  case Kind::FloorDiv:
  case Kind::CeilDiv: {
    if (is(rhs, 1))
      return lhs;
    // (x * c) / d where c is a multiple of d.
    const ExtentExpr inner = extentTable[lhs];
    if (isConstant(rhs) && inner.kind == Kind::Mul && isConstant(inner.rhs)) {
      int64_t factor = extentTable[inner.rhs].constant,
              divisor = extentTable[rhs].constant;
      if (divisor > 0 && factor % divisor == 0)
        return binary(Kind::Mul, inner.lhs, constant(factor / divisor));
    }
    break;
  }
  }
  return intern({kind, 0, lhs, rhs});
}

ValueId Graph::addInput(TensorType type, bool strided) {
  Node node;
  node.op = "input";
  node.type = std::move(type);
  node.strided = strided;
  return add(std::move(node));
}

ValueId Graph::add(Node node) {
  node.location = currentLocation;
  nodes.push_back(std::move(node));
  return static_cast<ValueId>(nodes.size() - 1);
}

void Graph::setLocation(std::string_view file, uint32_t line) {
  // Location 0 is "unknown"; `locations` holds the others.
  uint32_t fileIndex = 0;
  while (fileIndex < files.size() && files[fileIndex] != file)
    ++fileIndex;
  if (fileIndex == files.size())
    files.emplace_back(file);
  if (locations.empty() || locations.back() != std::pair(fileIndex, line))
    locations.emplace_back(fileIndex, line);
  currentLocation = static_cast<uint32_t>(locations.size());
}

std::pair<std::string_view, uint32_t> Graph::location(uint32_t index) const {
  if (index == 0)
    return {"", 0};
  auto [file, line] = locations[index - 1];
  return {files[file], line};
}

Graph::Checkpoint Graph::checkpoint() const {
  return {static_cast<uint32_t>(nodes.size()),
          static_cast<uint32_t>(extentTable.size()),
          static_cast<uint32_t>(symbols.size())};
}

void Graph::truncate(Checkpoint checkpoint) {
  assert(checkpoint.nodes <= nodes.size() &&
         checkpoint.extents <= extentTable.size() &&
         checkpoint.symbols <= symbols.size() &&
         "a checkpoint of a later state");
  nodes.resize(checkpoint.nodes);
  extentTable.resize(checkpoint.extents);
  symbols.resize(checkpoint.symbols);
}
