//===- EvaluatorBuiltins.cpp - Builtins that make or look at objects ------===//

#include "Evaluator.h"
#include "Peek.h"

#include "wok/Capture/Tensors.h"

#include <cstdlib>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::IteratorRow;
using capture::Ref;
using capture::SequenceRow;

/// builtins.NAME; borrowed from the module, null if it is not there.
static PyObject *builtin(const char *name) {
  PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "builtins");
  return module ? PyDict_GetItemString(PyModule_GetDict(module), name)
                : nullptr;
}

/// The type of what `value` stands for; null where that is not known.
static PyTypeObject *typeOf(Capture &capture, Value value) {
  switch (value.kind) {
  case Kind::Known:
    capture.guardType(value);
    return Py_TYPE(capture.object(value));
  case Kind::Tensor:
    return capture.tensorRow(value).numpyScalar ? nullptr
                                                : capture.tensorRow(value).type;
  case Kind::Scalar:
    switch (capture.scalarRow(value).type) {
    case capture::ScalarRow::Type::Int:
      return &PyLong_Type;
    case capture::ScalarRow::Type::Float:
      return &PyFloat_Type;
    case capture::ScalarRow::Type::Bool:
      return &PyBool_Type;
    }
    return nullptr;
  case Kind::Sequence: {
    const SequenceRow &row = capture.sequenceRow(value);
    if (row.structure)
      return reinterpret_cast<PyTypeObject *>(row.structure);
    return row.type == SequenceRow::Type::Tuple   ? &PyTuple_Type
           : row.type == SequenceRow::Type::List  ? &PyList_Type
           : row.type == SequenceRow::Type::Slice ? &PySlice_Type
                                                  : &PyRange_Type;
  }
  case Kind::Table:
    return capture.tableRow(value).type == capture::TableRow::Type::Dict
               ? &PyDict_Type
               : &PySet_Type;
  default:
    return nullptr;
  }
}

std::optional<bool> Evaluator::isInstance(Value object, Value type) {
  if (std::optional<std::vector<Value>> types = capture.asItems(type)) {
    for (Value each : *types) {
      std::optional<bool> is = isInstance(object, each);
      if (!is || *is)
        return is;
    }
    return false;
  }
  PyObject *cls = capture.object(type);
  if (!cls || !PyType_Check(cls))
    return capture.breakHere(Reason::UnsupportedPython, "isinstance");
  capture.guardIdentity(type);
  PyTypeObject *own = typeOf(capture, object);
  if (!own)
    return capture.breakHere(Reason::UnsupportedPython, "isinstance");
  if (own == reinterpret_cast<PyTypeObject *>(cls))
    return true;
  // A metaclass may answer as it likes; PyTorch's answers for tensors as usual.
  PyTypeObject *meta = Py_TYPE(cls);
  static PyObject *const check =
      PyUnicode_InternFromString("__instancecheck__");
  std::string_view metaName = meta->tp_name;
  bool usual = peekType(meta, check) == peekType(&PyType_Type, check) ||
               metaName.ends_with("_TensorMeta");
  static PyObject *const classOf = PyUnicode_InternFromString("__class__");
  usual &= peekType(own, classOf) == peekType(&PyBaseObject_Type, classOf);
  if (!usual)
    return capture.breakHere(Reason::UnsupportedPython,
                             std::string("isinstance with a class of type ") +
                                 meta->tp_name);
  return PyType_IsSubtype(own, reinterpret_cast<PyTypeObject *>(cls)) != 0;
}

