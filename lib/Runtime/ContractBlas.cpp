//===- ContractBlas.cpp - Products by an OpenBLAS in the process ----------===//
//
// NumPy loads its own OpenBLAS; calling that one gives NumPy's bits and NumPy's
// threads.
//
//===----------------------------------------------------------------------===//

#include "ContractBackends.h"
#include "LoadedLibraries.h"

#include <dlfcn.h>

using namespace wok;
using namespace wok::runtime;

namespace {

/// CBLAS, with 32-bit or 64-bit integers.
template <class Int, class T>
using Gemm = void (*)(int order, int transposeLhs, int transposeRhs, Int m,
                      Int n, Int k, T alpha, const T *lhs, Int lhsLeading,
                      const T *rhs, Int rhsLeading, T beta, T *out,
                      Int outLeading);
constexpr int rowMajor = 101, noTranspose = 111, transpose = 112;

struct {
  Gemm<int64_t, float> wideF32;
  Gemm<int64_t, double> wideF64;
  Gemm<int32_t, float> narrowF32;
  Gemm<int32_t, double> narrowF64;
} cblas;

template <class Int, class T>
bool call(Gemm<Int, T> gemm, const WokContractArgs &args,
          const BlasLeading &leading) {
  for (int64_t b = 0; b < args.batch; ++b)
    gemm(rowMajor, args.transposeLhs ? transpose : noTranspose,
         args.transposeRhs ? transpose : noTranspose, static_cast<Int>(args.m),
         static_cast<Int>(args.n), static_cast<Int>(args.k), T(1),
         static_cast<const T *>(args.lhs) + b * args.lhsBatchStride,
         static_cast<Int>(leading.lhs),
         static_cast<const T *>(args.rhs) + b * args.rhsBatchStride,
         static_cast<Int>(leading.rhs), T(0),
         static_cast<T *>(args.out) + b * args.outBatchStride,
         static_cast<Int>(leading.out));
  return true;
}

bool fitsNarrow(const WokContractArgs &args, const BlasLeading &leading) {
  for (int64_t value :
       {args.m, args.n, args.k, leading.lhs, leading.rhs, leading.out})
    if (value != static_cast<int32_t>(value))
      return false;
  return true;
}

bool runBlas(const WokContractArgs &args) noexcept {
  auto dtype = static_cast<DType>(args.dtype);
  BlasLeading leading(args);
  if ((dtype != DType::F32 && dtype != DType::F64) || !leading)
    return false;
  // One small product after another: the loops run them side by side.
  if (args.batch > 1 && args.m * args.n * args.k < 32 * 32 * 32)
    return false;
  bool single = dtype == DType::F32;
  if (single ? cblas.wideF32 != nullptr : cblas.wideF64 != nullptr)
    return single ? call(cblas.wideF32, args, leading)
                  : call(cblas.wideF64, args, leading);
  if (!(single ? cblas.narrowF32 != nullptr : cblas.narrowF64 != nullptr) ||
      !fitsNarrow(args, leading))
    return false;
  return single ? call(cblas.narrowF32, args, leading)
                : call(cblas.narrowF64, args, leading);
}

constexpr ContractBackend blasBackend{"openblas", runBlas};

template <class Fn>
bool find(void *library, const char *name, Fn &target) {
  target = reinterpret_cast<Fn>(dlsym(library, name));
  return target != nullptr;
}

} // namespace

const ContractBackend *wok::runtime::findBlasBackend() noexcept {
  void *library = findLoadedLibrary("openblas");
  if (!library)
    return nullptr;
  // NumPy's wheels prefix and suffix the names; distributions do one, the other
  // or neither.
  bool found = (find(library, "scipy_cblas_sgemm64_", cblas.wideF32) &&
                find(library, "scipy_cblas_dgemm64_", cblas.wideF64)) ||
               (find(library, "cblas_sgemm64_", cblas.wideF32) &&
                find(library, "cblas_dgemm64_", cblas.wideF64)) ||
               (find(library, "scipy_cblas_sgemm", cblas.narrowF32) &&
                find(library, "scipy_cblas_dgemm", cblas.narrowF64)) ||
               (find(library, "cblas_sgemm", cblas.narrowF32) &&
                find(library, "cblas_dgemm", cblas.narrowF64));
  return found ? &blasBackend : nullptr;
}
