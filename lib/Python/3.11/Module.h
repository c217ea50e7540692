//===- Module.h - The extension module wok._wok -----------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_MODULE_H
#define WOK_LIB_PYTHON_3_11_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace wok::python {

/// Makes the module. Null with an ImportError where Wok cannot work: another
/// version of CPython, a debug build, an audit hook that keeps ours out.
PyObject *createModule();

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_MODULE_H
