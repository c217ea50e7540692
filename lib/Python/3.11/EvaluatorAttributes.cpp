//===- EvaluatorAttributes.cpp - Attribute lookup, step by step -----------===//
//
// What `object.__getattribute__`, `type.__getattribute__` and
// `torch.nn.Module.__getattr__` do, without running Python: each step that
// decided something leaves a guard.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Peek.h"

#include "wok/Capture/Tensors.h"

#include <structmember.h>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::EffectKind;
using capture::Predicate;
using capture::Ref;

static PyObject *interned(const char *name) {
  return PyUnicode_InternFromString(name); // Lives as long as the process.
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

PyObject *Evaluator::classAttribute(PyTypeObject *type, PyObject *name,
                                    SourceId &source) {
  PyObject *found = peekType(type, name);
  SourceId parent = capture.sources.get(
      Step::Constant, capture::noSource, 0,
      capture.sources.hold(reinterpret_cast<PyObject *>(type)));
  source = capture.sources.get(Step::TypeLookup, parent, 0,
                               capture.sources.hold(name));
  return found;
}

void Evaluator::guardAbsent(PyTypeObject *type, PyObject *name) {
  // What a type of CPython's own lacks, it lacks for ever.
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return;
  SourceId source;
  classAttribute(type, name, source);
  capture.guards.add(
      {source, Predicate::SlotNull, 0, 0, nullptr, capture.line});
}

std::optional<Evaluator::Attribute>
Evaluator::bindClassAttribute(Value object, PyTypeObject *type, PyObject *found,
                              SourceId source) {
  bool fixed = !(type->tp_flags & Py_TPFLAGS_HEAPTYPE);
  Value attribute =
      fixed ? capture.constant(found) : capture.known(found, source);
  PyTypeObject *kind = Py_TYPE(found);
  auto isExactly = [&] {
    if (!fixed)
      capture.guards.add({source, Predicate::Is, 0, 0,
                          capture.sources.hold(found), capture.line});
  };
  if (kind == &PyFunction_Type) {
    if (!fixed)
      capture.guards.add(
          {source, Predicate::TypeIs, 0, 0,
           capture.sources.hold(reinterpret_cast<PyObject *>(kind)),
           capture.line});
    return Attribute{Attribute::How::Method, attribute, object};
  }
  if (kind == &PyMethodDescr_Type || kind == &PyWrapperDescr_Type) {
    isExactly();
    return Attribute{Attribute::How::Method, attribute, object};
  }
  if (kind == &PyStaticMethod_Type) {
    isExactly();
    auto function = Ref<>::steal(
        PyObject_GetAttrString(found, "__func__")); // A member of the struct.
    if (!function) {
      PyErr_Clear();
      return std::nullopt;
    }
    return Attribute{Attribute::How::Value, capture.constant(function), {}};
  }
  if (kind == &PyClassMethod_Type) {
    isExactly();
    auto function = Ref<>::steal(PyObject_GetAttrString(found, "__func__"));
    if (!function || !PyFunction_Check(function.get())) {
      PyErr_Clear();
      return capture.breakHere(Reason::UnsupportedPython, "a class method");
    }
    return Attribute{Attribute::How::Method, capture.constant(function),
                     capture.constant(reinterpret_cast<PyObject *>(type))};
  }
  if (kind == &PyProperty_Type) {
    isExactly();
    auto getter = Ref<>::steal(PyObject_GetAttrString(found, "fget"));
    if (!getter || !PyFunction_Check(getter.get())) {
      PyErr_Clear();
      return capture.breakHere(Reason::UnsupportedPython, "a property");
    }
    return Attribute{Attribute::How::Property, capture.constant(getter),
                     object};
  }
  if (kind->tp_descr_get)
    return capture.breakHere(Reason::UnsupportedPython,
                             std::string("a descriptor of type ") +
                                 kind->tp_name);
  return Attribute{Attribute::How::Value, attribute, {}};
}

std::optional<Evaluator::Attribute> Evaluator::lookUpClass(Value value,
                                                           PyObject *name) {
  auto *type = reinterpret_cast<PyTypeObject *>(capture.object(value));
  PyTypeObject *meta = Py_TYPE(type);
  if (meta->tp_getattro != PyType_Type.tp_getattro)
    return capture.breakHere(Reason::UnsupportedPython, "a metaclass");
  capture.guardIdentity(value);
  if (PyObject *above = peekType(meta, name)) {
    if (PyUnicode_CompareWithASCIIString(name, "__name__") == 0) {
      auto text = Ref<>::steal(PyType_GetName(type));
      return Attribute{Attribute::How::Value, capture.constant(text), {}};
    }
    if (Py_TYPE(above)->tp_descr_set || !peekType(type, name))
      return capture.breakHere(Reason::UnsupportedPython,
                               "an attribute of a metaclass");
  } else if (meta != &PyType_Type) {
    guardAbsent(meta, name);
  }
  SourceId source;
  PyObject *found = classAttribute(type, name, source);
  if (!found) {
    guardAbsent(type, name);
    return Attribute{};
  }
  std::optional<Attribute> attribute =
      bindClassAttribute(value, type, found, source);
  if (!attribute)
    return std::nullopt;
  PyTypeObject *kind = Py_TYPE(found);
  // Functions do not bind to the class, and properties are themselves.
  if (attribute->how == Attribute::How::Property)
    return Attribute{Attribute::How::Value, capture.constant(found), {}};
  if (attribute->how == Attribute::How::Method && kind != &PyClassMethod_Type)
    return Attribute{Attribute::How::Value, attribute->value, {}};
  return attribute;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::optional<Evaluator::Attribute> Evaluator::lookUpModule(Value module,
                                                            PyObject *name) {
  const capture::KnownRow row = capture.knownRow(module);
  capture.guardType(module);
  PyObject *dict = PyModule_GetDict(row.object);
  Value globals =
      row.source == capture::noSource
          ? capture.known(dict,
                          capture.sources.get(Step::Constant, capture::noSource,
                                              0, capture.sources.hold(dict)))
          : capture.known(dict,
                          capture.sources.get(Step::ModuleDict, row.source));
  std::optional<Value> found = dictValue(globals, name);
  if (!found)
    return std::nullopt;
  if (found->isNull())
    return capture.breakHere(Reason::UnsupportedPython,
                             "an attribute that the module makes");
  return Attribute{Attribute::How::Value, *found, {}};
}

//===----------------------------------------------------------------------===//
// Tensors and builtin containers
//===----------------------------------------------------------------------===//

std::optional<Evaluator::Attribute> Evaluator::lookUpTensor(Value tensor,
                                                            PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) {
    PyErr_Clear();
    return std::nullopt;
  }
  PyTypeObject *type = nullptr;
  PyObject *live = nullptr;
  SourceId source = capture::noSource;
  if (tensor.kind == Kind::Tensor) {
    const capture::TensorRow &row = capture.tensorRow(tensor);
    type = row.type;
    live = row.object;
    source = row.source;
  } else {
    capture.guardType(tensor);
    live = capture.object(tensor);
    type = Py_TYPE(live);
    source = capture.knownRow(tensor).source;
  }
  if (type && !capture.guardTensorClass(type))
    return std::nullopt;
  if (std::optional<Value> found =
          capture::importTensorAttribute(capture, tensor, text))
    return Attribute{Attribute::How::Value, *found, {}};
  if (capture.pendingBreak())
    return std::nullopt;
  // An attribute of the object's own would hide the method.
  if (live && type->tp_dictoffset) {
    PyObject *own = nullptr;
    if (peekAttribute(live, name, own) != Peek::Absent)
      return capture.breakHere(Reason::UnsupportedTensor,
                               "a tensor with attributes of its own");
    if (source != capture::noSource)
      capture.guards.add({source, Predicate::AttributeAbsent, 0, 0,
                          capture.sources.hold(name), capture.line});
  }
  PyObject *found = type ? peekType(type, name) : nullptr;
  if (found && (Py_TYPE(found) == &PyMethodDescr_Type ||
                Py_TYPE(found) == &PyFunction_Type))
    return Attribute{Attribute::How::Method, capture.constant(found), tensor};
  return capture.breakHere(Reason::UnsupportedOp,
                           std::string("attribute ") + text + " of a tensor");
}

std::optional<Evaluator::Attribute>
Evaluator::lookUpBuiltin(Value self, PyTypeObject *type, PyObject *name) {
  PyObject *found = peekType(type, name);
  if (!found)
    return Attribute{};
  if (Py_TYPE(found) == &PyMethodDescr_Type)
    return Attribute{Attribute::How::Method, capture.constant(found), self};
  return capture.breakHere(Reason::UnsupportedPython,
                           std::string("attribute of a ") + type->tp_name);
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// torch.nn.Module.__getattr__; null while torch.nn is not imported.
static PyObject *moduleGetAttr(PyTypeObject **moduleType = nullptr) {
  static PyObject *getattr = nullptr;
  static PyTypeObject *type = nullptr;
  if (!getattr) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = PyDict_GetItemString(modules, "torch.nn.modules.module");
    PyObject *found =
        module && PyModule_Check(module)
            ? PyDict_GetItemString(PyModule_GetDict(module), "Module")
            : nullptr;
    if (found && PyType_Check(found)) {
      type = reinterpret_cast<PyTypeObject *>(found);
      getattr = peekType(type, interned("__getattr__"));
    }
    PyErr_Clear();
  }
  if (moduleType)
    *moduleType = type;
  return getattr;
}

std::optional<Evaluator::Attribute>
Evaluator::lookUpModuleMember(Value module, PyObject *name) {
  static PyObject *const tables[] = {
      interned("_parameters"), interned("_buffers"), interned("_modules")};
  const capture::KnownRow row = capture.knownRow(module);
  for (PyObject *table : tables) {
    PyObject *dict = nullptr;
    Peek found = peekAttribute(row.object, table, dict);
    if (found == Peek::Absent) {
      capture.guards.add(
          {row.source, Predicate::AttributeAbsent, 0, 0, table, capture.line});
      continue;
    }
    if (found != Peek::Found || !PyDict_CheckExact(dict))
      return capture.breakHere(Reason::UnsupportedPython,
                               "a table of a module that is no dict");
    Value members = capture.known(
        dict, capture.sources.get(Step::AttributeValue, row.source, 0,
                                  capture.sources.hold(table)));
    capture.guardType(members);
    std::optional<Value> member = dictValue(members, name);
    if (!member)
      return std::nullopt;
    if (!member->isNull())
      return Attribute{Attribute::How::Value, *member, {}};
  }
  return Attribute{};
}

std::optional<Evaluator::Attribute> Evaluator::lookUpInstance(Value object,
                                                              PyObject *name) {
  const capture::KnownRow row = capture.knownRow(object);
  PyTypeObject *type = Py_TYPE(row.object);
  if (row.source == capture::noSource)
    object = capture.known(
        row.object, capture.sources.get(Step::Constant, capture::noSource, 0,
                                        capture.sources.hold(row.object)));
  SourceId source = capture.knownRow(object).source;

  static PyObject *const getattribute = interned("__getattribute__");
  static PyObject *const getattr = interned("__getattr__");
  if (peekType(type, getattribute) !=
      peekType(&PyBaseObject_Type, getattribute))
    return capture.breakHere(Reason::UnsupportedPython, "__getattribute__");
  capture.guardType(object);

  // A data descriptor of the class comes first.
  SourceId classSource;
  PyObject *found = classAttribute(type, name, classSource);
  if (found && Py_TYPE(found)->tp_descr_set) {
    if (Py_TYPE(found) == &PyMemberDescr_Type) {
      const PyMemberDef *member =
          reinterpret_cast<PyMemberDescrObject *>(found)->d_member;
      PyObject *slot = *reinterpret_cast<PyObject **>(
          reinterpret_cast<char *>(row.object) + member->offset);
      if (member->type != T_OBJECT_EX || !slot)
        return capture.breakHere(Reason::UnsupportedPython, "a member");
      capture.guards.add({classSource, Predicate::Is, 0, 0,
                          capture.sources.hold(found), capture.line});
      return Attribute{
          Attribute::How::Value,
          capture.known(
              slot, capture.sources.get(Step::InstanceSlot, source,
                                        static_cast<uint32_t>(member->offset))),
          {}};
    }
    if (Py_TYPE(found) != &PyProperty_Type)
      return capture.breakHere(Reason::UnsupportedPython, "a data descriptor");
    return bindClassAttribute(object, type, found, classSource);
  }

  // Then the object's own.
  for (size_t i = state.journal.size(); i-- > 0;) {
    const capture::JournalEntry &entry = state.journal[i];
    if (entry.kind == EffectKind::SetAttribute &&
        capture.object(entry.target) == row.object &&
        PyUnicode_Compare(capture.object(entry.key), name) == 0)
      return Attribute{Attribute::How::Value, entry.value, {}};
  }
  PyObject *own = nullptr;
  switch (peekAttribute(row.object, name, own)) {
  case Peek::Unknown:
    return capture.breakHere(Reason::UnsupportedPython, "an instance dict");
  case Peek::Found:
    if (found) // A later class attribute could be a data descriptor.
      capture.guards.add({classSource, Predicate::Is, 0, 0,
                          capture.sources.hold(found), capture.line});
    else
      guardAbsent(type, name);
    return Attribute{
        Attribute::How::Value,
        capture.known(own, capture.sources.get(Step::AttributeValue, source, 0,
                                               capture.sources.hold(name))),
        {}};
  case Peek::Absent:
    break;
  }
  if (type->tp_dictoffset || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT))
    capture.guards.add({source, Predicate::AttributeAbsent, 0, 0,
                        capture.sources.hold(name), capture.line});
  if (found)
    return bindClassAttribute(object, type, found, classSource);
  guardAbsent(type, name);

  // Then `__getattr__`.
  SourceId hookSource;
  PyObject *hook = classAttribute(type, getattr, hookSource);
  if (!hook) {
    guardAbsent(type, getattr);
    return Attribute{};
  }
  if (hook != moduleGetAttr())
    return capture.breakHere(Reason::UnsupportedPython, "__getattr__");
  capture.guards.add({hookSource, Predicate::Is, 0, 0,
                      capture.sources.hold(hook), capture.line});
  return lookUpModuleMember(object, name);
}

