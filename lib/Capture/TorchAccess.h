//===- TorchAccess.h - PyTorch's functions, found at run time ----*- C++
//-*-===//
//
// What TorchTensors.cpp and Ambient.cpp call of PyTorch. Nothing is linked: the
// functions are looked up in the process when it has imported torch.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_TORCHACCESS_H
#define WOK_LIB_CAPTURE_TORCHACCESS_H

#include "wok/Capture/Ref.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace wok::capture {

/// A `c10::IntArrayRef`: passed in two registers.
struct TorchIntArray {
  const int64_t *data;
  size_t size;
};

/// An `at::Tensor`. Its destructor makes it, like the original, a class that is
/// returned through memory; the reference it owns is moved away before it dies.
struct TorchHandle {
  void *impl = nullptr;
  TorchHandle() = default;
  TorchHandle(const TorchHandle &) = delete;
  ~TorchHandle() {}
};

/// A `std::optional<c10::SymInt>`: like the original passed by reference.
struct TorchOptionalInt {
  int64_t value;
  bool hasValue;
  explicit TorchOptionalInt(int64_t value) : value(value), hasValue(true) {}
  TorchOptionalInt(const TorchOptionalInt &) = delete;
  ~TorchOptionalInt() {}
};

/// The functions that read and make tensors. Two ways: `layoutKnown` says that
/// the faster one, with the C shim and facts of this version of PyTorch that
/// the self-test confirmed, may be used; otherwise DLPack's exchange API with
/// checks through Python's attributes.
struct TorchAccess {
  PyTypeObject *tensorType = nullptr;
  PyTypeObject *parameterType = nullptr;
  bool layoutKnown = false;

  // The C shim. A handle is a pointer to an `at::Tensor`.
  int32_t (*getDataPtr)(void *, void **) = nullptr;
  int32_t (*getSizes)(void *, const int64_t **) = nullptr;
  int32_t (*getStrides)(void *, const int64_t **) = nullptr;
  int32_t (*getDtype)(void *, int32_t *) = nullptr;
  int32_t (*getDim)(void *, int64_t *) = nullptr;

  // Members of C++ classes whose arguments have the plain C calling convention.
  bool (*requiresGrad)(const void *impl) = nullptr;
  TorchHandle (*emptyCpu)(TorchIntArray, int8_t scalarType, bool pinned,
                          uint64_t noFormat) = nullptr;
  TorchHandle (*emptyStridedCpu)(TorchIntArray, TorchIntArray,
                                 int8_t scalarType, bool pinned) = nullptr;
  int32_t (*getStorageOffset)(void *, int64_t *) = nullptr;
  int32_t (*copy)(void *target, void *source, int32_t nonBlocking) = nullptr;
  /// A `c10::SymInt` that is a number has that number's bits.
  TorchHandle (*asStridedCall)(const void *handle, TorchIntArray sizes,
                               TorchIntArray strides,
                               const TorchOptionalInt &offset) = nullptr;
  PyObject *(*wrap)(TorchHandle *) =
      nullptr; ///< Takes the tensor out of the handle.
  void (*bumpVersion)(const void *handle) = nullptr;

  /// Byte in a TensorImpl of its dispatch key set, which has all of layout,
  /// device, conj and neg bits, subclasses with dispatch and functorch
  /// wrappers; and the sets of ordinary tensors.
  size_t keySetOffset = 0;
  uint64_t plainKeys = 0, inferenceKeys = 0;

  // DLPack's exchange API, version 1.
  int (*dlTensorFromObject)(PyObject *, void *) = nullptr;

  // Python's ways: always there.
  Ref<> emptyStrided; ///< torch.empty_strided
  Ref<> asStrided;    ///< torch.as_strided
  Ref<> copyName;     ///< "copy_"
  Ref<> dtypes[16];   ///< torch.float32, ... by wok::DType.

  Ref<> setGradEnabled; ///< torch._C._set_grad_enabled

  // Ambient state; null where PyTorch does not export it.
  bool (*gradEnabled)() = nullptr;
  bool (*inferenceEnabled)() = nullptr;
  bool (*autocastEnabled)(int8_t device) = nullptr;
  int8_t (*defaultDtype)() = nullptr;
  int64_t (*functionModes)() = nullptr;
  int8_t (*functionDisabled)() = nullptr;
  bool (*dispatchModes)(bool skipInfra) = nullptr;
  bool (*keyIncluded)(uint16_t key) = nullptr;
  uint16_t functorchKey = 0;
  /// The state of torch.jit.trace: a `std::shared_ptr`, whose first word is
  /// null if nothing is traced.
  void *const *(*tracingState)() = nullptr;
  Ref<> pythonAmbient[8]; ///< Callables that answer where the function above is
                          ///< null.

  /// PyTorch's number of a Wok element type (`c10::ScalarType`).
  static int8_t scalarType(unsigned dtype);
};

/// PyTorch as this process has it; null if it is not imported (or not wholly,
/// or could not be understood). Looks at nothing but a pointer.
const TorchAccess *torchAccess();

/// Finds PyTorch if the process has imported it since the last call. May run
/// its Python code.
void findTorch();

/// The address of a symbol in PyTorch's libraries, or null.
void *findTorchSymbol(const char *name);

/// An object of a module that the process has imported already; null (and no
/// exception) otherwise.
Ref<> findImported(const char *module, const char *name);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_TORCHACCESS_H
