//===- EntryBuilder.h - The function that runs a subgraph -------*- C++ -*-===//

#ifndef WOK_LIB_CONVERSION_ENTRYBUILDER_H
#define WOK_LIB_CONVERSION_ENTRYBUILDER_H

#include "ElementEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace wok {

struct KernelTarget {
  TargetFeatures features;
  unsigned vectorBytes;
};

/// Builds the entry function of one subgraph: buffers, launches of kernels,
/// calls of libraries and the status.
class EntryBuilder {
public:
  EntryBuilder(mlir::ModuleOp module, mlir::func::FuncOp entry,
               const KernelTarget &target);

  /// A private function `name` of the module, declared on demand.
  mlir::func::FuncOp runtimeFunction(llvm::StringRef name,
                                     mlir::FunctionType type);
  /// Takes a status (i32) into the one the entry returns.
  void addStatus(mlir::Value status);
  /// Ends the function.
  void finish();

  /// The extent of a buffer, or of a tensor in the body of a fusion.
  mlir::Value extent(mlir::Value value, unsigned dim);

  /// Memory of the entry's own, for `count` elements.
  mlir::Value allocate(mlir::Type elementType, int64_t count);

  mlir::ModuleOp module;
  mlir::func::FuncOp entry;
  const KernelTarget &target;
  mlir::OpBuilder builder;
  mlir::Location loc;
  IndexMath math;
  /// Memory of the buffers, and values of type index, of the subgraph.
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> indices;
  int64_t kernels = 0;

private:
  mlir::Value status;
};

/// One outlined kernel: a function (begin, end, context) -> status. What it
/// needs of the entry function it captures: constants are repeated, anything
/// else travels through the context.
class KernelBuilder {
public:
  KernelBuilder(EntryBuilder &entry, FusionOp fusion);

  /// A value of the entry function, in the kernel.
  mlir::Value capture(mlir::Value value);
  Buffer capture(const Buffer &buffer);

  /// Ends the kernel and makes the entry run it over [0, count), in multiples
  /// of `grain` (values of the entry function).
  void launch(mlir::Value count, mlir::Value grain);

  mlir::Value begin() { return function.getArgument(0); }
  mlir::Value end() { return function.getArgument(1); }

  EntryBuilder &entry;

private:
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  llvm::SmallVector<mlir::Value> captured;
  llvm::DenseMap<mlir::Value, mlir::Value> inside;

public:
  ElementEmitter emitter;
};

/// Emits the kernels of a planned fusion and their launches.
void lowerFusion(EntryBuilder &entry, FusionOp fusion);

} // namespace wok

#endif // WOK_LIB_CONVERSION_ENTRYBUILDER_H
