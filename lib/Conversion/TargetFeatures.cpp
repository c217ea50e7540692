//===- TargetFeatures.cpp -------------------------------------------------===//

#include "wok/Conversion/TargetFeatures.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace wok;

TargetFeatures TargetFeatures::parse(llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef> parts;
  features.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::StringSet<> enabled;
  for (llvm::StringRef part : parts) {
    part = part.trim();
    // A later entry overrides an earlier one, as in LLVM.
    if (part.consume_front("-"))
      enabled.erase(part);
    else if (part.consume_front("+"))
      enabled.insert(part);
  }
  auto has = [&](llvm::StringRef name) { return enabled.contains(name); };

  TargetFeatures result;
  result.avx = has("avx");
  result.avx2 = has("avx2");
  result.fma = has("fma");
  result.f16c = has("f16c");
  result.avx512 =
      has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  return result;
}
