//===- FrameHost.h - An interpreter of wok.frame ----------------*- C++ -*-===//
//
// The host that needs no Python: it interprets `wok.frame` programs, captures
// the computation between their breaks and runs it through the same dispatch,
// guards and stitcher as the CPython host.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_HOST_FRAMEHOST_H
#define WOK_HOST_FRAMEHOST_H

#include "mlir/IR/BuiltinOps.h"
#include "wok/Host/TensorValue.h"
#include "wok/IR/WokOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace wok {
class Compiler;
} // namespace wok

namespace wok::host {

using Values = std::vector<TensorValue>;

/// Runs programs of one module. Errors carry the source location. Not
/// thread-safe; one module may have several hosts.
class FrameHost {
public:
  /// What a handler sees of a break.
  struct BreakContext {
    BreakOp op;
    llvm::ArrayRef<TensorValue> inputs;
    FrameHost &host;
    /// Executes arm `index` and returns what it yields.
    std::function<llvm::Expected<Values>(unsigned index)> executeArm;
  };
  using Handler = std::function<llvm::Expected<Values>(const BreakContext &)>;
  using Function =
      std::function<llvm::Expected<Values>(llvm::ArrayRef<TensorValue>)>;

  /// `program` stays alive and unchanged. Its context was made with
  /// `Compiler::registerDialects`. What programs print goes to `output`.
  FrameHost(mlir::ModuleOp program, Compiler &compiler,
            llvm::raw_ostream &output);
  ~FrameHost();

  /// Runs a frame or a subgraph of the program.
  llvm::Expected<Values> run(llvm::StringRef name,
                             llvm::ArrayRef<TensorValue> arguments);

  /// Adds or replaces a handler of breaks. `print`, `append`, `branch` and
  /// `call` are there from the beginning.
  void setHandler(llvm::StringRef name, Handler handler);
  /// Adds a function for `call`. It goes before a frame of the same name.
  void setFunction(llvm::StringRef name, Function function);

  /// What `call` finds: a function that was set, or a frame.
  llvm::Expected<Values> call(llvm::StringRef name,
                              llvm::ArrayRef<TensorValue> arguments);
  llvm::raw_ostream &output();
  /// The lists of `append`, by name. They outlive runs.
  std::map<std::string, Values> lists;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace wok::host

#endif // WOK_HOST_FRAMEHOST_H
