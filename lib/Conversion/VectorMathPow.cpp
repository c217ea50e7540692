//===- VectorMathPow.cpp - The power function -----------------------------===//

#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace wok::vecmath {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
} // namespace

/// The results that are no power of a positive number: x in {0, inf, nan}, x
/// below 0, y nan. `power` is |x|^y elsewhere.
static Float fixSpecials(Float power, Float x, Float y) {
  Emitter &e = *x.emitter;
  Float ax = abs(x), ay = abs(y);
  // 2^(edge y) is 0, inf or nan.
  Float edge = clampLow(select(ax == 0.0, -infinity, ax) * y, 0.0);
  Float result = select((ax == 0.0) | ~(ax < infinity) | isNan(y), edge, power);
  // A pole, and below a root of a negative number, come out of a division: it
  // raises the floating-point exceptions that C and NumPy raise.
  Bool pole = (ax == 0.0) & (y < 0.0);
  Float half = y * 0.5;
  Bool integral = roundEven(y) == y;
  Bool odd = integral & ~(roundEven(half) == half);
  Bool invalid = (x < 0.0) & (x > -infinity) & ~integral & ~isNan(y);
  Float quotient =
      select(invalid, 0.0, e.fp(1.0)) / select(invalid | pole, 0.0, e.fp(1.0));
  result = select(pole, quotient, result);
  result = select(odd, orSign(result, x), result);
  result = select(invalid, quotient, result);
  Bool one = (y == 0.0) | (x == 1.0) | ((ax == 1.0) & (ay == infinity));
  return select(one, 1.0, result);
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

/// log2 of x > 0, to 2^-68.
static Pair log2Pair(Float x) {
  Emitter &e = *x.emitter;
  auto [f, n] = reduceDouble(x);
  // s = f / (2 + f); log(1 + f) = 2 atanh(s).
  Pair d = fastTwoSum(e.fp(2.0), f);
  Float s = f / d.high;
  Float rest = fma(-s, d.low, fma(-s, d.high, f)) / d.high;
  Pair quotient = {s, rest}, square = multiply(quotient, quotient);
  // atanh(s) = s + s^3 (1/3 + s^2 (1/5 + ...)).
  Float tail = polynomialByEstrin(
      square.high, {1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
                    1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25});
  Pair c = fastTwoSum(e.fp(0x1.5555555555555p-2), square.high * tail);
  c.low = c.low + 0x1.5555555555555p-56;
  Pair cubic = multiply(multiply(square, c), quotient);
  Pair log = fastTwoSum(quotient.high, cubic.high);
  log.low = log.low + (quotient.low + cubic.low);
  Pair fraction =
      multiply(log, e.pair(0x1.71547652b82fep1, 0x1.777d0ffda0d24p-55));
  Pair sum = fastTwoSum(n, fraction.high);
  return {sum.high, sum.low + fraction.low};
}

static Float powDouble(Float x, Float y) {
  Emitter &e = *x.emitter;
  Pair log = log2Pair(abs(x));
  Float high = log.high * y, low = fma(log.low, y, fma(log.high, y, -high));
  // Beyond the clamps the result is 0 or inf, and the low part may be NaN.
  low = select(abs(high) < 1100.0, low, e.fp(0.0));
  high = clampHigh(clampLow(high, -1100.0), 1100.0);
  Float t = high + 0x1.8p52, f = high - (t - 0x1.8p52);
  // 2^(f + low) = e^(r + rl).
  constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;
  Float r = f * ln2;
  Float rl = fma(low, ln2, fma(f, ln2Low, fma(f, ln2, -r)));
  Pair sum = fastTwoSum(e.fp(1.0), r);
  Float rest = fma(r * r, expSeries(r, 2), sum.low);
  Float p = sum.high + fma(sum.high + rest, rl, rest);
  return fixSpecials(scaleByPower(p, t), x, y);
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

/// log2(1 + f) in f64, to 1.6e-11.
static Float log2Polynomial(Float f) {
  return f * polynomialByEstrin(f, {0x1.71547652a1e5fp0, -0x1.715476566039fp-1,
                                    0x1.ec709ebbb2472p-2, -0x1.71547092b137fp-2,
                                    0x1.277651f04b195p-2, -0x1.ec72b7ceb3295p-3,
                                    0x1.a63f487b333fdp-3, -0x1.71413cd886e6dp-3,
                                    0x1.4528be18153a4p-3, -0x1.25314f2108beap-3,
                                    0x1.2875b605afa3bp-3, -0x1.248113fc216afp-3,
                                    0x1.3cc9c119806c7p-4});
}

Float pow(Float x, Float y) {
  Emitter &e = *x.emitter;
  if (e.isDouble())
    return powDouble(x, y);
  OpBuilder &b = e.builder;
  Type doubleType = b.getF64Type(), longType = b.getI64Type();
  if (auto vector = dyn_cast<VectorType>(e.type)) {
    doubleType = vector.clone(doubleType);
    longType = vector.clone(longType);
  }
  Emitter wide(b, e.loc, doubleType, e.target, e.constants);
  auto extend = [&](Float value) {
    return wide.wrap(arith::ExtFOp::create(b, e.loc, doubleType, value.value));
  };

  // |x| = 2^i (1 + f), then 2^(y log2|x|) in f64.
  Float ax = abs(x);
  Bool denormal = ax < 0x1p-126;
  Float z = select(denormal, ax * 0x1p23, ax);
  Int i = (asInt(z) - 0x3f3504f3) >> 23;
  Float f = asFloat(asInt(z) - (i << 23)) - 1.0;
  i = select(denormal, i - 23, i);
  Float whole =
      wide.wrap(arith::SIToFPOp::create(b, e.loc, doubleType, i.value));
  Float power = (log2Polynomial(extend(f)) + whole) * extend(y);
  power = clampHigh(clampLow(power, -151.0), 129.0);
  Float t = power + 0x1.8p52, r = power - (t - 0x1.8p52);
  Float p = polynomial(r, {1.0, 0x1.62e430af270cbp-1, 0x1.ebfbdc3c31671p-3,
                           0x1.c6aee88e97a4p-5, 0x1.3b2d4cf0fbd52p-7,
                           0x1.5f3e52f138af3p-10, 0x1.41fbbc91efe2ep-13});
  // Normal in f64, so the exponent takes an integer; the one rounding is the
  // conversion.
  Float scaled = asFloat(asInt(p) + (asInt(t) << 52));
  Float result =
      e.wrap(arith::TruncFOp::create(b, e.loc, e.type, scaled.value));
  return fixSpecials(result, x, y);
}

} // namespace wok::vecmath
