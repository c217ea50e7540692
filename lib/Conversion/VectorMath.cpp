//===- VectorMath.cpp - The operators of VectorMath.h ---------------------===//

#include "VectorMath.h"

#include "TargetIntrinsics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace wok::vecmath;

Value ConstantPool::get(Location loc, TypedAttr value) {
  Value &constant = values[value];
  if (!constant) {
    OpBuilder builder(entry, entry->begin());
    constant = arith::ConstantOp::create(builder, loc, value);
  }
  return constant;
}

static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Emitter::Emitter(OpBuilder &builder, Location loc, Type type,
                 const TargetFeatures &target, ConstantPool &constants)
    : builder(builder), loc(loc), target(target), constants(constants),
      type(type), elementType(getElementTypeOrSelf(type)), laneCount(1) {
  if (auto vector = dyn_cast<VectorType>(type))
    laneCount = vector.getNumElements();
  intType = withElement(
      type, builder.getIntegerType(elementType.getIntOrFloatBitWidth()));
}

static TypedAttr splat(Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(element));
  return element;
}

Float Emitter::fp(double value) {
  return {constants.get(loc, splat(type, FloatAttr::get(elementType, value))),
          this};
}

Pair Emitter::pair(double high, double low) { return {fp(high), fp(low)}; }

Int Emitter::bits(uint64_t value) {
  unsigned width = elementType.getIntOrFloatBitWidth();
  auto attr = IntegerAttr::get(
      builder.getIntegerType(width),
      APInt(width, value, /*isSigned=*/false, /*implicitTrunc=*/true));
  return {constants.get(loc, splat(intType, attr)), this};
}

