//===- Emitter.cpp - Writes compositions of operations ----------*- C++ -*-===//

#include "Emitter.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using wok::importer::GraphBuilder;

std::vector<int64_t> capture::allDims(size_t rank) {
  std::vector<int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::nullopt_t Emitter::giveUp(std::string_view what) {
  if (capture.pendingBreak())
    return std::nullopt;
  std::string detail(what);
  if (!build.failureText().empty())
    detail.append(": ").append(build.failureText());
  if (build.failure() == GraphBuilder::Failure::Invalid)
    return capture.breakHere(BreakInfo::Reason::WouldRaise, std::move(detail));
  return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                           std::move(detail));
}

Emitter::V Emitter::take(GraphBuilder::Result result) {
  if (result)
    return *result;
  hasFailed = true;
  return bad;
}

bool Emitter::any(std::initializer_list<V> values) {
  if (std::ranges::find(values, bad) != values.end())
    hasFailed = true;
  return hasFailed;
}

Emitter::Extents Emitter::extents(V v) const {
  return v == bad ? Extents() : build.type(v).extents;
}

Emitter::Extents Emitter::broadcastExtents(std::span<const V> values) {
  std::vector<Extents> shapes;
  for (V v : values) {
    if (any({v}))
      return {};
    shapes.push_back(build.type(v).extents);
  }
  std::optional<Extents> common = build.broadcastExtents(shapes);
  if (!common && build.failure() == GraphBuilder::Failure::DynamicExtent) {
    // Whether two symbols are equal is not known: ask for their values, which
    // the next capture finds constant.
    for (const Extents &shape : shapes)
      for (ExtentId id : shape)
        if (capture.graph.extent(id).kind != ExtentExpr::Kind::Constant)
          capture.asConstant(id);
  }
  if (!common) {
    hasFailed = true;
    return {};
  }
  return *common;
}

bool Emitter::align(std::span<V> values) {
  Extents common = broadcastExtents(values);
  if (hasFailed)
    return false;
  for (V &v : values)
    v = take(build.broadcastTo(v, common));
  return !hasFailed;
}

Emitter::V Emitter::number(DType dtype, double value) {
  if (isFloat(dtype))
    return build.constant(dtype, value);
  if (dtype == DType::I1)
    return build.constant(dtype, int64_t{value != 0});
  return build.constant(dtype, static_cast<int64_t>(value));
}

Emitter::V Emitter::number(DType dtype, int64_t value) {
  if (isFloat(dtype))
    return build.constant(dtype, static_cast<double>(value));
  if (dtype == DType::I1)
    return build.constant(dtype, int64_t{value != 0});
  return build.constant(dtype, value);
}

Emitter::V Emitter::like(V like, double value) {
  return any({like}) ? bad : number(dtype(like), value);
}

Emitter::V Emitter::cast(V v, DType dtype) {
  return any({v}) ? bad : take(build.cast(v, dtype));
}

Emitter::V Emitter::unary(std::string_view name, V v) {
  return any({v}) ? bad : take(build.unary(name, v));
}

Emitter::V Emitter::binary(std::string_view name, V a, V b) {
  V operands[] = {a, b};
  return align(operands) ? take(build.binary(name, operands[0], operands[1]))
                         : bad;
}

Emitter::V Emitter::compare(std::string_view predicate, V a, V b) {
  V operands[] = {a, b};
  return align(operands)
             ? take(build.compare(predicate, operands[0], operands[1]))
             : bad;
}

Emitter::V Emitter::select(V condition, V a, V b) {
  V operands[] = {condition, a, b};
  return align(operands)
             ? take(build.select(operands[0], operands[1], operands[2]))
             : bad;
}

Emitter::V Emitter::fma(V a, V b, V c) {
  V operands[] = {a, b, c};
  return align(operands)
             ? take(build.fma(operands[0], operands[1], operands[2]))
             : bad;
}

