//===- RuntimeSymbols.h - What kernels may call -----------------*- C++ -*-===//

#ifndef WOK_LIB_COMPILER_RUNTIMESYMBOLS_H
#define WOK_LIB_COMPILER_RUNTIMESYMBOLS_H

#include "wok/JIT/JIT.h"

#include <vector>

namespace wok {

/// The functions of the runtime and of libm that generated code calls, and
/// those that LLVM itself may call.
std::vector<jit::Symbol> runtimeSymbols();

} // namespace wok

#endif // WOK_LIB_COMPILER_RUNTIMESYMBOLS_H
