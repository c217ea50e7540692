//===- RunMain.cpp - The tool wok-run -------------------------------------===//

#include "wok/Host/RunMain.h"

#include "RunReports.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "wok/Compiler/Compiler.h"
#include "wok/Host/FrameHost.h"
#include "wok/IR/Types.h"
#include "wok/Pipelines/Pipelines.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "wok/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wok;
using namespace wok::host;
namespace cl = llvm::cl;

namespace {
struct Options {
  cl::OptionCategory category{"Options of wok-run"};
  cl::opt<std::string> file{cl::Positional, cl::cat(category), cl::init("-"),
                            cl::desc("<program in MLIR>")};
  cl::opt<std::string> entry{
      "entry", cl::cat(category),
      cl::desc("The frame or subgraph to run; needed if there are "
               "several")};
  cl::list<std::string> args{
      "args", cl::cat(category),
      cl::desc("Arguments of one run, separated by ';', each a number, nested "
               "brackets, \"random\" or \"random:SEED\". Repeat it to run "
               "again. Default: all random")};
  cl::opt<bool> stats{"counts", cl::cat(category),
                      cl::desc("Print what each run counted")};
  cl::opt<bool> events{"events", cl::cat(category),
                       cl::desc("Print what happens, as it happens")};
  cl::opt<std::string> compileTo{
      "compile-to", cl::cat(category),
      cl::desc("Print the program after this phase instead of running it: "
               "simplify, fuse, plan, loops, llvm")};
};
} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "wok-run: " << message << '\n';
  return 1;
}

/// The frame or subgraph that `name` says, or the only one.
static Operation *findEntry(ModuleOp program, llvm::StringRef name) {
  if (!name.empty()) {
    Operation *op = program.lookupSymbol(name);
    return isa_and_present<FrameOp, SubgraphOp>(op) ? op : nullptr;
  }
  auto frames =
      llvm::make_filter_range(program.getOps<FrameOp>(), [](FrameOp frame) {
        return !frame.getExternal();
      });
  if (llvm::hasSingleElement(frames))
    return *frames.begin();
  auto subgraphs = program.getOps<SubgraphOp>();
  if (frames.empty() && llvm::hasSingleElement(subgraphs))
    return *subgraphs.begin();
  return nullptr;
}

static llvm::Expected<Values> parseArguments(llvm::StringRef text,
                                             llvm::ArrayRef<Type> types) {
  llvm::SmallVector<llvm::StringRef> parts;
  if (!text.trim().empty())
    text.split(parts, ';');
  else if (!types.empty())
    parts.assign(types.size(), "random");
  if (parts.size() != types.size())
    return llvm::createStringError(
        llvm::Twine(types.size()) + " arguments needed, not " +
        llvm::Twine(parts.size()) + ": '" + text + "'");
  Values values;
  for (auto [index, part, type] : llvm::enumerate(parts, types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return llvm::createStringError("argument " + llvm::Twine(index) +
                                     " is no tensor");
    std::vector<int64_t> extents = tensor.getShape().vec();
    for (int64_t &extent : extents)
      if (ShapedType::isDynamic(extent))
        extent = runtime::dynamicExtent;
    // Arguments differ from each other, and not from one run to the next.
    std::string seeded = part.trim() == "random"
                             ? "random:" + std::to_string(index)
                             : part.str();
    auto value =
        parseTensor(seeded, *fromMLIR(tensor.getElementType()), extents);
    if (!value)
      return llvm::createStringError("argument " + llvm::Twine(index) + ": " +
                                     llvm::toString(value.takeError()));
    values.push_back(std::move(*value));
  }
  return values;
}

/// Prints the subgraphs after `phase`; frames are split into subgraphs first.
static int compileTo(ModuleOp program, llvm::StringRef name) {
  std::optional<Phase> phase = parsePhase(name);
  if (!phase)
    return fail("no phase '" + name + "' that ends in MLIR");
  PassManager split(program.getContext());
  split.addPass(createSplitAtBreaks());
  if (failed(split.run(program)))
    return 1;
  for (auto frame : llvm::make_early_inc_range(program.getOps<FrameOp>()))
    frame.erase();
  PassManager passes(program.getContext());
  buildPipeline(passes, *phase, PipelineOptions());
  if (failed(passes.run(program)))
    return 1;
  program.print(llvm::outs());
  llvm::outs() << '\n';
  return 0;
}

static int runProgram(ModuleOp program, const Options &options) {
  Operation *entry = findEntry(program, options.entry);
  if (!entry)
    return fail(options.entry.empty()
                    ? "several things to run or none: say --entry=NAME"
                    : "no frame and no subgraph @" + options.entry);
  llvm::StringRef name = SymbolTable::getSymbolName(entry).getValue();
  llvm::ArrayRef<Type> types =
      cast<FunctionOpInterface>(entry).getArgumentTypes();

  FrameHost host(program, Compiler::get(), llvm::outs());
  std::optional<EventPrinter> printer;
  if (options.events)
    printer.emplace(llvm::outs());
  std::vector<std::string> runs(options.args.begin(), options.args.end());
  if (runs.empty())
    runs.emplace_back();
  for (const std::string &text : runs) {
    auto arguments = parseArguments(text, types);
    if (!arguments)
      return fail(llvm::toString(arguments.takeError()));
    runtime::resetCounters();
    auto results = host.run(name, *arguments);
    if (!results)
      return fail(llvm::toString(results.takeError()));
    llvm::outs() << '@' << name << '(' << text << ") = ";
    llvm::interleaveComma(*results, llvm::outs(), [](const TensorValue &value) {
      llvm::outs() << toString(value);
    });
    llvm::outs() << '\n';
    if (options.stats)
      printStatistics(llvm::outs());
  }
  for (auto &[list, values] : host.lists) {
    llvm::outs() << "list " << list << " = [";
    llvm::interleaveComma(values, llvm::outs(), [](const TensorValue &value) {
      llvm::outs() << toString(value);
    });
    llvm::outs() << "]\n";
  }
  return 0;
}

int host::runMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  // Not those of the libraries, which are hundreds.
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(
      argc, argv, "Runs wok programs: frames with breaks, or one subgraph\n");

  DialectRegistry registry;
  Compiler::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> program =
      parseSourceFile<ModuleOp>(options.file, sources, &context);
  if (!program)
    return 1;
  return options.compileTo.empty() ? runProgram(*program, options)
                                   : compileTo(*program, options.compileTo);
}
