//===- ElementwiseOps.cpp - Scalar forms of elementwise operations --------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "wok/IR/Scalar.h"
#include "wok/IR/Types.h"

using namespace mlir;
using namespace wok;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The element type of the tensors an operation computes on.
static Type elementTypeOf(Value tensor) {
  return getElementTypeOrSelf(tensor.getType());
}

static Value select(OpBuilder &b, Location loc, Value condition, Value onTrue,
                    Value onFalse) {
  return arith::SelectOp::create(b, loc, condition, onTrue, onFalse);
}

static Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate predicate,
                     Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
}

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

static Value isZero(OpBuilder &b, Location loc, Value value) {
  Value zero = buildConstant(b, loc, value.getType(), int64_t(0));
  return compare(b, loc, arith::CmpIPredicate::eq, value, zero);
}

/// An operation with one form on floats and one on integers.
template <typename FloatOp, typename IntegerOp>
static Value either(OpBuilder &b, Location loc, Type elementType,
                    ValueRange x) {
  if (isa<FloatType>(elementType))
    return FloatOp::create(b, loc, x[0], x[1]);
  return IntegerOp::create(b, loc, x[0], x[1]);
}

namespace {
/// Integer division that never traps. A zero divisor gives anything; the least
/// integer by -1 wraps.
struct GuardedDivision {
  GuardedDivision(OpBuilder &b, Location loc, Type elementType, ValueRange x) {
    Value one = buildConstant(b, loc, x[0].getType(), int64_t(1));
    Value zero = buildConstant(b, loc, x[0].getType(), int64_t(0));
    Value divisor = select(b, loc, isZero(b, loc, x[1]), one, x[1]);
    if (elementType.isUnsignedInteger()) {
      quotient = arith::DivUIOp::create(b, loc, x[0], divisor);
      remainder = arith::RemUIOp::create(b, loc, x[0], divisor);
      return;
    }
    Value minusOne = buildConstant(b, loc, x[0].getType(), int64_t(-1));
    Value negates =
        compare(b, loc, arith::CmpIPredicate::eq, divisor, minusOne);
    divisor = select(b, loc, negates, one, divisor);
    Value negated = arith::SubIOp::create(b, loc, zero, x[0]);
    quotient = select(b, loc, negates, negated,
                      arith::DivSIOp::create(b, loc, x[0], divisor));
    // By -1 as by 1: nothing remains.
    remainder = arith::RemSIOp::create(b, loc, x[0], divisor);
  }
  Value quotient, remainder;
};
} // namespace

/// Whether `remainder` is not zero and its sign is not the divisor's: where
/// Python's division and C's differ.
static Value needsCorrection(OpBuilder &b, Location loc, Type elementType,
                             Value remainder, Value divisor) {
  Value notZero, remainderNegative, divisorNegative;
  if (isa<FloatType>(elementType)) {
    Value zero = buildConstant(b, loc, divisor.getType(), 0.0);
    notZero = compare(b, loc, arith::CmpFPredicate::UNE, remainder, zero);
    remainderNegative =
        compare(b, loc, arith::CmpFPredicate::OLT, remainder, zero);
    divisorNegative = compare(b, loc, arith::CmpFPredicate::OLT, divisor, zero);
  } else {
    Value zero = buildConstant(b, loc, divisor.getType(), int64_t(0));
    notZero = compare(b, loc, arith::CmpIPredicate::ne, remainder, zero);
    remainderNegative =
        compare(b, loc, arith::CmpIPredicate::slt, remainder, zero);
    divisorNegative = compare(b, loc, arith::CmpIPredicate::slt, divisor, zero);
  }
  Value differ =
      arith::XOrIOp::create(b, loc, remainderNegative, divisorNegative);
  return arith::AndIOp::create(b, loc, notZero, differ);
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Value NegOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  if (isa<FloatType>(elementTypeOf(getOperand())))
    return arith::NegFOp::create(b, loc, x[0]);
  return arith::SubIOp::create(
      b, loc, buildConstant(b, loc, x[0].getType(), int64_t(0)), x[0]);
}

