//===- Value.h - What the symbolic evaluator computes with ------*- C++ -*-===//

#ifndef WOK_CAPTURE_VALUE_H
#define WOK_CAPTURE_VALUE_H

#include "wok/Capture/Exit.h"
#include "wok/Capture/Source.h"
#include "wok/Import/Graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace wok::capture {

enum class Kind : uint8_t {
  Null,
  Known,
  Tensor,
  Scalar,
  Sequence,
  Table,
  Iterator,
  Instance,
  Callable,
  Cell
};

/// *Which* object; immutable, two words to copy. Its state is the row `index`
/// of the kind's own table of the capture.
struct Value {
  Kind kind = Kind::Null;
  uint32_t index = 0;

  bool operator==(const Value &) const = default;
  bool isNull() const { return kind == Kind::Null; }
};

/// A live object of the program (or one folded at capture: `source` is
/// `noSource` then). Held by the capture. One object has one row, whatever
/// number of sources lead to it.
struct KnownRow {
  PyObject *object;
  SourceId source;
};

/// A tensor or array. Immutable but for `value`, which an in-place operation
/// replaces.
struct TensorRow {
  Library library = Library::Torch;
  /// Logical: row-major indices whatever the strides.
  importer::ValueId value = 0;
  PyTypeObject *type = nullptr;
  /// The live object, if this is an input; then `source` finds it.
  PyObject *object = nullptr;
  SourceId source = noSource;
  /// Set if this is a view: of the tensor row `base` (never itself a view),
  /// placed by `geometry`.
  std::optional<uint32_t> base;
  Geometry geometry;
  /// The order of dimensions in memory, outermost first, that eager's result
  /// would have. Empty means row-major. For views and inputs `geometry` is the
  /// truth.
  std::vector<uint8_t> strideOrder;
  /// A NumPy scalar (`np.float32(1)`, the result of a full reduction) rather
  /// than a 0-d array.
  bool numpyScalar = false;
  /// PyTorch: a tensor made from a Python number takes part in promotion as
  /// such.
  bool wrappedNumber = false;
  /// Version bumps that an in-place operation owes; for inputs an Effect says
  /// so.
  uint32_t writes = 0;
};

/// A Python number that varies: an extent expression, or an element computed by
/// the graph.
struct ScalarRow {
  enum class Type : uint8_t { Int, Float, Bool } type;
  /// Int: an expression over extents and dynamic ints of the inputs.
  std::optional<importer::ExtentId> extent;
  /// Otherwise a rank-0 value of the graph (i64, f64, i1).
  std::optional<importer::ValueId> value;
  /// Where the number itself comes from, and its value in the capturing frame,
  /// if it is an input.
  SourceId source = noSource;
  PyObject *object = nullptr;
  int64_t lower = INT64_MIN, upper = INT64_MAX;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_VALUE_H
