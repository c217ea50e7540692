//===- ObjectModel.cpp - Looking into objects of CPython 3.11 -------------===//

#include "Internals.h"

// Public headers map these names to other functions unless the core is built.
#undef _PyObject_LookupSpecial
#undef _PyGC_FINALIZED
extern "C" {
#include "internal/pycore_dict.h"
#include "internal/pycore_object.h"
}

#include "wok/Capture/ObjectModel.h"

namespace wok::capture {

bool hasInstanceDict(PyTypeObject *type) noexcept {
  return type->tp_dictoffset != 0 ||
         PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT);
}

PyObject *materializedDict(PyObject *object) noexcept {
  PyTypeObject *type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT))
    return *_PyObject_ManagedDictPointer(object);
  Py_ssize_t offset = type->tp_dictoffset;
  if (offset == 0)
    return nullptr;
  if (offset < 0) {
    Py_ssize_t items = Py_SIZE(object);
    offset += static_cast<Py_ssize_t>(
        _PyObject_VAR_SIZE(type, items < 0 ? -items : items));
  }
  return *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) +
                                        offset);
}

/// A slot of a table of str keys, by identity or by value.
static bool isKey(PyObject *key, PyObject *name) {
  return key == name ||
         (key && PyUnicode_CheckExact(key) && _PyUnicode_EQ(key, name));
}

PyObject *instanceAttribute(PyObject *object, PyObject *name) noexcept {
  PyTypeObject *type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) {
    PyDictValues *values = *_PyObject_ValuesPointer(object);
    if (values) {
      PyDictKeysObject *keys =
          reinterpret_cast<PyHeapTypeObject *>(type)->ht_cached_keys;
      PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
      for (Py_ssize_t i = 0; i < keys->dk_nentries; ++i)
        if (entries[i].me_key == name)
          return values->values[i];
      for (Py_ssize_t i = 0; i < keys->dk_nentries; ++i)
        if (isKey(entries[i].me_key, name))
          return values->values[i];
      return nullptr;
    }
  }
  PyObject *dict = materializedDict(object);
  if (!dict)
    return nullptr;
  bool unsure = false;
  return dictValue(dict, name, unsure);
}

/// Keys whose hash and comparison run no Python code.
static bool isPlainKey(PyObject *key) {
  return PyUnicode_CheckExact(key) || PyLong_CheckExact(key) ||
         PyBool_Check(key) || PyBytes_CheckExact(key) || key == Py_None ||
         PyFloat_CheckExact(key);
}

PyObject *dictValue(PyObject *dict, PyObject *key, bool &unsure) noexcept {
  if (!PyDict_Check(dict) || !isPlainKey(key)) {
    unsure = true;
    return nullptr;
  }
  auto *table = reinterpret_cast<PyDictObject *>(dict);
  // A table of str keys only is safe for a lookup; in a general one, a foreign
  // key with an equal hash would be compared by its own `__eq__`.
  if (table->ma_keys->dk_kind == DICT_KEYS_GENERAL) {
    Py_hash_t hash = PyObject_Hash(key);
    PyDictKeyEntry *entries = DK_ENTRIES(table->ma_keys);
    for (Py_ssize_t i = 0; i < table->ma_keys->dk_nentries; ++i)
      if (entries[i].me_value && entries[i].me_hash == hash &&
          entries[i].me_key != key && !isPlainKey(entries[i].me_key)) {
        unsure = true;
        return nullptr;
      }
  }
  PyObject *value = PyDict_GetItemWithError(dict, key);
  if (!value && PyErr_Occurred()) {
    PyErr_Clear();
    unsure = true;
  }
  return value;
}

} // namespace wok::capture
