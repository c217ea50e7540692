//===- Layout.cpp - How results lie in memory -------------------*- C++ -*-===//
//
// The orders of dimensions that eager gives to new tensors: TensorIterator's
// for PyTorch, nditer's for NumPy.
//
//===----------------------------------------------------------------------===//

#include "Operand.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;

int64_t capture::hintOf(const importer::Graph &graph, ExtentId extent) {
  const ExtentExpr &expr = graph.extent(extent);
  switch (expr.kind) {
  case ExtentExpr::Kind::Constant:
    return expr.constant;
  case ExtentExpr::Kind::Symbol:
    // Any extents that are neither 0 nor 1 order strides alike; different
    // symbols are different extents.
    return 1009 + 6 * expr.constant;
  case ExtentExpr::Kind::Add:
    return hintOf(graph, expr.lhs) + hintOf(graph, expr.rhs);
  case ExtentExpr::Kind::Sub:
    return hintOf(graph, expr.lhs) - hintOf(graph, expr.rhs);
  case ExtentExpr::Kind::Mul:
    return hintOf(graph, expr.lhs) * hintOf(graph, expr.rhs);
  case ExtentExpr::Kind::FloorDiv:
  case ExtentExpr::Kind::CeilDiv:
    return hintOf(graph, expr.lhs) /
           std::max<int64_t>(hintOf(graph, expr.rhs), 1);
  }
  return 0;
}

Geometry capture::geometryOf(Capture &capture, Value tensor) {
  const TensorRow &row = capture.tensorRow(tensor);
  if (row.object || row.base)
    return row.geometry;
  importer::Graph &graph = capture.graph;
  Geometry geometry;
  geometry.extents = graph.type(row.value).extents;
  size_t rank = geometry.extents.size();
  geometry.offset = graph.constant(0);
  geometry.strides.resize(rank);
  ExtentId stride = graph.constant(1);
  for (size_t i = rank; i-- > 0;) {
    size_t dim = row.strideOrder.empty() ? i : row.strideOrder[i];
    geometry.strides[dim] = stride;
    // Extents of 0 count as 1, as in both libraries.
    if (graph.constantValue(geometry.extents[dim]) != 0)
      stride =
          graph.binary(ExtentExpr::Kind::Mul, stride, geometry.extents[dim]);
  }
  return geometry;
}

namespace {

/// Extents and strides as numbers, aligned with a result of `rank` dimensions;
/// strides of broadcast dimensions are 0.
struct Aligned {
  std::vector<int64_t> extents, strides;
  bool sameShape = true;
};

} // namespace

static Aligned align(Capture &capture, Value tensor,
                     std::span<const int64_t> result) {
  Geometry geometry = geometryOf(capture, tensor);
  Aligned aligned;
  size_t rank = result.size(), own = geometry.extents.size();
  aligned.extents.assign(rank, 1);
  aligned.strides.assign(rank, 0);
  aligned.sameShape = own == rank;
  for (size_t i = 0; i < own && i < rank; ++i) {
    size_t at = rank - own + i;
    aligned.extents[at] = hintOf(capture.graph, geometry.extents[i]);
    if (aligned.extents[at] != result[at]) {
      aligned.sameShape = false;
      continue;
    }
    aligned.strides[at] = hintOf(capture.graph, geometry.strides[i]);
  }
  return aligned;
}

/// Whether the strides are those of a dense tensor with these dimensions,
/// outermost first; strides of size-1 dimensions do not matter.
static bool isDense(const Aligned &tensor, std::span<const uint8_t> order) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t extent = tensor.extents[order[i]];
    if (extent == 0)
      return true;
    if (extent != 1 && tensor.strides[order[i]] != expected)
      return false;
    expected *= extent;
  }
  return true;
}

