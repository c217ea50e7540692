//===- HalfFloats.cpp -----------------------------------------------------===//
//
// LLVM has no inline code for these where the CPU has no instruction: it would
// call a function of the compiler's runtime library.
//
//===----------------------------------------------------------------------===//

#include "HalfFloats.h"

namespace wok::vecmath {

Int roundToBF16(Float x) {
  Emitter &e = *x.emitter;
  Int bits = asInt(x);
  Int odd = shiftRightLogical(bits, 16) & 1;
  Int rounded = shiftRightLogical(bits + 0x7fff + odd, 16) & 0xffff;
  return select(isNan(x), e.bits(0x7fc0), rounded);
}

Float extendBF16(Int bits) { return asFloat(bits << 16); }

Int roundToF16(Float x) {
  Emitter &e = *x.emitter;
  Int sign = shiftRightLogical(asInt(x), 16) & 0x8000;
  Float a = abs(x);
  Int bits = asInt(a);

  // Below 2^-14 the result is denormal: the addition does the rounding.
  Int small = asInt(a + 0.5) - 0x3f000000;
  Int odd = shiftRightLogical(bits, 13) & 1;
  Int normal = shiftRightLogical(bits + 0xc8000fff + odd, 13) & 0x7fff;
  Int result = select(a < 0x1p-14, small, normal);
  result = select(a >= 0x1.ffep15, e.bits(0x7c00), result);
  result = select(isNan(x), e.bits(0x7e00), result);
  return result | sign;
}

Float extendF16(Int bits) {
  Emitter &e = *bits.emitter;
  Int sign = (bits & 0x8000) << 16;
  Int magnitude = bits & 0x7fff;
  // Exact: the product also makes denormals normal.
  Float value = asFloat(magnitude << 13) * 0x1p112;
  Int special = (magnitude << 13) + 0x70000000;
  Int result = select(magnitude < e.bits(0x7c00), asInt(value), special);
  return asFloat(result | sign);
}

} // namespace wok::vecmath