/// super().name: what the classes behind `cls` in the MRO have.
std::optional<Evaluator::Attribute> Evaluator::lookUpSuper(Value super,
                                                           PyObject *name) {
  const capture::CallableRow row = state.callables[super.index];
  PyObject *self = capture.object(row.self),
           *cls = capture.object(row.function);
  capture.guardType(row.self);
  PyObject *mro = Py_TYPE(self)->tp_mro;
  Py_ssize_t i = 0, count = PyTuple_GET_SIZE(mro);
  while (i < count && PyTuple_GET_ITEM(mro, i) != cls)
    ++i;
  for (++i; i < count; ++i) {
    auto *type = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(mro, i));
    PyObject *found = nullptr;
    if (!type->tp_dict || peekDict(type->tp_dict, name, found) != Peek::Found)
      continue;
    // The guard asks the class where it was found, and those before it lack it.
    SourceId source;
    if (classAttribute(type, name, source) != found)
      return capture.breakHere(Reason::UnsupportedPython, "super");
    return bindClassAttribute(row.self, type, found, source);
  }
  return Attribute{};
}

std::optional<Evaluator::Attribute> Evaluator::lookUpConstant(Value object,
                                                              PyObject *name) {
  auto found = Ref<>::steal(
      PyObject_GetAttr(capture.object(object), name)); // In C, without effect.
  if (!found) {
    PyErr_Clear();
    return Attribute{};
  }
  PyTypeObject *type = Py_TYPE(found.get());
  if (type != &PyBool_Type && type != &PyLong_Type && type != &PyFloat_Type &&
      type != &PyUnicode_Type && found.get() != Py_None)
    return capture.breakHere(Reason::UnsupportedPython, "an attribute");
  capture.guardIdentity(object);
  return Attribute{Attribute::How::Value, capture.constant(found), {}};
}