std::optional<bool> Evaluator::callBuiltin(PyObject *callable,
                                           Arguments &arguments) {
  const std::vector<Value> &args = arguments.positional;
  bool plain = arguments.keywords.empty();
  auto is = [&](const char *name) { return callable == builtin(name); };
  auto isType = [&](PyTypeObject &type) {
    return callable == reinterpret_cast<PyObject *>(&type);
  };
  auto pushBool = [&](bool flag) {
    push(capture.constant(flag ? Py_True : Py_False));
    return true;
  };

  if (PyType_Check(callable)) {
    if (isType(PyRange_Type) && plain && !args.empty() && args.size() <= 3) {
      for (Value arg : args)
        if (arg.kind != Kind::Scalar && !capture.asInt(arg))
          return breakHere(Reason::UnsupportedPython, "range");
      Value start = args.size() > 1 ? args[0] : capture.constant(0LL);
      Value stop = args.size() > 1 ? args[1] : args[0];
      Value step = args.size() > 2 ? args[2] : capture.constant(1LL);
      push(capture.sequence(SequenceRow::Type::Range, {start, stop, step}));
      return true;
    }
    if (isType(PySlice_Type) && plain && !args.empty() && args.size() <= 3) {
      Value start = args.size() > 1 ? args[0] : capture.none();
      Value stop = args.size() > 1 ? args[1] : args[0];
      Value step = args.size() > 2 ? args[2] : capture.none();
      push(capture.sequence(SequenceRow::Type::Slice, {start, stop, step}));
      return true;
    }
    if ((isType(PyList_Type) || isType(PyTuple_Type)) && plain &&
        args.size() <= 1) {
      std::vector<Value> items;
      if (!args.empty()) {
        std::optional<std::vector<Value>> given = itemsOf(args[0]);
        if (!given)
          return false;
        items = std::move(*given);
      }
      push(isType(PyList_Type) ? capture.list(std::move(items))
                               : capture.tuple(std::move(items)));
      return true;
    }
    if (isType(PyDict_Type) && args.size() <= 1) {
      Value dict = capture.table({});
      if (!args.empty()) {
        PyObject *live = capture.object(args[0]);
        if (args[0].kind == Kind::Table || (live && PyDict_CheckExact(live))) {
          auto entries = entriesOf(args[0]);
          if (!entries)
            return false;
          for (auto [key, value] : *entries)
            if (!setEntry(dict, key, value))
              return false;
        } else {
          std::optional<std::vector<Value>> pairs = itemsOf(args[0]);
          if (!pairs)
            return false;
          for (Value pair : *pairs) {
            std::optional<std::vector<Value>> entry = itemsOf(pair);
            if (!entry || entry->size() != 2)
              return breakHere(Reason::UnsupportedPython, "dict");
            if (!setEntry(dict, (*entry)[0], (*entry)[1]))
              return false;
          }
        }
      }
      for (auto [name, value] : arguments.keywords)
        if (!setEntry(dict, capture.constant(name), value))
          return false;
      push(dict);
      return true;
    }
    if (isType(PySet_Type) && plain && args.size() <= 1) {
      Value set = capture.table({capture::TableRow::Type::Set, {}});
      if (!args.empty()) {
        std::optional<std::vector<Value>> items = itemsOf(args[0]);
        if (!items)
          return false;
        for (Value item : *items)
          if (!setEntry(set, item, Value()))
            return false;
      }
      push(set);
      return true;
    }
    if (isType(PyZip_Type) && plain) {
      IteratorRow row;
      row.type = IteratorRow::Type::Zip;
      for (Value arg : args) {
        std::optional<Value> inner = iterate(arg);
        if (!inner)
          return false;
        row.inner.push_back(*inner);
      }
      if (args.empty())
        row.type = IteratorRow::Type::Items;
      push(capture.iterator(std::move(row)));
      return true;
    }
    if (isType(PyEnum_Type) && (args.size() == 1 || args.size() == 2) &&
        plain) {
      IteratorRow row;
      row.type = IteratorRow::Type::Enumerate;
      if (args.size() == 2) {
        std::optional<long long> start = capture.asInt(args[1]);
        if (!start)
          return breakHere(Reason::UnsupportedPython, "enumerate");
        row.start = *start;
      }
      std::optional<Value> inner = iterate(args[0]);
      if (!inner)
        return false;
      row.inner.push_back(*inner);
      push(capture.iterator(std::move(row)));
      return true;
    }
    if (isType(PyReversed_Type) && plain && args.size() == 1) {
      PyObject *live = capture.object(args[0]);
      if (args[0].kind != Kind::Sequence &&
          !(live && (PyList_CheckExact(live) || PyTuple_CheckExact(live) ||
                     PyRange_Check(live))))
        return breakHere(Reason::UnsupportedPython, "reversed");
      std::optional<std::vector<Value>> items = itemsOf(args[0]);
      if (!items)
        return false;
      IteratorRow row;
      row.items.assign(items->rbegin(), items->rend());
      push(capture.iterator(std::move(row)));
      return true;
    }
    if (isType(PySuper_Type))
      return callSuper(arguments);
    if (isType(PyType_Type) && plain && args.size() == 1) {
      PyTypeObject *type = typeOf(capture, args[0]);
      if (!type)
        return breakHere(Reason::UnsupportedPython, "type");
      push(capture.constant(reinterpret_cast<PyObject *>(type)));
      return true;
    }
    return std::nullopt;
  }

  if (!PyCFunction_Check(callable))
    return std::nullopt;
  if (is("print"))
    return breakHere(Reason::Print);
  if (is("isinstance") && plain && args.size() == 2) {
    std::optional<bool> isOne = isInstance(args[0], args[1]);
    return isOne && pushBool(*isOne);
  }
  if (is("issubclass") && plain && args.size() == 2) {
    PyObject *type = capture.object(args[0]), *base = capture.object(args[1]);
    if (!type || !base || !PyType_Check(type) || !PyType_Check(base) ||
        Py_TYPE(base) != &PyType_Type)
      return breakHere(Reason::UnsupportedPython, "issubclass");
    capture.guardIdentity(args[0]);
    capture.guardIdentity(args[1]);
    return pushBool(PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type),
                                     reinterpret_cast<PyTypeObject *>(base)));
  }
  if (is("callable") && plain && args.size() == 1) {
    if (args[0].kind == Kind::Callable)
      return pushBool(true);
    PyTypeObject *type = typeOf(capture, args[0]);
    if (!type)
      return breakHere(Reason::UnsupportedPython, "callable");
    return pushBool(type->tp_call != nullptr);
  }
  if (is("iter") && plain && args.size() == 1) {
    Value object = args[0];
    Arguments none;
    if (capture.object(object) && !capture.isTensor(object))
      if (std::optional<bool> done = callDunder(object, "__iter__", none))
        return *done;
    return push(iterate(object));
  }
  if (is("next") && plain && (args.size() == 1 || args.size() == 2)) {
    std::optional<Value> item = next(args[0]);
    if (!item)
      return false;
    if (item->isNull()) {
      if (args.size() == 1)
        return breakHere(Reason::WouldRaise, "next");
      item = args[1];
    }
    push(*item);
    return true;
  }
  if ((is("getattr") || is("hasattr")) && plain && args.size() >= 2 &&
      args.size() <= 3) {
    if (!capture.asString(args[1]))
      return breakHere(Reason::UnsupportedPython, "getattr");
    PyObject *name = Py_NewRef(capture.object(args[1]));
    PyUnicode_InternInPlace(&name);
    capture.sources.hold(name);
    Py_DECREF(name);
    std::optional<Attribute> attribute = lookUp(args[0], name);
    if (!attribute)
      return false;
    bool absent = attribute->how == Attribute::How::Absent;
    if (is("hasattr")) {
      if (attribute->how == Attribute::How::Property)
        return breakHere(Reason::UnsupportedPython, "hasattr of a property");
      return pushBool(!absent);
    }
    if (absent && args.size() == 3) {
      push(args[2]);
      return true;
    }
    return loadAttribute(args[0], name);
  }
  return std::nullopt;
}

} // namespace wok::python
