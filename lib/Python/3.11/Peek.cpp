//===- Peek.cpp - Reading objects without running Python ------------------===//

#include "Internals.h"
extern "C" {
#include "internal/pycore_dict.h"
}

#include "Peek.h"

#include <cstring>

namespace wok::python {

namespace {

// Before an object with Py_TPFLAGS_MANAGED_DICT lie its dict and its values in
// place; one of them is null. (pycore_object.h, which does not compile as C++
// beside the other internal headers.)
PyDictValues *valuesOf(PyObject *object) {
  return reinterpret_cast<PyDictValues **>(object)[-4];
}
PyObject *managedDictOf(PyObject *object) {
  return reinterpret_cast<PyObject **>(object)[-3];
}

bool equalStrings(PyObject *a, PyObject *b) {
  if (!PyUnicode_IS_READY(a) || !PyUnicode_IS_READY(b))
    return false;
  Py_ssize_t length = PyUnicode_GET_LENGTH(a);
  return length == PyUnicode_GET_LENGTH(b) &&
         PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
         std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b),
                     length * PyUnicode_KIND(a)) == 0;
}

bool equalInts(PyObject *a, PyObject *b) {
  auto *x = reinterpret_cast<PyLongObject *>(a),
       *y = reinterpret_cast<PyLongObject *>(b);
  return Py_SIZE(a) == Py_SIZE(b) &&
         std::memcmp(x->ob_digit, y->ob_digit,
                     Py_ABS(Py_SIZE(a)) * sizeof(digit)) == 0;
}

/// Whether a stored key is `key`, both having the same hash.
Peek sameKey(PyObject *stored, PyObject *key) {
  if (stored == key)
    return Peek::Found;
  PyTypeObject *type = Py_TYPE(key), *other = Py_TYPE(stored);
  bool plain = other == &PyUnicode_Type || other == &PyLong_Type ||
               other == &PyFloat_Type || other == &PyBytes_Type ||
               other == &PyBool_Type || stored == Py_None;
  if (!plain)
    return Peek::Unknown;
  if (type == other) // As ==, but for floats, where only bits are compared: NaN
                     // is no key twice.
    return peekEqual(stored, key)  ? Peek::Found
           : type == &PyFloat_Type ? Peek::Unknown
                                   : Peek::Absent;
  // 1 == 1.0 == True: equal hashes of numbers of two types.
  bool numbers =
      (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type) &&
      other != &PyUnicode_Type && other != &PyBytes_Type && stored != Py_None;
  if (numbers)
    return Peek::Unknown;
  bool keyPlain = type == &PyUnicode_Type || type == &PyLong_Type ||
                  type == &PyFloat_Type || type == &PyBytes_Type ||
                  type == &PyBool_Type || key == Py_None;
  return keyPlain ? Peek::Absent : Peek::Unknown;
}

Py_ssize_t indexAt(const PyDictKeysObject *keys, size_t slot) {
  int log = keys->dk_log2_size;
  if (log < 8)
    return reinterpret_cast<const int8_t *>(keys->dk_indices)[slot];
  if (log < 16)
    return reinterpret_cast<const int16_t *>(keys->dk_indices)[slot];
  if (log < 32)
    return reinterpret_cast<const int32_t *>(keys->dk_indices)[slot];
  return static_cast<Py_ssize_t>(
      reinterpret_cast<const int64_t *>(keys->dk_indices)[slot]);
}

/// The index of `key`'s entry.
Peek findKey(PyDictKeysObject *keys, PyObject *key, Py_hash_t hash,
             Py_ssize_t &index) {
  size_t mask = (size_t{1} << keys->dk_log2_size) - 1;
  size_t perturb = static_cast<size_t>(hash), slot = perturb & mask;
  bool general = keys->dk_kind == DICT_KEYS_GENERAL;
  Peek worst = Peek::Absent;
  for (;;) {
    index = indexAt(keys, slot);
    if (index == DKIX_EMPTY)
      return worst;
    if (index >= 0) {
      PyObject *stored;
      bool candidate;
      if (general) {
        PyDictKeyEntry &entry = DK_ENTRIES(keys)[index];
        stored = entry.me_key;
        candidate = stored == key || entry.me_hash == hash;
      } else {
        stored = DK_UNICODE_ENTRIES(keys)[index].me_key;
        candidate = stored == key ||
                    reinterpret_cast<PyASCIIObject *>(stored)->hash == hash;
      }
      if (candidate && stored) {
        Peek same = sameKey(stored, key);
        if (same == Peek::Found)
          return worst == Peek::Unknown ? worst : Peek::Found;
        if (same == Peek::Unknown)
          worst = Peek::Unknown;
      }
    }
    perturb >>= 5;
    slot = (slot * 5 + perturb + 1) & mask;
  }
}

