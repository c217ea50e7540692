//===- Extents.h - Extents of wok values as index values --------*- C++ -*-===//

#ifndef WOK_ANALYSIS_EXTENTS_H
#define WOK_ANALYSIS_EXTENTS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace wok {

/// Emits the extents of `wok` values, at the builder's insertion point.
///
/// It looks through every operation of the dialect, into and out of fusions,
/// down to what `leaf` knows: tensors or buffers that are arguments of a
/// subgraph, or whatever else the caller stops at. Emitted arithmetic folds
/// where it can.
class ExtentBuilder {
public:
  /// The extent `dim` (a `?`) of `value`. Null where `value` is no leaf.
  using Leaf = std::function<mlir::Value(mlir::Value value, unsigned dim)>;

  ExtentBuilder(mlir::OpBuilder &builder, mlir::Location loc, Leaf leaf)
      : builder(builder), loc(loc), leaf(std::move(leaf)) {}

  /// The extent `dim` of `value`, a tensor or buffer. Null if it is unknown.
  mlir::Value extent(mlir::Value value, unsigned dim);
  /// `value`, of type index, as an `arith` expression over leaves; null if
  /// unknown.
  mlir::Value index(mlir::Value value);

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);

private:
  mlir::Value extentOfResult(mlir::OpResult result, unsigned dim);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Leaf leaf;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> extents;
  llvm::DenseMap<mlir::Value, mlir::Value> indices;
};

} // namespace wok

#endif // WOK_ANALYSIS_EXTENTS_H
