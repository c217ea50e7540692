//===- Reference.cpp - Graphs evaluated element by element ------*- C++ -*-===//

#include "Reference.h"

#include "ReferenceScalar.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;
using Extents = std::vector<int64_t>;

int64_t test::countOf(const Extents &extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

Tensor::Tensor(DType dtype, Extents extents)
    : dtype(dtype), extents(std::move(extents)),
      elements(countOf(this->extents), Element{.i = 0}) {}

namespace {

/// Calls `body(index, position)` for each element in row-major order.
template <class Body>
void forEach(const Extents &extents, Body body) {
  Extents index(extents.size(), 0);
  int64_t count = countOf(extents);
  for (int64_t position = 0; position < count; ++position) {
    body(index, position);
    for (size_t dim = extents.size(); dim-- > 0;) {
      if (++index[dim] < extents[dim])
        break;
      index[dim] = 0;
    }
  }
}

int64_t positionOf(const Extents &extents, const Extents &index) {
  int64_t position = 0;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    position = position * extents[dim] + index[dim];
  return position;
}

template <class T>
T attribute(const Node &node, std::string_view name, T otherwise = T()) {
  for (const auto &[key, value] : node.attributes)
    if (key == name)
      return std::get<T>(value);
  return otherwise;
}

class Interpreter {
public:
  Interpreter(const Graph &graph, const std::vector<Tensor> &inputs,
              runtime::Status &status)
      : graph(graph), inputs(inputs), status(status),
        extents(evaluateExtents(graph, inputs)) {}

  std::vector<Tensor> run();

private:
  Tensor evaluate(const Node &node);
  Tensor emptyResult(const Node &node);
  Tensor constant(const Node &node);
  Tensor elementwise(const Node &node, std::string_view op);
  Tensor reduce(const Node &node);
  Tensor argReduce(const Node &node);
  Tensor contract(const Node &node);
  Tensor move(const Node &node, std::string_view op);
  Tensor concat(const Node &node);
  Tensor gather(const Node &node);
  const Tensor &operand(const Node &node, size_t index) {
    return values[node.operands[index]];
  }

  const Graph &graph;
  const std::vector<Tensor> &inputs;
  runtime::Status &status;
  std::vector<int64_t> extents;
  std::vector<Tensor> values;
};

} // namespace

std::vector<int64_t> test::evaluateExtents(const Graph &graph,
                                           const std::vector<Tensor> &inputs) {
  // The table is private; ids count up, and what an id needs stands before it.
  std::vector<size_t> inputOf;
  for (const Node &node : graph.allNodes())
    inputOf.push_back(
        node.op == "input"
            ? std::count_if(inputOf.begin(), inputOf.end(),
                            [](size_t i) { return i != SIZE_MAX; })
            : SIZE_MAX);
  std::vector<int64_t> values;
  ExtentId largest = 0;
  for (const Node &node : graph.allNodes()) {
    for (ExtentId id : node.type.extents)
      largest = std::max(largest, id);
    for (ExtentId id : node.extentOperands)
      largest = std::max(largest, id);
  }
  bool any = std::ranges::any_of(graph.allNodes(), [](const Node &node) {
    return !node.type.extents.empty() || !node.extentOperands.empty();
  });
  for (ExtentId id = 0; any && id <= largest; ++id) {
    const ExtentExpr &expr = graph.extent(id);
    auto lhs = [&] { return values[expr.lhs]; };
    auto rhs = [&] { return values[expr.rhs]; };
    auto floorDiv = [](int64_t a, int64_t b) {
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    };
    switch (expr.kind) {
    case ExtentExpr::Kind::Constant:
      values.push_back(expr.constant);
      break;
    case ExtentExpr::Kind::Symbol: {
      Graph::Symbol symbol = graph.allSymbols()[expr.constant];
      values.push_back(inputs[inputOf[symbol.input]].extents[symbol.dim]);
      break;
    }
    case ExtentExpr::Kind::Add:
      values.push_back(lhs() + rhs());
      break;
    case ExtentExpr::Kind::Sub:
      values.push_back(lhs() - rhs());
      break;
    case ExtentExpr::Kind::Mul:
      values.push_back(lhs() * rhs());
      break;
    case ExtentExpr::Kind::FloorDiv:
      values.push_back(floorDiv(lhs(), rhs()));
      break;
    case ExtentExpr::Kind::CeilDiv:
      values.push_back(-floorDiv(-lhs(), rhs()));
      break;
    }
  }
  return values;
}

std::vector<Tensor> Interpreter::run() {
  size_t input = 0;
  for (const Node &node : graph.allNodes())
    values.push_back(node.op == "input" ? inputs[input++] : evaluate(node));
  std::vector<Tensor> outputs;
  for (ValueId output : graph.outputs)
    outputs.push_back(values[output]);
  return outputs;
}

Tensor Interpreter::emptyResult(const Node &node) {
  Extents result;
  for (ExtentId id : node.type.extents)
    result.push_back(extents[id]);
  return Tensor(node.type.dtype, std::move(result));
}

Tensor Interpreter::evaluate(const Node &node) {
  std::string_view op = std::string_view(node.op).substr(4);
  if (op == "constant")
    return constant(node);
  if (op == "reduce")
    return reduce(node);
  if (op == "arg_reduce")
    return argReduce(node);
  if (op == "contract")
    return contract(node);
  if (op == "concat")
    return concat(node);
  if (op == "gather")
    return gather(node);
  if (op == "iota" || op == "reshape" || op == "transpose" ||
      op == "broadcast" || op == "slice" || op == "pad")
    return move(node, op);
  return elementwise(node, op);
}

Tensor Interpreter::constant(const Node &node) {
  Tensor result = emptyResult(node);
  for (const auto &[name, value] : node.attributes) {
    for (size_t i = 0; i < result.elements.size(); ++i) {
      Element &element = result.elements[i];
      if (auto *number = std::get_if<double>(&value))
        element = scalarCast(DType::F64, node.type.dtype, {.f = *number});
      else if (auto *number = std::get_if<int64_t>(&value))
        element = scalarCast(DType::I64, node.type.dtype, {.i = *number});
      else
        element = scalarCast(DType::I64, node.type.dtype,
                             {.i = std::get<Extents>(value)[i]});
    }
  }
  return result;
}

Tensor Interpreter::elementwise(const Node &node, std::string_view op) {
  Tensor result = emptyResult(node);
  const Tensor &a = operand(node, 0);
  DType dtype = a.dtype;
  for (size_t i = 0; i < result.elements.size(); ++i) {
    Element &element = result.elements[i];
    Element x = a.elements[i];
    if (op == "cast")
      element = scalarCast(dtype, result.dtype, x);
    else if (op == "compare")
      element.i = scalarCompare(attribute<std::string>(node, "predicate"),
                                dtype, x, operand(node, 1).elements[i]);
    else if (op == "select")
      element = operand(node, x.i ? 1 : 2).elements[i];
    else if (op == "fma")
      element = scalarFma(dtype, x, operand(node, 1).elements[i],
                          operand(node, 2).elements[i]);
    else if (node.operands.size() == 2)
      element =
          scalarBinary(op, dtype, x, operand(node, 1).elements[i], status);
    else
      element = scalarUnary(op, dtype, x);
  }
  return result;
}

Tensor Interpreter::reduce(const Node &node) {
  Tensor result = emptyResult(node);
  const Tensor &a = operand(node, 0);
  std::string kind = attribute<std::string>(node, "kind");
  Extents dims = attribute<Extents>(node, "dims");
  bool isFloatSum = isFloat(a.dtype) && (kind == "sum" || kind == "prod");
  size_t count = result.elements.size();
  std::vector<long double> sums(count, kind == "prod" ? 1 : 0);
  std::vector<long double> sizes(count, 0);
  std::vector<int64_t> terms(count, 0);

  DType dtype = a.dtype;
  double infinity = std::numeric_limits<double>::infinity();
  for (Element &element : result.elements) {
    if (kind == "prod")
      element.i = 1;
    else if (kind == "all")
      element.i = 1;
    else
      element.i = 0;
    if (isFloat(dtype) && kind == "min")
      element.f = infinity;
    if (isFloat(dtype) && kind == "max")
      element.f = -infinity;
    int bits = static_cast<int>(byteWidth(dtype)) * 8;
    int64_t greatest = dtype == DType::U8
                           ? 255
                           : static_cast<int64_t>(UINT64_MAX >> (65 - bits));
    if (isInteger(dtype) && kind == "min")
      element.i = greatest;
    if (isInteger(dtype) && kind == "max")
      element.i = dtype == DType::U8 ? 0 : -greatest - 1;
  }

  forEach(a.extents, [&](const Extents &index, int64_t position) {
    Extents kept;
    for (size_t dim = 0; dim < index.size(); ++dim)
      if (!std::ranges::count(dims, static_cast<int64_t>(dim)))
        kept.push_back(index[dim]);
    size_t target = positionOf(result.extents, kept);
    Element x = a.elements[position];
    Element &element = result.elements[target];
    ++terms[target];
    if (isFloatSum) {
      sizes[target] += std::fabs(x.f);
      if (kind == "sum")
        sums[target] += x.f;
      else
        sums[target] *= x.f;
    } else if (kind == "any") {
      element.i |= x.i;
    } else if (kind == "all") {
      element.i &= x.i;
    } else {
      std::string_view op = kind;
      if (kind == "sum" || kind == "prod")
        op = kind == "sum" ? "add" : "mul";
      element = scalarBinary(op, dtype, element, x, status);
    }
  });

  if (isFloatSum) {
    // Any order of f32 (or f64) additions that is no worse than blocks.
    double unit = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;
    result.slack.resize(count);
    for (size_t i = 0; i < count; ++i) {
      result.elements[i].f = roundTo(dtype, static_cast<double>(sums[i]));
      double steps = kind == "sum" ? 4 + std::sqrt(double(terms[i]))
                                   : 2 + double(terms[i]);
      double size = kind == "sum" ? static_cast<double>(sizes[i])
                                  : std::fabs(static_cast<double>(sums[i]));
      result.slack[i] = steps * unit * size;
      // One rounding at the end may go the other way.
      if (dtype == DType::F16 || dtype == DType::BF16)
        result.slack[i] += ulpOf(dtype, result.elements[i].f);
    }
  }
  return result;
}

Tensor Interpreter::argReduce(const Node &node) {
  Tensor result = emptyResult(node);
  const Tensor &a = operand(node, 0);
  bool isMax = attribute<std::string>(node, "kind") == "max";
  int64_t dim = attribute<int64_t>(node, "dim");
  std::vector<Element> best(result.elements.size());
  forEach(a.extents, [&](const Extents &index, int64_t position) {
    Extents kept = index;
    kept.erase(kept.begin() + dim);
    size_t target = positionOf(result.extents, kept);
    Element x = a.elements[position];
    bool better;
    if (index[dim] == 0)
      better = true;
    else if (isFloat(a.dtype))
      better = !std::isnan(best[target].f) &&
               (std::isnan(x.f) ||
                (isMax ? x.f > best[target].f : x.f < best[target].f));
    else
      better = isMax ? x.i > best[target].i : x.i < best[target].i;
    if (better) {
      best[target] = x;
      result.elements[target].i = index[dim];
    }
  });
  return result;
}

Tensor Interpreter::contract(const Node &node) {
  Tensor result = emptyResult(node);
  const Tensor &lhs = operand(node, 0), &rhs = operand(node, 1);
  bool transposeLhs = attribute<bool>(node, "transpose_lhs");
  bool transposeRhs = attribute<bool>(node, "transpose_rhs");
  size_t rank = result.extents.size();
  int64_t depth = lhs.extents[rank - (transposeLhs ? 2 : 1)];
  DType dtype = result.dtype;
  double unit = dtype == DType::F64 ? 0x1p-53 : 0x1p-24;
  if (isFloat(dtype))
    result.slack.resize(result.elements.size());
  forEach(result.extents, [&](const Extents &index, int64_t position) {
    Extents left = index, right = index;
    long double sum = 0, size = 0;
    uint64_t whole = 0;
    for (int64_t k = 0; k < depth; ++k) {
      left[rank - 2] = transposeLhs ? k : index[rank - 2];
      left[rank - 1] = transposeLhs ? index[rank - 2] : k;
      right[rank - 2] = transposeRhs ? index[rank - 1] : k;
      right[rank - 1] = transposeRhs ? k : index[rank - 1];
      Element a = lhs.elements[positionOf(lhs.extents, left)];
      Element b = rhs.elements[positionOf(rhs.extents, right)];
      if (isFloat(dtype)) {
        sum += static_cast<long double>(a.f) * b.f;
        size += std::fabs(static_cast<long double>(a.f) * b.f);
      } else {
        whole += static_cast<uint64_t>(a.i) * static_cast<uint64_t>(b.i);
      }
    }
    Element &element = result.elements[position];
    if (isFloat(dtype)) {
      element.f = roundTo(dtype, static_cast<double>(sum));
      result.slack[position] = unit * (depth + 2) * static_cast<double>(size);
      if (dtype == DType::F16 || dtype == DType::BF16)
        result.slack[position] += ulpOf(dtype, element.f);
    } else {
      element.i = wrapTo(dtype, static_cast<int64_t>(whole));
    }
  });
  return result;
}

Tensor Interpreter::move(const Node &node, std::string_view op) {
  Tensor result = emptyResult(node);
  if (op == "reshape") {
    result.elements = operand(node, 0).elements;
    result.slack = operand(node, 0).slack;
    return result;
  }
  forEach(result.extents, [&](const Extents &index, int64_t position) {
    Element &element = result.elements[position];
    if (op == "iota") {
      element = scalarCast(DType::I64, result.dtype,
                           {.i = index[attribute<int64_t>(node, "dim")]});
      return;
    }
    const Tensor &a = operand(node, 0);
    Extents from(a.extents.size());
    if (op == "transpose") {
      Extents permutation = attribute<Extents>(node, "permutation");
      for (size_t dim = 0; dim < from.size(); ++dim)
        from[permutation[dim]] = index[dim];
    } else if (op == "broadcast") {
      Extents dims = attribute<Extents>(node, "dims");
      for (size_t dim = 0; dim < from.size(); ++dim)
        from[dim] = a.extents[dim] == 1 ? 0 : index[dims[dim]];
    } else if (op == "slice") {
      Extents offsets = attribute<Extents>(node, "offsets");
      Extents strides = attribute<Extents>(node, "strides");
      size_t dynamic = 0;
      for (size_t dim = 0; dim < from.size(); ++dim) {
        int64_t offset = offsets[dim];
        if (offset == runtime::dynamicExtent)
          offset = extents[node.extentOperands[dynamic++]];
        from[dim] = offset + index[dim] * strides[dim];
      }
    } else {
      Extents low = attribute<Extents>(node, "low");
      bool inside = true;
      for (size_t dim = 0; dim < from.size(); ++dim) {
        from[dim] = index[dim] - low[dim];
        inside &= from[dim] >= 0 && from[dim] < a.extents[dim];
      }
      if (!inside) {
        element = operand(node, 1).elements[0];
        return;
      }
    }
    element = a.elements[positionOf(a.extents, from)];
  });
  return result;
}

Tensor Interpreter::concat(const Node &node) {
  Tensor result = emptyResult(node);
  int64_t dim = attribute<int64_t>(node, "dim"), begin = 0;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Tensor &part = operand(node, i);
    forEach(part.extents, [&](Extents index, int64_t position) {
      index[dim] += begin;
      result.elements[positionOf(result.extents, index)] =
          part.elements[position];
    });
    begin += part.extents[dim];
  }
  return result;
}

Tensor Interpreter::gather(const Node &node) {
  Tensor result = emptyResult(node);
  const Tensor &a = operand(node, 0), &indices = operand(node, 1);
  int64_t dim = attribute<int64_t>(node, "dim");
  size_t indexRank = indices.extents.size();
  forEach(result.extents, [&](const Extents &index, int64_t position) {
    Extents at(index.begin() + dim, index.begin() + dim + indexRank);
    int64_t chosen = indices.elements[positionOf(indices.extents, at)].i;
    if (chosen < 0 || chosen >= a.extents[dim]) {
      addStatus(status, runtime::Status::IndexOutOfRange);
      return;
    }
    Extents from(index.begin(), index.begin() + dim);
    from.push_back(chosen);
    from.insert(from.end(), index.begin() + dim + indexRank, index.end());
    result.elements[position] = a.elements[positionOf(a.extents, from)];
  });
  return result;
}

std::vector<Tensor> test::interpret(const Graph &graph,
                                    const std::vector<Tensor> &inputs,
                                    runtime::Status &status) {
  status = runtime::Status::Ok;
  return Interpreter(graph, inputs, status).run();
}
