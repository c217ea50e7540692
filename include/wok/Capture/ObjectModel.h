//===- ObjectModel.h - Looking into Python objects --------------*- C++ -*-===//
//
// Reads that run no Python code, make no objects and change nothing. What depends on CPython's
// version is in lib/Python/<version>.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_OBJECTMODEL_H
#define WOK_CAPTURE_OBJECTMODEL_H

#include <Python.h>

namespace wok::capture {

/// The instance attribute `name` (an exact interned str), whether the instance has a dict or keeps
/// its values in place. Borrowed; null if it has none (or no dict at all). Sets no exception.
PyObject *instanceAttribute(PyObject *object, PyObject *name) noexcept;

/// Whether instances of the type have a dict, materialised or not.
bool hasInstanceDict(PyTypeObject *type) noexcept;

/// The instance dict; null if the object has none, or none yet. Borrowed.
PyObject *materializedDict(PyObject *object) noexcept;

/// The attribute `name` on the MRO of `type`, not bound. Borrowed, null if there is none.
inline PyObject *typeAttribute(PyTypeObject *type, PyObject *name) noexcept {
  return _PyType_Lookup(type, name);
}

/// The value of `key`, an exact str, int, bool, None or bytes, in an exact dict (or OrderedDict,
/// defaultdict). Borrowed, null if there is none; `unsure` is set if finding out would run Python
/// code: a key of another type has the same hash.
PyObject *dictValue(PyObject *dict, PyObject *key, bool &unsure) noexcept;

} // namespace wok::capture

#endif // WOK_CAPTURE_OBJECTMODEL_H
