//===- Internals.h - CPython 3.11's internal headers ------------*- C++ -*-===//
//
// The only way into `Py_BUILD_CORE`: pycore_atomic.h does not compile as C++
// while HAVE_STD_ATOMIC is defined, and opcode.h's macros are undone again
// where they would get in the way. Layouts are those of 3.11.0 to 3.11.x, which
// do not differ; the module's initialisation refuses every other version and
// debug builds.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_INTERNALS_H
#define WOK_LIB_PYTHON_3_11_INTERNALS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "lib/Python/3.11 is for CPython 3.11"
#endif

#undef HAVE_STD_ATOMIC
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
extern "C" {
#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
}
#pragma GCC diagnostic pop

#endif // WOK_LIB_PYTHON_3_11_INTERNALS_H
