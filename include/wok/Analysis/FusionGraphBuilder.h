//===- FusionGraphBuilder.h - Fusion decisions on MLIR ----------*- C++ -*-===//

#ifndef WOK_ANALYSIS_FUSIONGRAPHBUILDER_H
#define WOK_ANALYSIS_FUSIONGRAPHBUILDER_H

#include "wok/Analysis/FusionPlanner.h"
#include "wok/IR/WokOps.h"

namespace wok {

/// The tensor values of a block as a graph: node i stands for `values[i]`.
struct BlockGraph {
  FusionGraph graph;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, uint32_t> nodes;
};

/// The graph of the body of a subgraph. Operands of the terminator and of
/// operations that may not be fused are needed. A `wok.reshape` is a node only
/// where it moves nothing but extents of 1; any other is a view of its operand
/// in memory. Extents are symbols: `?` extents that the operations take for
/// equal, or that are one `index` value, are one symbol.
BlockGraph buildFusionGraph(SubgraphOp subgraph);

} // namespace wok

#endif // WOK_ANALYSIS_FUSIONGRAPHBUILDER_H
