//===- TargetFeatures.h - What generated code may rely on -------*- C++ -*-===//

#ifndef WOK_CONVERSION_TARGETFEATURES_H
#define WOK_CONVERSION_TARGETFEATURES_H

#include "llvm/ADT/StringRef.h"

namespace wok {

/// The CPU features that change what the conversions emit. Code without any of
/// them is portable.
struct TargetFeatures {
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  /// AVX-512 F, BW, DQ and VL together (x86-64-v4).
  bool avx512 = false;

  /// Reads a feature string in LLVM's form: "+avx2,+fma,-avx512f". What is not
  /// named is absent.
  static TargetFeatures parse(llvm::StringRef features);

  /// Bytes of the widest vector register.
  unsigned vectorBytes() const { return avx512 ? 64 : avx ? 32 : 16; }
};

} // namespace wok

#endif // WOK_CONVERSION_TARGETFEATURES_H
