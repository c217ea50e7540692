//===- Tensors.cpp - Tensors and arrays of the process --------------------===//

#include "wok/Capture/Tensors.h"

#include "TensorAccess.h"
#include "TorchAccess.h"

#include <algorithm>
#include <numeric>

namespace wok::capture {

void findTensorLibraries() {
  findNumpy();
  findTorch();
}

bool isTensorType(PyTypeObject *type, Library &library) {
  if (isTorchType(type)) {
    library = Library::Torch;
    return true;
  }
  if (isNumpyType(type)) {
    library = Library::NumPy;
    return true;
  }
  return false;
}

bool inspect(PyObject *object, TensorInfo &info, std::string *why) {
  if (isTorchType(Py_TYPE(object)))
    return inspectTorch(object, info, why);
  if (isNumpyType(Py_TYPE(object)))
    return inspectNumpy(object, info, why);
  return refuse(why, "an object of a subclass, or no tensor");
}

void denseStrides(std::span<const int64_t> extents,
                  std::span<const uint8_t> strideOrder, int64_t *strides) {
  int64_t next = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    size_t dim = strideOrder.empty() ? i : strideOrder[i];
    strides[dim] = next;
    next *= std::max<int64_t>(extents[dim], 1);
  }
}

std::optional<std::vector<uint8_t>> denseOrder(const TensorInfo &info) {
  std::vector<uint8_t> order(info.rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  if (std::find(info.extents, info.extents + info.rank, 0) !=
      info.extents + info.rank)
    return order;
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) {
    int64_t strideA = info.stride(a), strideB = info.stride(b);
    return strideA != strideB ? strideA > strideB : a < b;
  });
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t extent = info.extents[order[i]];
    if (extent == 1)
      continue;
    if (info.stride(order[i]) != next)
      return std::nullopt;
    next *= extent;
  }
  return order;
}

PyObject *makeTensor(Library library, DType dtype,
                     std::span<const int64_t> extents,
                     std::span<const uint8_t> strideOrder, void **data) {
  return library == Library::Torch
             ? makeTorch(dtype, extents, strideOrder, data)
             : makeNumpy(dtype, extents, strideOrder, data);
}

PyObject *makeView(Library library, PyObject *base,
                   std::span<const int64_t> extents,
                   std::span<const int64_t> strides, int64_t offset) {
  return library == Library::Torch ? viewTorch(base, extents, strides, offset)
                                   : viewNumpy(base, extents, strides, offset);
}

bool copyInto(Library library, PyObject *target, PyObject *source) {
  return library == Library::Torch ? copyIntoTorch(target, source)
                                   : copyIntoNumpy(target, source);
}

int64_t readAmbient(Ambient which) {
  switch (which) {
  case Ambient::Errstate:
    return numpyErrstate();
  case Ambient::RecursionRoom:
    return PyThreadState_Get()->recursion_remaining;
  default:
    return torchAmbient(which);
  }
}

} // namespace wok::capture
