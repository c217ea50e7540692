//===- CallSubgraph.h - Native code on tensors ------------------*- C++ -*-===//

#ifndef WOK_LIB_HOST_CALLSUBGRAPH_H
#define WOK_LIB_HOST_CALLSUBGRAPH_H

#include "wok/Host/TensorValue.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/ADT/ArrayRef.h"

namespace wok::host {

/// Calls `code` once, with no site and no frame. Inputs have the types that
/// `code` was compiled for, and extents that fit its operations.
llvm::Expected<std::vector<TensorValue>>
callSubgraph(const runtime::CompiledSubgraph &code,
             llvm::ArrayRef<TensorValue> inputs);

/// Why a run gave no result, for people.
llvm::StringRef describe(runtime::Status status);

} // namespace wok::host

#endif // WOK_LIB_HOST_CALLSUBGRAPH_H
