//===- Canonicalize.cpp - Canonical forms of movement and shapes ----------===//
//
// Movement of movement becomes one movement, and extents are read from as far
// up as possible. All of it is exact.
//
//===----------------------------------------------------------------------===//

#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace wok;

TypedAttr wok::getSplat(Value tensor) {
  DenseElementsAttr elements;
  while (auto broadcast = tensor.getDefiningOp<BroadcastOp>())
    tensor = broadcast.getOperand();
  if (!matchPattern(tensor, m_Constant(&elements)) || !elements.isSplat())
    return nullptr;
  return cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

/// reshape(reshape(x)) is reshape(x).
static LogicalResult composeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.modifyOpInPlace(
      op, [&] { op.getOperandMutable().assign(inner.getOperand()); });
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(composeReshapes);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

/// broadcast(broadcast(x)) is broadcast(x).
static LogicalResult composeBroadcasts(BroadcastOp op,
                                       PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  // A dynamic extent is never 1 where the result's is not, and neither is one
  // that comes of it.
  RankedTensorType from = inner.getOperand().getType();
  for (auto [dim, extent] : llvm::zip(dims, from.getShape()))
    if (ShapedType::isDynamic(op.getType().getDimSize(dim)) &&
        !ShapedType::isDynamic(extent) && extent != 1)
      return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getOperand(),
                                           op.getExtents(), dims);
  return success();
}

/// For each dimension of `from` the one of `to` that it becomes, if a reshape
/// between them does nothing but add extents of 1.
static std::optional<SmallVector<int64_t>> placesOfDims(RankedTensorType from,
                                                        RankedTensorType to) {
  // More than one dynamic extent could hide a real reshape.
  if (from.getNumDynamicDims() > 1 ||
      from.getNumDynamicDims() != to.getNumDynamicDims() ||
      llvm::is_contained(from.getShape(), 0))
    return std::nullopt;
  SmallVector<int64_t> places;
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(to.getShape())) {
    if (next < size_t(from.getRank()) && extent == from.getDimSize(next)) {
      places.push_back(dim);
      ++next;
    } else if (extent != 1) {
      return std::nullopt;
    }
  }
  if (next != size_t(from.getRank()))
    return std::nullopt;
  return places;
}

/// broadcast(reshape(x)) is broadcast(x) if the reshape only adds extents of 1.
static LogicalResult absorbReshape(BroadcastOp op, PatternRewriter &rewriter) {
  auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!reshape)
    return failure();
  auto places = placesOfDims(reshape.getOperand().getType(), reshape.getType());
  if (!places)
    return failure();
  for (int64_t &place : *places)
    place = op.getDims()[place];
  rewriter.replaceOpWithNewOp<BroadcastOp>(
      op, op.getType(), reshape.getOperand(), op.getExtents(), *places);
  return success();
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(composeBroadcasts);
  patterns.add(absorbReshape);
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

/// transpose(broadcast(x)) is broadcast(x), if the dimensions of x keep their
/// order.
static LogicalResult absorbBroadcast(TransposeOp op,
                                     PatternRewriter &rewriter) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return failure();
  SmallVector<int64_t> placeOf(op.getPermutation().size());
  for (auto [place, dim] : llvm::enumerate(op.getPermutation()))
    placeOf[dim] = place;
  SmallVector<int64_t> dims;
  for (int64_t dim : broadcast.getDims())
    dims.push_back(placeOf[dim]);
  if (!llvm::is_sorted(dims))
    return failure();
  // The extents in their new order.
  SmallVector<Value> byDim(placeOf.size()), extents;
  auto next = broadcast.getExtents().begin();
  for (auto [dim, extent] : llvm::enumerate(broadcast.getType().getShape()))
    if (ShapedType::isDynamic(extent))
      byDim[placeOf[dim]] = *next++;
  llvm::copy_if(byDim, std::back_inserter(extents),
                [](Value extent) { return bool(extent); });
  rewriter.replaceOpWithNewOp<BroadcastOp>(
      op, op.getType(), broadcast.getOperand(), extents, dims);
  return success();
}

/// Whether `permutation` swaps the last two dimensions and nothing else.
static bool swapsMatrices(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  if (rank < 2 || permutation[rank - 1] != rank - 2 ||
      permutation[rank - 2] != rank - 1)
    return false;
  return llvm::equal(permutation.drop_back(2), llvm::seq<int64_t>(0, rank - 2));
}

