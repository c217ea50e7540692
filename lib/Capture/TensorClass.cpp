//===- TensorClass.cpp - Whether torch.Tensor is PyTorch's own ------------===//
//
// torch.Tensor and its subclasses Parameter and Buffer are classes of Python: a
// program may give them other operators, methods and attributes. What Wok knows
// of tensors holds while they have none that hides what PyTorch wrote.
//
//===----------------------------------------------------------------------===//

#include "Origin.h"
#include "TensorAccess.h"
#include "TorchAccess.h"

#include "wok/Capture/Tensors.h"

#include <string_view>
#include <unordered_map>

namespace wok::capture {

namespace {

/// A class method's function or a property's getter: members of C structs.
Ref<> part(PyObject *descriptor, const char *name) {
  Ref<> result = Ref<>::steal(PyObject_GetAttrString(descriptor, name));
  PyErr_Clear();
  return result;
}

bool isOwn(std::string_view name, PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyFunction_Type)
    return isWrittenIn("torch", value);
  if (type == &PyProperty_Type || type == &PyClassMethod_Type ||
      type == &PyStaticMethod_Type) {
    Ref<> function =
        part(value, type == &PyProperty_Type ? "fget" : "__func__");
    return function && isWrittenIn("torch", function);
  }
  if (type == &PyMethodDescr_Type) {
    // torch.Tensor.__neg__ is TensorBase.neg; otherwise each has its own name.
    constexpr std::pair<std::string_view, std::string_view> others[] = {
        {"__neg__", "neg"},
        {"__pos__", "positive"},
        {"__abs__", "abs"},
        {"__itruediv__", "__idiv__"}};
    std::string_view own =
        reinterpret_cast<PyMethodDescrObject *>(value)->d_method->ml_name;
    for (auto [shown, underneath] : others)
      if (name == shown && own == underneath)
        return true;
    return own == name;
  }
  if (type == &PyCFunction_Type || type == &PyGetSetDescr_Type)
    return name.starts_with("__");
  // Lists: copyreg notes the names of slots, when an object is pickled.
  return name.starts_with("__") &&
         (value == Py_None || PyUnicode_CheckExact(value) ||
          PyDict_CheckExact(value) || PyLong_CheckExact(value) ||
          PyList_CheckExact(value) || PyCapsule_CheckExact(value));
}

/// Whether one of the classes that are Python's has an entry of the program's
/// where PyTorch or Python would look for its own.
bool isUnchanged(PyTypeObject *type) {
  PyObject *mro = type->tp_mro;
  Py_ssize_t count = mro ? PyTuple_GET_SIZE(mro) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    auto *cls = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(mro, i));
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE))
      return true; // TensorBase, which cannot be changed.
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(cls->tp_dict, &position, &key, &value)) {
      const char *text =
          PyUnicode_CheckExact(key) ? PyUnicode_AsUTF8(key) : nullptr;
      if (!text) {
        PyErr_Clear();
        continue;
      }
      std::string_view name = text;
      bool hides = name.starts_with("__") && name.ends_with("__");
      for (Py_ssize_t k = i + 1; k < count && !hides; ++k)
        hides = PyDict_Contains(
                    reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(mro, k))
                        ->tp_dict,
                    key) == 1;
      if (hides && !isOwn(name, value))
        return false;
    }
  }
  return false;
}

} // namespace

uint32_t tensorClassVersion(PyTypeObject *type) {
  // A lookup gives a type its version, if versions are left.
  static PyObject *const anyName = PyUnicode_InternFromString("shape");
  _PyType_Lookup(type, anyName);
  if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG))
    return 0;
  struct Known {
    uint32_t version = 0;
    bool unchanged = false;
  };
  static auto &known = *new std::unordered_map<PyTypeObject *, Known>();
  Known &entry = known[type];
  if (entry.version != type->tp_version_tag)
    entry = {type->tp_version_tag, isUnchanged(type)};
  return entry.unchanged ? entry.version : 0;
}

bool diesQuietly(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  TensorInfo info;
  if (!inspect(object, info) || info.requiresGrad)
    return false;
  if (PyType_SUPPORTS_WEAKREFS(type) &&
      *reinterpret_cast<PyObject **>(PyObject_GET_WEAKREFS_LISTPTR(object)))
    return false;
  if (info.library == Library::NumPy)
    return ownsItsMemory(object);
  PyObject **dict = _PyObject_GetDictPtr(object);
  return !dict || !*dict || PyDict_GET_SIZE(*dict) == 0;
}

} // namespace wok::capture
