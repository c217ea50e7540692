//===- Builtins.cpp - Pure builtins, math.* and operator.* ------*- C++ -*-===//
//
// On known numbers they are called right away and the result is a constant,
// under guards of the numbers: they are C code of CPython's own that touches
// nothing else. On tensors they are the operators of tensors.
//
//===----------------------------------------------------------------------===//

#include "Importers.h"
#include "Operand.h"

#include <opcode.h>

using namespace wok;
using namespace wok::capture;

/// An exact number, str, bytes or None, its value guarded. Null, with a break,
/// if it is none of these or the graph computes it.
static Ref<> plainObject(Call &call, Value value) {
  Capture &capture = call.capture;
  if (value.kind == Kind::Scalar) {
    Ref<> number;
    if (capture.scalarRow(value).type == ScalarRow::Type::Float) {
      if (std::optional<double> real = capture.asFloat(value))
        number = Ref<>::steal(PyFloat_FromDouble(*real));
    } else if (std::optional<long long> integer = capture.asInt(value)) {
      number = Ref<>::steal(PyLong_FromLongLong(*integer));
    }
    if (!number)
      call.unsupported("a number that the graph computes");
    return number;
  }
  PyObject *object = capture.object(value);
  bool plain =
      object && (PyLong_CheckExact(object) || PyBool_Check(object) ||
                 PyFloat_CheckExact(object) || object == Py_None ||
                 PyUnicode_CheckExact(object) || PyBytes_CheckExact(object));
  if (!plain) {
    if (value.kind == Kind::Tensor || capture.isTensor(value))
      capture.breakHere(BreakInfo::Reason::DataToPython, call.bound.name);
    else
      call.unsupported("an argument that is no plain number");
    return {};
  }
  capture.guardValue(value);
  return Ref<>::share(object);
}

/// The call itself, on plain objects.
static std::optional<Value> fold(Call &call, std::span<const Value> values) {
  std::vector<Ref<>> held;
  std::vector<PyObject *> arguments;
  for (Value value : values) {
    held.push_back(plainObject(call, value));
    if (!held.back())
      return std::nullopt;
    // Numbers so large that the call would take long.
    if (PyLong_CheckExact(held.back()) && _PyLong_NumBits(held.back()) > 1024)
      return call.unsupported("a large number");
    arguments.push_back(held.back());
  }
  if (!call.raw().keywords.empty())
    return call.unsupported("keywords");
  Ref<> result = Ref<>::steal(PyObject_Vectorcall(
      call.bound.callable, arguments.data(), arguments.size(), nullptr));
  if (!result) {
    PyErr_Clear();
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  }
  return call.capture.constant(result.get());
}

static std::vector<Value> positional(Call &call) {
  return {call.raw().positional.begin(), call.raw().positional.end()};
}

/// math.*, int, bool, round, divmod, chr, ord, ...: numbers in, a number out.
std::optional<Value> capture::builtinFold(Call &call) {
  return fold(call, positional(call));
}

/// pow, factorial, comb, perm: the result can be much longer than its operands.
std::optional<Value> capture::builtinFoldSmall(Call &call) {
  std::vector<Value> values = positional(call);
  for (Value value : values) {
    PyObject *object = call.capture.object(value);
    if (object && PyLong_CheckExact(object) && _PyLong_NumBits(object) > 10)
      return call.unsupported("a large number");
  }
  if (values.size() == 2)
    for (Value value : values)
      if (value.kind == Kind::Tensor || call.capture.isTensor(value))
        return importBinary(call.capture, NB_POWER, values[0], values[1]);
  return fold(call, values);
}

/// float(x), int(x): a number that varies stays one.
std::optional<Value> capture::builtinNumber(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  if (values.size() == 1 && values[0].kind == Kind::Scalar) {
    const ScalarRow row = capture.scalarRow(values[0]);
    bool toFloat = call.detail() == "float";
    if (row.type == (toFloat ? ScalarRow::Type::Float : ScalarRow::Type::Int))
      return values[0];
    if (toFloat && row.type == ScalarRow::Type::Int) {
      std::optional<Emitter::V> v =
          numberValue(call.emitter, values[0], DType::F64);
      if (!v || *v == Emitter::bad)
        return call.giveUp();
      ScalarRow real{};
      real.type = ScalarRow::Type::Float;
      real.value = *v;
      return capture.scalar(real);
    }
  }
  return fold(call, values);
}

/// abs(x)
std::optional<Value> capture::builtinAbs(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  if (values.size() == 1 && isTensorLike(capture, values[0])) {
    std::optional<Value> tensor = asTensorLike(capture, values[0]);
    if (!tensor)
      return std::nullopt;
    bool isTorch = capture.tensorRow(*tensor).library == Library::Torch;
    const CallableEntry *entry =
        findCallable(findObject(isTorch ? "torch.abs" : "numpy.absolute"));
    if (!entry)
      return call.unsupported("abs");
    capture.noteOperation(entry->name);
    return entry->import(capture, {std::span(&*tensor, 1), {}}, entry->detail);
  }
  return fold(call, values);
}