Value AbsOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getOperand());
  if (isa<FloatType>(element))
    return math::AbsFOp::create(b, loc, x[0]);
  if (element.isUnsignedInteger())
    return x[0];
  Value zero = buildConstant(b, loc, x[0].getType(), int64_t(0));
  return arith::MaxSIOp::create(b, loc, x[0],
                                arith::SubIOp::create(b, loc, zero, x[0]));
}

Value SignOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getOperand()), type = x[0].getType();
  auto constant = [&](int value) {
    return isa<FloatType>(element)
               ? buildConstant(b, loc, type, double(value))
               : buildConstant(b, loc, type, int64_t(value));
  };
  Value zero = constant(0);
  Value positive =
      buildCompare(b, loc, ComparePredicate::Gt, x[0], zero, element);
  Value negative =
      buildCompare(b, loc, ComparePredicate::Lt, x[0], zero, element);
  return select(b, loc, positive, constant(1),
                select(b, loc, negative, constant(-1), zero));
}

Value NotOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return arith::XOrIOp::create(
      b, loc, x[0], buildConstant(b, loc, x[0].getType(), int64_t(-1)));
}

Value ExpOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::ExpOp::create(b, loc, x[0]);
}
Value Exp2Op::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::Exp2Op::create(b, loc, x[0]);
}
Value Expm1Op::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::ExpM1Op::create(b, loc, x[0]);
}
Value LogOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::LogOp::create(b, loc, x[0]);
}
Value Log2Op::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::Log2Op::create(b, loc, x[0]);
}
Value Log10Op::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::Log10Op::create(b, loc, x[0]);
}
Value Log1pOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::Log1pOp::create(b, loc, x[0]);
}
Value SqrtOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::SqrtOp::create(b, loc, x[0]);
}
Value RsqrtOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Value one = buildConstant(b, loc, x[0].getType(), 1.0);
  return arith::DivFOp::create(b, loc, one, math::SqrtOp::create(b, loc, x[0]));
}
Value SinOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::SinOp::create(b, loc, x[0]);
}
Value CosOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::CosOp::create(b, loc, x[0]);
}
Value TanOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::TanOp::create(b, loc, x[0]);
}
Value TanhOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::TanhOp::create(b, loc, x[0]);
}
Value ErfOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::ErfOp::create(b, loc, x[0]);
}
Value SigmoidOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Value one = buildConstant(b, loc, x[0].getType(), 1.0);
  Value exp = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x[0]));
  return arith::DivFOp::create(b, loc, one,
                               arith::AddFOp::create(b, loc, one, exp));
}
Value FloorOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::FloorOp::create(b, loc, x[0]);
}
Value CeilOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::CeilOp::create(b, loc, x[0]);
}
Value RoundOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::RoundEvenOp::create(b, loc, x[0]);
}
Value TruncOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::TruncOp::create(b, loc, x[0]);
}
Value IsNanOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return compare(b, loc, arith::CmpFPredicate::UNO, x[0], x[0]);
}
Value CastOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return buildCast(b, loc, x[0], elementTypeOf(getOperand()),
                   elementTypeOf(getResult()));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Value AddOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return either<arith::AddFOp, arith::AddIOp>(b, loc, elementTypeOf(getLhs()),
                                              x);
}
Value SubOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return either<arith::SubFOp, arith::SubIOp>(b, loc, elementTypeOf(getLhs()),
                                              x);
}
Value MulOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return either<arith::MulFOp, arith::MulIOp>(b, loc, elementTypeOf(getLhs()),
                                              x);
}

Value DivOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs());
  if (isa<FloatType>(element))
    return arith::DivFOp::create(b, loc, x[0], x[1]);
  return GuardedDivision(b, loc, element, x).quotient;
}

Value FmodOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs());
  if (isa<FloatType>(element))
    return arith::RemFOp::create(b, loc, x[0], x[1]);
  return GuardedDivision(b, loc, element, x).remainder;
}

