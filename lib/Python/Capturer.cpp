//===- Capturer.cpp - From a miss to a specialization ---------------------===//

#include "Capturer.h"

#include "wok/Capture/Tensors.h"
#include "wok/Compiler/Compiler.h"
#include "wok/Runtime/Events.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace wok::python {

using namespace capture;
using runtime::CaptureBudget;
using runtime::count;
using runtime::Counter;

namespace {

/// One warning, that never becomes an exception of the program.
void warn(const std::string &text) {
  PendingException pending;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0)
    PyErr_Clear();
}

/// Sets `wok.BreakError`.
void raiseBreak(const BreakInfo &why, PyCodeObject *code) {
  const BreakText &text = breakText(why.reason);
  PyObject *type = breakErrorType();
  if (!type)
    return;
  std::string file = why.file.empty() ? fileOf(code) : why.file;
  std::string message =
      file + ":" + std::to_string(why.line) + ": " + text.explanation;
  if (!why.detail.empty())
    message += ": " + why.detail;
  if (text.hint[0])
    message += std::string(" (") + text.hint + ")";
  PyErr_SetString(type, message.c_str());
}

std::string nameOf(PyCodeObject *code, int32_t offset) {
  const char *name = PyUnicode_AsUTF8(code->co_name);
  PyErr_Clear();
  std::string result;
  for (const char *c = name ? name : "code"; *c; ++c)
    result += std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
  return result + "_" + std::to_string(offset);
}

/// Whether running the subgraph saves time: about 0.9 us for each operation
/// that eager dispatches, against a lookup, guards, and the objects to be made.
/// Large tensors save memory traffic and are always worth it.
bool isWorthIt(const CapturedSubgraph &subgraph) {
  const importer::Graph &graph = subgraph.graph;
  constexpr int64_t manyElements = 16384;
  for (const importer::Node &node : graph.allNodes()) {
    int64_t elements = 1;
    for (importer::ExtentId id : node.type.extents) {
      int64_t extent = graph.constantValue(id);
      if (extent == runtime::dynamicExtent)
        return !graph.outputs.empty();
      elements *= extent;
    }
    if (elements >= manyElements)
      return !graph.outputs.empty();
  }
  double tensors = 0, views = 0;
  for (const Recipe &recipe : subgraph.exit.recipes) {
    tensors += recipe.kind == RecipeKind::Tensor;
    views += recipe.kind == RecipeKind::View;
  }
  double eager = 0.9 * static_cast<double>(subgraph.operations.size());
  return eager > 0.15 +
                     0.01 * static_cast<double>(subgraph.guards.guards.size()) +
                     0.45 * tensors + 0.9 * views;
}

