//===- Guard.h - What a capture assumed -------------------------*- C++ -*-===//

#ifndef WOK_CAPTURE_GUARD_H
#define WOK_CAPTURE_GUARD_H

#include "wok/Capture/Source.h"
#include "wok/Import/Graph.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace wok::capture {

/// One row a predicate: (name, what holds, relative cost). Guards of a parent
/// come before those of its children; among equals the cheap ones come first.
#define WOK_PREDICATES(X)                                                      \
  X(TypeIs, "the type is exactly `object`", 1)                                 \
  X(Is, "the object is `object`", 1)                                           \
  X(IsNot, "the object is not `object`", 1)                                    \
  X(Equals,                                                                    \
    "exact int, float, bool, str, bytes, None: same type and same bits as "    \
    "`object`",                                                                \
    2)                                                                         \
  X(IntRange, "an exact int with lower <= value <= upper", 2)                  \
  X(FloatType, "an exact float, any value", 1)                                 \
  X(LengthIs, "a tuple, list, dict or set of length `number`", 1)              \
  X(KeyAbsent, "the dict has no key `object`", 8)                              \
  X(AttributeAbsent, "the instance has no own attribute `object`", 8)          \
  X(Present, "the source finds an object", 1)                                  \
  X(SlotNull, "the source finds nothing: an unbound local, an empty cell", 1)  \
  X(SameObject, "the same object as source `number`", 1)                       \
  X(NotSameObject, "another object than source `number`", 1)                   \
  X(DictVersion, "the dict's version tag is `number`", 1)                      \
  X(TypeVersion, "the type's version tag is `number`", 1)                      \
  X(DictOrder,                                                                 \
    "the keys of the dict are those of the tuple `object`, in that order", 20) \
  X(Tensor, "a tensor as `tensors[number]` describes it", 10)                  \
  X(ExtentRelation, "relation `number` between extents holds", 3)              \
  X(NoOverlap, "the storage does not overlap that of source `number`", 20)     \
  X(Ambient, "the ambient state `upper` has value `number`", 5)                \
  X(RefCountAbove, "the reference count is above `number`", 1)                 \
  X(DiesQuietly, "a tensor whose release runs no code of the program", 3)

enum class Predicate : uint8_t {
#define X(name, text, cost) name,
  WOK_PREDICATES(X)
#undef X
};

/// Per-thread state of the libraries that results depend on.
#define WOK_AMBIENT(X)                                                         \
  X(GradMode, "torch.is_grad_enabled()")                                       \
  X(InferenceMode, "torch.is_inference_mode_enabled()")                        \
  X(Autocast, "torch.is_autocast_enabled('cpu')")                              \
  X(DefaultDtype, "torch.get_default_dtype()")                                 \
  X(FunctionModes, "a __torch_function__ mode is active")                      \
  X(DispatchModes,                                                             \
    "a __torch_dispatch__ mode, functorch transform or trace is active")       \
  X(Errstate, "numpy.geterr()")                                                \
  X(RecursionRoom, "at least this many recursion levels are left")

enum class Ambient : uint8_t {
#define X(name, text) name,
  WOK_AMBIENT(X)
#undef X
};

/// Whose tensor it is.
enum class Library : uint8_t { Torch, NumPy };

/// What a guard checks of a tensor. An extent or stride is a number, or
/// `runtime::dynamicExtent`: then any value >= 0 will do, or, where `symbol` is
/// set, the value becomes (first place) or must equal (later places) that
/// symbol of the graph.
struct TensorGuard {
  Library library;
  DType dtype;
  PyTypeObject *type; ///< Exactly; held by the capture's constants.
  bool requiresGrad = false;
  /// Dense in the order of `strideOrder` (outermost first); or strided, then
  /// `strides` says how.
  bool dense = true;
  std::vector<uint8_t> strideOrder;
  std::vector<int64_t> extents;
  std::vector<int32_t> symbols; ///< Per dimension; -1 for none.
  std::vector<int64_t> strides; ///< In elements, if not dense.
};

/// `lhs <relation> rhs` over extents of the graph.
struct ExtentRelation {
  enum class Kind : uint8_t { Equal, NotEqual, Less, LessEqual } kind;
  importer::ExtentId lhs, rhs;
};

struct Guard {
  SourceId source; ///< `noSource` for Ambient and ExtentRelation.
  Predicate predicate;
  int64_t number = 0;
  int64_t upper = 0;          ///< IntRange: `number` is the lower end.
  PyObject *object = nullptr; ///< Held by the capture's constants.
  uint32_t line = 0;          ///< The source line that looked, for the report.
};

/// The guards of one capture, deduplicated; a stronger one replaces a weaker
/// one of the same source (Is > Equals > TypeIs). Truncated on a break.
struct GuardList {
  std::vector<Guard> guards;
  std::vector<TensorGuard> tensors;
  std::vector<ExtentRelation> relations;

  /// May be truncated between two calls, never changed otherwise.
  void add(const Guard &guard);
  /// Drops guards that stronger ones make redundant and puts parents before
  /// children, what compares two sources last. Called once, when nothing is
  /// truncated any more.
  void finish(const SourceTable &sources);

private:
  /// Where the guards of a source are. What a truncation took away is skipped.
  std::unordered_map<SourceId, std::vector<uint32_t>> bySource;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_GUARD_H
