//===- OptimizeModule.cpp - The short pipeline on LLVM IR -------*- C++ -*-===//

#include "wok/JIT/CodeGen.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

/// What only this module calls, kernels above all, need not have an address of
/// its own: equal functions become one. The same step for each of many tensors,
/// or each time step, is compiled once.
static void keepFunctionsLocal(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration() && !function.use_empty()) {
      function.setLinkage(GlobalValue::InternalLinkage);
      function.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    }
}

void wok::jit::optimizeModule(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loopAnalyses;
  FunctionAnalysisManager functionAnalyses;
  CGSCCAnalysisManager sccAnalyses;
  ModuleAnalysisManager moduleAnalyses;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(sccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, sccAnalyses,
                               moduleAnalyses);

  FunctionPassManager functions;
  functions.addPass(SROAPass(SROAOptions::ModifyCFG));
  functions.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(SimplifyCFGPass());
  functions.addPass(InstCombinePass());
  functions.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                    /*UseMemorySSA=*/true));
  keepFunctionsLocal(module);
  ModulePassManager passes;
  passes.addPass(MergeFunctionsPass());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, moduleAnalyses);
}
