//===- MovementOps.cpp - Data movement and shapes -------------------------===//

#include "wok/IR/WokOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace wok;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static int64_t numDynamic(ArrayRef<int64_t> extents) {
  return llvm::count_if(extents, ShapedType::isDynamic);
}

static LogicalResult verifyExtents(Operation *op, ValueRange extents,
                                   RankedTensorType result) {
  int64_t expected = result.getNumDynamicDims();
  if (int64_t(extents.size()) != expected)
    return op->emitOpError("has ")
           << extents.size() << " extents, but its result has " << expected
           << " dynamic ones";
  return success();
}

static LogicalResult verifySameElements(Operation *op, RankedTensorType lhs,
                                        RankedTensorType rhs) {
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError(
        "operand and result must have the same element type");
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim,
                               RankedTensorType type) {
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError("dim must be a dimension of ")
           << type << ", but is " << dim;
  return success();
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifySameElements(*this, from, to))) // C1
    return failure();
  if (failed(verifyExtents(*this, getExtents(), to))) // C2
    return failure();
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements()) // C3
    return emitOpError("cannot make ")
           << to.getNumElements() << " elements of " << from.getNumElements();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType from = getOperand().getType(), to = getType();
  // With one `?` the number of elements says that the extents are equal.
  if (from == to && to.getNumDynamicDims() <= 1 &&
      !llvm::is_contained(to.getShape(), 0))
    return getOperand();
  if (auto elements =
          dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand()))
    if (to.hasStaticShape())
      return elements.reshape(to);
  return {};
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

/// Whether `permutation` holds each of 0, 1, .. once.
static bool isPermutationOfDims(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int64_t>(0, sorted.size()));
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            TransposeOp::Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (!type || int64_t(permutation.size()) != type.getRank() ||
      !isPermutationOfDims(permutation)) // C1
    return emitOptionalError(
        loc, "permutation must permute the operand's dimensions");
  SmallVector<int64_t> extents;
  for (int64_t dim : permutation)
    extents.push_back(type.getDimSize(dim));
  results.push_back(
      RankedTensorType::get(extents, type.getElementType())); // C2
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(),
                  llvm::seq<int64_t>(0, getPermutation().size())))
    return getOperand();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand()))
    return splat.resizeSplat(getType());
  // A transpose of a transpose is one transpose.
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : getPermutation())
      composed.push_back(inner.getPermutation()[dim]);
    setPermutation(composed);
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifySameElements(*this, from, to))) // C1
    return failure();
  if (failed(verifyExtents(*this, getExtents(), to))) // C2
    return failure();
  if (int64_t(getDims().size()) != from.getRank()) // C3
    return emitOpError("dims must have one entry for each of the operand's ")
           << from.getRank() << " dimensions";
  int64_t previous = -1;
  for (auto [dim, extent] : llvm::zip(getDims(), from.getShape())) {
    if (dim <= previous || dim >= to.getRank()) // C4
      return emitOpError("dims must be increasing dimensions of the result");
    previous = dim;
    if (ShapedType::isDynamic(extent) || extent == 1)
      continue;
    if (to.getDimSize(dim) != extent) // C5
      return emitOpError("cannot broadcast an extent of ")
             << extent << " along dimension " << dim << " of " << to;
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  // Nothing is repeated where the types are equal and static, or `?` meets `?`.
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand()))
    if (getType().hasStaticShape())
      return splat.resizeSplat(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank()) // C1
    return emitOpError(
        "operand and result must have the same element type and rank");
  size_t rank = from.getRank();
  if (getOffsets().size() != rank || getSizes().size() != rank ||
      getStrides().size() != rank) // C2
    return emitOpError(
               "offsets, sizes and strides must have one entry for each of ")
           << rank << " dimensions";
  int64_t expected = numDynamic(getOffsets()) + numDynamic(getSizes());
  if (int64_t(getDynamic().size()) != expected) // C3
    return emitOpError("has ")
           << getDynamic().size() << " dynamic entries, but needs " << expected;
  if (llvm::is_contained(getStrides(), 0)) // C4
    return emitOpError("strides must not be 0");
  if (getSizes() != to.getShape()) // C5
    return emitOpError("sizes must be the extents of the result");
  for (size_t i = 0; i < rank; ++i) {
    int64_t offset = getOffsets()[i], size = getSizes()[i],
            extent = from.getDimSize(i);
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
        size == 0)
      continue;
    // Bounds that do not depend on the extent hold with any; a product cannot
    // be wrong by wrapping.
    int64_t span, last;
    if (llvm::MulOverflow(size - 1, getStrides()[i], span) ||
        llvm::AddOverflow(offset, span, last) || offset < 0 || last < 0 ||
        (!ShapedType::isDynamic(extent) &&
         (offset >= extent || last >= extent))) // C6
      return emitOpError("reads outside dimension ") << i << " of the operand";
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && getType().hasStaticShape() &&
      llvm::all_of(getOffsets(), [](int64_t offset) { return offset == 0; }) &&
      llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; }))
    return getOperand();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand()))
    if (getType().hasStaticShape())
      return splat.resizeSplat(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      PadOp::Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  auto value = dyn_cast<RankedTensorType>(adaptor.getValue().getType());
  if (!type || !value || value.getRank() != 0 ||
      value.getElementType() != type.getElementType()) // C1
    return emitOptionalError(
        loc, "value must have rank 0 and the operand's element type");
  auto isBad = [](int64_t count) { return count < 0; };
  size_t rank = type.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank ||
      llvm::any_of(adaptor.getLow(), isBad) ||
      llvm::any_of(adaptor.getHigh(), isBad)) // C2
    return emitOptionalError(
        loc,
        "low and high must have one entry for each dimension, not negative");
  SmallVector<int64_t> extents(type.getShape());
  for (size_t i = 0; i < rank; ++i)
    if (!ShapedType::isDynamic(extents[i]))
      if (llvm::AddOverflow(extents[i], adaptor.getLow()[i], extents[i]) ||
          llvm::AddOverflow(extents[i], adaptor.getHigh()[i], extents[i]))
        return emitOptionalError(loc, "dimension ", i, " becomes too large");
  results.push_back(
      RankedTensorType::get(extents, type.getElementType())); // C3
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t count) { return count == 0; };
  if (llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero))
    return getOperand();
  return {};
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         ConcatOp::Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  if (adaptor.getOperands().empty()) // C1
    return emitOptionalError(loc, "needs at least one operand");
  auto first = dyn_cast<RankedTensorType>(adaptor.getOperands()[0].getType());
  if (!first)
    return emitOptionalError(loc, "operands must be ranked tensors");
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank()) // C3
    return emitOptionalError(loc,
                             "dim must be a dimension of the operands, but ",
                             dim, " is not one of ", first.getRank());
  SmallVector<int64_t> extents(first.getShape());
  for (Value operand : adaptor.getOperands().drop_front()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getElementType() != first.getElementType() ||
        type.getRank() != first.getRank()) // C2
      return emitOptionalError(
          loc, "operands must have the same element type and rank");
    for (auto [i, extent] : llvm::enumerate(type.getShape())) {
      bool isDynamic = ShapedType::isDynamic(extent);
      if (int64_t(i) == dim) {
        if (isDynamic || ShapedType::isDynamic(extents[i]))
          extents[i] = ShapedType::kDynamic; // C5
        else if (llvm::AddOverflow(extents[i], extent, extents[i]))
          return emitOptionalError(loc, "dimension ", i, " becomes too large");
      } else if (ShapedType::isDynamic(extents[i])) {
        extents[i] = extent;
      } else if (!isDynamic && extent != extents[i]) { // C4
        return emitOptionalError(loc, "operands differ in dimension ", i, ": ",
                                 extents[i], " and ", extent);
      }
    }
  }
  results.push_back(RankedTensorType::get(extents, first.getElementType()));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getOperands().size() == 1)
    return getOperands().front();
  return {};
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         GatherOp::Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  if (!type || !indices)
    return emitOptionalError(loc, "operands must be ranked tensors");
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= type.getRank()) // C2
    return emitOptionalError(loc,
                             "dim must be a dimension of the operand, but ",
                             dim, " is not one of ", type.getRank());
  SmallVector<int64_t> extents(type.getShape().take_front(dim));
  llvm::append_range(extents, indices.getShape());
  llvm::append_range(extents, type.getShape().drop_front(dim + 1));
  results.push_back(
      RankedTensorType::get(extents, type.getElementType())); // C3
  return success();
}

