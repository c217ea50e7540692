//===- TargetIntrinsics.h - Instructions of one CPU family ------*- C++ -*-===//
//
// The only place that names target intrinsics. Each function gives nothing
// where the target or the vector width does not have the instruction; the
// caller then emits portable arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CONVERSION_TARGETINTRINSICS_H
#define WOK_LIB_CONVERSION_TARGETINTRINSICS_H

#include "VectorMath.h"

#include <optional>

namespace wok::vecmath {

/// p * 2^n with one rounding, any n; NaN and infinities as the product.
std::optional<Float> scaleIntrinsic(Float p, Float n);

/// 1/d to at least 11.9 bits.
struct ReciprocalEstimate {
  Float value;
  /// Newton steps to 2^-28.
  unsigned steps;
};
std::optional<ReciprocalEstimate> reciprocalEstimate(Float d);

/// x = m * 2^e: m in [1, 2), NaN for x < 0; e = -inf at 0, inf at inf.
struct Split {
  Float mantissa, exponent;
};
std::optional<Split> splitIntrinsic(Float x);

/// tanh by a table of 32 intervals.
std::optional<Float> tanhByTable(Float x);

} // namespace wok::vecmath

#endif // WOK_LIB_CONVERSION_TARGETINTRINSICS_H
