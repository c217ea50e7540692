//===- Call.h - A call bound to its row of a table --------------*- C++ -*-===//
//
// Every callable that Wok knows is one row of Torch.def, Numpy.def or
// Builtins.def: the names it is reachable under, its signature, the function
// that imports it and a detail for that function. This header declares the row
// and the call that the function sees.
//
// A signature lists parameters as "<type> <name>", comma separated; "*" starts
// the keyword-only ones; "=" after a name makes it optional, "?" after the type
// lets None stand for "not given"; " | " separates overloads, the first that
// fits is taken. Types:
//
//   T tensor          S tensor or number    N number       I int
//   F int or float    B bool                L ints, or one int
//   V ints as one sequence or as the rest of the positional arguments
//   D dtype           Z string              Q sequence of tensors
//   P the rest of the positional arguments, a list of tensors
//   X nothing but the default (None, False) is supported
//   A array-like: tensor, number or nested sequences of them
//   O anything
//
// The signature "..." binds nothing: the importer reads `Call::raw`. An empty
// one stands for an importer that breaks whatever the arguments are.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_CALL_H
#define WOK_LIB_CAPTURE_CALL_H

#include "Emitter.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wok::capture {

class Call;
using BuildFn = std::optional<Value> (*)(Call &);

/// One row of a table.
struct Row {
  std::string_view names; ///< "torch.exp Tensor.exp"; see Callables.cpp.
  std::string_view signature;
  BuildFn build;
  std::string_view detail; ///< What `build` makes of it: an operation's name.
  bool isOperation;        ///< Counted in reports.
};

struct Parameter {
  char type = 'O';
  bool optional = false;
  bool acceptsNone = false;
  bool keywordOnly = false;
  std::string_view name;
};

using Overload = std::vector<Parameter>;

/// Parses a signature. The views point into `signature`.
std::vector<Overload> parseSignature(std::string_view signature);

/// A row under one of its names.
struct BoundRow {
  const Row *row;
  std::vector<Overload> overloads;
  std::string name;             ///< "Tensor.add_", for reports.
  PyObject *callable = nullptr; ///< Held for ever.
  Library library = Library::Torch;
  bool inPlace = false; ///< A method that changes its first argument.
};

/// Python's numbers, in the order of their promotion.
enum class NumberType : uint8_t { Bool, Int, Float };

class Call {
public:
  Call(Capture &capture, const BoundRow &bound)
      : emitter(capture), capture(capture), bound(bound) {}

  /// Binds the arguments to the first overload that takes them. False, with a
  /// break set, if none does: the real call then raises or does what only it
  /// can.
  bool bind(const CallArguments &arguments);

  Emitter emitter;
  Capture &capture;
  const BoundRow &bound;

  std::string_view detail() const { return bound.row->detail; }
  /// The index of the overload that was taken.
  unsigned overload() const { return chosen; }
  bool has(unsigned i) const {
    return i < values.size() && !values[i].isNull();
  }
  Value arg(unsigned i) const {
    return i < values.size() ? values[i] : Value();
  }

  // Arguments of the type that the signature says, already guarded; what was
  // not given is the default.
  int64_t integer(unsigned i, int64_t otherwise = 0) const {
    return has(i) ? integers[i] : otherwise;
  }
  double real(unsigned i, double otherwise = 0) const {
    return has(i) ? reals[i] : otherwise;
  }
  bool boolean(unsigned i, bool otherwise = false) const {
    return has(i) ? integers[i] != 0 : otherwise;
  }
  std::string_view string(unsigned i, std::string_view otherwise = {}) const {
    return has(i) ? strings[i] : otherwise;
  }
  DType dtype(unsigned i, DType otherwise) const {
    return has(i) ? static_cast<DType>(integers[i]) : otherwise;
  }
  /// The arguments as they were passed.
  const CallArguments &raw() const { return *arguments; }
  /// The items of a list of ints (`L`, `V`) or tensors (`Q`, `P`).
  const std::vector<Value> &items(unsigned i) const { return lists[i]; }
  /// The items of an `L` or `V` as numbers. False, with a break, if one is not
  /// an int.
  bool integerItems(unsigned i, std::vector<int64_t> &result);
  /// The items of an `L` or `V` as extents; -1 stays `inferred`.
  bool extentItems(unsigned i, std::vector<importer::ExtentId> &result,
                   int64_t *inferred = nullptr);

  std::nullopt_t unsupported(std::string_view why);
  std::nullopt_t giveUp() { return emitter.giveUp(bound.name); }

private:
  enum class Fit { Yes, No, Broke };
  Fit bindOverload(const Overload &overload, const CallArguments &arguments);
  Fit accept(const Parameter &parameter, unsigned i, Value value);

  const CallArguments *arguments = nullptr;
  unsigned chosen = 0;
  std::vector<Value> values;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string_view> strings;
  std::vector<std::vector<Value>> lists;
};

/// The type of a Python number (exact int, float or bool, or a Scalar). Guards
/// the type of a Known.
std::optional<NumberType> numberType(Capture &capture, Value value);
/// Whether `value` is a number, without a guard.
bool isNumber(const Capture &capture, Value value);

/// A number as a 0-d value of `dtype`. A Known is guarded and becomes a
/// constant. Nullopt, with a break, if it is not exact in 64 bits or `dtype` is
/// an integer type that does not hold it.
std::optional<Emitter::V> numberValue(Emitter &emitter, Value value,
                                      DType dtype);

/// The extent that an int (Known or Scalar) stands for. Nullopt without a break
/// if it is none; a Scalar without an extent is asked for its value.
std::optional<importer::ExtentId> asExtent(Capture &capture, Value value);

/// What a call of `bound` computes; the `import` of every entry.
std::optional<Value> importRow(Capture &capture, const CallArguments &arguments,
                               const void *bound);

/// The dtype that an object names: torch.float32, np.float32, np.dtype('f4'),
/// float, "float32". `library` says whose rules count.
std::optional<DType> dtypeOf(PyObject *object, Library library);
/// torch.float32 / np.dtype('float32'). Borrowed; null if the library is not
/// imported.
PyObject *dtypeObject(DType dtype, Library library);

/// An object by its path ("torch.nn.functional.relu") in an imported module;
/// null without an exception if there is none. Borrowed from its owner.
PyObject *findObject(std::string_view path);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_CALL_H
