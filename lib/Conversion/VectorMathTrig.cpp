//===- VectorMathTrig.cpp - sin, cos and tan ------------------------------===//
//
// x - n pi/2 = r + c with n = rint(x 2/pi), by a compensated three-part pi/2.
// In f32 that serves up to 131072, and 203 bits of 2/pi in f64 beyond; in f64
// up to 2^30, and the C library beyond.
//
//===----------------------------------------------------------------------===//

#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace wok::vecmath {

namespace {
constexpr double fastLimit = 131072.0;

struct ReducedAngle {
  Float r, c;
  Int quadrant;
};
} // namespace

static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

SmallVector<Value> slowTrigonometricReduction(Float x) {
  Emitter &e = *x.emitter;
  OpBuilder &b = e.builder;
  Emitter wide(b, e.loc, withElement(e.type, b.getF64Type()), e.target,
               e.constants);
  Float big = wide.wrap(arith::ExtFOp::create(b, e.loc, wide.type, x.value));
  // 2/pi in chunks of 29 bits: every product with x is exact (24 + 29 bits).
  // The count of quarter turns is kept apart modulo 4, so that the fraction
  // cancels exactly.
  constexpr double chunks[] = {
      0x1.45f306cp-1,   0x1.c9c882ap-29,  0x1.4fe13a8p-59, 0x1.f47d4d3p-86,
      0x1.dc0db62p-116, 0x1.2b32788p-145, 0x1.c820ffp-175};
  Float sum = wide.fp(0.0), quarter = wide.fp(0.0);
  for (double chunk : chunks) {
    Float t = big * chunk, n = roundEven(t);
    sum = sum + (t - n);
    Float m = roundEven(sum);
    sum = sum - m;
    quarter = quarter + ((n - roundEven(n * 0.25) * 4.0) + m);
  }
  sum = sum * 0x1.921fb54442d18p0;
  Value high = arith::TruncFOp::create(b, e.loc, e.type, sum.value);
  Float highWide = wide.wrap(arith::ExtFOp::create(b, e.loc, wide.type, high));
  Value low = arith::TruncFOp::create(b, e.loc, e.type, (sum - highWide).value);
  // An infinity or NaN has no quadrant, and the conversion of one would be
  // undefined.
  Float counted = select(abs(quarter) < 0x1p30, quarter, 0.0);
  Value quadrant = arith::FPToSIOp::create(b, e.loc, e.intType, counted.value);
  return {high, low, quadrant};
}

static ReducedAngle
reduce(Float x, function_ref<ValueRange(OpBuilder &, Value)> slowReduction) {
  Emitter &e = *x.emitter;
  OpBuilder &b = e.builder;
  Float t = fma(x, 0x1.45f306p-1, roundingShift(e)), n = t - roundingShift(e);
  Float r1 = fma(n, -0x1.921fb6p0, x); // exact
  Float w = n * -0x1.777a5cp-25;
  Float r = r1 - w;
  Float wl = fma(n, -0x1.777a5cp-25, -w);
  Float c = fma(n, 0x1.ee59dap-50, ((r1 - r) - w) - wl);
  Int quadrant = asInt(t);

  Bool large = abs(x) > fastLimit;
  Value any = large.value;
  if (isa<VectorType>(e.type))
    any = vector::ReductionOp::create(b, e.loc, vector::CombiningKind::OR, any);
  auto branch = scf::IfOp::create(
      b, e.loc, any,
      [&](OpBuilder &then, Location loc) {
        ValueRange slow = slowReduction(then, x.value);
        Value fast[] = {r.value, c.value, quadrant.value};
        SmallVector<Value> merged;
        for (auto [slowValue, fastValue] : llvm::zip_equal(slow, fast))
          merged.push_back(arith::SelectOp::create(then, loc, large.value,
                                                   slowValue, fastValue));
        scf::YieldOp::create(then, loc, merged);
      },
      [&](OpBuilder &otherwise, Location loc) {
        scf::YieldOp::create(otherwise, loc,
                             ValueRange{r.value, c.value, quadrant.value});
      });
  return {e.wrap(branch.getResult(0)),
          e.wrap(branch.getResult(1)),
          {branch.getResult(2), &e}};
}

static Float sinKernel(const ReducedAngle &x, Float s) {
  Float p = polynomial(s, {-0x1.555544p-3, 0x1.1106aep-7, -0x1.990f92p-13});
  return x.r + fma(x.r * s, p, x.c);
}

static Float cosKernel(const ReducedAngle &x, Float s) {
  Float p = polynomial(s, {0x1.55554ap-5, -0x1.6c0c08p-10, 0x1.99d83cp-16});
  Float a = fma(s, -0.5, 1.0), low = fma(s, -0.5, 1.0 - a);
  low = fma(-x.c, x.r, fma(s * s, p, low));
  return a + low;
}

static Float tangent(const ReducedAngle &x, Float s) {
  Float r = x.r;
  Float p =
      polynomial(s, {0x1.555564p-2, 0x1.110c88p-3, 0x1.bb0b96p-5, 0x1.5ab808p-6,
                     0x1.6d74aep-7, -0x1.4dac72p-12, 0x1.2c24fp-8});
  // c (1 + tan^2), and the rounding error of s.
  Float c2 = fma(x.c * s, s + 1.0, x.c);
  c2 = fma(fma(r, r, -s), r * 0.6, c2);
  Float low = fma(r * s, p, c2), high = r + low;
  low = low - (high - r);
  // In odd quadrants -1/tan, with one correction step. Others may hold 0, which
  // must not raise an exception.
  Bool odd = (x.quadrant & 1) == x.r.emitter->bits(1);
  Float y = -(1.0 / (high + select(high == 0.0, 1.0, x.r.emitter->fp(0.0))));
  Float error = fma(low, y, fma(high, y, 1.0));
  return select(odd, fma(y, error, y), high);
}