/// The hash of a key; only of types that hash without Python.
bool hashOf(PyObject *key, Py_hash_t &hash) {
  PyTypeObject *type = Py_TYPE(key);
  if (type == &PyUnicode_Type) {
    hash = reinterpret_cast<PyASCIIObject *>(key)->hash;
    if (hash != -1)
      return true;
    hash = PyObject_Hash(key); // Computed once and kept in the string.
    return hash != -1;
  }
  bool plain = type == &PyLong_Type || type == &PyFloat_Type ||
               type == &PyBytes_Type || type == &PyBool_Type || key == Py_None;
  if (!plain && type->tp_hash != PyBaseObject_Type.tp_hash)
    return false;
  hash = type->tp_hash(key);
  return hash != -1;
}

} // namespace

Peek peekDict(PyObject *dict, PyObject *key, PyObject *&value) {
  value = nullptr;
  Py_hash_t hash;
  if (!PyDict_Check(dict) || !hashOf(key, hash))
    return Peek::Unknown;
  auto *table = reinterpret_cast<PyDictObject *>(dict);
  PyDictKeysObject *keys = table->ma_keys;
  Py_ssize_t index;
  if (keys->dk_kind != DICT_KEYS_GENERAL && Py_TYPE(key) != &PyUnicode_Type)
    return Peek::Absent; // Only exact strings are in there; a str subclass is
                         // not asked.
  Peek found = findKey(keys, key, hash, index);
  if (found != Peek::Found)
    return found;
  if (table->ma_values)
    value = table->ma_values->values[index];
  else if (keys->dk_kind == DICT_KEYS_GENERAL)
    value = DK_ENTRIES(keys)[index].me_value;
  else
    value = DK_UNICODE_ENTRIES(keys)[index].me_value;
  return value ? Peek::Found : Peek::Absent;
}

bool hasInlineValues(PyObject *object) {
  return (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT) &&
         valuesOf(object) != nullptr;
}

PyObject *peekInstanceDict(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT)
    return managedDictOf(object);
  if (type->tp_dictoffset == 0)
    return nullptr;
  PyObject **place =
      _PyObject_GetDictPtr(object); // Makes none: the dict is not managed.
  return place ? *place : nullptr;
}

Peek peekAttribute(PyObject *object, PyObject *name, PyObject *&value) {
  value = nullptr;
  if (hasInlineValues(object)) {
    PyDictKeysObject *keys =
        reinterpret_cast<PyHeapTypeObject *>(Py_TYPE(object))->ht_cached_keys;
    Py_hash_t hash;
    Py_ssize_t index;
    if (!keys || !PyUnicode_CheckExact(name) || !hashOf(name, hash))
      return Peek::Unknown;
    Peek found = findKey(keys, name, hash, index);
    if (found != Peek::Found)
      return found;
    value = valuesOf(object)->values[index];
    return value ? Peek::Found : Peek::Absent;
  }
  PyObject *dict = peekInstanceDict(object);
  return dict ? peekDict(dict, name, value) : Peek::Absent;
}

PyObject *peekType(PyTypeObject *type, PyObject *name) {
  return type->tp_mro && PyUnicode_CheckExact(name) ? _PyType_Lookup(type, name)
                                                    : nullptr;
}

bool peekEqual(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  PyTypeObject *type = Py_TYPE(a);
  if (type != Py_TYPE(b))
    return false;
  if (type == &PyLong_Type)
    return equalInts(a, b);
  if (type == &PyFloat_Type)
    return std::memcmp(&reinterpret_cast<PyFloatObject *>(a)->ob_fval,
                       &reinterpret_cast<PyFloatObject *>(b)->ob_fval,
                       sizeof(double)) == 0;
  if (type == &PyUnicode_Type)
    return equalStrings(a, b);
  if (type == &PyBytes_Type)
    return Py_SIZE(a) == Py_SIZE(b) &&
           std::memcmp(PyBytes_AS_STRING(a), PyBytes_AS_STRING(b),
                       Py_SIZE(a)) == 0;
  return false; // bool and None are singletons.
}

bool peekInt(PyObject *object, int64_t &number) {
  if (!PyLong_CheckExact(object))
    return false;
  Py_ssize_t digits = Py_SIZE(object);
  auto *value = reinterpret_cast<PyLongObject *>(object);
  if (digits == 0 || digits == 1 || digits == -1) {
    number = digits * static_cast<int64_t>(digits ? value->ob_digit[0] : 0);
    return true;
  }
  int overflow = 0;
  number = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

uint64_t dictVersion(PyObject *dict) {
  return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
}

uint32_t typeVersion(PyTypeObject *type) {
  return (type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag
                                                         : 0;
}

bool peekOrder(PyObject *dict, PyObject *keys) {
  if (!PyDict_CheckExact(dict) || !PyTuple_CheckExact(keys) ||
      PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(keys))
    return false;
  Py_ssize_t position = 0, index = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (sameKey(key, PyTuple_GET_ITEM(keys, index)) != Peek::Found)
      return false;
    ++index;
  }
  return true;
}

} // namespace wok::python
