//===- Pipelines.cpp - The phases of compilation --------------------------===//

#include "wok/Pipelines/Pipelines.h"

#include "wok/Conversion/Passes.h"
#include "wok/IR/WokOps.h"
#include "wok/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace wok;

static constexpr Phase phases[] = {Phase::Simplify, Phase::Fuse, Phase::Plan,
                                   Phase::Loops, Phase::LLVM};
static constexpr llvm::StringLiteral phaseNames[] = {"simplify", "fuse", "plan",
                                                     "loops", "llvm"};

llvm::StringRef wok::toString(Phase phase) {
  return phaseNames[static_cast<size_t>(phase)];
}

std::optional<Phase> wok::parsePhase(llvm::StringRef name) {
  for (Phase phase : phases)
    if (toString(phase) == name)
      return phase;
  return std::nullopt;
}

llvm::ArrayRef<Phase> wok::allPhases() { return phases; }

void wok::buildPhase(OpPassManager &passes, Phase phase,
                     const PipelineOptions &options) {
  switch (phase) {
  case Phase::Simplify:
    passes.addNestedPass<SubgraphOp>(createSimplify());
    passes.addNestedPass<SubgraphOp>(createCSEPass());
    return;
  case Phase::Fuse:
    passes.addNestedPass<SubgraphOp>(createFormFusions());
    return;
  case Phase::Plan:
    passes.addPass(createPlanMemory());
    return;
  case Phase::Loops: {
    LowerFusionsOptions lowering;
    lowering.features = options.features;
    lowering.vectorBytes = options.vectorBytes;
    passes.addPass(createLowerFusions(lowering));
    return;
  }
  case Phase::LLVM: {
    ExpandMathOptions expansion;
    expansion.features = options.features;
    passes.addPass(createExpandMath(expansion));
    passes.addPass(createLowerToLLVM());
    return;
  }
  }
}

void wok::buildPipeline(OpPassManager &passes, Phase to,
                        const PipelineOptions &options) {
  for (Phase phase : phases) {
    buildPhase(passes, phase, options);
    if (phase == to)
      return;
  }
}

namespace {

struct TargetOptions : PassPipelineOptions<TargetOptions> {
  Option<std::string> features{*this, "features",
                               llvm::cl::desc("Features of the target, in "
                                              "LLVM's form")};
  Option<unsigned> vectorBytes{
      *this, "vector-bytes",
      llvm::cl::desc("Bytes of a vector; 0 takes the widest of the target"),
      llvm::cl::init(0)};

  PipelineOptions get() const { return {features, vectorBytes}; }
};

struct WholeOptions : TargetOptions {
  Option<std::string> to{*this, "to",
                         llvm::cl::desc("The last phase that runs"),
                         llvm::cl::init("llvm")};
};

} // namespace

void wok::registerPipelines() {
  // By hand, and not by PassPipelineRegistration: that cannot refuse.
  registerPassPipeline(
      "wok-pipeline", "The phases of compilation, up to one of them",
      [](OpPassManager &passes, StringRef text,
         function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        WholeOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        std::optional<Phase> to = parsePhase(options.to);
        if (!to)
          return error("unknown phase '" + options.to +
                       "'; known are simplify, fuse, plan, loops, llvm");
        buildPipeline(passes, *to, options.get());
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(WholeOptions());
      });
  for (Phase phase : phases) {
    std::string name = ("wok-phase-" + toString(phase)).str();
    PassPipelineRegistration<TargetOptions>(
        name, "One phase of compilation",
        [phase](OpPassManager &passes, const TargetOptions &options) {
          buildPhase(passes, phase, options.get());
        });
  }
}
