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

struct ReducedFloat {
  Float f, e;
  /// e and f already make 0, inf, NaN and x < 0 come out right.
  bool handlesSpecials;
};
} // namespace

static ReducedFloat reduce(Float x) {
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

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

namespace {
// Subtracted from the bits of x, it leaves n in the exponent field.
constexpr uint64_t sqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr uint64_t oneBits = 0x3ff0000000000000;
constexpr uint64_t exponentMask = 0xfff0000000000000;
} // namespace

/// The exponent in the bits of a power of two.
static Float exponentOf(Int bits) {
  // AVX2 has no conversion from 64 bits: the field becomes the low bits of
  // 2^52.
  Emitter &e = *bits.emitter;
  Int field = shiftRightLogical(bits, 52) | e.bits(0x4330000000000000);
  return asFloat(field) - (0x1p52 + 1023);
}

Reduced reduceDouble(Float x) {
  Emitter &e = *x.emitter;
  Bool denormal = x < 0x1p-1022;
  Float y = select(denormal, x * 0x1p54, x);
  Int i = (asInt(y) - sqrtHalfBits) & exponentMask;
  Float exponent = exponentOf(i + oneBits);
  return {asFloat(asInt(y) - i) - 1.0,
          exponent + select(denormal, -54.0, e.fp(0.0))};
}

/// log1p(f), with the series of FreeBSD's e_log.c: in s = f/(2 + f),
/// log1p(f) = f - f^2/2 + s (f^2/2 + R(s^2)).
static Pair log1pOfReduced(Float f) {
  Float s = f / (f + 2.0), z = s * s;
  Float r =
      z * polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                         2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01,
                         1.479819860511658591e-01});
  Float halfF = f * 0.5, half = f * halfF, halfLow = fma(f, halfF, -half);
  Float high = f - half, low = ((f - high) - half) - halfLow;
  return {high, fma(s, half + r, low)};
}

// The high part of ln 2 and log10 2 has zeros enough for an exact product with
// an exponent.
static Pair lnOf2(Emitter &e) {
  return e.pair(0x1.62e42feep-1, 0x1.a39ef35793c76p-33);
}
static Pair log10Of2(Emitter &e) {
  return e.pair(0x1.34413509f6p-2, 0x1.9fef311f12b36p-42);
}

/// n * unit + a, for an integer n.
static Float addMultiple(Float n, Pair unit, Pair a) {
  Pair sum = fastTwoSum(n * unit.high, a.high);
  return sum.high + (fma(n, unit.low, a.low) + sum.low);
}

static Float logDouble(Float x) {
  auto [f, n] = reduceDouble(x);
  return fixSpecials(addMultiple(n, lnOf2(*x.emitter), log1pOfReduced(f)), x,
                     false);
}

static Float log2Double(Float x) {
  auto [f, n] = reduceDouble(x);
  Pair log2OfE = x.emitter->pair(0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56);
  Pair fraction = multiply(log1pOfReduced(f), log2OfE);
  Pair sum = fastTwoSum(n, fraction.high);
  return fixSpecials(sum.high + (fraction.low + sum.low), x, false);
}

static Float log10Double(Float x) {
  auto [f, n] = reduceDouble(x);
  Pair log10OfE = x.emitter->pair(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  Pair fraction = multiply(log1pOfReduced(f), log10OfE);
  return fixSpecials(addMultiple(n, log10Of2(*x.emitter), fraction), x, false);
}

static Float log1pDouble(Float x) {
  Emitter &e = *x.emitter;
  Float u = x + 1.0;
  Int i = (asInt(u) - sqrtHalfBits) & exponentMask;
  // (1 + x) / 2^e - 1 as two floats. The quarter keeps 2^-e a normal number.
  Float quarter = asFloat(e.bits(0x4010000000000000) - i);
  Float a = asFloat(asInt(x) - i), b = fma(quarter, 0.25, -1.0);
  Float f = a + b, bb = f - a, fl = (a - (f - bb)) + (b - bb);
  Pair log = log1pOfReduced(f);
  log.low = log.low + fl;
  Float r = orSign(addMultiple(exponentOf(i + oneBits), lnOf2(e), log), x);
  r = select(x < infinity, r, x);
  return atPole(r, u);
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

Float log(Float x) {
  if (x.emitter->isDouble())
    return logDouble(x);
  auto [f, e, handled] = reduce(x);
  Float p = fma(logPolynomial(f), f, -0.5);
  // One float of ln2 is enough: it is within 2^-28 of the truth.
  return fixSpecials(fma(e, ln2, fma(p, f * f, f)), x, handled);
}

Float log2(Float x) {
  if (x.emitter->isDouble())
    return log2Double(x);
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
  if (x.emitter->isDouble())
    return log10Double(x);
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
  if (e.isDouble())
    return log1pDouble(x);
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
