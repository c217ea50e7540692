//===- HalfFloats.h - bf16 and f16 as integer arithmetic --------*- C++ -*-===//

#ifndef WOK_LIB_CONVERSION_HALFFLOATS_H
#define WOK_LIB_CONVERSION_HALFFLOATS_H

#include "VectorMath.h"

namespace wok::vecmath {

/// `x` (f32) rounded to the nearest value of bf16 or f16, ties to even; in the
/// low half of each lane. Overflow gives infinity, every NaN the quiet one.
Int roundToBF16(Float x);
Int roundToF16(Float x);

/// The f32 value of the low half of `bits`, whose high half is 0.
Float extendBF16(Int bits);
Float extendF16(Int bits);

} // namespace wok::vecmath

#endif // WOK_LIB_CONVERSION_HALFFLOATS_H
