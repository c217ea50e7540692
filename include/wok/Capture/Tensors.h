//===- Tensors.h - Tensors and arrays of the process ------------*- C++ -*-===//
//
// Reads and makes torch.Tensor and numpy.ndarray objects without linking either
// library. Torch tensors are read through PyTorch's C shim (symbols found at
// run time), or DLPack's exchange API with the checks it lacks; arrays through
// NumPy's C structs.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_TENSORS_H
#define WOK_CAPTURE_TENSORS_H

#include "wok/Capture/Guard.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wok::capture {

/// What Wok needs to know of a tensor. The pointers live as long as the object
/// is not changed.
struct TensorInfo {
  Library library;
  DType dtype;
  int32_t rank;
  void *data;
  const int64_t *extents;
  const int64_t
      *strides; ///< In elements for torch, in BYTES for NumPy: use `stride()`.
  int64_t itemBytes;
  bool requiresGrad;
  bool writable;

  int64_t stride(int32_t dim) const {
    return library == Library::Torch ? strides[dim] : strides[dim] / itemBytes;
  }
};

/// Looks for torch and NumPy among the modules that the process has imported.
/// May run their Python (a self-test), so it is called between captures, never
/// in one; cheap when nothing is new.
void findTensorLibraries();

/// Whether the type is exactly torch.Tensor, Parameter, Buffer, or
/// numpy.ndarray. Cheap; imports nothing: libraries that the process has not
/// imported have no tensors.
bool isTensorType(PyTypeObject *type, Library &library);

/// Describes `object`. False, with the reason in `why`, if it is not a tensor
/// Wok computes with: subclass, other device or layout, unsupported dtype,
/// conj/neg bit, unaligned or byte-swapped array, negative-zero itemsize
/// strides, FakeTensor, functorch wrapper, ... Sets no exception.
bool inspect(PyObject *object, TensorInfo &info, std::string *why = nullptr);

/// Dimensions in memory order, outermost first, if the elements are dense and
/// do not overlap in some order (size-1 dimensions go where eager's
/// `empty_like` puts them); nullopt otherwise.
std::optional<std::vector<uint8_t>> denseOrder(const TensorInfo &info);

/// A new uninitialised tensor with `extents` laid out in `strideOrder` (empty:
/// row-major). New reference, or null with a Python exception. `data` receives
/// its memory.
PyObject *makeTensor(Library library, DType dtype,
                     std::span<const int64_t> extents,
                     std::span<const uint8_t> strideOrder, void **data);

/// A view of `base` (as_strided): extents, strides and offset in elements from
/// base's own first element.
PyObject *makeView(Library library, PyObject *base,
                   std::span<const int64_t> extents,
                   std::span<const int64_t> strides, int64_t offset);

/// A NumPy scalar (`numpy.float32(...)`) of the element at `element`. New
/// reference, or null with an exception.
PyObject *makeNumpyScalar(DType dtype, const void *element);

/// target.copy_(source) / numpy.copyto: bumps the version counter once. False
/// with an exception.
bool copyInto(Library library, PyObject *target, PyObject *source);

/// Whether nothing of the program runs when the last reference to `object`, a
/// tensor or array, goes: no weak reference, attribute, gradient function or
/// foreign owner of its memory hangs on it.
bool diesQuietly(PyObject *object);

/// The version of the class of tensors `type`: another number each time that
/// it is changed. 0 if operators, methods and attributes are not the library's
/// own any more.
uint32_t tensorClassVersion(PyTypeObject *type);

/// The ambient state of this thread (an id of its value; for DefaultDtype the
/// DType).
int64_t readAmbient(Ambient which);

/// torch.set_grad_enabled. False with an exception.
bool setGradMode(bool enabled);

} // namespace wok::capture

#endif // WOK_CAPTURE_TENSORS_H