/// With WOK_DUMP: what was captured, beside what the compiler writes.
void dumpCapture(const CapturedSubgraph &subgraph, PyCodeObject *code,
                 const std::string &name) {
  static const char *directory = std::getenv("WOK_DUMP");
  if (!directory || !*directory)
    return;
  static std::atomic<uint32_t> number{0};
  std::string path = std::string(directory) + "/capture-" +
                     std::to_string(number++) + "-" + name + ".txt";
  if (std::FILE *file = std::fopen(path.c_str(), "w")) {
    std::string text = toString(subgraph, code);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

} // namespace

/// An internal failure: the site is left to the interpreter for good.
void Capturer::giveUp(const std::string &why) {
  count(Counter::Fallbacks);
  warn("wok: " + fileOf(frame.code) + ": " + why +
       "; this part runs uncompiled");
  goCold();
}

Captured Capturer::run() {
  count(Counter::Captures);
  noteLibraries();
  sites.dropDead(state);
  // The last entry is as dynamic as can be.
  if (sites.options.dynamic < 0 &&
      state.site.size() + 1 >= state.site.budget.limit)
    state.history.dynamic = 1;

  CaptureOutcome outcome;
  try {
    outcome = captureAt(frame, state.history);
  } catch (const std::exception &failure) { // No memory.
    PyErr_Clear();
    state.site.budget.finish(CaptureBudget::Outcome::Failed);
    giveUp(std::string("a capture was dropped: ") + failure.what());
    return Captured::Nothing;
  }
  if (PyErr_Occurred())
    PyErr_Clear();
  arrival.arm.insert(arrival.arm.end(), outcome.sites.begin(),
                     outcome.sites.end());
  for (int32_t offset : outcome.sites)
    sites.add(offset);

  if (sites.options.fullgraph &&
      outcome.why.reason != BreakInfo::Reason::Return) {
    state.site.budget.finish(CaptureBudget::Outcome::Nothing);
    raiseBreak(outcome.why, frame.code);
    return Captured::Raised;
  }
  if (!outcome.subgraph) {
    state.site.budget.finish(CaptureBudget::Outcome::Nothing);
    countBreak(outcome.why);
    if (Recording *recording = Recording::current())
      recording->broke(outcome.why, fileOf(frame.code), 0);
    // The entry may see tensors in a later call; elsewhere the program decides
    // what comes.
    constexpr uint32_t chances = 3;
    if (&state != sites.entryState || ++state.fruitless >= chances)
      goCold();
    return Captured::Nothing;
  }
  if (!sites.options.fullgraph && !isWorthIt(*outcome.subgraph)) {
    state.site.budget.finish(CaptureBudget::Outcome::Nothing);
    countBreak(outcome.why);
    if (++state.fruitless >= 2)
      goCold();
    return Captured::Nothing;
  }
  bool inserted = insert(std::move(*outcome.subgraph));
  state.site.budget.finish(inserted ? CaptureBudget::Outcome::Compiled
                                    : CaptureBudget::Outcome::Failed);
  return inserted ? Captured::Inserted : Captured::Nothing;
}

bool Capturer::insert(CapturedSubgraph subgraph) {
  std::string name = nameOf(frame.code, frame.offset);
  dumpCapture(subgraph, frame.code, name);
  // The plan takes the exit and shares its objects; the graph stays for the
  // compiler.
  ExitPlan plan = makeExitPlan(subgraph, frame.code);
  if (!plan.guards) {
    giveUp("a capture that does not fit a guard program was dropped");
    return false;
  }

  // The frame that made the guards must pass them.
  {
    FrameModel model(frame);
    model.reserve(plan.guards->tensors.size(), plan.guards->symbols);
    std::vector<PyObject *> registers(plan.guards->program.registers);
    uint32_t failed =
        runtime::evaluate(plan.guards->program, model, registers.data());
    if (failed != runtime::GuardProgram::holds) {
      giveUp("internal error: the guard \"" + plan.guards->describe(failed) +
             "\" is false where it was made");
      return false;
    }
  }

  if (runtime::EventStream::listening()) {
    std::string operations;
    for (const std::string &operation : plan.operationNames)
      operations += (operations.empty() ? "" : ", ") + operation;
    emit(runtime::Event::Kind::Captured, frame.code, plan.line, operations);
  }
  std::string error;
  std::shared_ptr<const runtime::CompiledSubgraph> code;
  auto start = Clock::now();
  Py_BEGIN_ALLOW_THREADS
  if (auto compiled = Compiler::get().compile(subgraph.graph, name))
    code = std::move(*compiled);
  else
    error = llvm::toString(compiled.takeError());
  Py_END_ALLOW_THREADS
  count(Counter::CompileNanoseconds, nanosecondsSince(start));
  if (!code) {
    giveUp("the compiler gave up: " + error);
    return false;
  }
  count(Counter::Kernels, code->kernels);
  state.tensors =
      std::max<uint32_t>(state.tensors, plan.guards->tensors.size());
  state.symbols = std::max(state.symbols, plan.guards->symbols);
  state.returns |= plan.exit.returns;
  runtime::GuardProgram program = plan.guards->program;
  state.site.insert(std::make_shared<const Specialization>(
      std::move(program), std::move(code), std::move(plan)));
  return true;
}

} // namespace wok::python
