//===- SplitAtBreaks.cpp - Subgraphs between the breaks of frames ---------===//

#include "wok/Transforms/FramePieces.h"
#include "wok/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace wok {
#define GEN_PASS_DEF_SPLITATBREAKS
#include "wok/Transforms/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;

namespace {
struct SplitAtBreaks : wok::impl::SplitAtBreaksBase<SplitAtBreaks> {
  using SplitAtBreaksBase::SplitAtBreaksBase;
  void runOnOperation() override;
  void split(FrameOp frame, SymbolTable &symbols);
};
} // namespace

void SplitAtBreaks::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto frame :
       llvm::make_early_inc_range(getOperation().getOps<FrameOp>()))
    if (!frame.getExternal())
      split(frame, symbols);
}

/// What follows the branch `end` is captured as if its first arm was taken.
static void guardBranch(OpBuilder &builder, Operation *end) {
  auto branch = dyn_cast_or_null<BreakOp>(end);
  if (!branch || !branch.isBranch())
    return;
  Value condition = branch.getInputs().front();
  auto type = cast<ShapedType>(condition.getType());
  GuardOp::create(builder, branch.getLoc(), condition,
                  DenseElementsAttr::get(type, true));
}

void SplitAtBreaks::split(FrameOp frame, SymbolTable &symbols) {
  OpBuilder builder(frame);
  Operation *before = nullptr; // What the last piece ended at.
  unsigned number = 0;
  Operation *first = &frame.getBody().front().front();
  while (first) {
    FramePiece piece = collectPiece(first);
    if (!piece.operations.empty()) {
      // Symbols are private to the module: any free name does.
      builder.setInsertionPoint(frame);
      SubgraphOp subgraph = buildSubgraph(
          builder, piece, (frame.getName() + "_" + Twine(number++)).str());
      symbols.insert(subgraph, Block::iterator(frame));

      builder.setInsertionPoint(piece.operations.front());
      guardBranch(builder, before);
      auto run = RunOp::create(builder, subgraph.getLoc(),
                               TypeRange(ValueRange(piece.outputs)),
                               FlatSymbolRefAttr::get(subgraph), piece.inputs);
      for (auto [output, result] : llvm::zip(piece.outputs, run.getResults()))
        output.replaceAllUsesWith(result);
      ++subgraphs;
    }
    breaks += isa<BreakOp>(piece.end);
    before = piece.end;
    first = piece.end->getNextNode();
  }
  // What moved into subgraphs, and constants and extents that only they used.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(frame.getBody().front())))
    if (isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
      op.erase();
}
