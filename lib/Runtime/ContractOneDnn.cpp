//===- ContractOneDnn.cpp - Products by oneDNN ----------------------------===//
//
// Loaded when the first product asks for it, and only if it is installed: Wok
// neither links nor needs it. The header gives the types of version 2's C
// interface.
//
//===----------------------------------------------------------------------===//

#include "ContractBackends.h"
#include "wok/Runtime/Arena.h"

#include <type_traits>

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#include <dlfcn.h>

using namespace wok;
using namespace wok::runtime;

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2

namespace {

// Every function that is used: name and pointer.
#define WOK_DNNL(X)                                                            \
  X(dnnl_sgemm)                                                                \
  X(dnnl_gemm_s8s8s32)                                                         \
  X(dnnl_get_effective_cpu_isa)                                                \
  X(dnnl_engine_create)                                                        \
  X(dnnl_stream_create)                                                        \
  X(dnnl_stream_wait)                                                          \
  X(dnnl_stream_destroy)                                                       \
  X(dnnl_memory_desc_init_by_strides)                                          \
  X(dnnl_matmul_desc_init)                                                     \
  X(dnnl_primitive_desc_create)                                                \
  X(dnnl_primitive_desc_destroy)                                               \
  X(dnnl_primitive_create)                                                     \
  X(dnnl_primitive_destroy)                                                    \
  X(dnnl_primitive_execute)                                                    \
  X(dnnl_memory_create)                                                        \
  X(dnnl_memory_destroy)

struct Api {
#define X(name) decltype(&::name) name;
  WOK_DNNL(X)
#undef X
  dnnl_engine_t engine = nullptr;
  bool exactBytes = false; ///< s8 products do not saturate on their way.
};
Api api;

bool load() {
  void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
#define X(name)                                                                \
  api.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));       \
  if (!api.name)                                                               \
    return false;
  WOK_DNNL(X)
#undef X
  // Without VNNI, oneDNN adds pairs of byte products in 16 bits, which
  // saturate.
  int isa = api.dnnl_get_effective_cpu_isa();
  api.exactBytes =
      (isa & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni ||
      isa == dnnl_cpu_isa_avx2_vnni;
  return api.dnnl_engine_create(&api.engine, dnnl_cpu, 0) == dnnl_success;
}

bool runFloat(const WokContractArgs &args, const BlasLeading &leading) {
  for (int64_t b = 0; b < args.batch; ++b)
    if (api.dnnl_sgemm(
            args.transposeLhs ? 'T' : 'N', args.transposeRhs ? 'T' : 'N',
            args.m, args.n, args.k, 1,
            static_cast<const float *>(args.lhs) + b * args.lhsBatchStride,
            leading.lhs,
            static_cast<const float *>(args.rhs) + b * args.rhsBatchStride,
            leading.rhs, 0,
            static_cast<float *>(args.out) + b * args.outBatchStride,
            leading.out) != dnnl_success)
      return false;
  return true;
}

/// Sums in 32 bits, of which the lowest 8 are the wrapped result.
bool runByte(const WokContractArgs &args, const BlasLeading &leading) {
  if (!api.exactBytes)
    return false;
  ScratchScope scratch;
  auto *wide =
      reinterpret_cast<int32_t *>(scratch.reserve(args.m * args.n * 4));
  if (!wide)
    return false;
  const int32_t zero = 0;
  for (int64_t b = 0; b < args.batch; ++b) {
    if (api.dnnl_gemm_s8s8s32(
            args.transposeLhs ? 'T' : 'N', args.transposeRhs ? 'T' : 'N', 'F',
            args.m, args.n, args.k, 1,
            static_cast<const int8_t *>(args.lhs) + b * args.lhsBatchStride,
            leading.lhs, 0,
            static_cast<const int8_t *>(args.rhs) + b * args.rhsBatchStride,
            leading.rhs, 0, 0, wide, args.n, &zero) != dnnl_success)
      return false;
    auto *out = static_cast<int8_t *>(args.out) + b * args.outBatchStride;
    for (int64_t i = 0; i < args.m; ++i)
      for (int64_t j = 0; j < args.n; ++j)
        out[i * args.outLeading + j] =
            static_cast<int8_t>(wide[i * args.n + j]);
  }
  return true;
}