/// Whether every index is known to be one of the operand.
static bool isInRange(GatherOp gather) {
  int64_t extent = gather.getOperand().getType().getDimSize(gather.getDim());
  DenseIntElementsAttr indices;
  return ShapedType::isStatic(extent) &&
         matchPattern(gather.getIndices(), m_Constant(&indices)) &&
         llvm::all_of(indices.getValues<APInt>(), [&](const APInt &index) {
           return index.getSExtValue() >= 0 && index.getSExtValue() < extent;
         });
}

bool wok::canFault(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return elementwise.canFault();
  auto gather = dyn_cast<GatherOp>(op);
  return gather && !isInRange(gather);
}

//===----------------------------------------------------------------------===//
// IotaOp, ConstantOp, DimOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  if (failed(verifyExtents(*this, getExtents(), getType()))) // C2
    return failure();
  return verifyDim(*this, getDim(), getType()); // C3
}

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr>(getValue())) // C1
    return emitOpError("value must be dense");
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult DimOp::verify() {
  return verifyDim(*this, getDim(), getOperand().getType()); // C1
}

/// The operand of `extents` that gives the dynamic dimension `dim` of `type`.
static Value extentOperand(ValueRange extents, RankedTensorType type,
                           int64_t dim) {
  return extents[numDynamic(type.getShape().take_front(dim))];
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  RankedTensorType type = getOperand().getType();
  int64_t dim = getDim();
  if (!type.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(getContext()), type.getDimSize(dim));

  Operation *op = getOperand().getDefiningOp();
  if (!op)
    return {};
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return extentOperand(reshape.getExtents(), type, dim);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return extentOperand(broadcast.getExtents(), type, dim);
  if (auto iota = dyn_cast<IotaOp>(op))
    return extentOperand(iota.getExtents(), type, dim);
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getDynamic()[numDynamic(slice.getOffsets()) +
                              numDynamic(slice.getSizes().take_front(dim))];

  // Elsewhere the extent is an operand's: read it there.
  auto redirect = [&](Value operand, int64_t operandDim) -> OpFoldResult {
    setOperand(operand);
    setDim(operandDim);
    return getResult();
  };
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return redirect(transpose.getOperand(), transpose.getPermutation()[dim]);
  if (isa<ElementwiseOpInterface>(op))
    return redirect(op->getOperand(op->getNumOperands() - 1), dim);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    for (int64_t reduced : reduce.getDims())
      dim += reduced <= dim;
    return redirect(reduce.getOperand(), dim);
  }
  if (auto reduce = dyn_cast<ArgReduceOp>(op))
    return redirect(reduce.getOperand(),
                    dim + (int64_t(reduce.getDim()) <= dim));
  return {};
}
