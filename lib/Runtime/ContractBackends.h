//===- ContractBackends.h - Libraries for matrix products -------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_CONTRACTBACKENDS_H
#define WOK_LIB_RUNTIME_CONTRACTBACKENDS_H

#include "wok/Runtime/Contract.h"

namespace wok::runtime {

/// PyTorch's C shim, if the process has loaded PyTorch; else null.
const ContractBackend *findTorchBackend() noexcept;

/// An OpenBLAS that the process has loaded (NumPy brings one); else null.
const ContractBackend *findBlasBackend() noexcept;

/// The leading dimension of a stored matrix as BLAS wants it, or 0 if BLAS
/// cannot read the matrix: its rows overlap.
inline int64_t blasLeading(int64_t rows, int64_t columns, int64_t leading) {
  if (rows <= 1)
    return columns > 0 ? columns : 1;
  return leading >= columns && leading > 0 ? leading : 0;
}

struct BlasLeading {
  explicit BlasLeading(const WokContractArgs &args)
      : lhs(args.transposeLhs ? blasLeading(args.k, args.m, args.lhsLeading)
                              : blasLeading(args.m, args.k, args.lhsLeading)),
        rhs(args.transposeRhs ? blasLeading(args.n, args.k, args.rhsLeading)
                              : blasLeading(args.k, args.n, args.rhsLeading)),
        out(blasLeading(args.m, args.n, args.outLeading)) {}
  explicit operator bool() const { return lhs && rhs && out; }

  int64_t lhs, rhs, out;
};

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_CONTRACTBACKENDS_H
