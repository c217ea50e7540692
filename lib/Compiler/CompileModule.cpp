//===- CompileModule.cpp - A module through all phases ----------*- C++ -*-===//

#include "CompileModule.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "wok/JIT/CodeGen.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>

using namespace mlir;
using namespace wok;

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        llvm::raw_string_ostream stream(lines);
        if (!lines.empty())
          stream << '\n';
        if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
          stream << place.getFilename().getValue() << ':' << place.getLine()
                 << ": ";
        stream << diagnostic;
        return success();
      }) {}

std::string DiagnosticText::text(llvm::StringRef otherwise) const {
  return lines.empty() ? otherwise.str() : lines;
}

namespace {

/// Measures what happens between two calls.
class Stopwatch {
public:
  explicit Stopwatch(std::vector<runtime::PhaseTime> &phases)
      : phases(phases), last(std::chrono::steady_clock::now()) {}
  void lap(llvm::StringRef phase) {
    auto now = std::chrono::steady_clock::now();
    phases.push_back(
        {phase.str(), std::chrono::nanoseconds(now - last).count()});
    last = now;
  }

private:
  std::vector<runtime::PhaseTime> &phases;
  std::chrono::steady_clock::time_point last;
};

} // namespace

/// LLVM's own handler ends the process on an error.
static void collectErrors(llvm::LLVMContext &context, std::string &errors) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *errors) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        stream << '\n';
      },
      &errors);
}

static llvm::Error makeError(llvm::StringRef phase, const llvm::Twine &text) {
  return llvm::createStringError("in phase '" + phase + "': " + text);
}

template <class Printable>
static std::string print(const Printable &printable) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printable(stream);
  return text;
}

llvm::Expected<ObjectCode> wok::compileModule(ModuleOp module,
                                              llvm::StringRef symbol,
                                              std::vector<PhasePasses> &phases,
                                              jit::Target &target,
                                              const Dump &dump) {
  ObjectCode result;
  result.symbol = symbol.str();
  Stopwatch watch(result.phases);
  DiagnosticText diagnostics(*module.getContext());

  unsigned number = 1;
  for (PhasePasses &phase : phases) {
    llvm::StringRef name = toString(phase.phase);
    if (failed(phase.passes->run(module)))
      return makeError(name, diagnostics.text("a pass failed"));
    watch.lap(name);
    if (dump)
      dump.write(llvm::formatv("{0}-{1}.mlir", number, name).str(),
                 print([&](llvm::raw_ostream &os) { module.print(os); }));
    ++number;
  }

  Operation *entry = module.lookupSymbol(symbol);
  std::optional<EntryPoint> entryPoint =
      entry ? EntryPoint::get(entry) : std::nullopt;
  if (!entryPoint)
    return makeError("llvm", "no entry point");
  result.entry = std::move(*entryPoint);

  std::string errors;
  llvm::LLVMContext context;
  collectErrors(context, errors);
  jit::skipCostlyPasses(context);
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, symbol);
  if (!code)
    return makeError("object", diagnostics.text("no translation to LLVM IR"));
  jit::Target::Lease machine = target.lease();
  jit::prepareModule(*code, target, *machine);
  watch.lap("translate");

  auto printCode = [&](llvm::raw_ostream &os) { code->print(os, nullptr); };
  if (dump)
    dump.write("6-translated.ll", print(printCode));
  jit::optimizeModule(*code, *machine);
  watch.lap("optimize");
  if (dump) {
    std::string text = print(printCode);
    dump.write("7-optimized.ll", text);
    // Code generation changes the module: assembly comes from a copy.
    if (auto assembly = jit::emitAssembly(*llvm::CloneModule(*code), *machine))
      dump.write("8-object.s", *assembly);
    else
      llvm::consumeError(assembly.takeError());
  }
  auto object = jit::emitObject(*code, *machine);
  if (!object)
    return object.takeError();
  if (!errors.empty())
    return makeError("object", errors);
  watch.lap("object");
  if (dump)
    dump.write("8-object.o", (*object)->getBuffer());
  result.object = std::move(*object);
  return result;
}
