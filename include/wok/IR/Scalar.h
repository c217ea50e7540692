//===- Scalar.h - Building blocks of single elements ------------*- C++ -*-===//
//
// Builders of `arith` and `math` operations on one element or on a 1-D vector
// of elements, in the compute type (Types.h). `elementType` is always the
// element type of the tensor, which says what the compute type does not:
// signedness, and what to round to.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_IR_SCALAR_H
#define WOK_IR_SCALAR_H

#include "wok/IR/WokOps.h"

namespace mlir {
class OpBuilder;
} // namespace mlir

namespace wok {

/// A constant of `type` (a scalar or a vector of integers or floats), in every
/// lane.
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type, double value);
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type, int64_t value);

/// Rounds `value` (compute type) to the values that `elementType` has, still in
/// the compute type. Does nothing but for `f16` and `bf16`.
mlir::Value buildRound(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, mlir::Type elementType);

/// Converts compute values of tensors of `from` to compute values of tensors of
/// `to`, as `wok.cast` does; not yet rounded.
mlir::Value buildCast(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type from, mlir::Type to);

/// Whether `lhs` comes before `rhs`, or whatever `predicate` says, as
/// `wok.compare` does.
mlir::Value buildCompare(mlir::OpBuilder &builder, mlir::Location loc,
                         ComparePredicate predicate, mlir::Value lhs,
                         mlir::Value rhs, mlir::Type elementType);

/// Combines two partial results of a reduction.
mlir::Value buildCombine(mlir::OpBuilder &builder, mlir::Location loc,
                         ReduceKind kind, mlir::Value lhs, mlir::Value rhs,
                         mlir::Type elementType);

/// What a reduction of nothing gives, as a constant of `type`: the compute type
/// of `elementType`, or a vector of it. A sum starts at +0.0, as in eager
/// execution: the sum of negative zeros is +0.0.
mlir::Value buildNeutral(mlir::OpBuilder &builder, mlir::Location loc,
                         ReduceKind kind, mlir::Type type,
                         mlir::Type elementType);

} // namespace wok

#endif // WOK_IR_SCALAR_H
