//===- Compiler.cpp - Subgraph in, compiled subgraph out --------*- C++ -*-===//

#include "wok/Compiler/Compiler.h"

#include "CompileGate.h"
#include "CompileModule.h"
#include "ContextPool.h"
#include "Dump.h"
#include "RuntimeSymbols.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "wok/IR/Types.h"
#include "wok/IR/WokOps.h"
#include "wok/Import/ExportGraph.h"
#include "wok/Import/GraphBuilder.h"
#include "wok/JIT/JIT.h"
#include "wok/JIT/Target.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace wok;
using runtime::CompiledSubgraph;

/// The name of every subgraph in the compiler: MLIR keeps each name for ever,
/// and equal subgraphs are to be equal text.
static constexpr llvm::StringLiteral canonicalName = "subgraph";

/// So many subgraphs are remembered without a user.
static constexpr size_t cacheCapacity = 4096;

namespace {

/// The text of `module`, without locations.
std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

/// Operations that compute something.
uint32_t countOperations(SubgraphOp subgraph) {
  uint32_t count = 0;
  subgraph.walk([&](Operation *op) {
    count += isa<WokDialect>(op->getDialect()) &&
             !isa<SubgraphOp, ReturnOp, ConstantOp, DimOp>(op);
  });
  return count;
}

runtime::TensorSpec convertSpec(RankedTensorType type, bool strided) {
  runtime::TensorSpec spec{*fromMLIR(type.getElementType()), strided, {}};
  for (int64_t extent : type.getShape())
    spec.extents.push_back(
        ShapedType::isDynamic(extent) ? runtime::dynamicExtent : extent);
  return spec;
}

/// Machine code that a subgraph keeps.
struct HeldCode {
  std::shared_ptr<const jit::Code> code;
  HeldCode *next;
};

/// Code that outlives the process; here leak checkers see that it is meant.
std::atomic<HeldCode *> abandonedCode = nullptr;

/// Removing code takes ORC's locks: not while the process forks, and not when
/// it ends, where the code may as well stay.
void releaseCode(HeldCode *held) {
  if (CompileGate gate(CompileGate::WhenClosed::Pass); gate) {
    delete held;
    return;
  }
  held->next = abandonedCode.load();
  while (!abandonedCode.compare_exchange_weak(held->next, held))
    ;
}

} // namespace

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

struct Compiler::Impl {
  explicit Impl(CompilerOptions options) : options(std::move(options)) {}

  const CompilerOptions options;

  /// What is made at the first compile.
  struct Engine {
    std::shared_ptr<jit::Target> target;
    std::shared_ptr<jit::JIT> jit;
    std::unique_ptr<ContextPool> contexts;
  };
  llvm::Expected<Engine *> engine();

  std::mutex engineMutex;
  std::optional<Engine> made;
  std::string engineError;

  std::mutex cacheMutex;
  llvm::StringMap<std::shared_ptr<const CompiledSubgraph>> cache;
  Statistics counts;

  std::mutex warmMutex;
  std::thread warmThread;
  pid_t warmProcess = 0;

  /// Compiles a module of one subgraph, with `phases` of its context.
  Result compileSubgraph(ModuleOp module, std::string name, Engine &engine,
                         std::vector<PhasePasses> &phases);
  llvm::Expected<ObjectCode> compileObject(ModuleOp module,
                                           llvm::StringRef text, Engine &engine,
                                           std::vector<PhasePasses> &phases,
                                           const Dump &dump);
  Result link(ObjectCode object, std::string name, uint32_t operations,
              Engine &engine);
  void remember(llvm::StringRef key,
                std::shared_ptr<const CompiledSubgraph> subgraph);
};

llvm::Expected<Compiler::Impl::Engine *> Compiler::Impl::engine() {
  std::lock_guard lock(engineMutex);
  if (made)
    return &*made;
  if (!engineError.empty())
    return llvm::createStringError(engineError);
  auto fail = [&](llvm::Error error) {
    engineError = llvm::toString(std::move(error));
    return llvm::createStringError(engineError);
  };

  auto target = jit::Target::create({options.cpu, options.features});
  if (!target)
    return fail(target.takeError());
  auto jit = jit::JIT::create(runtimeSymbols());
  if (!jit)
    return fail(jit.takeError());
  PipelineOptions pipeline;
  pipeline.features = (*target)->enabledFeatures();
  pipeline.vectorBytes =
      options.vectorBytes ? options.vectorBytes : (*target)->vectorBytes();
  made.emplace(Engine{std::move(*target), std::move(*jit),
                      std::make_unique<ContextPool>(
                          std::move(pipeline), options.compilesPerContext)});
  return &*made;
}

