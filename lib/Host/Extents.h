//===- Extents.h - Extents at run time --------------------------*- C++ -*-===//

#ifndef WOK_LIB_HOST_EXTENTS_H
#define WOK_LIB_HOST_EXTENTS_H

#include "wok/IR/WokOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace wok::host {

/// Follows the extents of tensors through operations and checks what these
/// assume of them: where types say `?`, native code does not look.
class ExtentChecker {
public:
  using Extents = llvm::SmallVector<int64_t, 4>;

  void set(mlir::Value tensor, llvm::ArrayRef<int64_t> extents) {
    tensors[tensor] = Extents(extents);
  }

  /// Works out the results of `op`, whose tensor operands are known. False if
  /// `op` assumes what is not so; `error` then says what.
  bool visit(mlir::Operation *op);

  const Extents &extents(mlir::Value tensor) const {
    return tensors.find(tensor)->second;
  }
  bool knows(mlir::Value tensor) const { return tensors.contains(tensor); }
  /// The value of an extent, worked out from the tensors it is about. Nothing
  /// if one of these is not known or the arithmetic has no result.
  std::optional<int64_t> index(mlir::Value value);

  std::string error;

private:
  bool infer(mlir::Operation *op, Extents &result);
  bool fail(mlir::Operation *op, llvm::StringRef what);
  /// The extents of the result type, `?` filled in from `operands`.
  bool fill(mlir::Type type, mlir::OperandRange operands, Extents &result);

  llvm::DenseMap<mlir::Value, Extents> tensors;
  llvm::DenseMap<mlir::Value, int64_t> indices;
};

} // namespace wok::host

#endif // WOK_LIB_HOST_EXTENTS_H
