//===- DimGroups.h - Dimensions that a loop may walk as one -----*- C++ -*-===//

#ifndef WOK_LIB_CONVERSION_DIMGROUPS_H
#define WOK_LIB_CONVERSION_DIMGROUPS_H

#include "wok/IR/WokOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace wok {

/// Adjacent dimensions d and d+1 of a tensor merge if every access to it may
/// use the index (0, i * extent + j) in place of (i, j). That is so in dense
/// memory, and an operation keeps it so if it handles the two as one.
class DimGroups {
public:
  /// `mergesInMemory(argument, d)`: whether the strides of an argument of the
  /// body allow d and d+1 to merge.
  DimGroups(FusionOp fusion,
            llvm::function_ref<bool(mlir::Value, unsigned)> mergesInMemory);

  /// Whether d and d+1 of `tensor`, a value of the body, merge.
  bool merges(mlir::Value tensor, unsigned dim) const;

  /// Splits the increasing list `dims` where a pair does not merge in one of
  /// `tensors`, which have one shape.
  llvm::SmallVector<llvm::SmallVector<unsigned>>
  groups(llvm::ArrayRef<mlir::Value> tensors,
         llvm::ArrayRef<unsigned> dims) const;

private:
  unsigned id(mlir::Value tensor, unsigned dim) const;
  void equate(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void forbid(mlir::Value tensor, unsigned dim);
  void visit(mlir::Operation *op);
  /// Equates the pairs of dimensions of `result` that come from adjacent ones
  /// of `operand`; forbids all others. `source` is -1 where a dimension of the
  /// result repeats or ignores the operand: two of those merge.
  void relate(mlir::Value operand, mlir::Value result,
              llvm::ArrayRef<int64_t> source);

  llvm::DenseMap<mlir::Value, unsigned> firstId;
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::SmallVector<unsigned> forbidden;
  llvm::DenseSet<unsigned> forbiddenLeaders;
};

} // namespace wok

#endif // WOK_LIB_CONVERSION_DIMGROUPS_H
