//===- CompileModule.h - A module through all phases ------------*- C++ -*-===//

#ifndef WOK_LIB_COMPILER_COMPILEMODULE_H
#define WOK_LIB_COMPILER_COMPILEMODULE_H

#include "ContextPool.h"
#include "Dump.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "wok/Analysis/EntryPoint.h"
#include "wok/JIT/Target.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace wok {

/// Collects the diagnostics of a context as text, "file:line: message", while
/// it lives.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext &context);
  /// What was said so far, or `otherwise` if nothing was.
  std::string text(llvm::StringRef otherwise) const;

private:
  std::string lines;
  mlir::ScopedDiagnosticHandler handler;
};

/// A subgraph as an object file.
struct ObjectCode {
  std::unique_ptr<llvm::MemoryBuffer> object;
  EntryPoint entry;
  /// The symbol of the entry; that of the shape function follows from it.
  std::string symbol;
  std::vector<runtime::PhaseTime> phases;
};

/// Runs the phases of `phases` on `module`, which holds one subgraph @`symbol`,
/// and generates code. The module is consumed. Diagnostics are in the error.
llvm::Expected<ObjectCode> compileModule(mlir::ModuleOp module,
                                         llvm::StringRef symbol,
                                         std::vector<PhasePasses> &phases,
                                         jit::Target &target, const Dump &dump);

} // namespace wok

#endif // WOK_LIB_COMPILER_COMPILEMODULE_H
