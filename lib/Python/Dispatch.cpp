//===- Dispatch.cpp - Finds, captures and runs specializations ------------===//
//
// Behind Host.h: a frame arrives at a site; the site's specializations are
// looked up (Runtime); on a miss the evaluator captures, the compiler compiles
// without the GIL, and the lookup is made again, with all guards. Whatever
// fails leaves the frame to the interpreter.
//
//===----------------------------------------------------------------------===//

#include "3.11/Bytecode.h"
#include "CodeSites.h"
#include "Recording.h"

#include "wok/Capture/Tensors.h"
#include "wok/Compiler/Compiler.h"
#include "wok/Runtime/Contract.h"
#include "wok/Runtime/Counters.h"
#include "wok/Runtime/Parallel.h"

#include <chrono>
#include <string>
#include <utility>

namespace wok::python {

using namespace capture;
using runtime::CaptureBudget;
using runtime::count;
using runtime::Counter;
using runtime::RunResult;

namespace {

using Clock = std::chrono::steady_clock;

int64_t nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                              start)
      .count();
}

/// The cyclic collector is off while a capture looks: it may run finalizers,
/// and these anything.
class CollectorPause {
public:
  CollectorPause() : wasOn(PyGC_Disable()) {}
  ~CollectorPause() {
    if (wasOn)
      PyGC_Enable();
  }

private:
  bool wasOn;
};

/// Work that the program does itself at this break and that is a tensor
/// operation.
bool isEagerOperation(BreakInfo::Reason reason) {
  using Reason = BreakInfo::Reason;
  switch (reason) {
  case Reason::UnsupportedOp:
  case Reason::UnsupportedArgument:
  case Reason::UnsupportedTensor:
  case Reason::RequiresGrad:
  case Reason::InPlace:
  case Reason::RandomNumbers:
  case Reason::Ambient:
    return true;
  default:
    return false;
  }
}

void countBreak(const BreakInfo &why) {
  if (why.reason == BreakInfo::Reason::Return)
    return;
  count(Counter::Breaks);
  if (isEagerOperation(why.reason))
    count(Counter::OpsEager);
}

std::string fileOf(PyCodeObject *code) {
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  PyErr_Clear();
  return file ? file : "?";
}

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

/// What became of a capture.
enum class Captured : uint8_t { Inserted, Nothing, Raised };

class Capturer {
public:
  Capturer(CodeSites &sites, SiteState &state, FrameView &frame,
           Arrival &arrival)
      : sites(sites), state(state), frame(frame), arrival(arrival) {}

  Captured run();

private:
  bool insert(CapturedSubgraph subgraph);
  /// No more captures here; without specializations the trap goes too.
  void goCold() {
    state.site.budget.freeze();
    if (state.site.size() == 0)
      arrival.disarm.push_back(frame.offset);
  }
  void giveUp(const std::string &why);

  CodeSites &sites;
  SiteState &state;
  FrameView &frame;
  Arrival &arrival;
};

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
  {
    CollectorPause pause;
    outcome = captureAt(frame, state.history);
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
    // The entry may see tensors in a later call; elsewhere the program decides what comes.
    constexpr uint32_t chances = 3;
    if (&state != sites.entryState || ++state.fruitless >= chances)
      goCold();
    return Captured::Nothing;
  }
  bool inserted = insert(std::move(*outcome.subgraph));
  state.site.budget.finish(inserted ? CaptureBudget::Outcome::Compiled
                                    : CaptureBudget::Outcome::Failed);
  return inserted ? Captured::Inserted : Captured::Nothing;
}

bool Capturer::insert(CapturedSubgraph subgraph) {
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

  std::string name = nameOf(frame.code, frame.offset), error;
  std::shared_ptr<const runtime::CompiledSubgraph> code;
  auto start = Clock::now();
  Py_BEGIN_ALLOW_THREADS if (auto compiled =
                                 Compiler::get().compile(subgraph.graph, name))
      code = std::move(*compiled);
  else error = llvm::toString(compiled.takeError());
  Py_END_ALLOW_THREADS count(Counter::CompileNanoseconds,
                             nanosecondsSince(start));
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

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

namespace {

/// Runs a specialization whose guards held. True: `arrival` says how it went
/// on.
bool runEntry(const Specialization &entry, FrameModel &model,
              PyObject **registers, FrameView &frame, Arrival &arrival) {
  Recording *recording = Recording::current();
  auto start = recording ? Clock::now() : Clock::time_point();
  model.timeKernels = recording != nullptr;
  switch (runtime::run(model, entry, registers)) {
  case RunResult::Refused:
    return false;
  case RunResult::Raised:
    arrival.action = Arrival::Action::Raise;
    break;
  case RunResult::Committed:
    arrival.action = Arrival::Action::Resume;
    countBreak(entry.exit.exit.why);
    if (recording) {
      recording->ran(entry);
      recording->broke(entry.exit.exit.why, entry.exit.file,
                       nanosecondsSince(start) - model.kernelNanoseconds);
    }
    break;
  }
  arrival.offset = frame.offset;
  arrival.stackDepth = frame.stackDepth;
  return true;
}

} // namespace

/// A specialization whose runs are mostly given up costs more than it saves.
static void noteRefusal(SiteState &state, const Specialization &entry,
                        Arrival &arrival, int32_t offset) {
  constexpr uint32_t patience = 16;
  uint32_t refusals = ++entry.exit.refusals;
  if (refusals < patience || refusals * 2 < entry.hits.load(std::memory_order_relaxed))
    return;
  state.site.erase(&entry);
  state.site.budget.freeze();
  if (state.site.size() == 0)
    arrival.disarm.push_back(offset);
}

Arrival arrive(CodeSites &sites, FrameView &frame) {
  Arrival arrival;
  SiteState *state = sites.find(frame.offset);
  if (!state)
    return arrival;

  // Twice at most: a lookup, and after a capture an ordinary lookup again.
  for (bool mayCapture : {true, false}) {
    FrameModel model(frame);
    model.reserve(state->tensors, state->symbols);
    runtime::Lookup<FrameModel> lookup;
    if (const Specialization *entry = state->site.find(model, lookup)) {
      // A call that was refused without a frame is not tried again with one.
      bool refused = std::exchange(refusedWithoutFrame, nullptr) == entry;
      if (refused || !runEntry(*entry, model, lookup.registers(), frame, arrival))
        noteRefusal(*state, *entry, arrival, frame.offset);
      return arrival;
    }
    if (!mayCapture || !state->site.budget.begin(state->site.size()))
      return arrival;
    switch (Capturer(sites, *state, frame, arrival).run()) {
    case Captured::Inserted:
      break;
    case Captured::Nothing:
      return arrival;
    case Captured::Raised:
      arrival.action = Arrival::Action::Raise;
      arrival.offset = frame.offset;
      arrival.stackDepth = frame.stackDepth;
      return arrival;
    }
  }
  return arrival;
}

} // namespace wok::python