/// The transpose of a product is the product of the transposes in the other
/// order.
static LogicalResult absorbContraction(TransposeOp op,
                                       PatternRewriter &rewriter) {
  auto contract = op.getOperand().getDefiningOp<ContractOp>();
  if (!contract || !contract->hasOneUse() ||
      !swapsMatrices(op.getPermutation()))
    return failure();
  auto replacement = rewriter.replaceOpWithNewOp<ContractOp>(
      op, op.getType(), contract.getRhs(), contract.getLhs(),
      !contract.getTransposeRhs(), !contract.getTransposeLhs());
  (void)replacement;
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(absorbBroadcast);
  patterns.add(absorbContraction);
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

/// slice(slice(x)) is slice(x).
static LogicalResult composeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  if (llvm::any_of(op.getOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(inner.getOffsets(), ShapedType::isDynamic))
    return failure();
  SmallVector<int64_t> offsets, strides;
  for (auto [outerOffset, outerStride, innerOffset, innerStride] :
       llvm::zip(op.getOffsets(), op.getStrides(), inner.getOffsets(),
                 inner.getStrides())) {
    int64_t distance;
    if (llvm::MulOverflow(outerOffset, innerStride, distance) ||
        llvm::AddOverflow(innerOffset, distance, offsets.emplace_back()) ||
        llvm::MulOverflow(outerStride, innerStride, strides.emplace_back()))
      return failure();
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(),
                                       op.getDynamic(), offsets, op.getSizes(),
                                       strides);
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *) {
  patterns.add(composeSlices);
}

//===----------------------------------------------------------------------===//
// DimOp
//===----------------------------------------------------------------------===//

/// Reads an extent of a padded, joined, gathered or multiplied tensor from the
/// operands.
static LogicalResult readExtentOfOperands(DimOp op, PatternRewriter &rewriter) {
  Operation *producer = op.getOperand().getDefiningOp();
  if (!producer)
    return failure();
  Location loc = op.getLoc();
  int64_t dim = op.getDim();
  auto extent = [&](Value tensor, int64_t of) -> Value {
    return DimOp::create(rewriter, loc, rewriter.getIndexType(), tensor, of);
  };
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(rewriter, loc, lhs, rhs);
  };

  Value result;
  if (auto pad = dyn_cast<PadOp>(producer)) {
    result = extent(pad.getOperand(), dim);
    if (int64_t added = pad.getLow()[dim] + pad.getHigh()[dim])
      result =
          add(result, arith::ConstantIndexOp::create(rewriter, loc, added));
  } else if (auto concat = dyn_cast<ConcatOp>(producer)) {
    result = extent(concat.getOperands().front(), dim);
    if (dim == int64_t(concat.getDim()))
      for (Value operand : concat.getOperands().drop_front())
        result = add(result, extent(operand, dim));
  } else if (auto gather = dyn_cast<GatherOp>(producer)) {
    int64_t at = gather.getDim(),
            rank = gather.getIndices().getType().getRank();
    if (dim < at)
      result = extent(gather.getOperand(), dim);
    else if (dim < at + rank)
      result = extent(gather.getIndices(), dim - at);
    else
      result = extent(gather.getOperand(), dim - rank + 1);
  } else if (auto contract = dyn_cast<ContractOp>(producer)) {
    int64_t rank = contract.getType().getRank();
    if (dim == rank - 2)
      result = extent(contract.getLhs(),
                      contract.getTransposeLhs() ? rank - 1 : rank - 2);
    else if (dim == rank - 1)
      result = extent(contract.getRhs(),
                      contract.getTransposeRhs() ? rank - 2 : rank - 1);
    else
      result = extent(contract.getLhs(), dim);
  } else {
    return failure();
  }
  rewriter.replaceOp(op, result);
  return success();
}

void DimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  patterns.add(readExtentOfOperands);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

/// A sum of floats along no dimension is x + 0.0.
static LogicalResult addForEmptySum(ReduceOp op, PatternRewriter &rewriter) {
  auto floatType = dyn_cast<FloatType>(op.getType().getElementType());
  if (!op.getDims().empty() || op.getKind() != ReduceKind::Sum || !floatType)
    return failure();
  auto scalar = RankedTensorType::get({}, floatType);
  Value zero = ConstantOp::create(
      rewriter, op.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(
          scalar, APFloat::getZero(floatType.getFloatSemantics()))));
  SmallVector<Value> extents;
  for (auto [dim, extent] : llvm::enumerate(op.getType().getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(DimOp::create(rewriter, op.getLoc(),
                                      rewriter.getIndexType(), op.getOperand(),
                                      int64_t(dim)));
  Value zeros = BroadcastOp::create(rewriter, op.getLoc(), op.getType(), zero,
                                    extents, ArrayRef<int64_t>());
  rewriter.replaceOpWithNewOp<AddOp>(op, op.getOperand(), zeros);
  return success();
}

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(addForEmptySum);
}

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

/// A transposed operand is read transposed.
static LogicalResult absorbTransposes(ContractOp op,
                                      PatternRewriter &rewriter) {
  auto matrixBehind = [](Value operand) -> Value {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    return transpose && swapsMatrices(transpose.getPermutation())
               ? transpose.getOperand()
               : Value();
  };
  Value lhs = matrixBehind(op.getLhs()), rhs = matrixBehind(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (lhs) {
      op.getLhsMutable().assign(lhs);
      op.setTransposeLhs(!op.getTransposeLhs());
    }
    if (rhs) {
      op.getRhsMutable().assign(rhs);
      op.setTransposeRhs(!op.getTransposeRhs());
    }
  });
  return success();
}

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  patterns.add(absorbTransposes);
}
