//===- Compiler.h - Subgraph in, compiled subgraph out ----------*- C++ -*-===//

#ifndef WOK_COMPILER_COMPILER_H
#define WOK_COMPILER_COMPILER_H

#include "wok/Import/Graph.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace wok {

/// Compiles subgraphs to native code, in process.
///
/// One compiler serves a process: it owns the MLIR contexts, the target
/// machines and the JIT, and compiles equal subgraphs once. All members are
/// thread-safe; `compile` may be called on several threads at a time and calls
/// nothing of the host.
class Compiler {
public:
  /// The compiler of this process, made at the first call. Starts no thread.
  static Compiler &get();

  /// Compiles `graph`. `name` is used in symbols, dumps and reports. An error
  /// carries the diagnostics and, where `WOK_DUMP` is set, the path of a
  /// reproducer.
  llvm::Expected<std::shared_ptr<const runtime::CompiledSubgraph>>
  compile(const importer::Graph &graph, llvm::StringRef name);

  /// Compiles the only `wok.subgraph` of `module`; the module is consumed.
  llvm::Expected<std::shared_ptr<const runtime::CompiledSubgraph>>
  compile(mlir::ModuleOp module);

  /// Does the slow first steps (context, target machine, one trivial compile)
  /// on a background thread. Idempotent; called at the first `wok.jit`.
  void warmUp();

private:
  Compiler();
  ~Compiler();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace wok

#endif // WOK_COMPILER_COMPILER_H