Value RemainderOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs());
  bool isFloat = isa<FloatType>(element);
  Value remainder = isFloat
                        ? arith::RemFOp::create(b, loc, x[0], x[1]).getResult()
                        : GuardedDivision(b, loc, element, x).remainder;
  if (element.isUnsignedInteger())
    return remainder;
  Value corrected =
      either<arith::AddFOp, arith::AddIOp>(b, loc, element, {remainder, x[1]});
  Value correct = needsCorrection(b, loc, element, remainder, x[1]);
  return select(b, loc, correct, corrected, remainder);
}

static Value integerFloorDiv(OpBuilder &b, Location loc, Type element,
                             ValueRange x) {
  GuardedDivision division(b, loc, element, x);
  if (element.isUnsignedInteger())
    return division.quotient;
  Value one = buildConstant(b, loc, x[0].getType(), int64_t(1));
  Value lower = arith::SubIOp::create(b, loc, division.quotient, one);
  Value correct = needsCorrection(b, loc, element, division.remainder, x[1]);
  return select(b, loc, correct, lower, division.quotient);
}

Value FloorDivOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs()), type = x[0].getType();
  if (!isa<FloatType>(element))
    return integerFloorDiv(b, loc, element, x);
  Value zero = buildConstant(b, loc, type, 0.0);
  Value one = buildConstant(b, loc, type, 1.0);
  Value half = buildConstant(b, loc, type, 0.5);
  Value ratio = arith::DivFOp::create(b, loc, x[0], x[1]);
  Value rest = arith::RemFOp::create(b, loc, x[0], x[1]);
  Value quotient = arith::DivFOp::create(
      b, loc, arith::SubFOp::create(b, loc, x[0], rest), x[1]);
  Value lower = arith::SubFOp::create(b, loc, quotient, one);
  quotient = select(b, loc, needsCorrection(b, loc, element, rest, x[1]), lower,
                    quotient);
  // The quotient is whole but for its rounding: take the nearest whole number.
  Value floor = math::FloorOp::create(b, loc, quotient);
  Value above = compare(b, loc, arith::CmpFPredicate::OGT,
                        arith::SubFOp::create(b, loc, quotient, floor), half);
  Value result =
      select(b, loc, above, arith::AddFOp::create(b, loc, floor, one), floor);
  Value quotientIsZero =
      compare(b, loc, arith::CmpFPredicate::OEQ, quotient, zero);
  Value signedZero = math::CopySignOp::create(b, loc, zero, ratio);
  result = select(b, loc, quotientIsZero, signedZero, result);
  Value divisorIsZero = compare(b, loc, arith::CmpFPredicate::OEQ, x[1], zero);
  return select(b, loc, divisorIsZero, ratio, result);
}

/// An integer division faults on a zero divisor; a float division does not.
static bool divisionCanFault(Value divisor) {
  if (isa<FloatType>(elementTypeOf(divisor)))
    return false;
  while (auto broadcast = divisor.getDefiningOp<BroadcastOp>())
    divisor = broadcast.getOperand();
  DenseIntElementsAttr known;
  return !matchPattern(divisor, m_Constant(&known)) ||
         llvm::any_of(known.getValues<APInt>(),
                      [](const APInt &value) { return value.isZero(); });
}

bool DivOp::canFault() { return divisionCanFault(getRhs()); }
bool FmodOp::canFault() { return divisionCanFault(getRhs()); }
bool RemainderOp::canFault() { return divisionCanFault(getRhs()); }
bool FloorDivOp::canFault() { return divisionCanFault(getRhs()); }

Value DivOp::buildFault(OpBuilder &b, Location loc, ValueRange x) {
  return isZero(b, loc, x[1]);
}
Value FmodOp::buildFault(OpBuilder &b, Location loc, ValueRange x) {
  return isZero(b, loc, x[1]);
}
Value RemainderOp::buildFault(OpBuilder &b, Location loc, ValueRange x) {
  return isZero(b, loc, x[1]);
}
Value FloorDivOp::buildFault(OpBuilder &b, Location loc, ValueRange x) {
  return isZero(b, loc, x[1]);
}

