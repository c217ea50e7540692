//===- Views.h - Tensors that share storage ---------------------*- C++ -*-===//
//
// Views of both libraries: each function appends the data movement that the
// view means and places it by a geometry in the storage of the tensor that it
// was taken from.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_VIEWS_H
#define WOK_LIB_CAPTURE_VIEWS_H

#include "Operand.h"

#include <optional>
#include <span>

namespace wok::capture {

/// Builds one view in steps; nothing is added to the capture before `finish`.
class ViewBuilder {
public:
  ViewBuilder(Emitter &emitter, Value parent);

  size_t rank() const { return geometry.extents.size(); }
  importer::ExtentId extent(size_t dim) const { return geometry.extents[dim]; }
  const std::vector<importer::ExtentId> &extents() const {
    return geometry.extents;
  }

  void permute(std::span<const int64_t> permutation);
  /// Elements start, start + step, ...: `size` of them.
  void slice(size_t dim, importer::ExtentId start, importer::ExtentId size,
             int64_t step = 1);
  /// One index of a dimension, which goes.
  void select(size_t dim, importer::ExtentId index);
  void insertUnit(size_t dim);
  /// The dimension has extent 1.
  void dropUnit(size_t dim);
  /// NumPy's rules, aligned at the right.
  void expand(std::span<const importer::ExtentId> extents);
  /// Row-major reading; false (and nothing done) if the strides do not allow
  /// one view to do that.
  bool reshape(std::span<const importer::ExtentId> extents);

  Emitter::V value() const { return v; }
  /// The view as a Tensor; the parent's own Value if nothing was done and
  /// `mayBeParent`.
  Value finish();

private:
  importer::ExtentId times(importer::ExtentId a, importer::ExtentId b);

  Emitter &emitter;
  Capture &capture;
  Value parent;
  Emitter::V v;
  Geometry geometry;
};

/// What a call that makes a view returns: the view, or the break of what
/// failed.
std::optional<Value> finishView(Call &call, ViewBuilder &view);
/// A view of argument 0 with its dimensions in another order.
std::optional<Value> permuted(Call &call, std::span<const int64_t> permutation);

/// Replaces the extent at `inferred` (if >= 0) by what is left of the count of
/// `from`. False if that does not divide, or is not known to.
bool inferExtent(Emitter &emitter, std::span<const importer::ExtentId> from,
                 std::vector<importer::ExtentId> &to, int64_t inferred);

/// `start:stop:step` of a slice over a dimension, clipped as Python does.
/// Nullopt, with a break, if it is not made of ints.
struct SliceRange {
  importer::ExtentId start, size;
  int64_t step;
};
std::optional<SliceRange> sliceRange(Capture &capture, Value slice,
                                     importer::ExtentId extent);

/// The index as an offset from the front. Nullopt, with a break, if it is out
/// of range.
std::optional<importer::ExtentId> wrapIndex(Capture &capture, Value index,
                                            importer::ExtentId extent);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_VIEWS_H
