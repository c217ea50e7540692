//===- EvaluatorFold.cpp - Arithmetic, tests and indexing -----------------===//
//
// Operators on tensors go to the importers. On exact builtin objects they run
// now, under value guards: that runs no Python code of the program. Numbers
// that vary become expressions or relations.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Peek.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::Ref;
using capture::SequenceRow;

/// Exact types whose operators run no Python code.
static bool isPlain(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (type == &PyTuple_Type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      if (!isPlain(PyTuple_GET_ITEM(object, i)))
        return false;
    return true;
  }
  return type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type ||
         type == &PyBytes_Type || type == &PyComplex_Type || object == Py_None;
}

/// A plain object that folding may compute with; null otherwise.
static PyObject *plain(Capture &capture, Value value) {
  PyObject *object = capture.object(value);
  if (!object || !isPlain(object))
    return nullptr;
  // The items of a live tuple have guards of their own.
  if (PyTuple_CheckExact(object) &&
      capture.knownRow(value).source != capture::noSource)
    return nullptr;
  return object;
}

static bool isNumpyScalar(Capture &capture, Value value) {
  PyObject *object = capture.object(value);
  return object && std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 &&
         !PyType_Check(object);
}

static const char *const binaryNames[] = {
    "add", "and", "floor_divide", "lshift", "matmul", "mul", "remainder",
    "or",  "pow", "rshift",       "sub",    "div",    "xor"};

/// " 2" for a known number, so that reports read "mul 2".
static std::string operandText(Capture &capture, Value value) {
  PyObject *object = capture.object(value);
  if (!object || !(PyLong_CheckExact(object) || PyFloat_CheckExact(object)))
    return {};
  auto text = Ref<>::steal(PyObject_Repr(object));
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (!utf8)
    PyErr_Clear();
  return utf8 ? std::string(" ") + utf8 : std::string();
}

//===----------------------------------------------------------------------===//
// Binary operators
//===----------------------------------------------------------------------===//

/// Whether a format says a width of more than four digits.
static bool hasLongNumber(PyObject *text) {
  int digits = 0;
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i) {
    Py_UCS4 c = PyUnicode_READ_CHAR(text, i);
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4 || c == '*')
      return true;
  }
  return false;
}

/// Powers and shifts can be as large as memory.
static bool tooLarge(int op, PyObject *lhs, PyObject *rhs) {
  op %= NB_INPLACE_ADD;
  auto bits = [](PyObject *object) -> double {
    return PyLong_CheckExact(object)
               ? static_cast<double>(_PyLong_NumBits(object))
               : 0;
  };
  auto size = [](PyObject *object) -> double {
    return PyLong_CheckExact(object) ? PyLong_AsDouble(object) : 0;
  };
  auto length = [](PyObject *object) -> double {
    return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
                   PyTuple_CheckExact(object)
               ? static_cast<double>(PyObject_Size(object))
               : 1;
  };
  // "%1000000d" is as long as it says.
  if (op == NB_REMAINDER && PyUnicode_CheckExact(lhs) && hasLongNumber(lhs))
    return true;
  double amount = 0;
  if (op == NB_POWER)
    amount = bits(lhs) * size(rhs);
  else if (op == NB_LSHIFT)
    amount = size(rhs);
  else if (op == NB_MULTIPLY)
    amount = std::max(length(lhs) * size(rhs) * (length(lhs) > 1),
                      length(rhs) * size(lhs) * (length(rhs) > 1));
  PyErr_Clear();
  if (op == NB_MULTIPLY && bits(lhs) + bits(rhs) > 65536)
    return true;
  return amount > 4096;
}