/// Objects of PyTorch and NumPy whose attributes are constants made in C.
static bool isLibraryConstant(PyTypeObject *type) {
  std::string_view name = type->tp_name;
  return name == "torch.dtype" || name == "torch.device" ||
         name == "torch.finfo" || name == "torch.iinfo" ||
         name.starts_with("numpy.dtype");
}

//===----------------------------------------------------------------------===//
// Any value
//===----------------------------------------------------------------------===//

std::optional<Evaluator::Attribute> Evaluator::lookUp(Value object,
                                                      PyObject *name) {
  if (capture.isTensor(object))
    return lookUpTensor(object, name);
  switch (object.kind) {
  case Kind::Known: {
    PyObject *live = capture.object(object);
    if (PyModule_CheckExact(live))
      return lookUpModule(object, name);
    if (PyType_Check(live))
      return lookUpClass(object, name);
    PyTypeObject *type = Py_TYPE(live);
    if (type == &PyList_Type || type == &PyDict_Type || type == &PyTuple_Type ||
        type == &PyUnicode_Type || type == &PySet_Type ||
        type == &PyLong_Type || type == &PyFloat_Type ||
        type == &PyBytes_Type) {
      capture.guardType(object);
      return lookUpBuiltin(object, type, name);
    }
    if (isLibraryConstant(type))
      return lookUpConstant(object, name);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
      return lookUpInstance(object, name);
    return capture.breakHere(Reason::UnsupportedPython,
                             std::string("attribute of a ") + type->tp_name);
  }
  case Kind::Callable:
    if (state.callables[object.index].type == capture::CallableRow::Type::Super)
      return lookUpSuper(object, name);
    return capture.breakHere(Reason::UnsupportedPython,
                             "attribute of a function");
  case Kind::Sequence:
    if (PyObject *structure = capture.sequenceRow(object).structure) {
      const char *text = PyUnicode_AsUTF8(name);
      int index = text ? capture::structureField(structure, text) : -1;
      PyErr_Clear();
      if (index >= 0)
        return Attribute{
            Attribute::How::Value,
            capture.sequenceRow(object).items[static_cast<size_t>(index)],
            {}};
    }
    switch (capture.sequenceRow(object).type) {
    case capture::SequenceRow::Type::List:
      return lookUpBuiltin(object, &PyList_Type, name);
    case capture::SequenceRow::Type::Tuple:
      return lookUpBuiltin(object, &PyTuple_Type, name);
    default:
      break;
    }
    return capture.breakHere(Reason::UnsupportedPython, "attribute");
  case Kind::Table:
    return lookUpBuiltin(object,
                         capture.tableRow(object).type ==
                                 capture::TableRow::Type::Dict
                             ? &PyDict_Type
                             : &PySet_Type,
                         name);
  default:
    return capture.breakHere(Reason::UnsupportedPython,
                             "attribute of a fresh object");
  }
}

