//===- VectorMathErf.cpp - The error function -----------------------------===//

#include "VectorMath.h"

namespace wok::vecmath {

static Float erfDouble(Float x) {
  Float a = abs(x), s = x * x;
  // Minimax on |x| <= 0.75, to 2^-60.
  Float p = polynomialByEstrin(
      s, {0x1.06eba8214db69p-3, -0x1.812746b0379e0p-2, 0x1.ce2f21a0424dap-4,
          -0x1.b82ce31257c51p-6, 0x1.565bcd037d0bep-8, -0x1.c02db126e262bp-11,
          0x1.f9a2b03e2ff7dp-14, -0x1.f4c5eab06db31p-17, 0x1.b90f5c12eb901p-20,
          -0x1.565322b840a2cp-23, 0x1.8a45f068819bfp-27});
  Float small = fma(p, a, a);
  // 1 - exp(-q), with q(1.25 + u) = -log(erfc), minimax to 2^-61 of erfc. The
  // terms of degree 0 and 1 are two floats: q is.
  Float u = clampHigh(a, 6.0) - 1.25; // exact
  constexpr double c0 = 0x1.48050902770fdp+1, c1 = 0x1.88ab2d9950138p+1;
  Float high = fma(u, c1, c0), low = fma(u, c1, c0 - high);
  Float rest = polynomialByEstrin(
      u,
      {0x1.bddad46f504ddp-1, 0x1.0bc5a0297833bp-5, -0x1.fea76c4b137d5p-8,
       0x1.a540a74f70731p-10, -0x1.02c592fdc697dp-12, 0x1.50f16edba39efp-17,
       0x1.6b6c94dee9aebp-17, -0x1.5ab84efd935b8p-18, 0x1.841613b702e6cp-20,
       -0x1.0d4f84cb012dep-22, 0x1.ca7731aa41668p-30, 0x1.3da3ed0fe3ba7p-26,
       -0x1.20cc857ffbd4dp-27, 0x1.478bb76c4e349p-29, -0x1.06678896cf29fp-31,
       0x1.21e667ee25525p-34, -0x1.8ca7ff0154c1dp-38, 0x1.f8cb1d3116913p-43});
  low = fma(u * u, rest, low);
  Float t = fma(high + low, -0x1.71547652b82fep0, 0x1.8p52), n = t - 0x1.8p52;
  Float r =
      fma(n, -0x1.a39ef35793c76p-33, fma(n, -0x1.62e42feep-1, -high) - low);
  Float power = asFloat((asInt(t) << 52) + 0x3ff0000000000000);
  Float large = fma(-(power * r), expQuotient(r), 1.0 - power);
  // A NaN takes the small branch.
  return orSign(select(a >= 0.75, large, small), x);
}

Float erf(Float x) {
  Emitter &e = *x.emitter;
  if (e.isDouble())
    return erfDouble(x);
  Float a = abs(x), s = x * x;
  Float p = polynomial(s, {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2cf2p-4,
                           -0x1.b7f88cp-6, 0x1.540172p-8, -0x1.a3d812p-11,
                           0x1.4917a4p-14});
  Float small = fma(p, a, a);
  // 1 - exp(q(b)). The two forms that end in one fma keep this under 1 ulp.
  Float b = clampHigh(a, 4.0);
  Float q = polynomial(b, {-0x1.07926p-3, -0x1.451942p-1, -0x1.b46cbep-4,
                           0x1.89a1d8p-6, -0x1.ed6eep-9, 0x1.716d56p-12,
                           -0x1.da2e08p-17});
  q = fma(q, b, -b);
  Float t = fma(q, 0x1.715476p0, roundingShift(e)), n = t - roundingShift(e);
  Float r = fma(n, -0x1.62e43p-1, q);
  Float power = asFloat((asInt(t) << 23) + 0x3f800000); // 2^n; 1 - 2^n is exact
  Float large = fma(-(power * r), expQuotient(r), 1.0 - power);
  // A NaN takes the small branch.
  return orSign(select(a >= 1.0, large, small), x);
}

} // namespace wok::vecmath
