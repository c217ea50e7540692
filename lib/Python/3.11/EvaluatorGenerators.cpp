//===- EvaluatorGenerators.cpp - Generators that are consumed inside ------===//
//
// A generator that capture makes is a suspended frame. Its body runs when its
// consumer asks, interleaved with it, as in CPython. One that is still alive at
// an exit cannot be made there: the exit is before it was made.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

#include <utility>

namespace wok::python {

using Reason = BreakInfo::Reason;

/// RETURN_GENERATOR: the frame that was just entered becomes a generator.
bool Evaluator::makeGenerator() {
  if (isOuter())
    return breakHere(Reason::Generator);
  Frame suspended = std::move(frame());
  frames.pop_back();
  uint32_t index =
      generators.add({std::move(suspended), Generator::State::Suspended});
  capture::IteratorRow row;
  row.type = capture::IteratorRow::Type::Generator;
  row.generator = index;
  push(capture.iterator(std::move(row)));
  return true;
}

bool Evaluator::yieldValue() {
  int64_t index = frame().generator;
  if (isOuter() || index < 0)
    return breakHere(Reason::Generator);
  Value value = pop();
  Generator &generator = generators.change(static_cast<uint32_t>(index));
  generator.frame = std::move(frame());
  generator.state = Generator::State::Suspended;
  frames.pop_back();
  yielded = value;
  return true;
}

std::optional<Value> Evaluator::resume(uint32_t index) {
  switch (generators[index].state) {
  case Generator::State::Finished:
    return Value();
  case Generator::State::Running:
    return capture.breakHere(Reason::WouldRaise,
                             "a generator that runs already");
  case Generator::State::Suspended:
    break;
  }
  if (frames.size() >= budget.frames)
    return capture.breakHere(Reason::CaptureBudget, "recursion");
  generators.change(index).state = Generator::State::Running;
  Frame running = generators[index].frame;
  running.generator = index;
  running.stack.push_back(capture.none()); // What is sent.
  size_t below = frames.size();
  frames.push_back(std::move(running));
  while (frames.size() > below)
    if (!step() || wantsRestart())
      return std::nullopt;
  // Yielded, or finished.
  std::optional<Value> value = std::exchange(yielded, std::nullopt);
  return value ? *value : Value();
}

} // namespace wok::python