bool Evaluator::loadAttribute(Value object, PyObject *name) {
  std::optional<Attribute> attribute = lookUp(object, name);
  if (!attribute)
    return false;
  switch (attribute->how) {
  case Attribute::How::Value:
    push(attribute->value);
    return true;
  case Attribute::How::Method: {
    capture::CallableRow row;
    row.function = attribute->value;
    row.self = attribute->self;
    push(capture.callable(row));
    return true;
  }
  case Attribute::How::Property: {
    Arguments arguments;
    arguments.positional.push_back(attribute->self);
    return call(attribute->value, std::move(arguments));
  }
  case Attribute::How::Absent:
    break;
  }
  return breakHere(Reason::WouldRaise, "an attribute that is not there");
}

bool Evaluator::loadMethod(Value object, PyObject *name) {
  std::optional<Attribute> attribute = lookUp(object, name);
  if (!attribute)
    return false;
  if (attribute->how == Attribute::How::Method) {
    push(attribute->value);
    push(attribute->self);
    return true;
  }
  if (attribute->how != Attribute::How::Value)
    return breakHere(attribute->how == Attribute::How::Absent
                         ? Reason::WouldRaise
                         : Reason::UnsupportedPython,
                     "a method");
  push(Value());
  push(attribute->value);
  return true;
}

bool Evaluator::storeAttribute(Value object, PyObject *name, Value value) {
  return breakHere(Reason::ForeignStore, object.kind == Kind::Known
                                             ? nameOf(capture.object(object))
                                             : std::string("an attribute"));
}

} // namespace wok::python
