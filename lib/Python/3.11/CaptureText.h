//===- CaptureText.h - Captures as text, for tests --------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_CAPTURETEXT_H
#define WOK_LIB_PYTHON_3_11_CAPTURETEXT_H

#include <Python.h>

namespace wok::python {

/// `_capture(function, [args, ...], dynamic=-1)`: what is captured at the entry
/// of `function` for each tuple of positional arguments, one after the other
/// with one history, as a list of texts. Nothing is compiled or run.
PyObject *captureAsText(PyObject *module, PyObject *args);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_CAPTURETEXT_H
