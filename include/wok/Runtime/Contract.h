//===- Contract.h - Matrix products behind one interface --------*- C++ -*-===//
//
// `wok.contract` becomes a call of `wok_contract`. Who computes it is decided
// here, at run time: the host's own library, oneDNN, or Wok's loops. Generated
// code and runtime share the plain struct.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_RUNTIME_CONTRACT_H
#define WOK_RUNTIME_CONTRACT_H

#include "wok/Support/DType.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// out[b, i, j] = sum over p of lhs[b, i, p] * rhs[b, p, j].
///
/// Every field takes eight bytes, so that generated code fills it as an array.
/// Leading dimensions and batch strides count elements. Within a row elements
/// are adjacent.
struct WokContractArgs {
  const void *lhs; ///< [batch, m, k], or [batch, k, m] if `transposeLhs`.
  const void *rhs; ///< [batch, k, n], or [batch, n, k] if `transposeRhs`.
  void *out;       ///< [batch, m, n]; overlaps neither operand; overwritten.
  int64_t batch, m, n, k;
  int64_t lhsLeading, rhsLeading,
      outLeading; ///< From one stored row to the next.
  int64_t lhsBatchStride, rhsBatchStride,
      outBatchStride; ///< From one matrix to the next; may be 0.
  int64_t transposeLhs, transposeRhs; ///< 0 or 1.
  int64_t dtype; ///< A `wok::DType`: of both operands and `out`.
};

/// Computes the product. `i1` is or-of-ands; integers wrap; f16 and bf16
/// accumulate in f32 and round once. An empty `k` gives zeros. Returns a
/// `wok::runtime::Status`, always `Ok`. Thread-safe.
int32_t wok_contract(const WokContractArgs *args);

} // extern "C"

static_assert(sizeof(WokContractArgs) == 16 * 8 &&
              offsetof(WokContractArgs, dtype) == 15 * 8);

namespace wok::runtime {

/// A library that computes products.
struct ContractBackend {
  const char *name; ///< For reports; lives as long as the process.
  /// Computes the product and returns true, or touches nothing and returns
  /// false if this library does not do this one. Runs on any thread, calls
  /// nothing of the program, does not throw.
  bool (*run)(const WokContractArgs &args) noexcept;
};

/// Puts a host's library in front of all others; null takes it away. The
/// backend is never freed.
void setHostContractBackend(const ContractBackend *backend) noexcept;

/// Looks for matrix products among the libraries that the process has loaded:
/// PyTorch's C shim and an OpenBLAS. A host calls it when it has seen the
/// library's objects for the first time. Loads nothing; thread-safe; cheap when
/// nothing changed.
void findLoadedContractLibraries() noexcept;

/// Wok's own blocked loops; they do every product. In parallel by
/// `wok_parallel_for`.
void contractByLoops(const WokContractArgs &args) noexcept;

/// oneDNN, or null if it is not installed.
const ContractBackend *oneDnnBackend() noexcept;

/// The name of the backend that computed the last product of this thread; for
/// reports and tests.
const char *lastContractBackend() noexcept;

} // namespace wok::runtime

#endif // WOK_RUNTIME_CONTRACT_H
