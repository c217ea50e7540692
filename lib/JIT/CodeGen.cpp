//===- CodeGen.cpp - LLVM IR to an object file ------------------*- C++ -*-===//

#include "wok/JIT/CodeGen.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace wok;

namespace {

/// Says no to passes that took a third of the time of code generation and made
/// no kernel faster.
struct KernelPassGate final : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "Loop Strength Reduction" && pass != "machine-scheduler" &&
           pass != "post-RA-sched";
  }
};

} // namespace

void jit::skipCostlyPasses(llvm::LLVMContext &context) {
  static KernelPassGate gate;
  context.setOptPassGate(gate);
}

void jit::prepareModule(llvm::Module &module, const Target &target,
                        llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  std::string width = std::to_string(target.vectorBytes() * 8);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu());
    function.addFnAttr("target-features", target.features());
    // LLVM would split wide vectors on some processors.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
jit::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext *context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream,
                                /*DisableVerify=*/true))
    return llvm::createStringError("the target emits no objects");
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), module.getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::string> jit::emitAssembly(llvm::Module &module,
                                              llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true))
    return llvm::createStringError("the target emits no assembly");
  passes.run(module);
  return std::string(text);
}
