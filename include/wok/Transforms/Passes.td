//===- Passes.td - Passes on wok operations ----------------*- tablegen -*-===//

#ifndef WOK_TRANSFORMS_PASSES_TD
#define WOK_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitAtBreaks : Pass<"wok-split-at-breaks", "::mlir::ModuleOp"> {
  let summary = "Turn the computation of frames into subgraphs between breaks";
  let description = [{
    Each straight piece of computation between two breaks of a `wok.frame` becomes a `wok.subgraph` and
    a `wok.run`. What follows a branch is split under a `wok.guard` that the first arm was taken: where
    it was not, an interpreter captures anew. Constants and extents are not passed between subgraphs:
    each makes those that it needs. Computation that nothing uses goes.

    Frames that are `external` stay as they are.
  }];
  let dependentDialects = ["::wok::WokDialect"];
  let statistics = [
    Statistic<"subgraphs", "subgraphs", "Subgraphs made">,
    Statistic<"breaks", "breaks", "Breaks met">,
  ];
}

#endif // WOK_TRANSFORMS_PASSES_TD
