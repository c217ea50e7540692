//===- FrameCapture.h - From a place in a frame to code ---------*- C++ -*-===//

#ifndef WOK_LIB_HOST_FRAMECAPTURE_H
#define WOK_LIB_HOST_FRAMECAPTURE_H

#include "FrameModel.h"
#include "wok/Compiler/Compiler.h"
#include "wok/IR/WokOps.h"
#include "llvm/ADT/DenseMap.h"

namespace wok::host {

/// The tensors of a body, its arms included, in numbered slots.
class SlotNumbers {
public:
  explicit SlotNumbers(mlir::Region &body);
  uint32_t operator[](mlir::Value value) const {
    return numbers.find(value)->second;
  }
  size_t size() const { return numbers.size(); }

private:
  llvm::DenseMap<mlir::Value, uint32_t> numbers;
};

/// Makes a specialization of the computation that begins at an operation.
class FrameCapture {
public:
  FrameCapture(Compiler &compiler) : compiler(compiler) {}

  using Entry = std::shared_ptr<const FrameSpecialization>;

  /// Captures from `first` to the next break, given the values of the frame.
  /// Null if nothing is computed there. `branch` is the branch that the frame
  /// has just left, or null: the arm it took is guarded.
  llvm::Expected<Entry> capture(mlir::Operation *first, BreakOp branch,
                                const SlotNumbers &numbers,
                                const std::vector<TensorValue> &slots);

  /// The specialization that `run` stands for.
  llvm::Expected<Entry> capture(RunOp run, const SlotNumbers &numbers);

  /// Code for `subgraph` as it stands in the program.
  llvm::Expected<std::shared_ptr<const runtime::CompiledSubgraph>>
  compile(SubgraphOp subgraph);

  /// Code for a single operation on the dynamic extents it has: arguments are
  /// its tensor operands that are no constants.
  struct OperationCode {
    std::shared_ptr<const runtime::CompiledSubgraph> code;
    llvm::SmallVector<mlir::Value> inputs;
  };
  llvm::Expected<OperationCode> compileAlone(mlir::Operation *op);

private:
  Compiler &compiler;
};

} // namespace wok::host

#endif // WOK_LIB_HOST_FRAMECAPTURE_H