void Compiler::Impl::remember(
    llvm::StringRef key, std::shared_ptr<const CompiledSubgraph> subgraph) {
  std::lock_guard lock(cacheMutex);
  ++counts.compiled;
  if (cache.size() >= cacheCapacity) {
    llvm::SmallVector<std::string> unused;
    for (auto &entry : cache)
      if (entry.second->code.use_count() == 1)
        unused.push_back(entry.first().str());
    for (const std::string &name : unused)
      cache.erase(name);
  }
  cache.try_emplace(key, std::move(subgraph));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

llvm::Expected<ObjectCode>
Compiler::Impl::compileObject(ModuleOp module, llvm::StringRef text,
                              Engine &engine, std::vector<PhasePasses> &phases,
                              const Dump &dump) {
  dump.write("0-subgraph.mlir", text);
  auto object =
      compileModule(module, canonicalName, phases, *engine.target, dump);
  if (object)
    return object;
  std::string error = llvm::toString(object.takeError());
  std::string path = dump.writeReproducer(text, error);
  if (!path.empty())
    error += "\nreproducer: " + path;
  return llvm::createStringError(error);
}

Compiler::Result Compiler::Impl::link(ObjectCode object, std::string name,
                                      uint32_t operations, Engine &engine) {
  if (!engine.target->runsOnHost())
    return llvm::createStringError("code for " + engine.target->cpu() +
                                   " cannot run here: no " +
                                   engine.target->missingFeature());
  auto begin = std::chrono::steady_clock::now();
  auto code = engine.jit->addObject(std::move(object.object), object.symbol);
  if (!code)
    return code.takeError();

  auto result = std::make_shared<CompiledSubgraph>();
  result->name = std::move(name);
  result->operations = operations;
  const EntryPoint &entry = object.entry;
  for (auto [type, strided] : llvm::zip_equal(entry.inputs, entry.strided))
    result->inputs.push_back(convertSpec(type, strided));
  for (RankedTensorType type : entry.outputs)
    result->outputs.push_back(convertSpec(type, false));
  for (const EntryTransient &transient : entry.transients)
    result->transients.push_back({ShapedType::isDynamic(transient.bytes)
                                      ? runtime::dynamicExtent
                                      : transient.bytes,
                                  transient.first, transient.last});
  result->arenaBytes = entry.arenaBytes;
  result->kernels = entry.kernels;
  result->entry = (*code)->lookupAs<runtime::EntryFn>(object.symbol);
  if (entry.hasShape) {
    result->shape = (*code)->lookupAs<runtime::ShapeFn>(
        EntryPoint::shapeName(object.symbol));
    if (!result->shape)
      return llvm::createStringError("the object has no shape function");
  }
  result->phases = std::move(object.phases);
  result->phases.push_back(
      {"link",
       std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin)
           .count()});
  result->code = std::shared_ptr<const void>(
      new HeldCode{std::move(*code), nullptr}, releaseCode);
  return result;
}