static std::vector<uint8_t> rowMajor(size_t rank) {
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

bool capture::isContiguous(Capture &capture, const Geometry &geometry) {
  Aligned aligned;
  for (size_t i = 0; i < geometry.extents.size(); ++i) {
    aligned.extents.push_back(hintOf(capture.graph, geometry.extents[i]));
    aligned.strides.push_back(hintOf(capture.graph, geometry.strides[i]));
  }
  if (std::ranges::find(aligned.extents, 0) != aligned.extents.end())
    return true;
  return isDense(aligned, rowMajor(geometry.extents.size()));
}

/// From "innermost first" to "outermost first"; empty for row-major.
static std::vector<uint8_t> toOrder(std::vector<uint8_t> perm) {
  std::ranges::reverse(perm);
  if (std::ranges::is_sorted(perm))
    perm.clear();
  return perm;
}

/// TensorIteratorBase::reorder_dimensions.
static std::vector<uint8_t>
tensorIteratorOrder(std::span<const Aligned> tensors,
                    std::span<const int64_t> shape) {
  size_t rank = shape.size();
  std::vector<uint8_t> perm(rank);
  std::iota(perm.rbegin(), perm.rend(), uint8_t{0});
  auto compare = [&](uint8_t dim0, uint8_t dim1) {
    for (const Aligned &tensor : tensors) {
      int64_t stride0 = tensor.strides[dim0], stride1 = tensor.strides[dim1];
      if (stride0 == 0 || stride1 == 0)
        continue;
      if (stride0 != stride1)
        return stride0 < stride1 ? -1 : 1;
      if (shape[dim0] > shape[dim1])
        return 1;
    }
    return 0;
  };
  for (size_t i = 1; i < rank; ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      int comparison = compare(perm[j], perm[at]);
      if (comparison < 0)
        break;
      if (comparison > 0) {
        std::swap(perm[j], perm[at]);
        at = j;
      }
    }
  }
  return toOrder(std::move(perm));
}

std::vector<uint8_t> capture::torchLayout(Capture &capture,
                                          std::span<const Value> tensors,
                                          std::span<const ExtentId> extents) {
  size_t rank = extents.size();
  if (rank < 2)
    return {};
  std::vector<int64_t> shape;
  for (ExtentId extent : extents)
    shape.push_back(hintOf(capture.graph, extent));
  std::vector<Aligned> aligned;
  bool same = true;
  for (Value tensor : tensors) {
    aligned.push_back(align(capture, tensor, shape));
    same &= aligned.back().sameShape;
  }
  auto allDense = [&](std::span<const uint8_t> order) {
    return same && std::ranges::all_of(aligned, [&](const Aligned &a) {
             return isDense(a, order);
           });
  };
  if (allDense(rowMajor(rank)))
    return {};
  constexpr uint8_t channelsLast[][5] = {{0, 2, 3, 1}, {0, 2, 3, 4, 1}};
  if (rank == 4 || rank == 5) {
    std::span<const uint8_t> order(channelsLast[rank - 4], rank);
    if (allDense(order))
      return {order.begin(), order.end()};
  }
  return tensorIteratorOrder(aligned, shape);
}

std::vector<uint8_t> capture::preservedLayout(Capture &capture, Value tensor) {
  return torchLayout(
      capture, std::span(&tensor, 1),
      capture.graph.type(capture.tensorRow(tensor).value).extents);
}

std::vector<uint8_t> capture::numpyLayout(Capture &capture,
                                          std::span<const Value> tensors,
                                          std::span<const ExtentId> extents) {
  size_t rank = extents.size();
  if (rank < 2)
    return {};
  std::vector<int64_t> shape;
  for (ExtentId extent : extents)
    shape.push_back(hintOf(capture.graph, extent));
  std::vector<Aligned> aligned;
  for (Value tensor : tensors) {
    aligned.push_back(align(capture, tensor, shape));
    for (size_t i = 0; i < rank; ++i)
      if (shape[i] == 1)
        aligned.back().strides[i] = 0;
  }
  // npyiter_find_best_axis_ordering: an insertion sort in which C order wins
  // where operands disagree.
  std::vector<uint8_t> perm(rank);
  std::iota(perm.rbegin(), perm.rend(), uint8_t{0});
  for (size_t i = 1; i < rank; ++i) {
    size_t position = i;
    uint8_t dim0 = perm[i];
    for (size_t j = i; j-- > 0;) {
      uint8_t dim1 = perm[j];
      bool ambiguous = true, swap = false;
      for (const Aligned &tensor : aligned) {
        int64_t stride0 = std::abs(tensor.strides[dim0]);
        int64_t stride1 = std::abs(tensor.strides[dim1]);
        if (stride0 == 0 || stride1 == 0)
          continue;
        if (stride1 <= stride0)
          swap = false;
        else if (ambiguous)
          swap = true;
        ambiguous = false;
      }
      if (ambiguous)
        continue;
      if (!swap)
        break;
      position = j;
    }
    std::rotate(perm.begin() + position, perm.begin() + i,
                perm.begin() + i + 1);
  }
  return toOrder(std::move(perm));
}
