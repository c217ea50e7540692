//===- VectorMathLog.cpp - log, log2, log10 and log1p ---------------------===//
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1, and log1p(f) = f - f^2/2
// + f^3 P(f).
//
//===----------------------------------------------------------------------===//

#include "TargetIntrinsics.h"
#include "VectorMath.h"

#include <limits>

namespace wok::vecmath {

namespace {
constexpr double ln2 = 0x1.62e43p-1;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Reduced {
  Float f, e;
  /// e and f already make 0, inf, NaN and x < 0 come out right.
  bool handlesSpecials;
};
} // namespace

static Reduced reduce(Float x) {
  Emitter &e = *x.emitter;
  if (auto split = splitIntrinsic(x)) {
    Bool high = split->mantissa >= 0x1.6a09e6p0;
    Float exponent = select(high, split->exponent + 1.0, split->exponent);
    Float mantissa = select(high, split->mantissa * 0.5, split->mantissa);
    return {mantissa - 1.0, exponent, true};
  }
  Bool denormal = x < 0x1p-126;
  Float y = select(denormal, x * 0x1p23, x);
  Float bias = select(denormal, -23.0, e.fp(0.0));
  Int i = (asInt(y) - 0x3f3504f3) & 0xff800000;
  return {asFloat(asInt(y) - i) - 1.0, fma(toFloat(i), 0x1p-23, bias), false};
}

/// `r` where x > 0, -inf at 0 and NaN below. Both come out of a division, which
/// raises the floating-point exceptions that C and NumPy raise.
static Float atPole(Float r, Float x) {
  Emitter &e = *x.emitter;
  // The divisor is chosen by the bits of x: by the same condition as the
  // result, it would be known, and the quotient a constant.
  Float numerator = select(x == 0.0, -1.0, e.fp(0.0));
  Float denominator = select(asInt(x) < e.bits(1), 0.0, e.fp(1.0));
  return select(x <= 0.0, numerator / denominator, r);
}

static Float fixSpecials(Float r, Float x, bool handled) {
  if (!handled)
    r = select(x < infinity, r, x);
  return atPole(r, x);
}

/// P of log, on f of `reduce`.
static Float logPolynomial(Float f) {
  return polynomial(f, {0x1.555574p-2, -0x1.000236p-2, 0x1.99929ep-3,
                        -0x1.546556p-3, 0x1.23b8dcp-3, -0x1.0ebe6cp-3,
                        0x1.00c666p-3, -0x1.2861e8p-4});
}

/// FreeBSD's e_log.c, without its branches.
static Float logDouble(Float x) {
  constexpr double ln2High = 6.93147180369123816490e-01,
                   ln2Low = 1.90821492927058770002e-10;
  Emitter &e = *x.emitter;
  Bool denormal = x < 0x1p-1022;
  Float y = select(denormal, x * 0x1p54, x);
  // i holds e in its exponent field; m lies in [sqrt(1/2), sqrt(2)).
  Int i = (asInt(y) - 0x3fe6a09e667f3bcd) & 0xfff0000000000000;
  Float f = asFloat(asInt(y) - i) - 1.0;
  Float k = toFloat(i >> 52) + select(denormal, -54.0, e.fp(0.0));
  Float s = f / (f + 2.0), z = s * s;
  Float r =
      z * polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                         2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01,
                         1.479819860511658591e-01});
  Float half = f * f * 0.5;
  Float result = k * ln2High - ((half - (s * (half + r) + k * ln2Low)) - f);
  return fixSpecials(result, x, false);
}

Float log(Float x) {
  if (x.emitter->isDouble())
    return logDouble(x);
  auto [f, e, handled] = reduce(x);
  Float p = fma(logPolynomial(f), f, -0.5);
  // One float of ln2 is enough: it is within 2^-28 of the truth.
  return fixSpecials(fma(e, ln2, fma(p, f * f, f)), x, handled);
}

Float log2(Float x) {
  auto [f, e, handled] = reduce(x);
  Float s = f * f;
  // P times log2(e), one degree more.
  Float p = polynomial(f, {0x1.ec708ap-2, -0x1.715482p-2, 0x1.277e9cp-2,
                           -0x1.ec7994p-3, 0x1.a42812p-3, -0x1.6e9ebp-3,
                           0x1.5f32b2p-3, -0x1.5883b2p-3, 0x1.8dcff2p-4});
  p = fma(p, f, -0x1.715476p-1);
  Float low = fma(p, s, fma(s, -0.5, f) * 0x1.4ae0cp-26);
  return fixSpecials(e + fma(f, 0x1.715476p0, low), x, handled);
}

Float log10(Float x) {
  auto [f, e, handled] = reduce(x);
  Float p = fma(logPolynomial(f), f, -0.5) * (f * f);
  Float low = fma(p, 0x1.bcb7b2p-2, f * -0x1.5b235ep-27);
  // log10(2) as an exact product and a rest, both positive so that e = inf
  // survives.
  low = fma(e, 0x1.04d428p-12, low);
  return fixSpecials(e * 0x1.34p-2 + fma(f, 0x1.bcb7b2p-2, low), x, handled);
}

Float log1p(Float x) {
  Emitter &e = *x.emitter;
  Float u = x + 1.0;
  // 0x3f400001, not ...00: 1 + x may round up to 1.5 and must stay in e = 0.
  Int i = (asInt(u) - 0x3f400001) & 0xff800000;
  // m = (1 + x) / 2^e - 1, rounded once, in [-0.25, 0.5].
  Float quarter = asFloat(e.bits(0x40800000) - i);
  Float m = asFloat(asInt(x) - i) + fma(quarter, 0.25, -1.0);
  Float p = polynomial(m, {0x1.5555a4p-2, -0x1.000042p-2, 0x1.99696p-3,
                           -0x1.54efp-3, 0x1.288714p-3, -0x1.0d95dap-3,
                           0x1.aca4d4p-4, -0x1.713ed6p-5});
  p = fma(fma(p, m, -0.5), m * m, m);
  Float r = orSign(fma(toFloat(i), ln2 * 0x1p-23, p), x);
  r = select(x < infinity, r, x);
  return atPole(r, u);
}

} // namespace wok::vecmath