static PyObject *compute(int op, PyObject *lhs, PyObject *rhs) {
  switch (op % NB_INPLACE_ADD) {
  case NB_ADD:
    return PyUnicode_CheckExact(lhs) && PyUnicode_CheckExact(rhs)
               ? PyUnicode_Concat(lhs, rhs)
               : PyNumber_Add(lhs, rhs);
  case NB_AND:
    return PyNumber_And(lhs, rhs);
  case NB_FLOOR_DIVIDE:
    return PyNumber_FloorDivide(lhs, rhs);
  case NB_LSHIFT:
    return PyNumber_Lshift(lhs, rhs);
  case NB_MULTIPLY:
    return PyNumber_Multiply(lhs, rhs);
  case NB_REMAINDER:
    return PyNumber_Remainder(lhs, rhs);
  case NB_OR:
    return PyNumber_Or(lhs, rhs);
  case NB_POWER:
    return PyNumber_Power(lhs, rhs, Py_None);
  case NB_RSHIFT:
    return PyNumber_Rshift(lhs, rhs);
  case NB_SUBTRACT:
    return PyNumber_Subtract(lhs, rhs);
  case NB_TRUE_DIVIDE:
    return PyNumber_TrueDivide(lhs, rhs);
  case NB_XOR:
    return PyNumber_Xor(lhs, rhs);
  default:
    return nullptr;
  }
}

std::optional<Value> Evaluator::binary(int op, Value lhs, Value rhs) {
  if (capture.isTensor(lhs) || capture.isTensor(rhs) ||
      isNumpyScalar(capture, lhs) || isNumpyScalar(capture, rhs)) {
    std::optional<Value> result = capture::importBinary(capture, op, lhs, rhs);
    if (result)
      capture.noteOperation(
          binaryNames[op % NB_INPLACE_ADD] +
          operandText(capture, capture.isTensor(lhs) ? rhs : lhs));
    return result;
  }
  if (lhs.kind == Kind::Scalar || rhs.kind == Kind::Scalar)
    return scalarBinary(op, lhs, rhs);

  PyObject *left = plain(capture, lhs), *right = plain(capture, rhs);
  if (left && right) {
    capture.guardValue(lhs);
    capture.guardValue(rhs);
    if (tooLarge(op, left, right))
      return capture.breakHere(Reason::UnsupportedPython, "a large number");
    auto result = Ref<>::steal(compute(op, left, right));
    if (!result) {
      PyErr_Clear();
      return capture.breakHere(Reason::WouldRaise, "an operator");
    }
    return capture.constant(result);
  }

  // Sequences.
  auto typeOf = [&](Value value) -> PyTypeObject * {
    if (value.kind == Kind::Sequence) {
      const SequenceRow &row = capture.sequenceRow(value);
      return row.structure                          ? nullptr
             : row.type == SequenceRow::Type::Tuple ? &PyTuple_Type
             : row.type == SequenceRow::Type::List  ? &PyList_Type
                                                    : nullptr;
    }
    PyObject *object = capture.object(value);
    return object ? Py_TYPE(object) : nullptr;
  };
  PyTypeObject *type = typeOf(lhs);
  if (type == &PyTuple_Type || type == &PyList_Type) {
    auto make = [&](std::vector<Value> items) {
      return type == &PyList_Type ? capture.list(std::move(items))
                                  : capture.tuple(std::move(items));
    };
    int base = op % NB_INPLACE_ADD;
    bool inPlace = op >= NB_INPLACE_ADD && type == &PyList_Type;
    if (inPlace && lhs.kind != Kind::Sequence)
      return capture.breakHere(Reason::ForeignStore, "a list");
    std::optional<std::vector<Value>> items = capture.asItems(lhs);
    if (!items)
      return std::nullopt;
    std::vector<Value> result = *items;
    if (base == NB_ADD && (inPlace || typeOf(rhs) == type)) {
      std::optional<std::vector<Value>> more =
          inPlace ? itemsOf(rhs) : capture.asItems(rhs);
      if (!more)
        return std::nullopt;
      result.insert(result.end(), more->begin(), more->end());
    } else if (std::optional<long long> times = capture.asInt(rhs);
               base == NB_MULTIPLY && times && *times < 4096 &&
               static_cast<long long>(items->size()) * *times < 4096) {
      result.clear();
      for (long long i = 0; i < *times; ++i)
        result.insert(result.end(), items->begin(), items->end());
    } else {
      return capture.breakHere(Reason::UnsupportedPython, "an operator");
    }
    if (!inPlace)
      return make(std::move(result));
    capture.changeSequence(lhs).items = std::move(result);
    return lhs;
  }
  return capture.breakHere(Reason::UnsupportedPython, "an operator");
}

