//===- Evaluator.h - The symbolic evaluator ---------------------*- C++ -*-===//
//
// Reads pristine bytecode from a site with the values of the frame that stands
// there, and records into a Capture. One pass; before each instruction of the
// outer frame there is a checkpoint, and an instruction that ends in a break
// leaves nothing behind. Python functions that are called are inlined: a break
// in one ends the subgraph before the call in the outer frame.
//
// Handlers return false (or nullopt) after `capture.breakHere`.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_EVALUATOR_H
#define WOK_LIB_PYTHON_3_11_EVALUATOR_H

#include "Bytecode.h"

#include "wok/Capture/State.h"
#include "wok/Python/Evaluator.h"

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wok::python {

using capture::BreakInfo;
using capture::Capture;
using capture::Kind;
using capture::SourceId;
using capture::Step;
using capture::Value;

/// What an evaluation may cost. Beyond, the subgraph ends.
struct Budget {
  uint32_t instructions = 20000;
  uint32_t operations = 1000;
  uint32_t guards = 2000;
  uint32_t frames = 64;
  uint32_t trips = 512; ///< Of one loop.
};

/// Arguments of a call: positional ones, then those with names.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<PyObject *, Value>> keywords; ///< Names are exact str.
};

/// A frame under evaluation. The first is the one that stands at the site.
struct Frame {
  PyCodeObject *code = nullptr;
  const Bytecode *bytecode = nullptr;
  int32_t offset = 0; ///< The next instruction.
  std::vector<Value> locals;
  std::vector<Value> stack;
  Value globals, builtins; ///< Known dicts.
  Value closure;           ///< A tuple of cells, Known or fresh; or Null.
  Value keywordNames;      ///< Set by KW_NAMES for the CALL that follows.
  /// What the caller gets instead of the value that is returned (the object
  /// that `__init__` filled); Null: that value.
  Value result;
  /// Which suspended generator this frame is; -1 if it is none.
  int64_t generator = -1;
};

/// A generator that was made and not yet exhausted: its frame, while nobody
/// runs it.
struct Generator {
  Frame frame;
  enum class State : uint8_t { Suspended, Running, Finished } state;
};

class Evaluator {
public:
  Evaluator(const FrameView &view, capture::SiteHistory &history);

  CaptureOutcome run();

  /// Whether the capture is to start again with a changed history.
  bool wantsRestart() { return capture.internal().restart; }

private:
  //===--- Control (Evaluator.cpp) ----------------------------------------===//

  /// The outer frame as it was before an instruction.
  struct Checkpoint {
    Capture::State::Checkpoint state;
    capture::RowTable<Generator>::Checkpoint generators;
    Frame frame;
    std::vector<bool> touched;
    size_t released;
  };
  Checkpoint checkpoint();
  void restore(const Checkpoint &checkpoint);

  /// Executes one instruction of the innermost frame.
  bool step();
  bool dispatch(const Instruction &instruction);
  CaptureOutcome finish();
  std::vector<int32_t> sitesAfter(int32_t offset) const;

  Frame &frame() { return frames.back(); }
  bool isOuter() const { return frames.size() == 1; }
  void push(Value value) { frame().stack.push_back(value); }
  bool push(std::optional<Value> value);
  Value pop();
  Value &top(size_t depth = 1) {
    return frame().stack[frame().stack.size() - depth];
  }
  std::vector<Value> popMany(size_t count);
  bool breakHere(BreakInfo::Reason reason, std::string detail = {}) {
    capture.breakHere(reason, std::move(detail));
    return false;
  }
  /// An object's name for a break's detail.
  static std::string nameOf(PyObject *object);

  //===--- Locals, globals, cells (EvaluatorNames.cpp) --------------------===//

  Value &local(uint32_t slot);
  bool storeLocal(uint32_t slot, Value value);
  /// Whether the frame may let go of `value` before the exit: that runs no
  /// code of the program. Otherwise a break.
  bool letGo(Value value, int depth = 0);
  std::optional<Value> loadGlobal(PyObject *name);
  std::optional<Value> loadCell(Value cell);
  std::optional<Value> cellContents(Value cell);
  std::optional<Value> pendingCell(Value cell);
  bool storeCell(Value cell, Value value);
  /// The value of an exact str in a Known dict; Null if it has none.
  std::optional<Value> dictValue(Value dict, PyObject *key);

  //===--- Attributes (EvaluatorAttributes.cpp) ---------------------------===//

  /// What looking up an attribute found, before binding.
  struct Attribute {
    enum class How : uint8_t {
      Value,    ///< `value` is the attribute.
      Method,   ///< `value` is a function or descriptor to be called with
                ///< `self` in front.
      Property, ///< The function `value` called with `self` gives it.
      Absent,
    } how = How::Absent;
    Value value, self;
  };
  std::optional<Attribute> lookUp(Value object, PyObject *name);
  std::optional<Attribute> lookUpModule(Value module, PyObject *name);
  std::optional<Attribute> lookUpClass(Value type, PyObject *name);
  std::optional<Attribute> lookUpInstance(Value object, PyObject *name);
  /// The attribute of a class as `object.name` sees it: functions bind.
  std::optional<Attribute> bindClassAttribute(Value object, PyTypeObject *type,
                                              PyObject *found, SourceId source);
  std::optional<Attribute> lookUpTensor(Value tensor, PyObject *name);
  std::optional<Attribute> lookUpSuper(Value super, PyObject *name);
  /// Attributes of immutable objects of the libraries (dtypes, devices).
  std::optional<Attribute> lookUpConstant(Value object, PyObject *name);
  std::optional<Attribute> lookUpBuiltin(Value self, PyTypeObject *type,
                                         PyObject *name);
  /// Parameters, buffers and submodules, as torch.nn.Module.__getattr__.
  std::optional<Attribute> lookUpModuleMember(Value module, PyObject *name);
  /// A class attribute with a guard that finds it (or nothing) again.
  PyObject *classAttribute(PyTypeObject *type, PyObject *name,
                           SourceId &source);
  void guardAbsent(PyTypeObject *type, PyObject *name);
  bool loadAttribute(Value object, PyObject *name);
  bool loadMethod(Value object, PyObject *name);
  bool storeAttribute(Value object, PyObject *name, Value value);

