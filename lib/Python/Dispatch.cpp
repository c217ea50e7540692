//===- Dispatch.cpp - Finds and runs specializations ----------------------===//
//
// Behind Host.h: a frame arrives at a site; the site's specializations are
// looked up (Runtime); on a miss the evaluator captures, the compiler compiles
// without the GIL (Capturer.cpp), and the lookup is made again, with all
// guards. Whatever fails leaves the frame to the interpreter.
//
//===----------------------------------------------------------------------===//

#include "Capturer.h"

#include <chrono>
#include <utility>

namespace wok::python {

using namespace capture;
using runtime::RunResult;

namespace {

/// Which guards failed, for those who listen.
void emitMiss(const runtime::Lookup<FrameModel> &lookup, PyCodeObject *code) {
  if (!runtime::EventStream::listening())
    return;
  for (const auto &failure : lookup) {
    const ExitPlan &plan = failure.specialization->exit;
    std::string where = fileOf(code) + ":" + std::to_string(plan.line);
    std::string text = plan.guards->describe(failure.guard);
    runtime::EventStream::emit({.kind = runtime::Event::Kind::Missed,
                                .where = where,
                                .text = text,
                                .number = failure.specialization->number,
                                .guard = failure.guard});
  }
}

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
    if (runtime::EventStream::listening() &&
        entry.exit.exit.why.reason != BreakInfo::Reason::Return)
      emit(runtime::Event::Kind::Broke, frame.code, entry.exit.exit.why.line,
           breakText(entry.exit.exit.why.reason).explanation);
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
  if (refusals < patience ||
      refusals * 2 < entry.hits.load(std::memory_order_relaxed))
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
      if (refused ||
          !runEntry(*entry, model, lookup.registers(), frame, arrival))
        noteRefusal(*state, *entry, arrival, frame.offset);
      return arrival;
    }
    emitMiss(lookup, frame.code);
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
