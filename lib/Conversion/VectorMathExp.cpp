//===- VectorMathExp.cpp - exp, exp2, expm1 and tanh ----------------------===//
//
// Reduction to |r| <= ln2/2 by rounding x * log2(e), a polynomial on r, and a
// power of two. Where an error term is worth keeping it is carried as a second
// float (the names end in l, for low).
//
//===----------------------------------------------------------------------===//

#include "TargetIntrinsics.h"
#include "VectorMath.h"

namespace wok::vecmath {

namespace {
constexpr double log2e = 0x1.71547652b82fep0;
// ln2 to 48 bits, as two floats.
constexpr double ln2 = 0x1.62e43p-1, ln2Low = -0x1.05c61p-29;
// The same with a high part of 16 bits: its product with an integer below 256
// is exact.
constexpr double ln2High16 = 0x1.62e4p-1, ln2Low16 = 0x1.7f7d1cp-20;
// For f64, with a high part of 32 bits: its product with an exponent is exact.
constexpr double ln2High32 = 0x1.62e42feep-1, ln2Low32 = 0x1.a39ef35793c76p-33;

/// 1/k!
constexpr double inverseFactorials[] = {1.0,
                                        1.0,
                                        1.0 / 2,
                                        1.0 / 6,
                                        1.0 / 24,
                                        1.0 / 120,
                                        1.0 / 720,
                                        1.0 / 5040,
                                        1.0 / 40320,
                                        1.0 / 362880,
                                        1.0 / 3628800,
                                        1.0 / 39916800,
                                        1.0 / 479001600,
                                        1.0 / 6227020800,
                                        1.0 / 87178291200};
} // namespace

Float expSeries(Float r, size_t skipped, size_t degree) {
  auto coefficients =
      llvm::ArrayRef(inverseFactorials).slice(skipped, degree + 1 - skipped);
  return skipped < 2 ? polynomial(r, coefficients)
                     : polynomialByEstrin(r, coefficients);
}

Float expQuotient(Float r) {
  if (r.emitter->isDouble())
    return expSeries(r, 1);
  return polynomial(r, {1.0, 0x1.fffffap-2, 0x1.55549p-3, 0x1.555a22p-5,
                        0x1.123b04p-7, 0x1.695414p-10});
}

Float exp(Float x) {
  Emitter &e = *x.emitter;
  // Beyond the clamps the result is 0 and inf all the same.
  x = e.isDouble() ? clampHigh(clampLow(x, -746.0), 710.0)
                   : clampHigh(clampLow(x, -104.0), 89.0);
  Float t = fma(x, log2e, roundingShift(e)), n = t - roundingShift(e);
  Float r = e.isDouble() ? fma(n, -ln2Low32, fma(n, -ln2High32, x))
                         : fma(n, -ln2Low, fma(n, -ln2, x));
  return scaleByPower(fma(expQuotient(r), r, 1.0), t);
}

static Float exp2Double(Float x) {
  constexpr double ln2Double = 0x1.62e42fefa39efp-1,
                   ln2Rest = 0x1.abc9e3b39803fp-56;
  x = clampHigh(clampLow(x, -1076.0), 1025.0);
  Float t = x + 0x1.8p52, f = x - (t - 0x1.8p52);
  Float r = f * ln2Double, rl = fma(f, ln2Rest, fma(f, ln2Double, -r));
  Pair sum = fastTwoSum(x.emitter->fp(1.0), r);
  return scaleByPower(sum.high + fma(r * r, expSeries(r, 2), sum.low + rl), t);
}

Float exp2(Float x) {
  Emitter &e = *x.emitter;
  if (e.isDouble())
    return exp2Double(x);
  x = clampHigh(clampLow(x, -151.0), 129.0);
  Float t = x + roundingShift(e), r = x - (t - roundingShift(e));
  Float p = polynomial(r, {1.0, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af76p-5,
                           0x1.3b30ap-7, 0x1.5f0b82p-10, 0x1.3fa206p-13});
  return scaleByPower(p, t);
}

static Float expm1Double(Float x0) {
  Emitter &e = *x0.emitter;
  Float x = clampHigh(clampLow(x0, -40.0), 710.0);
  Float t = fma(x, log2e, 0x1.8p52), n = t - 0x1.8p52;
  Float rh = fma(n, -ln2High32, x); // exact
  Float r = fma(n, -ln2Low32, rh), rl = fma(n, -ln2Low32, rh - r);
  // e^r - 1 = r + z/2 + q; z as two floats.
  Float z = r * r, zl = fma(r, r, -z);
  Float q = fma(z * r, expSeries(r, 3, 14), fma(zl, 0.5, rl));
  // 2^n; half of it near the upper end, as in f32.
  Bool large = x > 709.0;
  Float s = asFloat((asInt(t) << 52) + select(large, e.bits(0x3fe0000000000000),
                                              e.bits(0x3ff0000000000000)));
  Float s1 = s - 1.0;
  Float y = fma(s, r, s1), yl = fma(s, r, s1 - y) + ((s - s1) - 1.0);
  Pair sum = fastTwoSum(y, s * 0.5 * z);
  y = sum.high + fma(s, q, yl + sum.low);
  y = select(large, y + y, y);
  return orSign(y, x0);
}

Float expm1(Float x0) {
  Emitter &e = *x0.emitter;
  if (e.isDouble())
    return expm1Double(x0);
  Float x = clampHigh(clampLow(x0, -25.0), 89.0);
  Float t = fma(x, log2e, roundingShift(e)), n = t - roundingShift(e);
  Float rh = fma(n, -ln2High16, x); // exact
  Float r = fma(n, -ln2Low16, rh), rl = fma(n, -ln2Low16, rh - r);
  Float q = polynomial(r, {0.5, 0x1.555554p-3, 0x1.5554fp-5, 0x1.111306p-7,
                           0x1.6d43c2p-10, 0x1.9e0de4p-13});
  q = fma(q, r * r, rl);
  // s = 2^n; half of it near the upper end, doubled last, so that it stays
  // finite.
  Bool large = x > 80.0;
  Float s = asFloat((asInt(t) << 23) +
                    select(large, e.bits(0x3f000000), e.bits(0x3f800000)));
  Float s1 = s - 1.0;
  Float y = fma(s, r, s1), yl = fma(s, r, s1 - y) + ((s - s1) - 1.0);
  y = y + fma(s, q, yl);
  y = select(large, y + y, y);
  return orSign(y, x0);
}

static Float tanhDouble(Float x) {
  // Cephes: x + x^3 P(x^2)/Q(x^2) below 0.625, else 1 - 2/(e^2|x| + 1).
  Float a = abs(x), s = x * x;
  Float p = polynomial(s, {-1.61468768441708447952e3, -9.92877231001918586564e1,
                           -9.64399179425052238628e-1});
  Float q = polynomial(s, {4.84406305325125486048e3, 2.23548839060100448583e3,
                           1.12811678491632931402e2, 1.0});
  Float small = fma(a * s, p / q, a);

  Float b = clampHigh(a + a, 40.0);
  Float t = fma(b, log2e, 0x1.8p52), n = t - 0x1.8p52;
  Float r = fma(n, -ln2Low32, fma(n, -ln2High32, b));
  Float m = expQuotient(r);
  Float high = fma(m, r, 1.0), low = fma(m, r, 1.0 - high);
  Int scale = asInt(t) << 52;
  Float power = asFloat(asInt(high) + scale);
  // d + dl = e^2a + 1, and z + zl = 2/(d + dl).
  Float d = power + 1.0;
  Float dl = fma(low, asFloat(scale + 0x3ff0000000000000), power - (d - 1.0));
  Float z = 2.0 / d;
  Float zl = fma(-z, dl, fma(-z, d, 2.0)) * (z * 0.5);
  Float y = 1.0 - z;
  Float large = y + (((1.0 - y) - z) - zl);
  return orSign(select(a >= 0.625, large, small), x);
}

Float tanh(Float x) {
  Emitter &e = *x.emitter;
  if (e.isDouble())
    return tanhDouble(x);
  if (auto result = tanhByTable(x))
    return *result;
  // A polynomial below 1, else 1 - 2/(e^2|x| + 1). A lower threshold costs more
  // than 1 ulp.
  Float a = abs(x), s = x * x;
  Float p = polynomial(s, {-0x1.55553cp-2, 0x1.110be6p-3, -0x1.b96288p-5,
                           0x1.600bd6p-6, -0x1.04675p-7, 0x1.2db79ep-9,
                           -0x1.7806d8p-12});
  Float small = fma(p, a * s, a);
  Float b = clampHigh(a, 9.1);
  Float t = fma(b, 2 * log2e, roundingShift(e)), n = t - roundingShift(e);
  Float r = fma(n, -ln2, b + b);
  Float power = asFloat(asInt(fma(expQuotient(r), r, 1.0)) + (asInt(t) << 23));
  Float large = fma(reciprocal(power + 1.0), -2.0, 1.0);
  // A NaN takes the small branch.
  return orSign(select(a >= 1.0, large, small), x);
}

} // namespace wok::vecmath
