//===- ContractTorch.cpp - Products by PyTorch's C shim -------------------===//
//
// The shim is PyTorch's stable C interface. Its product is the one that eager
// calls, on the same threads, without the dispatcher. Nothing is linked: the
// functions are found in the process.
//
//===----------------------------------------------------------------------===//

#include "ContractBackends.h"
#include "LoadedLibraries.h"

#include <type_traits>

#include <dlfcn.h>

using namespace wok;
using namespace wok::runtime;

namespace {

using Handle = struct AtenTensorOpaque *;

struct Shim {
  int32_t (*fromBlob)(void *data, int64_t rank, const int64_t *sizes,
                      const int64_t *strides, int64_t offset, int32_t dtype,
                      int32_t device, int32_t index, Handle *result);
  int32_t (*destroy)(Handle);
  int32_t (*mm)(Handle out, Handle lhs, Handle rhs);
  int32_t (*bmm)(Handle out, Handle lhs, Handle rhs);
  int32_t cpu, f16, bf16, f32, f64;
} shim;

/// A view of memory as a tensor, for the length of a call.
class Blob {
public:
  Blob(const void *data, const WokContractArgs &args, int32_t dtype,
       int64_t rows, int64_t columns, int64_t leading, int64_t batchStride,
       bool transposed) {
    const int64_t sizes[] = {args.batch, rows, columns};
    const int64_t strides[] = {batchStride, transposed ? 1 : leading,
                               transposed ? leading : 1};
    int skip = args.batch == 1 ? 1 : 0;
    if (shim.fromBlob(const_cast<void *>(data), 3 - skip, sizes + skip,
                      strides + skip, 0, dtype, shim.cpu, 0, &handle))
      handle = nullptr;
  }
  ~Blob() {
    if (handle)
      shim.destroy(handle);
  }
  Blob(const Blob &) = delete;
  Handle get() const { return handle; }

private:
  Handle handle = nullptr;
};

bool runTorch(const WokContractArgs &args) noexcept {
  int32_t dtype;
  switch (static_cast<DType>(args.dtype)) {
  case DType::F16:
    dtype = shim.f16;
    break;
  case DType::BF16:
    dtype = shim.bf16;
    break;
  case DType::F32:
    dtype = shim.f32;
    break;
  case DType::F64:
    dtype = shim.f64;
    break;
  default:
    return false; // PyTorch's integer products are plain loops.
  }
  // Rows that overlap (a broadcast operand) would be copied; outputs may not.
  if (args.outLeading < args.n)
    return false;
  Blob lhs(args.lhs, args, dtype, args.m, args.k, args.lhsLeading,
           args.lhsBatchStride, args.transposeLhs);
  Blob rhs(args.rhs, args, dtype, args.k, args.n, args.rhsLeading,
           args.rhsBatchStride, args.transposeRhs);
  Blob out(args.out, args, dtype, args.m, args.n, args.outLeading,
           args.outBatchStride, false);
  if (!lhs.get() || !rhs.get() || !out.get())
    return false;
  return (args.batch == 1 ? shim.mm : shim.bmm)(out.get(), lhs.get(),
                                                rhs.get()) == 0;
}

constexpr ContractBackend torchBackend{"torch", runTorch};

} // namespace

const ContractBackend *wok::runtime::findTorchBackend() noexcept {
  void *library = findLoadedLibrary("libtorch_cpu");
  if (!library)
    return nullptr;
  auto symbol = [&](const char *name, auto &target) {
    target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(
        dlsym(library, name));
    return target != nullptr;
  };
  auto code = [&](const char *name, int32_t &target) {
    int32_t (*get)();
    return symbol(name, get) && (target = get(), true);
  };
  Shim found;
  if (!symbol("aoti_torch_create_tensor_from_blob", found.fromBlob) ||
      !symbol("aoti_torch_delete_tensor_object", found.destroy) ||
      !symbol("aoti_torch_cpu_mm_out", found.mm) ||
      !symbol("aoti_torch_cpu_bmm_out", found.bmm) ||
      !code("aoti_torch_device_type_cpu", found.cpu) ||
      !code("aoti_torch_dtype_float16", found.f16) ||
      !code("aoti_torch_dtype_bfloat16", found.bf16) ||
      !code("aoti_torch_dtype_float32", found.f32) ||
      !code("aoti_torch_dtype_float64", found.f64))
    return nullptr;
  shim = found;
  return &torchBackend;
}