namespace wok::vecmath {

template <class Op, class Operand>
static Operand binary(Operand a, Operand b) {
  Emitter &e = *a.emitter;
  return {Op::create(e.builder, e.loc, a.value, b.value).getResult(), &e};
}

Float operator+(Float a, Float b) { return binary<arith::AddFOp>(a, b); }
Float operator-(Float a, Float b) { return binary<arith::SubFOp>(a, b); }
Float operator*(Float a, Float b) { return binary<arith::MulFOp>(a, b); }
Float operator/(Float a, Float b) { return binary<arith::DivFOp>(a, b); }
Float operator-(Float a) {
  Emitter &e = *a.emitter;
  return {arith::NegFOp::create(e.builder, e.loc, a.value).getResult(), &e};
}
Float fma(Float a, Float b, Float c) {
  Emitter &e = *a.emitter;
  return {math::FmaOp::create(e.builder, e.loc, a.value, b.value, c.value)
              .getResult(),
          &e};
}

static Bool compare(arith::CmpFPredicate predicate, Float a, Float b) {
  Emitter &e = *a.emitter;
  return {arith::CmpFOp::create(e.builder, e.loc, predicate, a.value, b.value)
              .getResult(),
          &e};
}
Bool operator<(Float a, Float b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Bool operator>(Float a, Float b) {
  return compare(arith::CmpFPredicate::OGT, a, b);
}
Bool operator<=(Float a, Float b) {
  return compare(arith::CmpFPredicate::OLE, a, b);
}
Bool operator>=(Float a, Float b) {
  return compare(arith::CmpFPredicate::OGE, a, b);
}
Bool operator==(Float a, Float b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Bool isNan(Float a) { return compare(arith::CmpFPredicate::UNO, a, a); }

Int operator+(Int a, Int b) { return binary<arith::AddIOp>(a, b); }
Int operator-(Int a, Int b) { return binary<arith::SubIOp>(a, b); }
Int operator&(Int a, Int b) { return binary<arith::AndIOp>(a, b); }
Int operator|(Int a, Int b) { return binary<arith::OrIOp>(a, b); }
Int operator^(Int a, Int b) { return binary<arith::XOrIOp>(a, b); }
Int operator<<(Int a, unsigned amount) {
  return binary<arith::ShLIOp>(a, a.emitter->bits(amount));
}
Int operator>>(Int a, unsigned amount) {
  return binary<arith::ShRSIOp>(a, a.emitter->bits(amount));
}
Int shiftRightLogical(Int a, unsigned amount) {
  return binary<arith::ShRUIOp>(a, a.emitter->bits(amount));
}

static Bool compare(arith::CmpIPredicate predicate, Int a, Int b) {
  Emitter &e = *a.emitter;
  return {arith::CmpIOp::create(e.builder, e.loc, predicate, a.value, b.value)
              .getResult(),
          &e};
}
Bool operator<(Int a, Int b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}
Bool operator==(Int a, Int b) {
  return compare(arith::CmpIPredicate::eq, a, b);
}

Bool operator&(Bool a, Bool b) { return binary<arith::AndIOp>(a, b); }
Bool operator|(Bool a, Bool b) { return binary<arith::OrIOp>(a, b); }
Bool operator~(Bool a) {
  Emitter &e = *a.emitter;
  TypedAttr ones = splat(a.value.getType(), e.builder.getBoolAttr(true));
  return binary<arith::XOrIOp>(a, Bool{e.constants.get(e.loc, ones), &e});
}

template <class Operand>
static Operand selectImpl(Bool condition, Operand a, Operand b) {
  Emitter &e = *a.emitter;
  return {arith::SelectOp::create(e.builder, e.loc, condition.value, a.value,
                                  b.value)
              .getResult(),
          &e};
}
Float select(Bool condition, Float a, Float b) {
  return selectImpl(condition, a, b);
}
Int select(Bool condition, Int a, Int b) { return selectImpl(condition, a, b); }

Int asInt(Float a) {
  Emitter &e = *a.emitter;
  return {arith::BitcastOp::create(e.builder, e.loc, e.intType, a.value)
              .getResult(),
          &e};
}
Float asFloat(Int a) {
  Emitter &e = *a.emitter;
  return {
      arith::BitcastOp::create(e.builder, e.loc, e.type, a.value).getResult(),
      &e};
}
Float toFloat(Int a) {
  Emitter &e = *a.emitter;
  return {
      arith::SIToFPOp::create(e.builder, e.loc, e.type, a.value).getResult(),
      &e};
}

Float roundEven(Float a) {
  Emitter &e = *a.emitter;
  return {math::RoundEvenOp::create(e.builder, e.loc, a.value).getResult(), &e};
}

static uint64_t signMask(const Emitter &e) {
  return e.isDouble() ? uint64_t(1) << 63 : uint64_t(1) << 31;
}

Float abs(Float a) { return asFloat(asInt(a) & (signMask(*a.emitter) - 1)); }
Float orSign(Float magnitude, Float sign) {
  return asFloat(asInt(magnitude) | (asInt(sign) & signMask(*sign.emitter)));
}
Float clampLow(Float a, double low) {
  return select(a.emitter->fp(low) > a, low, a);
}
Float clampHigh(Float a, double high) {
  return select(a.emitter->fp(high) < a, high, a);
}

Float polynomial(Float x, llvm::ArrayRef<double> coefficients) {
  Float p = x.emitter->fp(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    p = fma(p, x, coefficient);
  return p;
}

Float polynomialByEstrin(Float x, llvm::ArrayRef<double> coefficients) {
  // Neighbours are joined until one is left.
  Emitter &e = *x.emitter;
  SmallVector<Float> terms;
  for (size_t i = 0; i < coefficients.size(); i += 2)
    terms.push_back(i + 1 < coefficients.size()
                        ? fma(x, coefficients[i + 1], coefficients[i])
                        : e.fp(coefficients[i]));
  Float power = x;
  while (terms.size() > 1) {
    power = power * power;
    SmallVector<Float> joined;
    for (size_t i = 0; i < terms.size(); i += 2)
      joined.push_back(i + 1 < terms.size() ? fma(terms[i + 1], power, terms[i])
                                            : terms[i]);
    terms = std::move(joined);
  }
  return terms.front();
}

Pair fastTwoSum(Float a, Float b) {
  Float sum = a + b;
  return {sum, (a - sum) + b};
}

Pair multiply(Pair a, Pair b) {
  Float high = a.high * b.high;
  Float low = fma(a.high, b.high, -high);
  return {high, fma(a.high, b.low, fma(a.low, b.high, low))};
}

double roundingShift(const Emitter &emitter) {
  return emitter.isDouble() ? 0x1.8p52 : 0x1.8p23;
}

Float scaleByPower(Float p, Float t) {
  Emitter &e = *p.emitter;
  if (auto scaled = scaleIntrinsic(p, t - roundingShift(e)))
    return *scaled;
  // Two factors, so that each power of two is a normal number; the first
  // product is exact. t is positive.
  unsigned mantissa = e.isDouble() ? 52 : 23;
  uint64_t one = e.isDouble() ? 0x3ff0000000000000 : 0x3f800000;
  Int i = asInt(t), half = shiftRightLogical(i, 1), rest = i - half;
  Float y = asFloat(asInt(p) + (half << mantissa)) *
            asFloat((rest << mantissa) + one);
  // An integer added to the bits of a NaN can destroy it.
  return select(isNan(p), p, y);
}

Float reciprocal(Float d) {
  auto estimate = reciprocalEstimate(d);
  if (!estimate)
    return 1.0 / d;
  Float y = estimate->value;
  Float error = fma(-d, y, 1.0);
  for (unsigned step = 1; step < estimate->steps; ++step)
    error = fma(error, error, error);
  return fma(y, error, y);
}

} // namespace wok::vecmath
