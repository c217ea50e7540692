//===- TorchTensors.cpp - torch.Tensor objects ----------------------------===//
//
// Two ways to the same answers: PyTorch's C shim with facts of the installed
// version, and DLPack's exchange API with Python attributes for what DLPack
// lets pass.
//
//===----------------------------------------------------------------------===//

#include "TensorAccess.h"
#include "TorchAccess.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

namespace wok::capture {

namespace {

constexpr uint8_t noDType = 255;

/// Wok's element type by PyTorch's scalar type.
constexpr uint8_t wokTypes[] = {
    /*uint8*/ 2, /*int8*/ 1,    /*int16*/ 3, /*int32*/ 4,
    /*int64*/ 5, /*half*/ 6,
    /*float*/ 8, /*double*/ 9,  noDType,     noDType,
    noDType,     /*bool*/ 0,    noDType,     noDType,
    noDType,     /*bfloat16*/ 7};

bool dtypeOf(int32_t scalarType, DType &dtype) {
  if (scalarType < 0 || scalarType >= int32_t(std::size(wokTypes)) ||
      wokTypes[scalarType] == noDType)
    return false;
  dtype = static_cast<DType>(wokTypes[scalarType]);
  return true;
}

void *handleOf(PyObject *tensor) {
  return reinterpret_cast<char *>(tensor) + sizeof(PyObject);
}

/// DLPack's description of a tensor (dlpack.h, version 1).
struct DlTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

bool dtypeOf(const DlTensor &tensor, DType &dtype) {
  enum : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6 };
  if (tensor.lanes != 1)
    return false;
  switch (tensor.code << 8 | tensor.bits) {
  case Bool << 8 | 8:
    dtype = DType::I1;
    return true;
  case Int << 8 | 8:
    dtype = DType::I8;
    return true;
  case UInt << 8 | 8:
    dtype = DType::U8;
    return true;
  case Int << 8 | 16:
    dtype = DType::I16;
    return true;
  case Int << 8 | 32:
    dtype = DType::I32;
    return true;
  case Int << 8 | 64:
    dtype = DType::I64;
    return true;
  case Float << 8 | 16:
    dtype = DType::F16;
    return true;
  case BFloat << 8 | 16:
    dtype = DType::BF16;
    return true;
  case Float << 8 | 32:
    dtype = DType::F32;
    return true;
  case Float << 8 | 64:
    dtype = DType::F64;
    return true;
  default:
    return false;
  }
}

/// An attribute or the result of a method without arguments as a truth value;
/// -1 if it raised.
int truth(PyObject *object, const char *name, bool call) {
  Ref<> value = Ref<>::steal(call ? PyObject_CallMethod(object, name, nullptr)
                                  : PyObject_GetAttrString(object, name));
  int result = value ? PyObject_IsTrue(value) : -1;
  PyErr_Clear();
  return result;
}

bool inspectByDlpack(const TorchAccess &torch, PyObject *object,
                     TensorInfo &info, std::string *why) {
  DlTensor tensor;
  if (torch.dlTensorFromObject(object, &tensor)) {
    PyErr_Clear();
    return refuse(why, "a tensor without strided memory");
  }
  constexpr int32_t cpu = 1;
  if (tensor.deviceType != cpu)
    return refuse(why, "a tensor on another device");
  if (!dtypeOf(tensor, info.dtype))
    return refuse(why, "a tensor of a dtype without lowering");
  if (truth(object, "is_conj", true) != 0 || truth(object, "is_neg", true) != 0)
    return refuse(why, "a conjugate or negative view");
  int grad = truth(object, "requires_grad", false);
  if (grad < 0)
    return refuse(why, "a tensor that does not answer");
  info.rank = tensor.ndim;
  info.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  info.extents = tensor.shape;
  info.strides = tensor.strides;
  info.requiresGrad = grad == 1;
  info.writable = truth(object, "is_inference", true) == 0;
  return true;
}

/// Says why the key set is not that of an ordinary tensor.
bool refuseKeys(PyObject *object, std::string *why) {
  if (!why)
    return false;
  if (truth(object, "is_conj", true) == 1 || truth(object, "is_neg", true) == 1)
    return refuse(why, "a conjugate or negative view");
  Ref<> layout = Ref<>::steal(PyObject_GetAttrString(object, "layout"));
  Ref<> device = Ref<>::steal(PyObject_GetAttrString(object, "device"));
  Ref<> text = Ref<>::steal(PyUnicode_FromFormat("a tensor of layout %S on %S",
                                                 layout.get(), device.get()));
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  refuse(why, utf8 ? utf8 : "a tensor of another layout or device");
  PyErr_Clear();
  return false;
}

/// torch.empty_strided and the like, for versions whose functions are not
/// known.
PyObject *makeByPython(const TorchAccess &torch, DType dtype,
                       std::span<const int64_t> extents,
                       std::span<const int64_t> strides) {
  Ref<> arguments = Ref<>::steal(PyTuple_New(2));
  Ref<> keywords = Ref<>::steal(PyDict_New());
  if (!arguments || !keywords)
    return nullptr;
  for (int i = 0; i < 2; ++i) {
    std::span<const int64_t> values = i ? strides : extents;
    PyObject *tuple = PyTuple_New(values.size());
    if (!tuple)
      return nullptr;
    PyTuple_SET_ITEM(arguments.get(), i, tuple);
    for (size_t d = 0; d < values.size(); ++d) {
      PyObject *number = PyLong_FromLongLong(values[d]);
      if (!number)
        return nullptr;
      PyTuple_SET_ITEM(tuple, d, number);
    }
  }
  if (PyDict_SetItemString(keywords, "dtype",
                           torch.dtypes[static_cast<size_t>(dtype)]) < 0 ||
      PyDict_SetItemString(keywords, "device",
                           Ref<>::steal(PyUnicode_FromString("cpu"))) < 0)
    return nullptr;
  return PyObject_Call(torch.emptyStrided, arguments, keywords);
}

} // namespace