/// An object of oneDNN's C interface and how to give it back.
template <class T>
struct Owned {
  T value = nullptr;
  dnnl_status_t (*destroy)(T);
  explicit Owned(dnnl_status_t (*destroy)(T)) : destroy(destroy) {}
  Owned(const Owned &) = delete;
  ~Owned() {
    if (value)
      destroy(value);
  }
};

/// Fails, and touches nothing, on a CPU without bf16 instructions:
/// `primitive_desc_create` refuses. oneDNN caches the primitives.
bool runBFloat16(const WokContractArgs &args) {
  auto describe = [&](dnnl_memory_desc_t &desc, int64_t rows, int64_t columns,
                      int64_t leading, int64_t batchStride, bool transposed) {
    const dnnl_dims_t sizes = {args.batch, rows, columns};
    const dnnl_dims_t strides = {batchStride, transposed ? 1 : leading,
                                 transposed ? leading : 1};
    return dnnl_success == api.dnnl_memory_desc_init_by_strides(
                               &desc, 3, sizes, dnnl_bf16, strides);
  };
  dnnl_memory_desc_t lhs, rhs, out;
  dnnl_matmul_desc_t product;
  if (!describe(lhs, args.m, args.k, args.lhsLeading, args.lhsBatchStride,
                args.transposeLhs) ||
      !describe(rhs, args.k, args.n, args.rhsLeading, args.rhsBatchStride,
                args.transposeRhs) ||
      !describe(out, args.m, args.n, args.outLeading, args.outBatchStride,
                false) ||
      api.dnnl_matmul_desc_init(&product, &lhs, &rhs, nullptr, &out) !=
          dnnl_success)
    return false;

  Owned<dnnl_primitive_desc_t> desc(api.dnnl_primitive_desc_destroy);
  Owned<dnnl_primitive_t> primitive(api.dnnl_primitive_destroy);
  Owned<dnnl_stream_t> stream(api.dnnl_stream_destroy);
  Owned<dnnl_memory_t> lhsMemory(api.dnnl_memory_destroy),
      rhsMemory(api.dnnl_memory_destroy), outMemory(api.dnnl_memory_destroy);
  if (api.dnnl_primitive_desc_create(&desc.value, &product, nullptr, api.engine,
                                     nullptr) != dnnl_success ||
      api.dnnl_primitive_create(&primitive.value, desc.value) != dnnl_success ||
      api.dnnl_stream_create(&stream.value, api.engine,
                             dnnl_stream_default_flags) != dnnl_success ||
      api.dnnl_memory_create(&lhsMemory.value, &lhs, api.engine,
                             const_cast<void *>(args.lhs)) != dnnl_success ||
      api.dnnl_memory_create(&rhsMemory.value, &rhs, api.engine,
                             const_cast<void *>(args.rhs)) != dnnl_success ||
      api.dnnl_memory_create(&outMemory.value, &out, api.engine, args.out) !=
          dnnl_success)
    return false;
  const dnnl_exec_arg_t operands[] = {{DNNL_ARG_SRC, lhsMemory.value},
                                      {DNNL_ARG_WEIGHTS, rhsMemory.value},
                                      {DNNL_ARG_DST, outMemory.value}};
  return api.dnnl_primitive_execute(primitive.value, stream.value, 3,
                                    operands) == dnnl_success &&
         api.dnnl_stream_wait(stream.value) == dnnl_success;
}

bool runOneDnn(const WokContractArgs &args) noexcept {
  BlasLeading leading(args);
  if (!leading)
    return false;
  if (args.batch > 1 && args.m * args.n * args.k < 32 * 32 * 32)
    return false;
  switch (static_cast<DType>(args.dtype)) {
  case DType::F32:
    return runFloat(args, leading);
  case DType::I8:
    return runByte(args, leading);
  case DType::BF16:
    return runBFloat16(args);
  default:
    return false;
  }
}

constexpr ContractBackend backend{"onednn", runOneDnn};

} // namespace

const ContractBackend *wok::runtime::oneDnnBackend() noexcept {
  static const bool loaded = load();
  return loaded ? &backend : nullptr;
}

#else

const ContractBackend *wok::runtime::oneDnnBackend() noexcept {
  return nullptr;
}

#endif
