//===- TensorAccess.h - The two libraries behind Tensors.h ------*- C++ -*-===//

#ifndef WOK_LIB_CAPTURE_TENSORACCESS_H
#define WOK_LIB_CAPTURE_TENSORACCESS_H

#include "wok/Capture/Tensors.h"

namespace wok::capture {

// Each function as its namesake in Tensors.h, for one library. `inspect*` has
// checked the type.
bool inspectTorch(PyObject *object, TensorInfo &info, std::string *why);
PyObject *makeTorch(DType dtype, std::span<const int64_t> extents,
                    std::span<const uint8_t> strideOrder, void **data);
PyObject *viewTorch(PyObject *base, std::span<const int64_t> extents,
                    std::span<const int64_t> strides, int64_t offset);
bool copyIntoTorch(PyObject *target, PyObject *source);
bool isTorchType(PyTypeObject *type);
int64_t torchAmbient(Ambient which);

bool inspectNumpy(PyObject *object, TensorInfo &info, std::string *why);
PyObject *makeNumpy(DType dtype, std::span<const int64_t> extents,
                    std::span<const uint8_t> strideOrder, void **data);
PyObject *viewNumpy(PyObject *base, std::span<const int64_t> extents,
                    std::span<const int64_t> strides, int64_t offset);
bool copyIntoNumpy(PyObject *target, PyObject *source);
bool isNumpyType(PyTypeObject *type);
/// Whether no other object holds the memory of an array.
bool ownsItsMemory(PyObject *array);
int64_t numpyErrstate();
void findNumpy();

/// Strides, in elements, of a dense tensor with `extents` laid out in
/// `strideOrder`.
void denseStrides(std::span<const int64_t> extents,
                  std::span<const uint8_t> strideOrder, int64_t *strides);

/// Puts `text` in `why`, if it is asked for. Always false.
inline bool refuse(std::string *why, const char *text) {
  if (why)
    *why = text;
  return false;
}

/// More dimensions than any tensor of either library has.
inline constexpr size_t maxRank = 64;

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_TENSORACCESS_H
