//===- VectorMathErf.cpp - The error function -----------------------------===//

#include "VectorMath.h"

namespace wok::vecmath {

Float erf(Float x) {
  Emitter &e = *x.emitter;
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
