//===- Scalar.cpp - Building blocks of single elements --------------------===//

#include "wok/IR/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "wok/IR/Types.h"

using namespace mlir;
using namespace wok;

/// `elementType`, as a vector if `like` is one.
static Type withShapeOf(Type like, Type elementType) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(elementType);
  return elementType;
}

static Value constantOf(OpBuilder &builder, Location loc, Type type,
                        TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, ArrayRef<Attribute>(element));
  return arith::ConstantOp::create(builder, loc, element);
}

Value wok::buildConstant(OpBuilder &builder, Location loc, Type type,
                         double value) {
  return constantOf(builder, loc, type,
                    builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value wok::buildConstant(OpBuilder &builder, Location loc, Type type,
                         int64_t value) {
  Type element = getElementTypeOrSelf(type);
  APInt bits(element.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
             /*implicitTrunc=*/true);
  return constantOf(builder, loc, type, builder.getIntegerAttr(element, bits));
}

Value wok::buildRound(OpBuilder &builder, Location loc, Value value,
                      Type elementType) {
  if (!elementType.isF16() && !elementType.isBF16())
    return value;
  Type narrow = withShapeOf(value.getType(), elementType);
  Value rounded = arith::TruncFOp::create(builder, loc, narrow, value);
  return arith::ExtFOp::create(builder, loc, value.getType(), rounded);
}

/// Float to integer. `arith.fptosi` is poison out of range; what eager gives
/// there is what the x86 instructions give: the least integer of 32 or 64 bits.
static Value floatToInteger(OpBuilder &builder, Location loc, Value value,
                            Type to) {
  Type wide = to.getIntOrFloatBitWidth() == 64 ? to : builder.getI32Type();
  unsigned width = wide.getIntOrFloatBitWidth();
  Type wideType = withShapeOf(value.getType(), wide);
  Value magnitude = math::AbsFOp::create(builder, loc, value);
  Value limit =
      buildConstant(builder, loc, value.getType(), std::ldexp(1.0, width - 1));
  Value fits = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                     magnitude, limit);
  Value converted = arith::FPToSIOp::create(builder, loc, wideType, value);
  Value least = buildConstant(builder, loc, wideType,
                              int64_t(uint64_t(-1) << (width - 1)));
  Value result = arith::SelectOp::create(builder, loc, fits, converted, least);
  if (wide == to)
    return result;
  return arith::TruncIOp::create(builder, loc, withShapeOf(value.getType(), to),
                                 result);
}

Value wok::buildCast(OpBuilder &builder, Location loc, Value value, Type from,
                     Type to) {
  Type source = computeType(from), target = computeType(to);
  Type type = withShapeOf(value.getType(), target);
  bool isUnsigned = from.isInteger(1) || from.isUnsignedInteger();

  if (to.isInteger(1)) {
    if (from == to)
      return value;
    return buildCompare(
        builder, loc, ComparePredicate::Ne, value,
        isa<FloatType>(source)
            ? buildConstant(builder, loc, value.getType(), 0.0)
            : buildConstant(builder, loc, value.getType(), int64_t(0)),
        from);
  }
  if (source == target)
    return value;
  if (isa<FloatType>(source)) {
    if (!isa<FloatType>(target))
      return floatToInteger(builder, loc, value, target);
    if (source.getIntOrFloatBitWidth() < target.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::TruncFOp::create(builder, loc, type, value);
  }
  if (isa<FloatType>(target)) {
    if (isUnsigned)
      return arith::UIToFPOp::create(builder, loc, type, value);
    return arith::SIToFPOp::create(builder, loc, type, value);
  }
  if (source.getIntOrFloatBitWidth() > target.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

Value wok::buildCompare(OpBuilder &builder, Location loc,
                        ComparePredicate predicate, Value lhs, Value rhs,
                        Type elementType) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // In the order of ComparePredicate.
  constexpr F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  constexpr I signedIntegers[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  constexpr I unsignedIntegers[] = {I::eq,  I::ne,  I::ult,
                                    I::ule, I::ugt, I::uge};
  auto index = static_cast<uint32_t>(predicate);
  if (isa<FloatType>(elementType))
    return arith::CmpFOp::create(builder, loc, floats[index], lhs, rhs);
  bool isUnsigned = elementType.isInteger(1) || elementType.isUnsignedInteger();
  return arith::CmpIOp::create(
      builder, loc,
      isUnsigned ? unsignedIntegers[index] : signedIntegers[index], lhs, rhs);
}

/// The first of equal values, and NaN if either is NaN. Folds to one compare
/// and select where `rhs` is a constant, unlike `arith.maximumf`, which also
/// orders the zeros.
static Value extremum(OpBuilder &builder, Location loc, bool greatest,
                      Value lhs, Value rhs, Type elementType) {
  Value takeRhs = buildCompare(
      builder, loc, greatest ? ComparePredicate::Lt : ComparePredicate::Gt, lhs,
      rhs, elementType);
  Value result = arith::SelectOp::create(builder, loc, takeRhs, rhs, lhs);
  if (!isa<FloatType>(elementType))
    return result;
  Value isNan =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, rhs, rhs);
  return arith::SelectOp::create(builder, loc, isNan, rhs, result);
}

Value wok::buildCombine(OpBuilder &builder, Location loc, ReduceKind kind,
                        Value lhs, Value rhs, Type elementType) {
  bool isFloat = isa<FloatType>(elementType);
  switch (kind) {
  case ReduceKind::Sum:
    if (isFloat)
      return arith::AddFOp::create(builder, loc, lhs, rhs);
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Prod:
    if (isFloat)
      return arith::MulFOp::create(builder, loc, lhs, rhs);
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Min:
    return extremum(builder, loc, /*greatest=*/false, lhs, rhs, elementType);
  case ReduceKind::Max:
    return extremum(builder, loc, /*greatest=*/true, lhs, rhs, elementType);
  case ReduceKind::Any:
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  case ReduceKind::All:
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("not a kind of reduction");
}

Value wok::buildNeutral(OpBuilder &builder, Location loc, ReduceKind kind,
                        Type type, Type elementType) {
  if (isa<FloatType>(elementType)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double value = kind == ReduceKind::Sum    ? 0.0
                   : kind == ReduceKind::Prod ? 1.0
                   : kind == ReduceKind::Min  ? infinity
                                              : -infinity;
    return buildConstant(builder, loc, type, value);
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger();
  APInt value(width, 0);
  if (kind == ReduceKind::Prod || kind == ReduceKind::All)
    value = APInt(width, 1);
  else if (kind == ReduceKind::Min)
    value = isUnsigned ? APInt::getMaxValue(width)
                       : APInt::getSignedMaxValue(width);
  else if (kind == ReduceKind::Max)
    value = isUnsigned ? APInt::getMinValue(width)
                       : APInt::getSignedMinValue(width);
  return buildConstant(builder, loc, type, value.getSExtValue());
}
