//===- IndexMath.h - Arithmetic on index values -----------------*- C++ -*-===//

#ifndef WOK_LIB_CONVERSION_INDEXMATH_H
#define WOK_LIB_CONVERSION_INDEXMATH_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace wok {

/// The value of a constant of type index.
std::optional<int64_t> constantValue(mlir::Value value);

/// Emits arithmetic on `index` at the builder's insertion point. It folds, and
/// equal constants are one value, at the start of the function.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &entry)
      : builder(builder), loc(loc), entry(entry) {}

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// Of values that are not negative.
  mlir::Value floorDiv(mlir::Value a, mlir::Value b);
  mlir::Value remainder(mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// The greatest multiple of `b` that is not above `a`.
  mlir::Value roundDown(mlir::Value a, int64_t b);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  mlir::Block &entry;
  llvm::DenseMap<int64_t, mlir::Value> constants;
};

} // namespace wok

#endif // WOK_LIB_CONVERSION_INDEXMATH_H
