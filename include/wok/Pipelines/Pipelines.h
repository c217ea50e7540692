//===- Pipelines.h - The phases of compilation ------------------*- C++ -*-===//

#ifndef WOK_PIPELINES_PIPELINES_H
#define WOK_PIPELINES_PIPELINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace wok {

/// The phases that work on MLIR, in order. `object` comes after the last of
/// them.
enum class Phase : uint8_t {
  Simplify, ///< Canonical `wok` operations on tensors.
  Fuse,     ///< All computation stands in fusions, contractions between them.
  Plan,     ///< Buffers in place of tensors; transients in one arena.
  Loops,    ///< Functions with loops over vectors.
  LLVM,     ///< The LLVM dialect.
};

llvm::StringRef toString(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::ArrayRef<Phase> allPhases();

struct PipelineOptions {
  /// Features of the target in LLVM's form ("+avx2,+fma");
  /// `TargetFeatures::parse` says which matter. Empty: portable code.
  std::string features;
  /// Bytes of a vector; 0 takes the widest register of the target.
  unsigned vectorBytes = 0;
};

/// Adds the passes of one phase to a pass manager of modules.
void buildPhase(mlir::OpPassManager &passes, Phase phase,
                const PipelineOptions &options);

/// Adds the phases up to and including `to`.
void buildPipeline(mlir::OpPassManager &passes, Phase to,
                   const PipelineOptions &options);

/// Registers `wok-pipeline` ("to=PHASE features=... vector-bytes=N") and, for
/// each phase, `wok-phase-NAME`.
void registerPipelines();

} // namespace wok

#endif // WOK_PIPELINES_PIPELINES_H