std::optional<Value> Evaluator::unary(char op, Value operand) {
  if (capture.isTensor(operand)) {
    std::optional<Value> result = capture::importUnary(capture, op, operand);
    if (result)
      capture.noteOperation(op == '-' ? "neg" : op == '~' ? "not" : "positive");
    return result;
  }
  if (operand.kind == Kind::Scalar) {
    if (op == '+')
      return operand;
    if (op == '-')
      return scalarBinary(NB_SUBTRACT, capture.constant(0LL), operand);
    if (std::optional<long long> number = capture.asInt(operand))
      return capture.constant(~*number);
    return std::nullopt;
  }
  PyObject *object = plain(capture, operand);
  if (!object)
    return capture.breakHere(Reason::UnsupportedPython, "an operator");
  capture.guardValue(operand);
  auto result = Ref<>::steal(op == '-'   ? PyNumber_Negative(object)
                             : op == '+' ? PyNumber_Positive(object)
                                         : PyNumber_Invert(object));
  if (!result) {
    PyErr_Clear();
    return capture.breakHere(Reason::WouldRaise, "an operator");
  }
  return capture.constant(result);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Objects of this type are equal to none but themselves.
static bool equalByIdentity(PyObject *object) {
  richcmpfunc compare = Py_TYPE(object)->tp_richcompare;
  return !compare || compare == PyBaseObject_Type.tp_richcompare ||
         compare == PyType_Type.tp_richcompare;
}

/// Immutable objects that libraries compare in C: dtypes, devices.
static bool comparesInC(PyObject *object) {
  std::string_view name = Py_TYPE(object)->tp_name;
  return name == "torch.device" || name == "torch.Size" ||
         name.starts_with("numpy.dtype");
}

std::optional<bool> Evaluator::equal(Value a, Value b) {
  if (a.kind == Kind::Scalar || b.kind == Kind::Scalar)
    return scalarCompare(Py_EQ, a, b);
  PyObject *left = plain(capture, a), *right = plain(capture, b);
  if (left && right) {
    capture.guardValue(a);
    capture.guardValue(b);
    int result = PyObject_RichCompareBool(left, right, Py_EQ);
    // NaN: `==` is not the identity test that RichCompareBool begins with.
    if (left == right && PyFloat_CheckExact(left))
      result = PyFloat_AS_DOUBLE(left) == PyFloat_AS_DOUBLE(right);
    PyErr_Clear();
    return result == 1;
  }
  // Tuples and lists, item by item.
  auto sequenceType = [&](Value value) -> PyTypeObject * {
    if (value.kind == Kind::Sequence)
      return capture.sequenceRow(value).type == SequenceRow::Type::Tuple
                 ? &PyTuple_Type
             : capture.sequenceRow(value).type == SequenceRow::Type::List
                 ? &PyList_Type
                 : nullptr;
    PyObject *object = capture.object(value);
    if (!object)
      return nullptr;
    if (PyTuple_CheckExact(object) ||
        std::string_view(Py_TYPE(object)->tp_name) == "torch.Size")
      return &PyTuple_Type;
    return PyList_CheckExact(object) ? &PyList_Type : nullptr;
  };
  PyTypeObject *leftType = sequenceType(a), *rightType = sequenceType(b);
  if (leftType && leftType == rightType) {
    std::optional<std::vector<Value>> x = capture.asItems(a),
                                      y = capture.asItems(b);
    if (!x || !y)
      return std::nullopt;
    if (x->size() != y->size())
      return false;
    for (size_t i = 0; i < x->size(); ++i) {
      if ((*x)[i] == (*y)[i])
        continue;
      if (capture.isTensor((*x)[i]) || capture.isTensor((*y)[i]))
        return capture.breakHere(Reason::DataBranch, "==");
      std::optional<bool> same = equal((*x)[i], (*y)[i]);
      if (!same || !*same)
        return same;
    }
    return true;
  }
  PyObject *x = capture.object(a), *y = capture.object(b);
  if (x && y) {
    auto simple = [&](Value value, PyObject *object) {
      if (equalByIdentity(object) || comparesInC(object)) {
        if (comparesInC(object))
          capture.guardIdentity(value);
        else
          capture.guardType(value);
        return true;
      }
      if (isPlain(object)) {
        capture.guardValue(value);
        return true;
      }
      return false;
    };
    if (simple(a, x) && simple(b, y)) {
      if (comparesInC(x) && comparesInC(y)) {
        int result = PyObject_RichCompareBool(x, y, Py_EQ);
        PyErr_Clear();
        return result == 1;
      }
      // numpy.dtype('f4') == numpy.float32 converts its other operand.
      if (comparesInC(x) || comparesInC(y)) {
        capture.guardIdentity(a);
        capture.guardIdentity(b);
        if (!PyType_Check(x) && !PyType_Check(y) && !isPlain(x) && !isPlain(y))
          return false;
        int result = PyObject_RichCompareBool(x, y, Py_EQ);
        PyErr_Clear();
        return result == 1;
      }
      return capture.sameObject(a, b);
    }
  }
  return capture.breakHere(Reason::UnsupportedPython, "==");
}

std::optional<Value> Evaluator::compare(int op, Value lhs, Value rhs) {
  auto truthValue = [&](bool isTrue) {
    return capture.constant(isTrue ? Py_True : Py_False);
  };
  if (capture.isTensor(lhs) || capture.isTensor(rhs) ||
      isNumpyScalar(capture, lhs) || isNumpyScalar(capture, rhs)) {
    static const char *const names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
    std::optional<Value> result = capture::importCompare(capture, op, lhs, rhs);
    if (result)
      capture.noteOperation(
          names[op] + operandText(capture, capture.isTensor(lhs) ? rhs : lhs));
    return result;
  }
  if (op == Py_EQ || op == Py_NE) {
    std::optional<bool> same = equal(lhs, rhs);
    if (!same)
      return std::nullopt;
    return truthValue(*same == (op == Py_EQ));
  }
  if (lhs.kind == Kind::Scalar || rhs.kind == Kind::Scalar) {
    std::optional<bool> holds = scalarCompare(op, lhs, rhs);
    if (!holds)
      return std::nullopt;
    return truthValue(*holds);
  }
  PyObject *left = plain(capture, lhs), *right = plain(capture, rhs);
  if (!left || !right)
    return capture.breakHere(Reason::UnsupportedPython, "a comparison");
  capture.guardValue(lhs);
  capture.guardValue(rhs);
  auto result = Ref<>::steal(PyObject_RichCompare(left, right, op));
  if (!result) {
    PyErr_Clear();
    return capture.breakHere(Reason::WouldRaise, "a comparison");
  }
  return capture.constant(result);
}

//===----------------------------------------------------------------------===//
// Truth and containment
//===----------------------------------------------------------------------===//

std::optional<bool> Evaluator::truth(Value value) {
  if (capture.isTensor(value))
    return capture.breakHere(Reason::DataBranch);
  switch (value.kind) {
  case Kind::Scalar: {
    std::optional<bool> isZero =
        scalarCompare(Py_EQ, value, capture.constant(0LL));
    if (!isZero)
      return std::nullopt;
    return !*isZero;
  }
  case Kind::Sequence: {
    const SequenceRow &row = capture.sequenceRow(value);
    if (row.type == SequenceRow::Type::Slice)
      return true;
    if (row.type == SequenceRow::Type::Range) {
      std::optional<std::vector<Value>> items = itemsOf(value);
      if (!items)
        return std::nullopt;
      return !items->empty();
    }
    return !row.items.empty();
  }
  case Kind::Table:
    return !capture.tableRow(value).entries.empty();
  case Kind::Callable:
  case Kind::Cell:
  case Kind::Iterator:
    return true;
  case Kind::Known:
    break;
  default:
    return capture.breakHere(Reason::UnsupportedPython, "a test");
  }
  PyObject *object = capture.object(value);
  if (isNumpyScalar(capture, value))
    return capture.breakHere(Reason::DataBranch);
  PyTypeObject *type = Py_TYPE(object);
  if (type == &PyBool_Type || object == Py_None || type == &PyLong_Type ||
      type == &PyFloat_Type || type == &PyUnicode_Type ||
      type == &PyBytes_Type || type == &PyComplex_Type) {
    capture.guardValue(value);
    return PyObject_IsTrue(object) == 1;
  }
  if (type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type ||
      type == &PyODict_Type || type == &PySet_Type ||
      type == &PyFrozenSet_Type) {
    SourceId source = capture.knownRow(value).source;
    if (!capture.readable(value))
      return std::nullopt;
    Py_ssize_t length = PyObject_Size(object);
    if (source != capture::noSource) {
      capture.guardType(value);
      capture.guards.add({source, capture::Predicate::LengthIs, length, 0,
                          nullptr, capture.line});
    }
    return length != 0;
  }
  bool hasTest = (type->tp_as_number && type->tp_as_number->nb_bool) ||
                 (type->tp_as_mapping && type->tp_as_mapping->mp_length) ||
                 (type->tp_as_sequence && type->tp_as_sequence->sq_length);
  if (hasTest)
    return capture.breakHere(Reason::UnsupportedPython,
                             std::string("the truth of a ") + type->tp_name);
  capture.guardType(value);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
    static PyObject *const boolName = PyUnicode_InternFromString("__bool__");
    static PyObject *const lenName = PyUnicode_InternFromString("__len__");
    guardAbsent(type, boolName);
    guardAbsent(type, lenName);
  }
  return true;
}

