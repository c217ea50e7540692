//===- ContextPool.cpp - MLIR contexts, given up in time --------*- C++ -*-===//

#include "ContextPool.h"
#include "CompileGate.h"

#include "mlir/IR/BuiltinOps.h"
#include "wok/Compiler/Compiler.h"

using namespace wok;

std::vector<PhasePasses> wok::makePhases(mlir::MLIRContext &context,
                                         const PipelineOptions &options) {
  std::vector<PhasePasses> result;
  for (Phase phase : allPhases()) {
    auto passes = std::make_unique<mlir::PassManager>(
        &context, mlir::ModuleOp::getOperationName());
#ifdef NDEBUG
    // Every pass has its tests; a verifier after each took a tenth of the time.
    passes->enableVerifier(false);
#endif
    buildPhase(*passes, phase, options);
    result.push_back({phase, std::move(passes)});
  }
  return result;
}

CompileContext::CompileContext(const mlir::DialectRegistry &registry,
                               const PipelineOptions &options)
    : context(registry, mlir::MLIRContext::Threading::DISABLED),
      phases(makePhases(context, options)) {}

ContextPool::ContextPool(PipelineOptions options, unsigned compilesPerContext)
    : options(std::move(options)), compilesPerContext(compilesPerContext) {
  Compiler::registerDialects(registry);
}

ContextPool::Lease ContextPool::lease() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<CompileContext> context = std::move(idle.back());
      idle.pop_back();
      return Lease(*this, std::move(context));
    }
  }
  return Lease(*this, std::make_unique<CompileContext>(registry, options));
}

ContextPool::Lease::~Lease() {
  CompileGate::watchThreadEnd();
  if (++context->compiles >= pool.compilesPerContext)
    return;
  std::lock_guard lock(pool.mutex);
  pool.idle.push_back(std::move(context));
}