Float trigonometric(
    Trigonometric function, Float x,
    function_ref<ValueRange(OpBuilder &, Value)> slowReduction) {
  Emitter &e = *x.emitter;
  ReducedAngle reduced = reduce(x, slowReduction);
  Float s = reduced.r * reduced.r;
  if (function == Trigonometric::Tan)
    return select(x == 0.0, x, tangent(reduced, s));

  Bool odd = (reduced.quadrant & 1) == e.bits(1);
  Float sine = sinKernel(reduced, s), cosine = cosKernel(reduced, s);
  if (function == Trigonometric::Cos) {
    Float y = select(odd, sine, cosine);
    return asFloat(asInt(y) ^ (((reduced.quadrant + 1) & 2) << 30));
  }
  Float y = select(odd, cosine, sine);
  y = asFloat(asInt(y) ^ ((reduced.quadrant & 2) << 30));
  return select(x == 0.0, x, y);
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

static ReducedAngle reduceAngleDouble(Float x) {
  constexpr double halfPi = 0x1.921fb54442d18p0,
                   halfPiMiddle = 0x1.1a62633145c07p-54,
                   halfPiLow = -0x1.f1976b7ed8fbcp-110;
  Float t = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = t - 0x1.8p52;
  Float r1 = fma(n, -halfPi, x); // exact
  Float w = n * halfPiMiddle, wl = fma(n, halfPiMiddle, -w);
  Float r = r1 - w;
  return {r, fma(n, -halfPiLow, ((r1 - r) - w) - wl), asInt(t)};
}

/// sin(r + c) and cos(r + c), s = r^2; minimax to 2^-55 of sin and 2^-59.
static Pair sinDouble(const ReducedAngle &x, Float s) {
  Float p = polynomial(s, {-0x1.5555555555555p-3, 0x1.1111111110bb2p-7,
                           -0x1.a01a019e83776p-13, 0x1.71de37963e19ep-19,
                           -0x1.ae600aac2b45ep-26, 0x1.5e0af8abc1d8cp-33});
  Float low = fma(x.r * s, p, fma(x.c * s, -0.5, x.c));
  return fastTwoSum(x.r, low);
}

static Pair cosDouble(const ReducedAngle &x, Float s) {
  Float p = polynomial(s, {0x1.5555555555555p-5, -0x1.6c16c16c16966p-10,
                           0x1.a01a019f4e932p-16, -0x1.27e4fa17b0784p-22,
                           0x1.1eeb68baa154ap-29, -0x1.907d7ff0a54cap-37});
  Float a = fma(s, -0.5, 1.0), low = fma(s, -0.5, 1.0 - a);
  low = fma(-x.c, x.r, fma(s * s, p, low));
  low = fma(fma(x.r, x.r, -s), -0.5, low);
  return fastTwoSum(a, low);
}

/// sin/cos, in odd quadrants -cos/sin, with one correction step.
static Float tanDouble(const Pair &sine, const Pair &cosine, Bool odd) {
  Float numerator = select(odd, -cosine.high, sine.high);
  Float numeratorLow = select(odd, -cosine.low, sine.low);
  Float denominator = select(odd, sine.high, cosine.high);
  Float denominatorLow = select(odd, sine.low, cosine.low);
  Float y = numerator / denominator;
  Float error =
      fma(-y, denominatorLow, fma(-y, denominator, numerator) + numeratorLow);
  return fma(error, 1.0 / denominator, y);
}

static Float fastTrigonometricDouble(Trigonometric function, Float x) {
  Emitter &e = *x.emitter;
  ReducedAngle reduced = reduceAngleDouble(x);
  Float s = reduced.r * reduced.r;
  Pair sine = sinDouble(reduced, s), cosine = cosDouble(reduced, s);
  Bool odd = (reduced.quadrant & 1) == e.bits(1);
  switch (function) {
  case Trigonometric::Cos: {
    Float y = select(odd, sine.high, cosine.high);
    return asFloat(asInt(y) ^ (((reduced.quadrant + 1) & 2) << 62));
  }
  case Trigonometric::Sin: {
    Float y = select(odd, cosine.high, sine.high);
    y = asFloat(asInt(y) ^ ((reduced.quadrant & 2) << 62));
    return select(x == 0.0, x, y);
  }
  case Trigonometric::Tan:
    return select(x == 0.0, x, tanDouble(sine, cosine, odd));
  }
  llvm_unreachable("no such function");
}

Float trigonometricDouble(Trigonometric function, Float x,
                          function_ref<Value(OpBuilder &)> slow) {
  Emitter &e = *x.emitter;
  Value any = (abs(x) > 0x1p30).value;
  if (isa<VectorType>(e.type))
    any = vector::ReductionOp::create(e.builder, e.loc,
                                      vector::CombiningKind::OR, any);
  Value fast = fastTrigonometricDouble(function, x).value;
  auto branch = scf::IfOp::create(
      e.builder, e.loc, any,
      [&](OpBuilder &then, Location loc) {
        scf::YieldOp::create(then, loc, slow(then));
      },
      [&](OpBuilder &otherwise, Location loc) {
        scf::YieldOp::create(otherwise, loc, fast);
      });
  return e.wrap(branch.getResult(0));
}

} // namespace wok::vecmath