std::optional<bool> Evaluator::contains(Value container, Value item) {
  if (capture.isTensor(container))
    return capture.breakHere(Reason::DataToPython, "in");
  PyObject *text = plain(capture, container), *part = plain(capture, item);
  if (text && part && PyUnicode_CheckExact(text)) {
    capture.guardValue(container);
    capture.guardValue(item);
    int found = PySequence_Contains(text, part);
    PyErr_Clear();
    if (found < 0)
      return capture.breakHere(Reason::WouldRaise, "in");
    return found == 1;
  }
  bool isDict = container.kind == Kind::Table ||
                (capture.object(container) &&
                 (PyDict_CheckExact(capture.object(container))));
  if (isDict) {
    std::optional<Value> entry = findEntry(container, item);
    if (!entry)
      return std::nullopt;
    return !entry->isNull();
  }
  std::optional<std::vector<Value>> items = itemsOf(container);
  if (!items)
    return std::nullopt;
  for (Value candidate : *items) {
    if (candidate == item)
      return true;
    if (capture.isTensor(candidate) || capture.isTensor(item))
      return capture.breakHere(Reason::DataToPython, "in");
    std::optional<bool> same = equal(candidate, item);
    if (!same || *same)
      return same;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

std::optional<Value> Evaluator::subscript(Value container, Value index) {
  if (capture.isTensor(container)) {
    std::optional<Value> result =
        capture::importSubscript(capture, container, index);
    if (result)
      capture.noteOperation("getitem");
    return result;
  }
  PyObject *live = capture.object(container);
  bool isDict = container.kind == Kind::Table ||
                (live && (PyDict_CheckExact(live) || PyODict_CheckExact(live)));
  if (isDict) {
    std::optional<Value> found = findEntry(container, index);
    if (!found)
      return std::nullopt;
    if (found->isNull())
      return capture.breakHere(Reason::WouldRaise, "a missing key");
    return found;
  }
  PyObject *text = plain(capture, container);
  if (text && (PyUnicode_CheckExact(text) || PyBytes_CheckExact(text))) {
    PyObject *key = plain(capture, index);
    if (!key)
      return capture.breakHere(Reason::UnsupportedPython, "an index");
    capture.guardValue(container);
    capture.guardValue(index);
    auto result = Ref<>::steal(PyObject_GetItem(text, key));
    if (!result) {
      PyErr_Clear();
      return capture.breakHere(Reason::WouldRaise, "an index");
    }
    return capture.constant(result);
  }

  bool isTuple =
      live && (PyTuple_CheckExact(live) ||
               std::string_view(Py_TYPE(live)->tp_name) == "torch.Size");
  if (container.kind != Kind::Sequence &&
      !(live && (isTuple || PyList_CheckExact(live))))
    return capture.breakHere(Reason::UnsupportedPython,
                             live ? "an index of a " +
                                        std::string(Py_TYPE(live)->tp_name)
                                  : "an index");
  std::optional<std::vector<Value>> items = itemsOf(container);
  if (!items)
    return std::nullopt;
  auto length = static_cast<int64_t>(items->size());
  PyObject *key = capture.object(index);
  if ((index.kind == Kind::Sequence &&
       capture.sequenceRow(index).type == SequenceRow::Type::Slice) ||
      (key && PySlice_Check(key))) {
    std::optional<std::vector<int64_t>> chosen = sliceIndices(index, length);
    if (!chosen)
      return std::nullopt;
    std::vector<Value> result;
    for (int64_t i : *chosen)
      result.push_back((*items)[static_cast<size_t>(i)]);
    bool isList =
        live ? PyList_CheckExact(live)
             : capture.sequenceRow(container).type == SequenceRow::Type::List;
    return isList ? capture.list(std::move(result))
                  : capture.tuple(std::move(result));
  }
  std::optional<long long> number = capture.asInt(index);
  if (!number)
    return capture.breakHere(Reason::UnsupportedPython, "an index");
  if (*number < 0)
    *number += length;
  if (*number < 0 || *number >= length)
    return capture.breakHere(Reason::WouldRaise, "an index out of range");
  return (*items)[static_cast<size_t>(*number)];
}

bool Evaluator::storeSubscript(Value container, Value index, Value value) {
  if (capture.isTensor(container)) {
    if (!capture::importStoreSubscript(capture, container, index, value))
      return false;
    capture.noteOperation("setitem");
    return true;
  }
  if (container.kind == Kind::Table)
    return setEntry(container, index, value);
  if (container.kind == Kind::Sequence &&
      capture.sequenceRow(container).type == SequenceRow::Type::List) {
    std::optional<long long> number = capture.asInt(index);
    if (!number)
      return breakHere(Reason::UnsupportedPython, "a store to a slice");
    auto length =
        static_cast<long long>(capture.sequenceRow(container).items.size());
    if (*number < 0)
      *number += length;
    if (*number < 0 || *number >= length)
      return breakHere(Reason::WouldRaise, "an index out of range");
    Value old =
        capture.sequenceRow(container).items[static_cast<size_t>(*number)];
    if (!letGo(old))
      return false;
    capture.changeSequence(container).items[static_cast<size_t>(*number)] =
        value;
    return true;
  }
  return breakHere(
      Reason::ForeignStore,
      capture.object(container)
          ? "a " + std::string(Py_TYPE(capture.object(container))->tp_name)
          : "an item");
}

//===----------------------------------------------------------------------===//
// f-strings
//===----------------------------------------------------------------------===//

std::optional<Value> Evaluator::format(Value value, Value spec,
                                       int conversion) {
  PyObject *object = plain(capture, value);
  if (!object || PyTuple_CheckExact(object))
    return capture.breakHere(Reason::UnsupportedPython, "an f-string");
  if (!spec.isNull() &&
      (!capture.asString(spec) || hasLongNumber(capture.object(spec))))
    return capture.breakHere(Reason::UnsupportedPython, "an f-string");
  capture.guardValue(value);
  auto text = conversion == FVC_STR     ? Ref<>::steal(PyObject_Str(object))
              : conversion == FVC_REPR  ? Ref<>::steal(PyObject_Repr(object))
              : conversion == FVC_ASCII ? Ref<>::steal(PyObject_ASCII(object))
                                        : Ref<>::share(object);
  if (text)
    text = Ref<>::steal(
        PyObject_Format(text, spec.isNull() ? nullptr : capture.object(spec)));
  if (!text) {
    PyErr_Clear();
    return capture.breakHere(Reason::WouldRaise, "an f-string");
  }
  return capture.constant(text);
}

} // namespace wok::python
