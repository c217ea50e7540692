//===- LowerToLLVM.cpp - Functions with loops to the LLVM dialect ---------===//

#include "wok/Conversion/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace wok {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "wok/Conversion/Passes.h.inc"
} // namespace wok

using namespace mlir;

namespace {
struct LowerToLLVM : wok::impl::LowerToLLVMBase<LowerToLLVM> {
  using LowerToLLVMBase::LowerToLLVMBase;
  void runOnOperation() override;
};
} // namespace

void LowerToLLVM::runOnOperation() {
  MLIRContext *context = &getContext();
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);

  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  // At equal benefit, patterns that unroll vectors would win.
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false,
                                       /*benefit=*/10);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/true);
  // A vector is made of at most 2^31 lanes, so that masks compare 32-bit
  // numbers.
  populateVectorToLLVMConversionPatterns(converter, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
