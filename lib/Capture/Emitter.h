//===- Emitter.h - Writes compositions of operations ------------*- C++ -*-===//
//
// A GraphBuilder whose results can be nested: once an operation cannot be
// appended, all that follow do nothing, and `giveUp` turns the failure into a
// break. Broadcasts the operands of elementwise operations; promotes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_EMITTER_H
#define WOK_LIB_CAPTURE_EMITTER_H

#include "wok/Capture/Capture.h"
#include "wok/Import/GraphBuilder.h"

#include <span>
#include <string>
#include <string_view>

namespace wok::capture {

class Emitter {
public:
  using V = importer::ValueId;
  using Extents = importer::GraphBuilder::Extents;
  static constexpr V bad = UINT32_MAX;

  explicit Emitter(Capture &capture) : capture(capture), build(capture.graph) {}

  Capture &capture;
  importer::GraphBuilder build;

  bool failed() const { return hasFailed; }
  /// The break for what failed. `what` names the operation.
  std::nullopt_t giveUp(std::string_view what);

  DType dtype(V v) const { return v == bad ? DType::F32 : build.dtype(v); }
  size_t rank(V v) const { return v == bad ? 0 : build.rank(v); }
  Extents extents(V v) const;
  importer::ExtentId extent(V v, int64_t dim) const {
    return v == bad ? 0 : build.type(v).extents[dim];
  }
  /// The common extents of values by broadcasting.
  Extents broadcastExtents(std::span<const V> values);

  // 0-d constants.
  V number(DType dtype, double value);
  V number(DType dtype, int64_t value);
  V number(DType dtype, int value) { return number(dtype, int64_t{value}); }
  /// A constant of the dtype and extents of `like`, broadcast lazily: 0-d.
  V like(V like, double value);

  V cast(V v, DType dtype);
  V unary(std::string_view name, V v);
  V binary(std::string_view name, V a, V b);
  V compare(std::string_view predicate, V a, V b);
  V select(V condition, V a, V b);
  V fma(V a, V b, V c);
  V add(V a, V b) { return binary("add", a, b); }
  V sub(V a, V b) { return binary("sub", a, b); }
  V mul(V a, V b) { return binary("mul", a, b); }
  V div(V a, V b) { return binary("div", a, b); }
  /// x != 0.
  V truth(V v) { return cast(v, DType::I1); }
  V logicalNot(V v) { return unary("not", truth(v)); }

  V broadcastTo(V v, std::span<const importer::ExtentId> extents);
  V filled(DType dtype, double value,
           std::span<const importer::ExtentId> extents);
  V iota(DType dtype, std::span<const importer::ExtentId> extents, int64_t dim);
  V extentNumber(DType dtype, importer::ExtentId extent);
  V reshape(V v, std::span<const importer::ExtentId> extents);
  V transpose(V v, std::span<const int64_t> permutation);
  V slice(V v, std::span<const int64_t> offsets,
          std::span<const importer::ExtentId> sizes,
          std::span<const int64_t> strides);
  V slice(V v, const Extents &offsets,
          std::span<const importer::ExtentId> sizes,
          std::span<const int64_t> strides);
  /// Elements start, start + stride, ... (`size` of them) along one dimension.
  V sliceDim(V v, int64_t dim, int64_t start, importer::ExtentId size,
             int64_t stride = 1);
  V pad(V v, V value, std::span<const int64_t> low,
        std::span<const int64_t> high);
  V concat(std::span<const V> values, int64_t dim);
  V gather(V v, V indices, int64_t dim);
  /// Drops `dims`, or keeps them with extent 1.
  V reduce(std::string_view kind, V v, std::span<const int64_t> dims,
           bool keep = false);
  V argReduce(std::string_view kind, V v, int64_t dim, bool keep = false);
  V contract(V a, V b, bool transposeA = false, bool transposeB = false);

  /// A dimension of extent 1 before dimension `dim`.
  V unsqueeze(V v, int64_t dim);
  /// The product of the extents of `dims` as a number.
  V countOf(V v, std::span<const int64_t> dims, DType dtype);

private:
  V take(importer::GraphBuilder::Result result);
  bool any(std::initializer_list<V> values);
  /// Broadcasts all to their common extents. False if one is bad.
  bool align(std::span<V> values);

  bool hasFailed = false;
};

/// The dtype that f16 and bf16 compositions compute in.
constexpr DType computeType(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

/// All dimensions of `v`.
std::vector<int64_t> allDims(size_t rank);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_EMITTER_H