bool isTorchType(PyTypeObject *type) {
  const TorchAccess *torch = torchAccess();
  return torch && (type == torch->tensorType || type == torch->parameterType);
}

bool inspectTorch(PyObject *object, TensorInfo &info, std::string *why) {
  const TorchAccess &torch = *torchAccess();
  info.library = Library::Torch;
  if (!torch.layoutKnown) {
    // A mode would see the questions that are asked.
    if (torchAmbient(Ambient::FunctionModes) ||
        torchAmbient(Ambient::DispatchModes))
      return refuse(why, "a tensor while a mode of PyTorch is active");
    if (!inspectByDlpack(torch, object, info, why))
      return false;
    info.itemBytes = byteWidth(info.dtype);
    return true;
  }

  void *handle = handleOf(object);
  const char *impl = *static_cast<char **>(handle);
  uint64_t keys;
  std::memcpy(&keys, impl + torch.keySetOffset, sizeof(keys));
  if (keys != torch.plainKeys && keys != torch.inferenceKeys) [[unlikely]]
    return refuseKeys(object, why);
  int32_t scalarType;
  int64_t rank;
  if (torch.getDtype(handle, &scalarType) || torch.getDim(handle, &rank) ||
      torch.getSizes(handle, &info.extents) ||
      torch.getStrides(handle, &info.strides) ||
      torch.getDataPtr(handle, &info.data)) [[unlikely]]
    return refuse(why, "a tensor without strided memory");
  if (!dtypeOf(scalarType, info.dtype)) [[unlikely]]
    return refuse(why, "a tensor of a dtype without lowering");
  info.rank = static_cast<int32_t>(rank);
  info.itemBytes = byteWidth(info.dtype);
  info.requiresGrad = torch.requiresGrad(impl);
  info.writable = keys == torch.plainKeys || torch.inferenceEnabled();
  return true;
}

PyObject *makeTorch(DType dtype, std::span<const int64_t> extents,
                    std::span<const uint8_t> strideOrder, void **data) {
  const TorchAccess &torch = *torchAccess();
  int64_t strides[maxRank];
  bool rowMajor = strideOrder.empty();
  if (!rowMajor || !torch.wrap)
    denseStrides(extents, strideOrder, strides);
  PyObject *tensor;
  if (torch.wrap) {
    // These throw (no memory) only from within PyTorch's allocator.
    try {
      TorchIntArray sizes{extents.data(), extents.size()};
      int8_t scalarType = TorchAccess::scalarType(static_cast<unsigned>(dtype));
      TorchHandle handle =
          rowMajor ? torch.emptyCpu(sizes, scalarType, false, 0)
                   : torch.emptyStridedCpu(sizes, {strides, extents.size()},
                                           scalarType, false);
      tensor = torch.wrap(&handle);
    } catch (const std::exception &) {
      return PyErr_NoMemory();
    }
  } else {
    tensor = makeByPython(torch, dtype, extents, {strides, extents.size()});
  }
  if (!tensor)
    return nullptr;
  if (torch.layoutKnown) {
    torch.getDataPtr(handleOf(tensor), data);
    return tensor;
  }
  TensorInfo info;
  if (!inspectTorch(tensor, info, nullptr)) {
    Py_DECREF(tensor);
    PyErr_SetString(PyExc_RuntimeError,
                    "torch.empty_strided made an unusable tensor");
    return nullptr;
  }
  *data = info.data;
  return tensor;
}