Emitter::V Emitter::broadcastTo(V v, std::span<const ExtentId> extents) {
  return any({v}) ? bad : take(build.broadcastTo(v, extents));
}

Emitter::V Emitter::filled(DType dtype, double value,
                           std::span<const ExtentId> extents) {
  return broadcastTo(number(dtype, value), extents);
}

Emitter::V Emitter::iota(DType dtype, std::span<const ExtentId> extents,
                         int64_t dim) {
  return hasFailed ? bad : take(build.iota(dtype, extents, dim));
}

Emitter::V Emitter::extentNumber(DType dtype, ExtentId extent) {
  return hasFailed ? bad : take(build.extentValue(dtype, extent));
}

Emitter::V Emitter::reshape(V v, std::span<const ExtentId> extents) {
  return any({v}) ? bad : take(build.reshape(v, extents));
}

Emitter::V Emitter::transpose(V v, std::span<const int64_t> permutation) {
  return any({v}) ? bad : take(build.transpose(v, permutation));
}

Emitter::V Emitter::slice(V v, std::span<const int64_t> offsets,
                          std::span<const ExtentId> sizes,
                          std::span<const int64_t> strides) {
  return any({v}) ? bad : take(build.slice(v, offsets, sizes, strides));
}

Emitter::V Emitter::slice(V v, const Extents &offsets,
                          std::span<const ExtentId> sizes,
                          std::span<const int64_t> strides) {
  return any({v}) ? bad : take(build.slice(v, offsets, sizes, strides));
}

Emitter::V Emitter::sliceDim(V v, int64_t dim, int64_t start, ExtentId size,
                             int64_t stride) {
  if (any({v}))
    return bad;
  std::vector<int64_t> offsets(rank(v), 0), strides(rank(v), 1);
  Extents sizes = extents(v);
  offsets[dim] = start;
  sizes[dim] = size;
  strides[dim] = stride;
  return slice(v, offsets, sizes, strides);
}

Emitter::V Emitter::pad(V v, V value, std::span<const int64_t> low,
                        std::span<const int64_t> high) {
  return any({v, value}) ? bad : take(build.pad(v, value, low, high));
}

Emitter::V Emitter::concat(std::span<const V> values, int64_t dim) {
  for (V v : values)
    if (any({v}))
      return bad;
  return hasFailed ? bad : take(build.concat(values, dim));
}

Emitter::V Emitter::gather(V v, V indices, int64_t dim) {
  return any({v, indices}) ? bad : take(build.gather(v, indices, dim));
}

Emitter::V Emitter::reduce(std::string_view kind, V v,
                           std::span<const int64_t> dims, bool keep) {
  if (any({v}))
    return bad;
  Extents kept = extents(v);
  for (int64_t dim : dims)
    kept[dim] = capture.graph.constant(1);
  V reduced = take(build.reduce(kind, v, dims));
  return keep ? reshape(reduced, kept) : reduced;
}

Emitter::V Emitter::argReduce(std::string_view kind, V v, int64_t dim,
                              bool keep) {
  if (any({v}))
    return bad;
  V reduced = take(build.argReduce(kind, v, dim));
  return keep ? unsqueeze(reduced, dim) : reduced;
}

Emitter::V Emitter::contract(V a, V b, bool transposeA, bool transposeB) {
  return any({a, b}) ? bad : take(build.contract(a, b, transposeA, transposeB));
}

Emitter::V Emitter::unsqueeze(V v, int64_t dim) {
  if (any({v}))
    return bad;
  Extents shape = extents(v);
  shape.insert(shape.begin() + dim, capture.graph.constant(1));
  return reshape(v, shape);
}

Emitter::V Emitter::countOf(V v, std::span<const int64_t> dims, DType dtype) {
  if (any({v}))
    return bad;
  Extents counted;
  for (int64_t dim : dims)
    counted.push_back(extent(v, dim));
  return extentNumber(dtype, build.elementCount(counted));
}