/// max, min: of the arguments, or of the items of one.
std::optional<Value> capture::builtinExtremum(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  if (!call.raw().keywords.empty() || values.empty())
    return call.unsupported("keywords");
  if (values.size() == 1) {
    std::optional<std::vector<Value>> items = capture.asItems(values[0]);
    if (!items)
      return call.unsupported("an argument that is no sequence");
    values = std::move(*items);
  }
  for (Value value : values)
    if (isTensorLike(capture, value))
      return capture.breakHere(BreakInfo::Reason::DataBranch, call.bound.name);
  if (values.size() == 1) {
    if (!isNumber(capture, values[0]))
      return call.unsupported("an item that is no number");
    return values[0];
  }
  return fold(call, values);
}

/// sum(items, start)
std::optional<Value> capture::builtinSum(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  if (!call.raw().keywords.empty() || values.empty() || values.size() > 2)
    return call.unsupported("arguments");
  std::optional<std::vector<Value>> items = capture.asItems(values[0]);
  if (!items)
    return call.unsupported("an argument that is no sequence");
  Value total = values.size() == 2 ? values[1] : capture.constant(0LL);
  for (Value item : *items) {
    std::optional<Value> next;
    if (isTensorLike(capture, total) || isTensorLike(capture, item)) {
      next = importBinary(capture, NB_ADD, total, item);
      if (next)
        capture.noteOperation("add");
    } else {
      Ref<> a = plainObject(call, total);
      Ref<> b = a ? plainObject(call, item) : Ref<>();
      if (!a || !b)
        return std::nullopt;
      Ref<> sum = Ref<>::steal(PyNumber_Add(a, b));
      if (!sum) {
        PyErr_Clear();
        return capture.breakHere(BreakInfo::Reason::WouldRaise, "sum");
      }
      next = capture.constant(sum.get());
    }
    if (!next)
      return std::nullopt;
    total = *next;
  }
  return total;
}

/// any, all: of known items.
std::optional<Value> capture::builtinAnyAll(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  std::optional<std::vector<Value>> items;
  if (values.size() == 1)
    items = capture.asItems(values[0]);
  if (!items)
    return call.unsupported("an argument that is no sequence");
  bool isAny = call.detail() == "any";
  for (Value item : *items) {
    if (isTensorLike(capture, item))
      return capture.breakHere(BreakInfo::Reason::DataBranch, call.bound.name);
    Ref<> object = plainObject(call, item);
    if (!object)
      return std::nullopt;
    if ((PyObject_IsTrue(object) == 1) == isAny)
      return capture.constant(isAny ? Py_True : Py_False);
  }
  return capture.constant(isAny ? Py_False : Py_True);
}

//===----------------------------------------------------------------------===//
// operator.*
//===----------------------------------------------------------------------===//

namespace {

struct OperatorName {
  std::string_view name;
  int number;
};

constexpr OperatorName binaryNames[] = {
    {"add", NB_ADD},
    {"sub", NB_SUBTRACT},
    {"mul", NB_MULTIPLY},
    {"truediv", NB_TRUE_DIVIDE},
    {"floordiv", NB_FLOOR_DIVIDE},
    {"mod", NB_REMAINDER},
    {"pow", NB_POWER},
    {"matmul", NB_MATRIX_MULTIPLY},
    {"and_", NB_AND},
    {"or_", NB_OR},
    {"xor", NB_XOR},
    {"lshift", NB_LSHIFT},
    {"rshift", NB_RSHIFT},
    {"iadd", NB_INPLACE_ADD},
    {"isub", NB_INPLACE_SUBTRACT},
    {"imul", NB_INPLACE_MULTIPLY},
    {"itruediv", NB_INPLACE_TRUE_DIVIDE},
};

constexpr OperatorName compareNames[] = {{"lt", Py_LT}, {"le", Py_LE},
                                         {"eq", Py_EQ}, {"ne", Py_NE},
                                         {"gt", Py_GT}, {"ge", Py_GE}};

} // namespace

/// operator.add(a, b), ...: on tensors what the operator is.
std::optional<Value> capture::operatorCall(Call &call) {
  Capture &capture = call.capture;
  std::vector<Value> values = positional(call);
  bool onTensors = false;
  for (Value value : values)
    onTensors |= isTensorLike(capture, value);
  if (!onTensors) {
    for (Value value : values) {
      PyObject *object = capture.object(value);
      if (object && PyLong_CheckExact(object) && _PyLong_NumBits(object) > 10 &&
          (call.detail() == "pow" || call.detail() == "lshift"))
        return call.unsupported("a large number");
    }
    return fold(call, values);
  }
  capture.noteOperation(std::string(call.detail()));
  if (values.size() == 2) {
    for (const OperatorName &row : binaryNames)
      if (row.name == call.detail())
        return importBinary(capture, row.number, values[0], values[1]);
    for (const OperatorName &row : compareNames)
      if (row.name == call.detail())
        return importCompare(capture, row.number, values[0], values[1]);
    if (call.detail() == "getitem")
      return importSubscript(capture, values[0], values[1]);
  }
  if (values.size() == 1) {
    if (call.detail() == "abs")
      return builtinAbs(call);
    char op = call.detail() == "neg" ? '-' : call.detail() == "pos" ? '+' : '~';
    return importUnary(capture, op, values[0]);
  }
  return call.unsupported("arguments");
}
