//===- ContextPool.h - MLIR contexts that are given up in time --*- C++ -*-===//

#ifndef WOK_LIB_COMPILER_CONTEXTPOOL_H
#define WOK_LIB_COMPILER_CONTEXTPOOL_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "wok/Pipelines/Pipelines.h"

#include <memory>
#include <mutex>
#include <vector>

namespace wok {

/// The passes of one phase, set up for a context.
struct PhasePasses {
  Phase phase;
  std::unique_ptr<mlir::PassManager> passes;
};

/// Pass managers for all phases, in order.
std::vector<PhasePasses> makePhases(mlir::MLIRContext &context,
                                    const PipelineOptions &options);

/// A context and the pass managers for it.
struct CompileContext {
  mlir::MLIRContext context;
  std::vector<PhasePasses> phases;
  unsigned compiles = 0;

  CompileContext(const mlir::DialectRegistry &registry,
                 const PipelineOptions &options);
};

/// Contexts for compiling threads. MLIR's contexts are used without their own
/// threading, so one thread has one at a time; as they never forget a type or
/// an attribute, each is given up after some compiles.
class ContextPool {
public:
  ContextPool(PipelineOptions options, unsigned compilesPerContext);

  /// A context for one thread, until the lease ends.
  class Lease {
  public:
    Lease(ContextPool &pool, std::unique_ptr<CompileContext> context)
        : pool(pool), context(std::move(context)) {}
    Lease(const Lease &) = delete;
    ~Lease();
    CompileContext &operator*() const { return *context; }
    CompileContext *operator->() const { return context.get(); }

  private:
    ContextPool &pool;
    std::unique_ptr<CompileContext> context;
  };
  Lease lease();

  const PipelineOptions &pipeline() const { return options; }

private:
  const PipelineOptions options;
  const unsigned compilesPerContext;
  mlir::DialectRegistry registry;
  std::mutex mutex;
  std::vector<std::unique_ptr<CompileContext>> idle;
};

} // namespace wok

#endif // WOK_LIB_COMPILER_CONTEXTPOOL_H
