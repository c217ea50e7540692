//===- Source.h - How a value is found again --------------------*- C++ -*-===//

#ifndef WOK_CAPTURE_SOURCE_H
#define WOK_CAPTURE_SOURCE_H

#include "wok/Capture/Ref.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace wok::capture {

using SourceId = uint32_t;
inline constexpr SourceId noSource = UINT32_MAX;

/// One row a step: (name, what it reads, whether `operand` is an object of the
/// constant table).
#define WOK_SOURCE_STEPS(X)                                                    \
  X(Local, "slot `arg` of the frame's localsplus", false)                      \
  X(Stack, "slot `arg` of the frame's value stack, from the bottom", false)    \
  X(Function, "the function of the frame", false)                              \
  X(Globals, "the globals dict of the frame", false)                           \
  X(Builtins, "the builtins dict of the frame", false)                         \
  X(Constant, "an object that the specialization holds", true)                 \
  X(FunctionGlobals, "`__globals__` of a function", false)                     \
  X(FunctionCode, "`__code__` of a function", false)                           \
  X(FunctionDefault, "item `arg` of `__defaults__` of a function", false)      \
  X(FunctionKwDefault, "value of a key of `__kwdefaults__` of a function",     \
    true)                                                                      \
  X(FunctionClosure, "cell `arg` of `__closure__` of a function", false)       \
  X(CellContents, "what a cell holds", false)                                  \
  X(MethodFunction, "`__func__` of a bound method", false)                     \
  X(MethodSelf, "`__self__` of a bound method", false)                         \
  X(ModuleDict, "the dict of a module", false)                                 \
  X(InstanceDict, "the instance dict, materialised or not", false)             \
  X(AttributeValue, "an instance attribute by name, read in place", true)      \
  X(InstanceSlot, "the object at byte `arg` of an instance (`__slots__`)",     \
    false)                                                                     \
  X(DictValue, "the value of a key of an exact dict", true)                    \
  X(SequenceItem, "item `arg` of an exact tuple or list", false)               \
  X(Type, "the type of an object", false)                                      \
  X(TypeLookup, "an attribute on the MRO of a type, not bound", true)          \
  X(TensorGrad, "`.grad` of a tensor", false)

enum class Step : uint8_t {
#define X(name, text, object) name,
  WOK_SOURCE_STEPS(X)
#undef X
};

/// One step from `parent`. Hash-consed: a path has one id.
struct Source {
  Step step;
  uint32_t arg;      ///< Slot or index; see the table.
  SourceId parent;   ///< `noSource` for a root.
  PyObject *operand; ///< Borrowed from the constants; null if it has none.

  bool operator==(const Source &) const = default;
};

/// All sources of one capture, and the objects they name (held).
class SourceTable {
public:
  SourceId get(Step step, SourceId parent, uint32_t arg = 0,
               PyObject *operand = nullptr);
  const Source &operator[](SourceId id) const { return rows[id]; }
  uint32_t size() const { return static_cast<uint32_t>(rows.size()); }

  /// Keeps `object` alive as long as the table, and returns it.
  PyObject *hold(PyObject *object);

  /// For reports: "local x . weight [0]". `code` gives names to locals; may be
  /// null.
  std::string toString(SourceId id, PyCodeObject *code) const;

private:
  struct Hash {
    size_t operator()(const Source &source) const;
  };
  std::vector<Source> rows;
  std::unordered_map<Source, SourceId, Hash> index;
  std::unordered_map<PyObject *, Ref<>> held;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_SOURCE_H