/// By squaring, one step for each bit of the exponent: lanes cannot loop for
/// themselves.
static Value integerPow(OpBuilder &b, Location loc, Type element, Value base,
                        Value exponent) {
  Type type = base.getType();
  bool isSigned = !element.isUnsignedInteger();
  unsigned bits = element.getIntOrFloatBitWidth() - isSigned;
  auto constant = [&](int64_t value) {
    return buildConstant(b, loc, type, value);
  };
  auto equals = [&](Value value, int64_t other) {
    return compare(b, loc, arith::CmpIPredicate::eq, value, constant(other));
  };
  Value zero = constant(0), one = constant(1);
  Value result = one, power = base, rest = exponent;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value odd = compare(b, loc, arith::CmpIPredicate::ne,
                        arith::AndIOp::create(b, loc, rest, one), zero);
    result = select(b, loc, odd, arith::MulIOp::create(b, loc, result, power),
                    result);
    power = arith::MulIOp::create(b, loc, power, power);
    rest = arith::ShRUIOp::create(b, loc, rest, one);
  }
  if (!isSigned)
    return result;
  Value isOdd = compare(b, loc, arith::CmpIPredicate::ne,
                        arith::AndIOp::create(b, loc, exponent, one), zero);
  Value ofMinusOne = select(b, loc, isOdd, constant(-1), one);
  Value reciprocal = select(b, loc, equals(base, 1), one,
                            select(b, loc, equals(base, -1), ofMinusOne, zero));
  Value negative = compare(b, loc, arith::CmpIPredicate::slt, exponent, zero);
  return select(b, loc, negative, reciprocal, result);
}

Value PowOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs());
  if (isa<FloatType>(element))
    return math::PowFOp::create(b, loc, x[0], x[1]);
  return integerPow(b, loc, element, x[0], x[1]);
}

Value MinOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return buildCombine(b, loc, ReduceKind::Min, x[0], x[1],
                      elementTypeOf(getLhs()));
}
Value MaxOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return buildCombine(b, loc, ReduceKind::Max, x[0], x[1],
                      elementTypeOf(getLhs()));
}
Value AndOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return arith::AndIOp::create(b, loc, x[0], x[1]);
}
Value OrOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return arith::OrIOp::create(b, loc, x[0], x[1]);
}
Value XorOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return arith::XOrIOp::create(b, loc, x[0], x[1]);
}

/// Whether a shift distance is one that the hardware's shifts define. A
/// negative one is a large unsigned one.
static Value distanceFits(OpBuilder &b, Location loc, Value distance) {
  int64_t width =
      getElementTypeOrSelf(distance.getType()).getIntOrFloatBitWidth();
  Value limit = buildConstant(b, loc, distance.getType(), width);
  return compare(b, loc, arith::CmpIPredicate::ult, distance, limit);
}

Value ShlOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Value zero = buildConstant(b, loc, x[0].getType(), int64_t(0));
  Value shifted = arith::ShLIOp::create(b, loc, x[0], x[1]);
  return select(b, loc, distanceFits(b, loc, x[1]), shifted, zero);
}

Value ShrOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  Type element = elementTypeOf(getLhs());
  Value fits = distanceFits(b, loc, x[1]);
  if (element.isUnsignedInteger()) {
    Value zero = buildConstant(b, loc, x[0].getType(), int64_t(0));
    return select(b, loc, fits, arith::ShRUIOp::create(b, loc, x[0], x[1]),
                  zero);
  }
  Value most = buildConstant(b, loc, x[1].getType(),
                             int64_t(element.getIntOrFloatBitWidth()) - 1);
  return arith::ShRSIOp::create(b, loc, x[0], select(b, loc, fits, x[1], most));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Value FmaOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return math::FmaOp::create(b, loc, x[0], x[1], x[2]);
}
Value SelectOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return select(b, loc, x[0], x[1], x[2]);
}
Value CompareOp::buildScalar(OpBuilder &b, Location loc, ValueRange x, Type) {
  return buildCompare(b, loc, getPredicate(), x[0], x[1],
                      elementTypeOf(getLhs()));
}

