//===- Origin.cpp - Who wrote a function ----------------------------------===//

#include "Origin.h"

namespace wok::capture {

bool isWrittenIn(std::string_view package, PyObject *callable) {
  if (!PyFunction_Check(callable))
    return true;
  PyObject *name =
      PyDict_GetItemString(PyFunction_GET_GLOBALS(callable), "__name__");
  const char *text =
      name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8(name) : nullptr;
  PyErr_Clear();
  std::string_view module = text ? text : "";
  return module == package ||
         (module.starts_with(package) && module[package.size()] == '.');
}

} // namespace wok::capture
