//===- ReductionOps.cpp - Reductions and contractions ---------------------===//

#include "wok/IR/WokOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace wok;

/// The extents of `type` but those of `dims`, which are increasing.
static SmallVector<int64_t> extentsWithout(RankedTensorType type,
                                           ArrayRef<int64_t> dims) {
  SmallVector<int64_t> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, int64_t(dim)))
      extents.push_back(extent);
  return extents;
}

/// Whether two extents may be equal at run time.
static bool mayBeEqual(int64_t lhs, int64_t rhs) {
  return lhs == rhs || ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         ReduceOp::Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitOptionalError(loc, "operand must be a ranked tensor");
  ArrayRef<int64_t> dims = adaptor.getDims();
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i - 1] >= dims[i]) // C1
      return emitOptionalError(loc, "dims must be increasing");
  for (int64_t dim : dims)
    if (dim < 0 || dim >= type.getRank()) // C2
      return emitOptionalError(loc,
                               "dims must be dimensions of the operand, but ",
                               dim, " is not one of ", type.getRank());
  bool isLogical = adaptor.getKind() == ReduceKind::Any ||
                   adaptor.getKind() == ReduceKind::All;
  if (isLogical != type.getElementType().isInteger(1)) // C3
    return emitOptionalError(loc, "'", stringifyReduceKind(adaptor.getKind()),
                             "' cannot reduce ", type.getElementType());
  results.push_back(RankedTensorType::get(extentsWithout(type, dims),
                                          type.getElementType())); // C4
  return success();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  // Nothing to reduce; but a sum starts at +0.0 and turns -0.0 into it.
  if (getDims().empty() && (getKind() != ReduceKind::Sum ||
                            !isa<FloatType>(getType().getElementType())))
    return getOperand();
  return {};
}

//===----------------------------------------------------------------------===//
// ArgReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            ArgReduceOp::Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type)
    return emitOptionalError(loc, "operand must be a ranked tensor");
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= type.getRank()) // C1
    return emitOptionalError(loc,
                             "dim must be a dimension of the operand, but ",
                             dim, " is not one of ", type.getRank());
  results.push_back(RankedTensorType::get(extentsWithout(type, dim),
                                          IntegerType::get(context, 64))); // C3
  return success();
}

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           ContractOp::Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  auto lhs = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!lhs || !rhs)
    return emitOptionalError(loc, "operands must be ranked tensors");
  if (lhs.getElementType() != rhs.getElementType()) // C1
    return emitOptionalError(loc, "operands must have one element type");
  int64_t rank = lhs.getRank();
  if (rank != rhs.getRank() || rank < 2) // C2
    return emitOptionalError(loc, "operands must have one rank, of at least 2");

  SmallVector<int64_t> extents;
  for (auto [left, right] :
       llvm::zip(lhs.getShape().drop_back(2), rhs.getShape().drop_back(2))) {
    if (!mayBeEqual(left, right)) // C3
      return emitOptionalError(loc, "batch extents must be equal, but are ",
                               left, " and ", right);
    extents.push_back(ShapedType::isDynamic(left) ? right : left);
  }
  int64_t m = lhs.getDimSize(rank - 2), k = lhs.getDimSize(rank - 1);
  if (adaptor.getTransposeLhs())
    std::swap(m, k);
  int64_t rhsK = rhs.getDimSize(rank - 2), n = rhs.getDimSize(rank - 1);
  if (adaptor.getTransposeRhs())
    std::swap(rhsK, n);
  if (!mayBeEqual(k, rhsK)) // C4
    return emitOptionalError(loc, "contracted extents must be equal, but are ",
                             k, " and ", rhsK);
  extents.append({m, n});
  results.push_back(RankedTensorType::get(extents, lhs.getElementType())); // C5
  return success();
}