Compiler::Result
Compiler::Impl::compileSubgraph(ModuleOp module, std::string name,
                                Engine &engine,
                                std::vector<PhasePasses> &phases) {
  SubgraphOp subgraph = *module.getOps<SubgraphOp>().begin();
  subgraph.setSymName(canonicalName);
  std::string text = textOf(module);
  llvm::BLAKE3Result<> digest = llvm::BLAKE3::hash(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  llvm::StringRef key(reinterpret_cast<const char *>(digest.data()),
                      digest.size());
  {
    std::lock_guard lock(cacheMutex);
    if (auto known = cache.find(key); known != cache.end()) {
      ++counts.reused;
      // The same code under its own name, which cost no time.
      auto result = std::make_shared<CompiledSubgraph>(*known->second);
      result->name = std::move(name);
      result->phases.clear();
      return result;
    }
  }

  uint32_t operations = countOperations(subgraph);
  Dump dump(options.dumpDirectory, name);
  auto object = compileObject(module, text, engine, phases, dump);
  if (!object)
    return object.takeError();
  Result result = link(std::move(*object), std::move(name), operations, engine);
  if (result)
    remember(key, *result);
  return result;
}

static llvm::Error processEnds() {
  return llvm::createStringError("the process is ending");
}

/// Exports `graph` under the canonical name.
static llvm::Expected<OwningOpRef<ModuleOp>>
exportCanonical(const importer::Graph &graph, MLIRContext &context) {
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = exportGraph(graph, canonicalName, context);
  if (!module)
    return llvm::createStringError(
        "in phase 'export': " +
        diagnostics.text("the graph is no valid subgraph"));
  return module;
}

Compiler::Result Compiler::compile(const importer::Graph &graph,
                                   llvm::StringRef name) {
  CompileGate gate;
  if (!gate)
    return processEnds();
  auto engine = impl->engine();
  if (!engine)
    return engine.takeError();
  ContextPool::Lease context = (*engine)->contexts->lease();
  auto module = exportCanonical(graph, context->context);
  if (!module)
    return module.takeError();
  return impl->compileSubgraph(**module, name.str(), **engine, context->phases);
}

Compiler::Result Compiler::compile(ModuleOp module) {
  CompileGate gate;
  if (!gate)
    return processEnds();
  auto engine = impl->engine();
  if (!engine)
    return engine.takeError();
  auto subgraphs = module.getOps<SubgraphOp>();
  if (!llvm::hasSingleElement(subgraphs))
    return llvm::createStringError("the module has not exactly one subgraph");
  std::string name = (*subgraphs.begin()).getSymName().str();
  std::vector<PhasePasses> phases =
      makePhases(*module.getContext(), (*engine)->contexts->pipeline());
  auto watch = llvm::make_scope_exit(CompileGate::watchThreadEnd);
  return impl->compileSubgraph(module, std::move(name), **engine, phases);
}

llvm::Expected<std::string>
Compiler::compileToObject(const importer::Graph &graph, llvm::StringRef name) {
  CompileGate gate;
  if (!gate)
    return processEnds();
  auto engine = impl->engine();
  if (!engine)
    return engine.takeError();
  ContextPool::Lease context = (*engine)->contexts->lease();
  auto module = exportCanonical(graph, context->context);
  if (!module)
    return module.takeError();
  auto object =
      impl->compileObject(**module, textOf(**module), **engine, context->phases,
                          Dump(impl->options.dumpDirectory, name));
  if (!object)
    return object.takeError();
  return object->object->getBuffer().str();
}

//===----------------------------------------------------------------------===//
// The process's compiler
//===----------------------------------------------------------------------===//

CompilerOptions CompilerOptions::fromEnvironment() {
  auto read = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  CompilerOptions options;
  options.cpu = read("WOK_CPU");
  options.dumpDirectory = read("WOK_DUMP");
  return options;
}

Compiler &Compiler::get() {
  // Never destroyed: code may run, and be released, until the process is gone.
  static Compiler *compiler = new Compiler(CompilerOptions::fromEnvironment());
  return *compiler;
}

Compiler::Compiler(CompilerOptions options)
    : impl(std::make_unique<Impl>(std::move(options))) {
  CompileGate::install();
}

Compiler::~Compiler() { waitForWarmUp(); }

void Compiler::warmUp() {
  std::lock_guard lock(impl->warmMutex);
  // The thread of a parent process is not here; its work may not be done.
  if (impl->warmProcess == getpid())
    return;
  if (impl->warmThread.joinable())
    new (&impl->warmThread) std::thread;
  impl->warmProcess = getpid();
  impl->warmThread = std::thread([this] {
    importer::Graph graph;
    importer::GraphBuilder builder(graph);
    importer::ValueId x =
        graph.addInput({DType::F32, builder.extents({1024})}, false);
    graph.outputs = {*builder.binary("mul", *builder.unary("exp", x), x)};
    // A failure shows again, and is reported, at the first compile that counts.
    llvm::consumeError(compile(graph, "warm_up").takeError());
  });
}

void Compiler::waitForWarmUp() {
  std::lock_guard lock(impl->warmMutex);
  if (impl->warmProcess == getpid() && impl->warmThread.joinable())
    impl->warmThread.join();
}

Compiler::Statistics Compiler::statistics() const {
  CompileGate gate;
  std::lock_guard lock(impl->cacheMutex);
  return impl->counts;
}

void Compiler::forgetAll() {
  CompileGate gate;
  llvm::StringMap<std::shared_ptr<const CompiledSubgraph>> old;
  std::lock_guard lock(impl->cacheMutex);
  std::swap(old, impl->cache);
}

void Compiler::registerDialects(DialectRegistry &registry) {
  registry.insert<WokDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
