//===- Source.cpp - How a value is found again ----------------------------===//

#include "wok/Capture/Source.h"

namespace wok::capture {

size_t SourceTable::Hash::operator()(const Source &source) const {
  size_t hash = static_cast<size_t>(source.step);
  for (size_t part :
       {static_cast<size_t>(source.arg), static_cast<size_t>(source.parent),
        std::hash<PyObject *>()(source.operand)})
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

SourceId SourceTable::get(Step step, SourceId parent, uint32_t arg,
                          PyObject *operand) {
  if (operand)
    hold(operand);
  Source source{step, arg, parent, operand};
  auto [entry, isNew] = index.try_emplace(source, size());
  if (isNew)
    rows.push_back(source);
  return entry->second;
}

PyObject *SourceTable::hold(PyObject *object) {
  auto [entry, isNew] = held.try_emplace(object);
  if (isNew)
    entry->second = Ref<>::share(object);
  return object;
}

/// A name or key as text, without running code of the program.
static std::string describe(PyObject *object) {
  if (!object)
    return "null";
  if (PyUnicode_CheckExact(object)) {
    const char *text = PyUnicode_AsUTF8(object);
    if (text)
      return text;
    PyErr_Clear();
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow)
      return std::to_string(number);
  }
  if (PyModule_CheckExact(object))
    if (const char *name = PyModule_GetName(object))
      return name;
  PyErr_Clear();
  if (PyType_Check(object))
    return reinterpret_cast<PyTypeObject *>(object)->tp_name;
  return std::string("<") + Py_TYPE(object)->tp_name + ">";
}

std::string SourceTable::toString(SourceId id, PyCodeObject *code) const {
  if (id == noSource)
    return "nothing";
  const Source &source = rows[id];
  std::string parent =
      source.parent == noSource ? "" : toString(source.parent, code);
  std::string number = std::to_string(source.arg);
  switch (source.step) {
  case Step::Local:
    if (code && source.arg < static_cast<uint32_t>(code->co_nlocalsplus))
      return "local " +
             describe(PyTuple_GET_ITEM(code->co_localsplusnames, source.arg));
    return "local " + number;
  case Step::Stack:
    return "stack " + number;
  case Step::Function:
    return "function";
  case Step::Globals:
    return "globals";
  case Step::Builtins:
    return "builtins";
  case Step::Constant:
    return "constant " + describe(source.operand);
  case Step::FunctionGlobals:
    return parent + " . __globals__";
  case Step::FunctionCode:
    return parent + " . __code__";
  case Step::FunctionDefault:
    return parent + " . __defaults__ [" + number + "]";
  case Step::FunctionKwDefault:
    return parent + " . __kwdefaults__ [" + describe(source.operand) + "]";
  case Step::FunctionClosure:
    return parent + " . __closure__ [" + number + "]";
  case Step::CellContents:
    return parent + " . cell_contents";
  case Step::MethodFunction:
    return parent + " . __func__";
  case Step::MethodSelf:
    return parent + " . __self__";
  case Step::ModuleDict:
  case Step::InstanceDict:
    return parent + " . __dict__";
  case Step::AttributeValue:
    return parent + " . " + describe(source.operand);
  case Step::InstanceSlot:
    return parent + " . slot " + number;
  case Step::DictValue:
    return parent + " [" + describe(source.operand) + "]";
  case Step::SequenceItem:
    return parent + " [" + number + "]";
  case Step::Type:
    return "type of " + parent;
  case Step::TypeLookup:
    return parent + " :: " + describe(source.operand);
  case Step::TensorGrad:
    return parent + " . grad";
  }
  return "?";
}

} // namespace wok::capture
