//===- Evaluator.cpp - The loop of the symbolic evaluator -----------------===//

#include "Evaluator.h"

#include "CodeObject.h"

#include <opcode.h>

#include <algorithm>

namespace wok::python {

using Reason = BreakInfo::Reason;

Evaluator::Evaluator(const FrameView &view, capture::SiteHistory &history)
    : view(view), capture(history), state(capture.internal()) {
  state.code = view.code;
  startOffset = view.offset;

  Frame outer;
  outer.code = view.code;
  outer.bytecode = decode(view.code);
  outer.offset = view.offset;
  outer.locals.resize(static_cast<size_t>(view.code->co_nlocalsplus));
  touched.resize(outer.locals.size());
  auto &sources = capture.sources;
  outer.globals = capture.known(view.globals,
                                sources.get(Step::Globals, capture::noSource));
  outer.builtins = capture.known(
      view.builtins, sources.get(Step::Builtins, capture::noSource));
  for (int32_t i = 0; i < view.stackDepth; ++i)
    outer.stack.push_back(
        view.stack[i]
            ? capture.known(view.stack[i],
                            sources.get(Step::Stack, capture::noSource,
                                        static_cast<uint32_t>(i)))
            : Value());
  frames.reserve(budget.frames + 1); // Handlers hold references.
  frames.push_back(std::move(outer));
}

const Bytecode *Evaluator::decode(PyCodeObject *code) {
  auto [entry, isNew] = decoded.try_emplace(code);
  if (!isNew)
    return entry->second.get();
  capture.sources.hold(reinterpret_cast<PyObject *>(code));
  if (std::optional<Bytecode> bytecode = decodeCode(code))
    entry->second = std::make_unique<Bytecode>(std::move(*bytecode));
  return entry->second.get();
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

Evaluator::Checkpoint Evaluator::checkpoint() {
  return {state.checkpoint(capture), generators.checkpoint(), frames.front(),
          touched, released.size()};
}

void Evaluator::restore(const Checkpoint &to) {
  frames.resize(1);
  frames.front() = to.frame;
  touched = to.touched;
  released.resize(to.released);
  generators.truncate(to.generators);
  state.truncate(capture, to.state);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

CaptureOutcome Evaluator::run() {
  if (!frame().bytecode || !frame().bytecode->at(startOffset)) {
    CaptureOutcome outcome;
    outcome.why.reason = Reason::UnsupportedPython;
    return outcome;
  }
  while (!ended) {
    if (isOuter()) {
      Frame &outer = frame();
      bool isFirst = instructions == 0;
      if (outer.bytecode->exitLegal(outer.offset) && canExit(outer))
        lastExit = checkpoint();
      // Around a loop once: the next turn is this subgraph again.
      if (!isFirst && outer.offset == startOffset) {
        breakHere(Reason::LoopBudget);
        break;
      }
    }
    if (!step() || wantsRestart())
      break;
  }
  if (wantsRestart())
    return {};
  return finish();
}

bool Evaluator::step() {
  if (++instructions > budget.instructions ||
      state.operations.size() > budget.operations ||
      capture.guards.guards.size() > budget.guards)
    return breakHere(Reason::CaptureBudget);
  Frame &current = frame();
  const Instruction *instruction = current.bytecode->at(current.offset);
  if (!instruction)
    return breakHere(Reason::UnsupportedPython, "bytecode");
  capture.line = static_cast<uint32_t>(
      std::max(0, PyCode_Addr2Line(current.code, instruction->opOffset * 2)));
  if (const char *file = PyUnicode_AsUTF8(current.code->co_filename))
    capture.graph.setLocation(file, capture.line);
  if (PyErr_Occurred())
    PyErr_Clear();
  current.offset = instruction->next;
  if (dispatch(*instruction))
    return true;
  // A handler that gave up without a reason.
  breakHere(Reason::UnsupportedPython, opInfo(instruction->op).name);
  return false;
}

Value Evaluator::pop() {
  Value value = frame().stack.back();
  frame().stack.pop_back();
  return value;
}

std::vector<Value> Evaluator::popMany(size_t count) {
  auto &stack = frame().stack;
  std::vector<Value> values(stack.end() - static_cast<ptrdiff_t>(count),
                            stack.end());
  stack.resize(stack.size() - count);
  return values;
}

bool Evaluator::push(std::optional<Value> value) {
  if (!value)
    return false;
  frame().stack.push_back(*value);
  return true;
}

std::string Evaluator::nameOf(PyObject *object) {
  auto text = [](PyObject *name) -> std::string {
    const char *utf8 =
        name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (!utf8)
      PyErr_Clear();
    return utf8 ? utf8 : "?";
  };
  if (!object)
    return "?";
  if (PyFunction_Check(object))
    return text(reinterpret_cast<PyFunctionObject *>(object)->func_qualname);
  if (PyMethod_Check(object))
    return nameOf(PyMethod_GET_FUNCTION(object));
  if (PyCFunction_Check(object))
    return reinterpret_cast<PyCFunctionObject *>(object)->m_ml->ml_name;
  if (PyType_Check(object))
    return reinterpret_cast<PyTypeObject *>(object)->tp_name;
  if (Py_TYPE(object) == &PyMethodDescr_Type)
    return std::string(PyDescr_TYPE(object)->tp_name) + "." +
           text(PyDescr_NAME(object));
  return std::string("an object of type ") + Py_TYPE(object)->tp_name;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool Evaluator::dispatch(const Instruction &instruction) {
  const uint32_t arg = instruction.arg;
  Frame &current = frame();
  auto name = [&](uint32_t index) {
    return PyTuple_GET_ITEM(current.code->co_names, index);
  };
  auto jumpIf = [&](bool condition) {
    if (condition)
      frame().offset = instruction.target;
    return true;
  };

  switch (instruction.op) {
  case Op::Nop:
  case Op::Resume:
  case Op::Precall:
    return true;

  // The stack.
  case Op::LoadConst:
    push(capture.constant(PyTuple_GET_ITEM(current.code->co_consts, arg)));
    return true;
  case Op::PopTop:
    return letGo(pop());
  case Op::PushNull:
    push(Value());
    return true;
  case Op::Copy:
    push(top(arg));
    return true;
  case Op::Swap:
    std::swap(top(1), top(arg));
    return true;

  // Names.
  case Op::LoadFast: {
    Value value = local(arg);
    if (value.isNull())
      return breakHere(Reason::WouldRaise, "an unbound local");
    push(value);
    return true;
  }
  case Op::StoreFast:
    return storeLocal(arg, pop());
  case Op::DeleteFast:
    if (local(arg).isNull())
      return breakHere(Reason::WouldRaise, "an unbound local");
    return storeLocal(arg, Value());
  case Op::LoadGlobal: {
    std::optional<Value> value = loadGlobal(name(arg >> 1));
    if (!value)
      return false;
    if (arg & 1)
      push(Value());
    push(*value);
    return true;
  }
  case Op::MakeCell:
    current.locals[arg] = capture.cell(current.locals[arg]);
    return true;
  case Op::CopyFreeVars: {
    std::optional<std::vector<Value>> cells =
        current.closure.isNull() ? std::nullopt
                                 : capture.asItems(current.closure);
    if (!cells || cells->size() != arg)
      return breakHere(Reason::UnsupportedPython, "closure");
    std::ranges::copy(*cells, current.locals.end() - arg);
    return true;
  }
  case Op::LoadClosure:
    push(local(arg));
    return true;
  case Op::LoadDeref:
    return push(loadCell(local(arg)));
  case Op::StoreDeref:
    return storeCell(local(arg), pop());

  case Op::ImportName: {
    Value from = pop(), level = pop();
    return push(importName(name(arg), level, from));
  }
  case Op::ImportFrom: {
    std::optional<Attribute> attribute = lookUp(top(), name(arg));
    if (!attribute || attribute->how != Attribute::How::Value)
      return breakHere(Reason::UnsupportedPython, "import");
    push(attribute->value);
    return true;
  }

  // Arithmetic and tests.
  case Op::UnaryPositive:
    return push(unary('+', pop()));
  case Op::UnaryNegative:
    return push(unary('-', pop()));
  case Op::UnaryInvert:
    return push(unary('~', pop()));
  case Op::UnaryNot: {
    std::optional<bool> isTrue = truth(pop());
    if (!isTrue)
      return false;
    push(capture.constant(*isTrue ? Py_False : Py_True));
    return true;
  }
  case Op::BinaryOp: {
    Value rhs = pop(), lhs = pop();
    return push(binary(static_cast<int>(arg), lhs, rhs));
  }
  case Op::CompareOp: {
    Value rhs = pop(), lhs = pop();
    return push(compare(static_cast<int>(arg), lhs, rhs));
  }
  case Op::IsOp: {
    Value rhs = pop(), lhs = pop();
    std::optional<bool> same = capture.sameObject(lhs, rhs);
    if (!same)
      return false;
    push(capture.constant(*same != (arg != 0) ? Py_True : Py_False));
    return true;
  }
  case Op::ContainsOp: {
    Value container = pop(), item = pop();
    std::optional<bool> found = contains(container, item);
    if (!found)
      return false;
    push(capture.constant(*found != (arg != 0) ? Py_True : Py_False));
    return true;
  }
  case Op::BinarySubscr: {
    Value index = pop(), container = pop();
    if (capture.object(container) && !capture.isTensor(container)) {
      Arguments arguments{{index}, {}};
      if (std::optional<bool> done =
              callDunder(container, "__getitem__", arguments))
        return *done;
    }
    return push(subscript(container, index));
  }
  case Op::StoreSubscr: {
    Value index = pop(), container = pop(), value = pop();
    return storeSubscript(container, index, value);
  }

  // Attributes.
  case Op::LoadAttr:
    return loadAttribute(pop(), name(arg));
  case Op::LoadMethod:
    return loadMethod(pop(), name(arg));
  case Op::StoreAttr: {
    Value object = pop(), value = pop();
    return storeAttribute(object, name(arg), value);
  }

  // Containers.
  case Op::BuildTuple:
    push(capture.tuple(popMany(arg)));
    return true;
  case Op::BuildList:
    push(capture.list(popMany(arg)));
    return true;
  case Op::ListToTuple: {
    std::optional<std::vector<Value>> items = capture.asItems(pop());
    if (!items)
      return false;
    push(capture.tuple(std::move(*items)));
    return true;
  }
  case Op::BuildSlice: {
    std::vector<Value> parts = popMany(arg);
    if (arg == 2)
      parts.push_back(capture.none());
    push(capture.sequence(capture::SequenceRow::Type::Slice, std::move(parts)));
    return true;
  }
  case Op::BuildMap: {
    std::vector<Value> parts = popMany(2 * arg);
    Value dict = capture.table({});
    for (size_t i = 0; i < parts.size(); i += 2)
      if (!setEntry(dict, parts[i], parts[i + 1]))
        return false;
    push(dict);
    return true;
  }
  case Op::BuildConstKeyMap: {
    std::optional<std::vector<Value>> keys = capture.asItems(pop());
    std::vector<Value> values = popMany(arg);
    if (!keys || keys->size() != arg)
      return false;
    Value dict = capture.table({});
    for (size_t i = 0; i < arg; ++i)
      if (!setEntry(dict, (*keys)[i], values[i]))
        return false;
    push(dict);
    return true;
  }
  case Op::BuildSet: {
    std::vector<Value> items = popMany(arg);
    Value set = capture.table({capture::TableRow::Type::Set, {}});
    for (Value item : items)
      if (!setEntry(set, item, Value()))
        return false;
    push(set);
    return true;
  }
  case Op::ListAppend: {
    Value item = pop();
    Value list = top(arg);
    if (list.kind != Kind::Sequence)
      return breakHere(Reason::ForeignStore, "an append to a list");
    capture.changeSequence(list).items.push_back(item);
    return true;
  }
  case Op::SetAdd: {
    Value item = pop();
    return setEntry(top(arg), item, Value());
  }
  case Op::MapAdd: {
    Value value = pop(), key = pop();
    return setEntry(top(arg), key, value);
  }
  case Op::ListExtend: {
    Value items = pop();
    Value list = top(arg);
    std::optional<std::vector<Value>> values = itemsOf(items);
    if (!values || list.kind != Kind::Sequence)
      return breakHere(Reason::UnsupportedPython, "extending a list");
    auto &row = capture.changeSequence(list).items;
    row.insert(row.end(), values->begin(), values->end());
    return true;
  }
  case Op::SetUpdate: {
    std::optional<std::vector<Value>> values = itemsOf(pop());
    if (!values)
      return false;
    for (Value value : *values)
      if (!setEntry(top(arg), value, Value()))
        return false;
    return true;
  }
  case Op::DictMerge:
  case Op::DictUpdate: {
    auto entries = entriesOf(pop());
    if (!entries)
      return false;
    Value dict = top(arg);
    for (auto [key, value] : *entries) {
      if (instruction.op == Op::DictMerge) {
        std::optional<Value> present = findEntry(dict, key);
        if (!present)
          return false;
        if (!present->isNull())
          return breakHere(Reason::WouldRaise, "a keyword given twice");
      }
      if (!setEntry(dict, key, value))
        return false;
    }
    return true;
  }
  case Op::UnpackSequence: {
    std::optional<std::vector<Value>> items = itemsOf(pop());
    if (!items)
      return false;
    if (items->size() != arg)
      return breakHere(Reason::WouldRaise, "unpacking another length");
    for (size_t i = items->size(); i-- > 0;)
      push((*items)[i]);
    return true;
  }
  case Op::UnpackEx: {
    std::optional<std::vector<Value>> items = itemsOf(pop());
    size_t before = arg & 0xFF, after = arg >> 8;
    if (!items)
      return false;
    if (items->size() < before + after)
      return breakHere(Reason::WouldRaise, "unpacking another length");
    for (size_t i = 0; i < after; ++i)
      push((*items)[items->size() - 1 - i]);
    push(capture.list({items->begin() + static_cast<ptrdiff_t>(before),
                       items->end() - static_cast<ptrdiff_t>(after)}));
    for (size_t i = before; i-- > 0;)
      push((*items)[i]);
    return true;
  }
  case Op::FormatValue: {
    Value spec = (arg & FVS_MASK) == FVS_HAVE_SPEC ? pop() : Value();
    return push(format(pop(), spec, static_cast<int>(arg & FVC_MASK)));
  }
  case Op::BuildString: {
    std::vector<Value> parts = popMany(arg);
    auto text = capture::Ref<>::steal(PyUnicode_FromString(""));
    for (Value part : parts) {
      if (!capture.asString(part))
        return breakHere(Reason::UnsupportedPython, "an f-string");
      text =
          capture::Ref<>::steal(PyUnicode_Concat(text, capture.object(part)));
    }
    push(capture.constant(text));
    return true;
  }

  // Jumps.
  case Op::JumpForward:
  case Op::JumpBackward:
  case Op::JumpBackwardNoInterrupt:
    current.offset = instruction.target;
    return true;
  case Op::PopJumpForwardIfTrue:
  case Op::PopJumpBackwardIfTrue: {
    std::optional<bool> isTrue = truth(pop());
    return isTrue && jumpIf(*isTrue);
  }
  case Op::PopJumpForwardIfFalse:
  case Op::PopJumpBackwardIfFalse: {
    std::optional<bool> isTrue = truth(pop());
    return isTrue && jumpIf(!*isTrue);
  }
  case Op::PopJumpForwardIfNone:
  case Op::PopJumpBackwardIfNone: {
    std::optional<bool> isNone = capture.sameObject(pop(), capture.none());
    return isNone && jumpIf(*isNone);
  }
  case Op::PopJumpForwardIfNotNone:
  case Op::PopJumpBackwardIfNotNone: {
    std::optional<bool> isNone = capture.sameObject(pop(), capture.none());
    return isNone && jumpIf(!*isNone);
  }
  case Op::JumpIfTrueOrPop:
  case Op::JumpIfFalseOrPop: {
    std::optional<bool> isTrue = truth(top());
    if (!isTrue)
      return false;
    if (*isTrue == (instruction.op == Op::JumpIfTrueOrPop))
      return jumpIf(true);
    return letGo(pop());
  }

  // Iteration.
  case Op::GetIter: {
    Value iterable = pop();
    if (capture.object(iterable) && !capture.isTensor(iterable)) {
      Arguments none;
      if (std::optional<bool> done = callDunder(iterable, "__iter__", none))
        return *done;
    }
    return push(iterate(iterable));
  }
  case Op::ForIter: {
    std::optional<Value> item = next(top());
    if (!item)
      return false;
    if (item->isNull()) {
      pop();
      return jumpIf(true);
    }
    push(*item);
    return true;
  }

  // Calls.
  case Op::KwNames:
    current.keywordNames =
        capture.constant(PyTuple_GET_ITEM(current.code->co_consts, arg));
    return true;
  case Op::Call: {
    Arguments arguments;
    arguments.positional = popMany(arg);
    if (!current.keywordNames.isNull()) {
      PyObject *names = capture.object(current.keywordNames);
      size_t count = static_cast<size_t>(PyTuple_GET_SIZE(names));
      size_t first = arguments.positional.size() - count;
      for (size_t i = 0; i < count; ++i)
        arguments.keywords.emplace_back(
            PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)),
            arguments.positional[first + i]);
      arguments.positional.resize(first);
      current.keywordNames = Value();
    }
    // null, callable | method, self
    Value second = pop(), first = pop();
    if (first.isNull())
      return call(second, std::move(arguments));
    arguments.positional.insert(arguments.positional.begin(), second);
    return call(first, std::move(arguments));
  }
  case Op::CallFunctionEx: {
    Arguments arguments;
    if (arg & 1) {
      auto entries = entriesOf(pop());
      if (!entries)
        return false;
      for (auto [key, value] : *entries) {
        if (!capture.asString(key))
          return breakHere(Reason::WouldRaise, "a keyword that is no str");
        arguments.keywords.emplace_back(capture.object(key), value);
      }
    }
    std::optional<std::vector<Value>> items = itemsOf(pop());
    if (!items)
      return false;
    arguments.positional = std::move(*items);
    Value callable = pop();
    pop(); // The null below.
    return call(callable, std::move(arguments));
  }
  case Op::MakeFunction:
    return makeFunction(arg);
  case Op::ReturnValue:
    if (isOuter()) {
      ended = true;
      current.offset = instruction.offset;
      return breakHere(Reason::Return);
    }
    return returnValue(pop());
  case Op::LoadAssertionError:
    push(capture.constant(PyExc_AssertionError));
    return true;
  case Op::GetLen: {
    std::optional<std::vector<Value>> items = capture.asItems(top());
    if (!items)
      return false;
    push(capture.constant(static_cast<long long>(items->size())));
    return true;
  }
  case Op::ReturnGenerator:
    return makeGenerator();
  case Op::YieldValue:
    return yieldValue();
  case Op::Send:
    return breakHere(Reason::Generator);
  default:
    return breakHere(Reason::UnsupportedPython, opInfo(instruction.op).name);
  }
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

namespace {
/// The cyclic collector runs finalizers inside of allocations.
class CollectorPause {
public:
  CollectorPause() : wasOn(PyGC_Disable()) {}
  ~CollectorPause() {
    if (wasOn)
      PyGC_Enable();
  }

private:
  bool wasOn;
};
} // namespace

CaptureOutcome captureAt(const FrameView &frame,
                         capture::SiteHistory &history) {
  CollectorPause collector;
  capture::PendingException pending;
  // Each restart makes one more number static.
  for (int attempt = 0; attempt < 16; ++attempt) {
    Evaluator evaluator(frame, history);
    CaptureOutcome outcome = evaluator.run();
    if (!evaluator.wantsRestart())
      return outcome;
  }
  history.dynamic = 0;
  Evaluator evaluator(frame, history);
  return evaluator.run();
}

} // namespace wok::python
