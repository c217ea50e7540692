//===- Exit.h - How a subgraph leaves ---------------------------*- C++ -*-===//

#ifndef WOK_CAPTURE_EXIT_H
#define WOK_CAPTURE_EXIT_H

#include "wok/Capture/Guard.h"
#include "wok/Import/Graph.h"

#include <string>
#include <vector>

namespace wok::capture {

using RecipeId = uint32_t;
inline constexpr RecipeId noRecipe = UINT32_MAX;

/// One row an operation that makes an object: (name, meaning). `operands` are
/// recipes.
#define WOK_RECIPES(X)                                                         \
  X(Source, "the object that `source` finds")                                  \
  X(Constant, "`object`, held by the specialization")                          \
  X(Null, "nothing: an unbound slot, PUSH_NULL")                               \
  X(Tensor, "output `number` of the subgraph as a new tensor of `library`, "   \
            "laid out by `strideOrder`")                                       \
  X(View, "a view by `geometry` of the tensor operand 0")                      \
  X(NumpyScalar,                                                               \
    "output `number` of the subgraph as a NumPy scalar of its dtype")          \
  X(PythonScalar,                                                              \
    "output `number` of the subgraph (rank 0) as int, float or bool")          \
  X(ExtentInt, "the extent expression `number` as an int")                     \
  X(Tuple, "a new tuple of the operands")                                      \
  X(List, "a new list of the operands")                                        \
  X(Dict, "a new dict: operands are key, value, key, value, ...")              \
  X(Set, "a new set of the operands")                                          \
  X(Slice, "slice(start, stop, step)")                                         \
  X(Range, "range(start, stop, step)")                                         \
  X(Iterator, "iter(operand 0) advanced `number` times")                       \
  X(BoundMethod, "a bound method of function operand 0 and self operand 1")    \
  X(Cell, "a new cell; operand 0 is its contents")                             \
  X(Function, "a function of code, globals, defaults, kwdefaults, closure, "   \
              "annotations, name")                                             \
  X(Instance, "object.__new__ of type operand 0; then attribute name, value, " \
              "name, value, ...")

enum class RecipeKind : uint8_t {
#define X(name, text) name,
  WOK_RECIPES(X)
#undef X
};

/// How a tensor lies in the storage of another: extents, strides and offset in
/// elements.
struct Geometry {
  std::vector<importer::ExtentId> extents;
  std::vector<importer::ExtentId> strides;
  importer::ExtentId offset;
};

/// Makes one object. One recipe is one object: used twice, it is the same
/// object twice.
struct Recipe {
  RecipeKind kind;
  Library library = Library::Torch;
  uint32_t number = 0;
  SourceId source = noSource;
  PyObject *object = nullptr;
  std::vector<RecipeId> operands;
  Geometry geometry;
  /// Tensor: dimension i of the (row-major) output is dimension strideOrder[i]
  /// of the tensor, so that these are its dimensions in memory, outermost
  /// first. Empty: as they are.
  std::vector<uint8_t> strideOrder;
};

/// One row an effect: (name, meaning). Effects are committed in program order.
#define WOK_EFFECTS(X)                                                         \
  X(TensorWrite, "copy the tensor `value` into the tensor `target`, one "      \
                 "version bump a write")                                       \
  X(SetAttribute,                                                              \
    "store `value` in the instance dict of `target` under `key`")              \
  X(SetItem, "store `value` at `key` of the exact list or dict `target`")      \
  X(DeleteItem, "delete `key` of the exact dict `target`")                     \
  X(ListAppend, "append `value` to the exact list `target`")                   \
  X(SetCell, "store `value` in the cell `target`")                             \
  X(SetGlobal, "store `value` under `key` in the dict `target`")               \
  X(SetGradMode, "torch._C._set_grad_enabled(`value`)")

enum class EffectKind : uint8_t {
#define X(name, text) name,
  WOK_EFFECTS(X)
#undef X
};

struct Effect {
  EffectKind kind;
  RecipeId target = noRecipe;
  RecipeId key = noRecipe;
  RecipeId value = noRecipe;
};

/// Why a subgraph ended: a row of BreakReasons.def, and where.
struct BreakInfo {
  enum class Reason : uint8_t {
#define WOK_BREAK(name, code, text, hint) name,
#include "wok/Capture/BreakReasons.def"
#undef WOK_BREAK
  };
  Reason reason = Reason::Return;
  std::string detail; ///< What it met: the name of a function, an operation.
  std::string file;
  uint32_t line = 0;
};

/// The frame at the exit. A slot with `noRecipe` is left as it is.
struct SlotWrite {
  uint32_t slot;
  RecipeId recipe;
};

struct Exit {
  /// Operands come first, but for cycles through containers.
  std::vector<Recipe> recipes;
  std::vector<Effect> effects;
  /// localsplus slots that change; dead locals get `Null`.
  std::vector<SlotWrite> locals;
  std::vector<RecipeId> stack; ///< The whole value stack, bottom first.
  /// In code units. At RETURN_VALUE the result is on the stack.
  int32_t resumeOffset = 0;
  bool returns = false; ///< `resumeOffset` is the outer frame's RETURN_VALUE.
  std::vector<int32_t> sites; ///< Where capture may go on after the break.
  BreakInfo why;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_EXIT_H
