//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//

#ifndef WOK_CONVERSION_PASSES
#define WOK_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ExpandMath : Pass<"wok-expand-math", "::mlir::ModuleOp"> {
  let summary = "Replace elementary functions by arithmetic";
  let description = [{
    Replaces `math.exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `tanh`, `erf`, `sin`,
    `cos`, `tan`, `powf` and `rsqrt` on f32 and f64, scalars and 1-D vectors, by inline arithmetic of at most
    1 ulp. f64 functions without an inline form become one call per lane of the C function of that
    name (`LibmSymbols.def`). `powf` and the reduction of large arguments of `sin`, `cos` and `tan`
    become private functions of the module, one for each type. Conversions between f32 and bf16 become
    integer arithmetic, as do those of f16 where the target has no instruction.

    `features` says which instructions may be used (`TargetFeatures::parse`); everything has a portable form.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
  let options = [Option<"features", "features", "std::string", /*default=*/"",
                        "Features of the target, in LLVM's form">];
}

def LowerFusions : Pass<"wok-lower-fusions", "::mlir::ModuleOp"> {
  let summary = "Turn planned subgraphs into functions with loops over vectors";
  let description = [{
    Each planned `wok.subgraph @f` becomes `func.func @f` with the signature of
    `runtime::EntryFn`. Each of its fusions becomes one or more private functions
    `@f_kernelN(begin, end, context) -> status`, which the entry runs through
    `wok_parallel_for`; a contraction becomes a call of `wok_contract`. Kernels are `scf` loops over
    1-D vectors of `vector-bytes` bytes, whose tails are masked; memory is addressed by pointers of the
    LLVM dialect.

    The attribute `wok.entry` (`EntryPoint.h`) moves from the subgraph to the function.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
  let options = [Option<"features", "features", "std::string", /*default=*/"",
                        "Features of the target, in LLVM's form">,
                 Option<"vectorBytes", "vector-bytes", "unsigned", /*default=*/"0",
                        "Bytes of a vector; 0 takes the widest of the target">];
}

def LowerToLLVM : Pass<"wok-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert functions with loops over vectors to the LLVM dialect";
  let description = [{
    One conversion with the patterns of all dialects that `wok-lower-fusions` and
    `wok-expand-math` leave: func, scf, cf, arith, math, vector, index.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // WOK_CONVERSION_PASSES
