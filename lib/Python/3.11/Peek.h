//===- Peek.h - Reading objects without running Python ----------*- C++ -*-===//
//
// What capture and guard programs read of live objects, by CPython 3.11's
// layouts. Nothing here runs code of the program, allocates, sets an exception
// or changes what a program can see. All pointers that are returned are
// borrowed. Needs the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_PEEK_H
#define WOK_LIB_PYTHON_3_11_PEEK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace wok::python {

/// What a read found. `Unknown`: only Python could tell (a foreign key with the
/// same hash).
enum class Peek : uint8_t { Found, Absent, Unknown };

/// The value of `key` in a dict. Keys are compared by identity and, for exact
/// str, int, float and bytes, by value.
Peek peekDict(PyObject *dict, PyObject *key, PyObject *&value);

/// The own attribute `name` (an exact str) of an instance: from its dict, or in
/// place where CPython has not made one.
Peek peekAttribute(PyObject *object, PyObject *name, PyObject *&value);

/// The dict of an instance; null if it has none, or if CPython has not made it
/// yet.
PyObject *peekInstanceDict(PyObject *object);

/// Whether the instance keeps its attributes in place, without a dict.
bool hasInlineValues(PyObject *object);

/// What the type's MRO has under `name`, not bound; null if nothing.
PyObject *peekType(PyTypeObject *type, PyObject *name);

/// Whether both are of one exact type among int, float, bool, str, bytes,
/// NoneType, with equal bits (so 1, 1.0 and True differ, 0.0 and -0.0 differ,
/// and a NaN equals one of the same bits).
bool peekEqual(PyObject *a, PyObject *b);

/// The number, if the object is an exact int that fits.
bool peekInt(PyObject *object, int64_t &number);

/// The version tag of a dict: 64 bits, never issued twice.
uint64_t dictVersion(PyObject *dict);
/// The version tag of a type: 32 bits, never issued twice; 0 says nothing.
uint32_t typeVersion(PyTypeObject *type);

/// Whether the keys of an exact dict are `keys`, in that order.
bool peekOrder(PyObject *dict, PyObject *keys);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_PEEK_H