LogicalResult CastOp::verify() {
  if (getOperand().getType().getShape() !=
      getResult().getType().getShape()) // C1
    return emitOpError("operand and result must have the same shape");
  return success();
}

//===----------------------------------------------------------------------===//
// Folders: exact for every value, NaN and -0.0 included
//===----------------------------------------------------------------------===//

/// Whether every element of `tensor` is the integer `value`.
static bool isIntegerSplat(Value tensor, int64_t value) {
  auto splat = dyn_cast_if_present<IntegerAttr>(getSplat(tensor));
  if (!splat)
    return false;
  APInt bits = splat.getValue();
  return bits == APInt(bits.getBitWidth(), value, /*isSigned=*/true,
                       /*implicitTrunc=*/true);
}

/// Whether every element of `tensor` is the float `value`, with its sign.
static bool isFloatSplat(Value tensor, double value) {
  auto splat = dyn_cast_if_present<FloatAttr>(getSplat(tensor));
  if (!splat)
    return false;
  APFloat expected(value);
  bool losesInfo;
  expected.convert(splat.getValue().getSemantics(),
                   APFloat::rmNearestTiesToEven, &losesInfo);
  return splat.getValue().bitwiseIsEqual(expected);
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult AbsOp::fold(FoldAdaptor) {
  if (getOperand().getDefiningOp<AbsOp>())
    return getOperand();
  if (elementTypeOf(getOperand()).isUnsignedInteger())
    return getOperand();
  return {};
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  // x + -0.0 is x for every x; x + 0.0 is not: it turns -0.0 into 0.0.
  if (isIntegerSplat(getRhs(), 0) || isFloatSplat(getRhs(), -0.0))
    return getLhs();
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  if (isIntegerSplat(getRhs(), 0) || isFloatSplat(getRhs(), 0.0))
    return getLhs();
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isIntegerSplat(getRhs(), 1) || isFloatSplat(getRhs(), 1.0))
    return getLhs();
  if (isIntegerSplat(getRhs(), 0))
    return getRhs();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  if (isIntegerSplat(getRhs(), 1) || isFloatSplat(getRhs(), 1.0))
    return getLhs();
  return {};
}

OpFoldResult AndOp::fold(FoldAdaptor) {
  if (getLhs() == getRhs() || isIntegerSplat(getRhs(), -1))
    return getLhs();
  if (isIntegerSplat(getRhs(), 0))
    return getRhs();
  return {};
}

OpFoldResult OrOp::fold(FoldAdaptor) {
  if (getLhs() == getRhs() || isIntegerSplat(getRhs(), 0))
    return getLhs();
  if (isIntegerSplat(getRhs(), -1))
    return getRhs();
  return {};
}

OpFoldResult XorOp::fold(FoldAdaptor) {
  if (isIntegerSplat(getRhs(), 0))
    return getLhs();
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getOnTrue() == getOnFalse() || isIntegerSplat(getCondition(), 1))
    return getOnTrue();
  if (isIntegerSplat(getCondition(), 0))
    return getOnFalse();
  return {};
}

/// Whether every value of `from` is one of `to`, so that a cast and one back
/// change nothing.
static bool holdsAllOf(Type to, Type from) {
  if (from == to || from.isInteger(1))
    return true;
  if (auto target = dyn_cast<FloatType>(to)) {
    if (auto source = dyn_cast<FloatType>(from))
      return APFloat::isRepresentableBy(source.getFloatSemantics(),
                                        target.getFloatSemantics());
    return from.getIntOrFloatBitWidth() <= target.getFPMantissaWidth();
  }
  if (isa<FloatType>(from) || from.isUnsignedInteger() ||
      to.isUnsignedInteger() || to.isInteger(1))
    return from.isUnsignedInteger() && to.isSignlessInteger() &&
           to.getIntOrFloatBitWidth() > 8;
  return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<CastOp>())
    if (inner.getOperand().getType() == getResult().getType() &&
        holdsAllOf(elementTypeOf(getOperand()), elementTypeOf(getResult())))
      return inner.getOperand();
  return {};
}
