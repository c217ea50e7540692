//===- Compiler.h - Subgraph in, compiled subgraph out ----------*- C++ -*-===//

#ifndef WOK_COMPILER_COMPILER_H
#define WOK_COMPILER_COMPILER_H

#include "wok/Import/Graph.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace wok {

/// How exact results are.
enum class Numerics : uint8_t {
  Strict, ///< Each operation rounds as the eager one does.
};

struct CompilerOptions {
  Numerics numerics = Numerics::Strict;
  /// The processor to compile for, by LLVM's names; empty: this one.
  std::string cpu, features;
  /// Bytes of a vector register to use; 0: the widest that the processor has.
  unsigned vectorBytes = 0;
  /// Where to write the subgraph, the IR of each phase, the object and the
  /// assembly of every compile. Empty: nowhere.
  std::string dumpDirectory;
  /// MLIR never forgets a type or attribute: a context is given up after so
  /// many compiles.
  unsigned compilesPerContext = 256;

  /// The defaults, and `WOK_DUMP` and `WOK_CPU` of the environment.
  static CompilerOptions fromEnvironment();
};

/// Compiles subgraphs to native code, in process.
///
/// It owns the MLIR contexts, the target machines and the JIT, and compiles
/// equal subgraphs once. All members are thread-safe; `compile` may be called
/// on several threads at a time and calls nothing of the host. A fork waits
/// until no compile is under way, so that a child finds everything usable; so
/// does the end of the process, after which other threads stay in `compile`.
class Compiler {
public:
  using Result =
      llvm::Expected<std::shared_ptr<const runtime::CompiledSubgraph>>;

  /// The compiler of this process, made at the first call. Starts no thread.
  static Compiler &get();

  explicit Compiler(CompilerOptions options);
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// Compiles `graph`. `name` is used in dumps and reports. An error carries
  /// the diagnostics and the path of a reproducer.
  Result compile(const importer::Graph &graph, llvm::StringRef name);

  /// Compiles the only `wok.subgraph` of `module`; the module is consumed. Its
  /// context was made with `registerDialects` and is used by this thread alone.
  Result compile(mlir::ModuleOp module);

  /// Stops at the object file, whose bytes it returns: for processors that this
  /// one is not.
  llvm::Expected<std::string> compileToObject(const importer::Graph &graph,
                                              llvm::StringRef name);

  /// Does the slow first steps (context, target machine, one small compile) on
  /// a background thread. Idempotent; called at the first `wok.jit`.
  void warmUp();
  /// Waits until a warm-up has ended, if one was begun.
  void waitForWarmUp();

  struct Statistics {
    uint64_t compiled = 0; ///< Subgraphs that went through the pipeline.
    uint64_t reused = 0;   ///< Subgraphs equal to one that had.
  };
  Statistics statistics() const;

  /// Forgets which subgraphs were compiled. Code in use stays.
  void forgetAll();

  /// What a context needs for all phases of the pipeline.
  static void registerDialects(mlir::DialectRegistry &registry);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace wok

#endif // WOK_COMPILER_COMPILER_H
