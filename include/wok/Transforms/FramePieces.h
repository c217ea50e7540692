//===- FramePieces.h - What of a frame becomes a subgraph -------*- C++ -*-===//
//
// The decision that the pass `wok-split-at-breaks` and the host of `wok-run`
// share: where a piece of computation ends, what it reads and what it leaves.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_TRANSFORMS_FRAMEPIECES_H
#define WOK_TRANSFORMS_FRAMEPIECES_H

#include "wok/IR/WokOps.h"
#include "llvm/ADT/SmallVector.h"

namespace wok {

/// A straight piece of the computation of a frame.
struct FramePiece {
  /// What is computed, in order. Not among them: constants and extents, which
  /// every subgraph makes for itself, and what nobody uses.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Tensors that it reads, in the order of their first use.
  llvm::SmallVector<mlir::Value> inputs;
  /// Tensors that something after it uses, in the order of their definition.
  llvm::SmallVector<mlir::Value> outputs;
  /// The operation it ends before: a break, a guard, a run or the terminator.
  mlir::Operation *end = nullptr;
};

/// The piece that begins with `first`, an operation in the body of a frame.
/// Changes nothing.
FramePiece collectPiece(mlir::Operation *first);

/// Sets the inputs of a piece whose operations are known.
void collectInputs(FramePiece &piece);

/// Makes a subgraph of `piece` at the builder's insertion point, which is in a
/// module. The frame stays as it is.
SubgraphOp buildSubgraph(mlir::OpBuilder &builder, const FramePiece &piece,
                         llvm::StringRef name);

} // namespace wok

#endif // WOK_TRANSFORMS_FRAMEPIECES_H
