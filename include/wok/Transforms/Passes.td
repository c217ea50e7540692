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
    each makes those that it needs. Computation that nothing uses goes, unless it can fault.

    Frames that are `external` stay as they are.
  }];
  let dependentDialects = ["::wok::WokDialect"];
  let statistics = [
    Statistic<"subgraphs", "subgraphs", "Subgraphs made">,
    Statistic<"breaks", "breaks", "Breaks met">,
  ];
}

def Simplify : Pass<"wok-simplify", "::wok::SubgraphOp"> {
  let summary = "Bring a subgraph into the form from which the most can be fused";
  let description = [{
    Applies the folders and canonicalization patterns of all operations, and moves transposes,
    reshapes and broadcasts that all operands of an elementwise operation share behind it: views and
    transposed reads then stand at contractions and at the ends, and what can be computed on fewer
    elements is. Every rewrite is exact: no result changes by a bit.

    What faults still faults: the result of a gather or of an integer division that nothing reads, or
    reads a part of, is kept by a `wok.demand`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::wok::WokDialect"];
}

def FormFusions : Pass<"wok-form-fusions", "::wok::SubgraphOp"> {
  let summary = "Gather operations into fusions, each of which becomes one kernel";
  let description = [{
    Afterwards every operation that computes or moves elements stands in a `wok.fusion`, but
    `wok.contract`, and `wok.reshape` where that is a view of a tensor in memory. Which operations go
    together is decided by `planFusions`: chains of elementwise operations with broadcast, transposed
    and sliced reads; reductions with what they read and what reads them, if all reduce the same
    dimensions of one space (a softmax or layer norm is one fusion); kernels that read the same tensor.
    Movement and constants are copied into each fusion that reads them. An operation that costs more
    than a few additions is computed once for each element of its result. An argument that is
    `wok.strided` is copied before it is reshaped.

    A subgraph on buffers is left alone, and so are fusions that are there already.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::wok::WokDialect"];
  let statistics = [Statistic<"fusions", "fusions", "Fusions formed">];
}

def PlanMemory : Pass<"wok-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give tensors of subgraphs memory: inputs, outputs and one arena";
  let description = [{
    Rewrites each `wok.subgraph` whose computation stands in fusions and contractions, from tensors to
    buffers in destination style. Inputs and outputs become arguments; every other result is a
    transient, a `memref.view` of one `wok.arena`. Transients whose live ranges do not meet may share
    bytes (`packArena`). A reshape is another view of the same bytes. What is returned and is no result
    of a fusion or contraction of its own (an argument, a value returned twice) is copied by a fusion.

    Where extents are symbolic a function `@NAME_shape` (`runtime::ShapeFn`) computes those of the
    outputs and the sizes of transients; if a transient is among them the runtime makes the layout.
    The attribute `wok.entry` (`EntryPoint.h`) on the subgraph holds signature and live ranges.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::wok::WokDialect"];
  let options = [Option<"alignment", "alignment", "int64_t", /*default=*/"64",
                        "Alignment of every buffer in bytes; a power of two">];
  let statistics = [Statistic<"bytesPlanned", "bytes-planned", "Bytes of static arenas">];
}

#endif // WOK_TRANSFORMS_PASSES_TD