PyObject *viewTorch(PyObject *base, std::span<const int64_t> extents,
                    std::span<const int64_t> strides, int64_t offset) {
  const TorchAccess &torch = *torchAccess();
  if (torch.asStridedCall) {
    int64_t start;
    if (torch.getStorageOffset(handleOf(base), &start))
      start = -1;
    try {
      TorchHandle handle = torch.asStridedCall(
          handleOf(base), {extents.data(), extents.size()},
          {strides.data(), strides.size()}, TorchOptionalInt(start + offset));
      return torch.wrap(&handle);
    } catch (const std::exception &) {
      // Python's way raises what there is to raise.
    }
  }
  // as_strided's offset counts from the start of the storage.
  Ref<> own =
      Ref<>::steal(PyObject_CallMethod(base, "storage_offset", nullptr));
  if (!own)
    return nullptr;
  int64_t start = PyLong_AsLongLong(own);
  if (start == -1 && PyErr_Occurred())
    return nullptr;
  Ref<> sizes = Ref<>::steal(PyTuple_New(extents.size()));
  Ref<> steps = Ref<>::steal(PyTuple_New(strides.size()));
  if (!sizes || !steps)
    return nullptr;
  for (size_t d = 0; d < extents.size(); ++d) {
    PyObject *size = PyLong_FromLongLong(extents[d]),
             *step = PyLong_FromLongLong(strides[d]);
    PyTuple_SET_ITEM(sizes.get(), d, size);
    PyTuple_SET_ITEM(steps.get(), d, step);
    if (!size || !step)
      return nullptr;
  }
  Ref<> first = Ref<>::steal(PyLong_FromLongLong(start + offset));
  if (!first)
    return nullptr;
  PyObject *arguments[] = {base, sizes, steps, first};
  return PyObject_Vectorcall(torch.asStrided, arguments, 4, nullptr);
}

bool copyIntoTorch(PyObject *target, PyObject *source) {
  const TorchAccess &torch = *torchAccess();
  if (torch.layoutKnown && torch.copy &&
      torch.copy(handleOf(target), handleOf(source), 0) == 0)
    return true;
  PyObject *arguments[] = {target, source};
  return Ref<>::steal(PyObject_VectorcallMethod(
             torchAccess()->copyName, arguments,
             2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)) != nullptr;
}

bool setGradMode(bool enabled) {
  const TorchAccess *torch = torchAccess();
  if (!torch || !torch->setGradEnabled) {
    PyErr_SetString(PyExc_RuntimeError, "torch has no grad mode");
    return false;
  }
  return Ref<>::steal(PyObject_CallOneArg(
             torch->setGradEnabled, enabled ? Py_True : Py_False)) != nullptr;
}

int64_t torchAmbient(Ambient which) {
  const TorchAccess *access = torchAccess();
  if (!access)
    return 0;
  const TorchAccess &torch = *access;
  switch (which) {
  case Ambient::GradMode:
    if (torch.gradEnabled)
      return torch.gradEnabled();
    break;
  case Ambient::InferenceMode:
    if (torch.inferenceEnabled)
      return torch.inferenceEnabled();
    break;
  case Ambient::Autocast:
    if (torch.autocastEnabled)
      return torch.autocastEnabled(/*cpu*/ 0);
    break;
  case Ambient::DefaultDtype:
    if (torch.defaultDtype) {
      DType dtype;
      return dtypeOf(torch.defaultDtype(), dtype) ? static_cast<int64_t>(dtype)
                                                  : -1;
    }
    break;
  case Ambient::FunctionModes:
    if (torch.functionModes && torch.functionDisabled)
      return torch.functionModes() != 0 || torch.functionDisabled() != 0;
    break;
  case Ambient::DispatchModes:
    if (torch.dispatchModes && torch.keyIncluded && torch.tracingState)
      return torch.dispatchModes(false) ||
             torch.keyIncluded(torch.functorchKey) || *torch.tracingState();
    break;
  case Ambient::Errstate:
  case Ambient::RecursionRoom:
    return 0;
  }
  // Not exported here: ask Python. What raises counts as a state of its own.
  PendingException pending;
  PyObject *callable = torch.pythonAmbient[static_cast<size_t>(which)];
  Ref<> answer =
      Ref<>::steal(callable ? PyObject_CallNoArgs(callable) : nullptr);
  int64_t result = -1;
  if (answer && which == Ambient::DefaultDtype) {
    for (size_t i = 0; i < std::size(torch.dtypes); ++i)
      if (torch.dtypes[i] && torch.dtypes[i] == answer)
        result = static_cast<int64_t>(i);
  } else if (answer) {
    result = PyObject_IsTrue(answer);
  }
  PyErr_Clear();
  return result;
}

} // namespace wok::capture
