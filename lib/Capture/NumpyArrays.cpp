//===- NumpyArrays.cpp - numpy.ndarray objects ----------------------------===//
//
// Through NumPy's public C structs (ABI version 2) and the function table of
// its capsule; built without NumPy's headers.
//
//===----------------------------------------------------------------------===//

#include "TensorAccess.h"
#include "TorchAccess.h"

#include <algorithm>
#include <atomic>

namespace wok::capture {

namespace {

/// PyArray_Descr and PyArrayObject of NumPy 2: what of them is public.
struct NumpyDescr {
  PyObject_HEAD
  PyTypeObject *scalarType;
  char kind, typeCode, byteOrder, formerFlags;
  int typeNumber;
  uint64_t flags;
  Py_ssize_t elementBytes, alignment;
};

struct NumpyArray {
  PyObject_HEAD
  char *data;
  int rank;
  int64_t *extents, *strides;
  PyObject *base;
  NumpyDescr *descr;
  int flags;
};

enum NumpyFlags { CContiguous = 0x1, Aligned = 0x100, Writeable = 0x400 };

/// By wok::DType; the numbers are part of NumPy's ABI. 'long' is i64 on the
/// platforms Wok has.
constexpr int typeNumbers[] = {
    /*bool*/ 0, /*byte*/ 1,  /*ubyte*/ 2, /*short*/ 3,  /*int*/ 5,
    /*long*/ 7, /*half*/ 23, /*none*/ -1, /*float*/ 11, /*double*/ 12};
constexpr size_t typeCount = std::size(typeNumbers);

struct NumpyAccess {
  PyTypeObject *arrayType = nullptr;
  NumpyDescr *descrs[typeCount] = {};
  PyObject *(*newFromDescr)(PyTypeObject *, void *descr, int, const int64_t *,
                            const int64_t *, void *, int, PyObject *) = nullptr;
  int (*setBaseObject)(PyObject *, PyObject *) = nullptr;
  int (*copyInto)(PyObject *, PyObject *) = nullptr;
  PyObject *(*scalar)(void *, void *descr, PyObject *base) = nullptr;
  PyObject *errorContext = nullptr; ///< The context variable of numpy.errstate.
};

NumpyAccess *found = nullptr;
bool gaveUp = false;

bool dtypeOf(const NumpyDescr *descr, DType &dtype) {
  int number = descr->typeNumber;
  switch (number) {
  case 0:
    dtype = DType::I1;
    return true;
  case 1:
    dtype = DType::I8;
    return true;
  case 2:
    dtype = DType::U8;
    return true;
  case 3:
    dtype = DType::I16;
    return true;
  case 5:
    dtype = DType::I32;
    return true;
  case 7:
    dtype = DType::I64;
    return true;
  case 11:
    dtype = DType::F32;
    return true;
  case 12:
    dtype = DType::F64;
    return true;
  case 23:
    dtype = DType::F16;
    return true;
  default:
    return false; // long long (9) is a type of its own: its results would be of
                  // another.
  }
}

} // namespace

void findNumpy() {
  if (found || gaveUp)
    return;
  Ref<> capsule = findImported("numpy._core._multiarray_umath", "_ARRAY_API");
  if (!capsule || !PyCapsule_CheckExact(capsule))
    return;
  PendingException pending;
  auto **table = static_cast<void **>(PyCapsule_GetPointer(capsule, nullptr));
  if (!table)
    return;
  constexpr unsigned abi = 0x02000000;
  if (reinterpret_cast<unsigned (*)()>(table[0])() != abi ||
      sizeof(long) != 8) {
    gaveUp = true;
    return;
  }
  auto *access = new NumpyAccess;
  access->arrayType = static_cast<PyTypeObject *>(table[2]);
  auto *descrFromType = reinterpret_cast<NumpyDescr *(*)(int)>(table[45]);
  for (size_t i = 0; i < typeCount; ++i)
    if (typeNumbers[i] >= 0)
      access->descrs[i] = descrFromType(typeNumbers[i]);
  access->copyInto = reinterpret_cast<decltype(access->copyInto)>(table[50]);
  access->scalar = reinterpret_cast<decltype(access->scalar)>(table[60]);
  access->newFromDescr =
      reinterpret_cast<decltype(access->newFromDescr)>(table[94]);
  access->setBaseObject =
      reinterpret_cast<decltype(access->setBaseObject)>(table[282]);
  access->errorContext =
      findImported("numpy._core._multiarray_umath", "_extobj_contextvar")
          .release();
  found = access;
}

bool isNumpyType(PyTypeObject *type) {
  return found && type == found->arrayType;
}

bool ownsItsMemory(PyObject *array) {
  return !reinterpret_cast<NumpyArray *>(array)->base;
}

bool inspectNumpy(PyObject *object, TensorInfo &info, std::string *why) {
  auto *array = reinterpret_cast<NumpyArray *>(object);
  const NumpyDescr *descr = array->descr;
  if (!dtypeOf(descr, info.dtype)) [[unlikely]]
    return refuse(why, "an array of a dtype without lowering");
  if (descr != found->descrs[static_cast<size_t>(info.dtype)]) [[unlikely]] {
    // Not NumPy's own description: swapped bytes, or an equal copy (which may
    // carry metadata, and then its results differ).
    return refuse(why, "an array whose dtype is not in native form");
  }
  if (!(array->flags & Aligned)) [[unlikely]]
    return refuse(why, "an array that is not aligned");
  info.library = Library::NumPy;
  info.rank = array->rank;
  info.data = array->data;
  info.extents = array->extents;
  info.strides = array->strides;
  info.itemBytes = descr->elementBytes;
  info.requiresGrad = false;
  info.writable = array->flags & Writeable;
  for (int d = 0; d < array->rank; ++d)
    if (array->strides[d] % info.itemBytes != 0 && array->extents[d] > 1)
        [[unlikely]]
      return refuse(why, "an array whose strides are no whole elements");
  return true;
}

PyObject *makeNumpy(DType dtype, std::span<const int64_t> extents,
                    std::span<const uint8_t> strideOrder, void **data) {
  NumpyDescr *descr = found->descrs[static_cast<size_t>(dtype)];
  if (!descr) {
    PyErr_SetString(PyExc_TypeError, "NumPy has no such dtype");
    return nullptr;
  }
  int64_t strides[maxRank];
  if (!strideOrder.empty()) {
    denseStrides(extents, strideOrder, strides);
    for (size_t d = 0; d < extents.size(); ++d)
      strides[d] *= descr->elementBytes;
  }
  Py_INCREF(descr); // NewFromDescr steals it.
  PyObject *array = found->newFromDescr(
      found->arrayType, descr, int(extents.size()), extents.data(),
      strideOrder.empty() ? nullptr : strides, nullptr, 0, nullptr);
  if (array)
    *data = reinterpret_cast<NumpyArray *>(array)->data;
  return array;
}

PyObject *viewNumpy(PyObject *base, std::span<const int64_t> extents,
                    std::span<const int64_t> strides, int64_t offset) {
  auto *array = reinterpret_cast<NumpyArray *>(base);
  int64_t bytes[maxRank], itemBytes = array->descr->elementBytes;
  for (size_t d = 0; d < strides.size(); ++d)
    bytes[d] = strides[d] * itemBytes;
  Py_INCREF(array->descr);
  PyObject *view = found->newFromDescr(found->arrayType, array->descr,
                                       int(extents.size()), extents.data(),
                                       bytes, array->data + offset * itemBytes,
                                       array->flags & Writeable, nullptr);
  if (!view)
    return nullptr;
  Py_INCREF(base); // SetBaseObject steals it, and goes on to the base's own
                   // base as NumPy does.
  if (found->setBaseObject(view, base) < 0) {
    Py_DECREF(view);
    return nullptr;
  }
  return view;
}

bool copyIntoNumpy(PyObject *target, PyObject *source) {
  return found->copyInto(target, source) == 0;
}

PyObject *makeNumpyScalar(DType dtype, const void *element) {
  NumpyDescr *descr =
      found ? found->descrs[static_cast<size_t>(dtype)] : nullptr;
  if (!descr) {
    PyErr_SetString(PyExc_TypeError, "NumPy has no such dtype");
    return nullptr;
  }
  return found->scalar(const_cast<void *>(element), descr, nullptr);
}

int64_t numpyErrstate() {
  if (!found || !found->errorContext)
    return -1;
  struct ErrorState {
    int mask;
    Py_ssize_t bufferSize;
    PyObject *function;
  };
  PyObject *capsule = nullptr;
  if (PyContextVar_Get(found->errorContext, nullptr, &capsule) < 0 ||
      !capsule) {
    PyErr_Clear();
    return -1;
  }
  auto *state = static_cast<ErrorState *>(
      PyCapsule_GetPointer(capsule, "numpy.ufunc.extobj"));
  int64_t mask = state ? state->mask : -1;
  if (!state)
    PyErr_Clear();
  Py_DECREF(capsule); // The context holds it.
  return mask;
}

} // namespace wok::capture
