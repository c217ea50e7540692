//===- FusionLowering.h - Loop nests of a fusion ----------------*- C++ -*-===//
//
// Three kinds of kernels, all of them loops around `ElementEmitter`:
//
// - Elementwise: one loop nest over an output's shape.
// - Rows and columns: one pass over the kept dimensions of the reductions, and
//   for each place all reductions, level by level, and then what needs them.
//   Lanes run along the innermost dimension, be it reduced (rows) or kept
//   (columns).
// - Everything reduced: blocks of the operand in parallel, a fixed number of
//   them, so that the result does not depend on the number of threads; then the
//   rest.
//
// The kinds have a file each; FusionLowering.cpp chooses among them and has
// what they share.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CONVERSION_FUSIONLOWERING_H
#define WOK_LIB_CONVERSION_FUSIONLOWERING_H

#include "DimGroups.h"
#include "EntryBuilder.h"

#include "wok/Analysis/ElementCost.h"

namespace wok {

class FusionLowering {
public:
  FusionLowering(EntryBuilder &entry, FusionOp fusion);
  void run();

private:
  using Dims = llvm::SmallVector<unsigned>;
  using Groups = llvm::SmallVector<Dims>;
  using Operations = llvm::SmallVector<mlir::Operation *>;
  using Prologue = llvm::function_ref<void(KernelBuilder &)>;

  struct Output {
    mlir::Value value; ///< What the body yields.
    Buffer buffer;
  };

  // Kernels.
  void elementwise(llvm::ArrayRef<Output> outputs, Prologue prologue);
  void rows();
  void columns();
  void everything();

  // Analysis.
  void findReductions();
  void weigh();
  bool isKeptShape(mlir::Value value) const;
  /// Whether lanes along the innermost dimension read far apart.
  bool readsAcross();
  /// Whether `value` has the shape of what is reduced.
  bool isFullShape(mlir::Value value) const;
  /// Those of the shape of what is reduced first.
  std::pair<llvm::SmallVector<Output>, llvm::SmallVector<Output>>
  splitOutputs() const;
  int64_t chooseLanes(int64_t innerExtent) const;
  int64_t unroll(int64_t light, int64_t heavy) const {
    return weight > heavyElement ? heavy : light;
  }
  /// Elements that are worth a task.
  int64_t grainElements() const {
    return std::max<int64_t>(2048, 65536 / (1 + weight / 2));
  }
  static Dims dimsOf(mlir::Value value);
  static int64_t staticExtent(mlir::Value value, llvm::ArrayRef<unsigned> dims);

  // In the entry function.
  /// `times` the extents of `dims` of `value`, a tensor of the body.
  mlir::Value entrySize(mlir::Value value, llvm::ArrayRef<unsigned> dims,
                        int64_t times = 1);
  /// How many items, of `size` elements each, make `grain` elements.
  mlir::Value grainOf(mlir::Value size, int64_t grain);

  // In kernels.
  void bindArguments(KernelBuilder &kernel);
  mlir::Value kernelExtent(ElementEmitter &e, mlir::Value value,
                           llvm::ArrayRef<unsigned> dims);
  /// Indices of `rank` dimensions from one index for each group.
  IndexList spread(ElementEmitter &e, unsigned rank, const Groups &groups,
                   llvm::ArrayRef<Index> at);
  /// One index for each of `groups`, of `value`, from their linear index.
  IndexList unravel(ElementEmitter &e, mlir::Value linear, mlir::Value value,
                    llvm::ArrayRef<Dims> groups);
  /// The indices of the kept dimensions among those of what is reduced.
  IndexList keptOf(llvm::ArrayRef<Index> all) const;
  /// Indices of a value of the kept shape, whatever unit dimensions it has.
  IndexList keptIndices(ElementEmitter &e, mlir::Value value,
                        llvm::ArrayRef<Index> kept);
  /// Runs `body` on vectors of indices that cover [low, high).
  void vectorLoop(ElementEmitter &e, mlir::Value low, mlir::Value high,
                  int64_t copies,
                  llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  void storeAll(KernelBuilder &kernel, llvm::ArrayRef<Output> outputs,
                llvm::ArrayRef<IndexList> at);
  /// Stores outputs of the kept shape at one place.
  void storeKept(KernelBuilder &kernel, llvm::ArrayRef<Output> outputs,
                 llvm::ArrayRef<Index> kept);
  /// The reductions of one level, for each of `kept`; what they give is
  /// remembered.
  void reduceLevel(ElementEmitter &e, llvm::ArrayRef<mlir::Operation *> level,
                   llvm::ArrayRef<IndexList> kept, bool alongLanes,
                   int64_t copies);

  // Rows.
  /// Reductions whose expensive operand an output needs again, and that output:
  /// the operand is kept in its memory meanwhile.
  using Homes = llvm::DenseMap<mlir::Operation *, const Output *>;
  Homes findHomes(llvm::ArrayRef<Output> outputs) const;
  mlir::Operation *findReduced(const Output &output, const Homes &taken) const;
  void reduceRow(KernelBuilder &kernel, llvm::ArrayRef<mlir::Operation *> level,
                 const Homes &homes, llvm::ArrayRef<Index> kept);
  void storeRow(KernelBuilder &kernel, llvm::ArrayRef<Output> outputs,
                IndexList all);

  // Everything.
  /// Where the blocks of a reduction left their accumulators.
  struct Partial {
    mlir::Operation *op;
    llvm::SmallVector<Buffer> buffers;
  };
  Partial allocatePartial(mlir::Operation *op);
  /// Combines what the blocks left, and remembers the results.
  void recall(KernelBuilder &kernel, llvm::ArrayRef<Partial> partials);
  /// Reduces one level block by block; `partials` are of levels before.
  llvm::SmallVector<Partial>
  reduceBlocks(llvm::ArrayRef<mlir::Operation *> level,
               llvm::ArrayRef<Partial> partials);

  EntryBuilder &entry;
  FusionOp fusion;
  DimGroups dimGroups;
  llvm::SmallVector<Output> outputs;
  /// Reductions by level: one needs only those of levels before.
  llvm::SmallVector<Operations> levels;
  /// All reductions reduce `reducedDims` of operands of one shape.
  bool isUniform = true;
  mlir::Value operand;
  Dims reducedDims, keptDims;
  Groups reducedGroups, keptGroups;
  /// What one element takes, by `elementCost`.
  int64_t weight = 0;
  int64_t elementBytes = 1;
  bool hasHalves = false; ///< Elements of f16.
};

} // namespace wok

#endif // WOK_LIB_CONVERSION_FUSIONLOWERING_H
