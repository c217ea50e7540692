//===- Testing.h - Private functions for the tests --------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_TESTING_H
#define WOK_LIB_PYTHON_3_11_TESTING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace wok::python {

/// Adds `_set_arrival` to `module`. False with an exception set on failure.
bool addTestFunctions(PyObject *module);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_TESTING_H
