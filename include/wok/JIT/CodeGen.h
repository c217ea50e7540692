//===- CodeGen.h - LLVM IR to an object file --------------------*- C++ -*-===//

#ifndef WOK_JIT_CODEGEN_H
#define WOK_JIT_CODEGEN_H

#include "wok/JIT/Target.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class MemoryBuffer;
class Module;
} // namespace llvm

namespace wok::jit {

/// Tells `context` which passes of code generation are not worth their time for
/// kernels. Their options are global in LLVM; this is not. Call it before
/// generating code in the context.
void skipCostlyPasses(llvm::LLVMContext &context);

/// Sets triple, data layout, and each defined function's processor, vector
/// width and `nounwind`.
void prepareModule(llvm::Module &module, const Target &target,
                   llvm::TargetMachine &machine);

/// The short pipeline for code that is already vectorised: SROA, EarlyCSE,
/// SimplifyCFG, InstCombine, LICM. It does not reassociate, contract or
/// vectorise.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// An ELF object of `module`, which may be changed on the way.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// The same as assembly text, for people.
llvm::Expected<std::string> emitAssembly(llvm::Module &module,
                                         llvm::TargetMachine &machine);

} // namespace wok::jit

#endif // WOK_JIT_CODEGEN_H