  //===--- Arithmetic and tests (EvaluatorFold.cpp) -----------------------===//

  std::optional<Value> binary(int nbOperator, Value lhs, Value rhs);
  std::optional<Value> compare(int pyCompare, Value lhs, Value rhs);
  std::optional<Value> unary(char op, Value operand);
  std::optional<bool> truth(Value value);
  std::optional<bool> contains(Value container, Value item);
  /// Equality of two values without running Python; a break where it would.
  std::optional<bool> equal(Value a, Value b);
  std::optional<Value> scalarBinary(int nbOperator, Value lhs, Value rhs);
  std::optional<bool> scalarCompare(int pyCompare, Value lhs, Value rhs);
  std::optional<Value> subscript(Value container, Value index);
  bool storeSubscript(Value container, Value index, Value value);
  std::optional<Value> format(Value value, Value spec, int conversion);

  //===--- Containers and iteration (EvaluatorContainers.cpp) -------------===//

  /// All items that iterating over `value` gives.
  std::optional<std::vector<Value>> itemsOf(Value value);
  /// The entries of a dict, live or fresh.
  std::optional<std::vector<std::pair<Value, Value>>> entriesOf(Value dict);
  std::optional<Value> iterate(Value value);
  /// The next item; Null at the end.
  std::optional<Value> next(Value iterator);
  std::optional<std::vector<Value>> drain(Value iterator);
  /// Runs a generator to its next yield.
  std::optional<Value> resume(uint32_t generator);
  bool makeGenerator();
  bool yieldValue();
  std::optional<Value> findEntry(Value dict, Value key);
  bool setEntry(Value dict, Value key, Value value);
  std::optional<Value> containerMethod(Value self, std::string_view name,
                                       const Arguments &arguments);
  std::optional<std::vector<int64_t>> sliceIndices(Value slice, int64_t length);

  //===--- Calls (EvaluatorCalls.cpp) -------------------------------------===//

  /// Calls `callable`: pushes its result, or a frame that will.
  bool call(Value callable, Arguments arguments);
  bool callKnown(Value callable, Arguments &arguments);
  bool callFunction(Value function, Arguments &arguments);
  bool callModule(Value module, Arguments &arguments);
  bool callClass(Value type, Arguments &arguments);
  bool callSuper(const Arguments &arguments);
  /// range, zip, isinstance, getattr, ... Nullopt in the outer optional if the
  /// callable is none of them; false after a break.
  std::optional<bool> callBuiltin(PyObject *callable, Arguments &arguments);
  bool importCall(const capture::CallableEntry &entry,
                  const Arguments &arguments);
  /// Calls the Python function that the type of `object` has under `name`, with
  /// `object` in front. Nullopt if it has none.
  std::optional<bool> callDunder(Value object, const char *name,
                                 Arguments &arguments);
  static bool isModuleCall(PyObject *function);
  std::optional<Value> positionalDefault(Value function, SourceId source,
                                         size_t slot, size_t positional);
  std::optional<Value> keywordDefault(Value function, SourceId source,
                                      PyObject *name);
  bool makeFunction(uint32_t flags);
  std::optional<Value> importName(PyObject *name, Value level, Value from);
  bool returnValue(Value value);
  std::optional<bool> isInstance(Value object, Value type);

  //===--- The exit (EvaluatorExit.cpp) -----------------------------------===//

  /// Whether every value of the outer frame can be made at an exit here.
  bool canExit(const Frame &outer) const;
  bool canReify(Value value, int depth = 0) const;
  bool isOverwritten(size_t journalEntry) const;
  /// Whether the program could tell when the frame lets go of `value`.
  /// `ofFrame`: only what the frame itself holds counts.
  bool isMissed(Value value, bool ofFrame, int depth = 0) const;
  bool diesWithFrame(Value cell) const;
  class ExitBuilder;

  const FrameView &view;
  Capture capture;
  Capture::State &state;
  std::vector<Frame> frames;
  capture::RowTable<Generator> generators;
  /// What the generator that `resume` runs has yielded.
  std::optional<Value> yielded;
  /// Slots of the outer frame whose value was read or written.
  std::vector<bool> touched;
  /// Live objects that the frame lets go of before the exit while others hold
  /// them.
  std::vector<Value> released;
  Budget budget;
  uint32_t instructions = 0;
  int32_t startOffset = 0;
  /// The exit is where the outer frame stands, nothing went wrong.
  bool ended = false;
  /// The last state of the outer frame that an exit can make.
  std::optional<Checkpoint> lastExit;
  std::unordered_map<PyCodeObject *, std::unique_ptr<Bytecode>> decoded;
  const Bytecode *decode(PyCodeObject *code);
};

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_EVALUATOR_H
