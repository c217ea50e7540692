//===- Capture.cpp - Values, checkpoints and breaks of a capture ----------===//

#include "wok/Capture/Capture.h"
#include "wok/Capture/State.h"

namespace wok::capture {

Capture::Capture(SiteHistory &history)
    : history(history), state(std::make_unique<State>()) {}

Capture::~Capture() = default;

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

Capture::State::Checkpoint Capture::State::checkpoint(Capture &capture) {
  return {capture.graph.checkpoint(),
          capture.guards.guards.size(),
          capture.guards.tensors.size(),
          capture.guards.relations.size(),
          inputs.size(),
          journal.size(),
          operations.size(),
          symbolValues.size(),
          known.checkpoint(),
          tensors.checkpoint(),
          scalars.checkpoint(),
          sequences.checkpoint(),
          tables.checkpoint(),
          iterators.checkpoint(),
          instances.checkpoint(),
          callables.checkpoint(),
          cells.checkpoint()};
}

void Capture::State::truncate(Capture &capture, const Checkpoint &to) {
  capture.graph.truncate(to.graph);
  capture.guards.guards.resize(to.guards);
  capture.guards.tensors.resize(to.tensorGuards);
  capture.guards.relations.resize(to.relations);
  inputs.resize(to.inputs);
  journal.resize(to.journal);
  operations.resize(to.operations);
  symbolValues.resize(to.symbols);
  symbolSources.resize(to.symbols);
  symbolExtents.resize(to.symbols);
  known.truncate(to.known);
  tensors.truncate(to.tensors);
  scalars.truncate(to.scalars);
  sequences.truncate(to.sequences);
  tables.truncate(to.tables);
  iterators.truncate(to.iterators);
  instances.truncate(to.instances);
  callables.truncate(to.callables);
  cells.truncate(to.cells);
  std::erase_if(bySource, [&](auto &entry) { return !alive(entry.second); });
  std::erase_if(constants, [&](auto &entry) { return !alive(entry.second); });
  std::erase_if(asTensor, [&](auto &entry) {
    return entry.first >= known.size() || !alive(entry.second);
  });
}

bool Capture::State::alive(Value value) const {
  switch (value.kind) {
  case Kind::Null:
    return true;
  case Kind::Known:
    return value.index < known.size();
  case Kind::Tensor:
    return value.index < tensors.size();
  case Kind::Scalar:
    return value.index < scalars.size();
  case Kind::Sequence:
    return value.index < sequences.size();
  case Kind::Table:
    return value.index < tables.size();
  case Kind::Iterator:
    return value.index < iterators.size();
  case Kind::Instance:
    return value.index < instances.size();
  case Kind::Callable:
    return value.index < callables.size();
  case Kind::Cell:
    return value.index < cells.size();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool mayBeMissing(Step step) {
  return step == Step::DictValue || step == Step::AttributeValue ||
         step == Step::TypeLookup || step == Step::InstanceSlot ||
         step == Step::CellContents || step == Step::FunctionDefault ||
         step == Step::FunctionKwDefault;
}

Value Capture::known(PyObject *object, SourceId source) {
  assert(object && source != noSource);
  auto found = state->bySource.find(source);
  if (found != state->bySource.end())
    return found->second;
  state->objects.push_back(Ref<>::share(object));
  // What nobody looks at afterwards was found all the same: an attribute, key
  // or variable that is missing raises.
  if (mayBeMissing(sources[source].step))
    guards.add({source, Predicate::Present, 0, 0, nullptr, line});
  Value value{Kind::Known, state->known.add({object, source})};
  if (std::optional<Value> number = symbolicNumber(object, source))
    value = *number;
  state->bySource.emplace(source, value);
  return value;
}

Value Capture::constant(PyObject *object) {
  auto found = state->constants.find(object);
  if (found != state->constants.end())
    return found->second;
  sources.hold(object);
  Value value{Kind::Known, state->known.add({object, noSource})};
  state->constants.emplace(object, value);
  return value;
}

Value Capture::constant(long long number) {
  return constant(Ref<>::steal(PyLong_FromLongLong(number)).get());
}

Value Capture::none() { return constant(Py_None); }

const KnownRow &Capture::knownRow(Value value) const {
  assert(value.kind == Kind::Known);
  return state->known[value.index];
}

PyObject *Capture::object(Value value) const {
  return value.kind == Kind::Known ? state->known[value.index].object : nullptr;
}

Value Capture::tensor(TensorRow row) {
  return {Kind::Tensor, state->tensors.add(std::move(row))};
}
const TensorRow &Capture::tensorRow(Value value) const {
  assert(value.kind == Kind::Tensor);
  return state->tensors[value.index];
}
TensorRow &Capture::changeTensor(Value value) {
  assert(value.kind == Kind::Tensor);
  return state->tensors.change(value.index);
}

Value Capture::scalar(ScalarRow row) {
  return {Kind::Scalar, state->scalars.add(std::move(row))};
}
const ScalarRow &Capture::scalarRow(Value value) const {
  assert(value.kind == Kind::Scalar);
  return state->scalars[value.index];
}

Value Capture::sequence(SequenceRow::Type type, std::vector<Value> items) {
  return {Kind::Sequence,
          state->sequences.add({type, std::move(items), nullptr})};
}
const SequenceRow &Capture::sequenceRow(Value value) const {
  assert(value.kind == Kind::Sequence);
  return state->sequences[value.index];
}
SequenceRow &Capture::changeSequence(Value value) {
  assert(value.kind == Kind::Sequence);
  return state->sequences.change(value.index);
}

Value Capture::table(TableRow row) {
  return {Kind::Table, state->tables.add(std::move(row))};
}
const TableRow &Capture::tableRow(Value value) const {
  assert(value.kind == Kind::Table);
  return state->tables[value.index];
}
TableRow &Capture::changeTable(Value value) {
  assert(value.kind == Kind::Table);
  return state->tables.change(value.index);
}

Value Capture::iterator(IteratorRow row) {
  return {Kind::Iterator, state->iterators.add(std::move(row))};
}
Value Capture::instance(InstanceRow row) {
  return {Kind::Instance, state->instances.add(std::move(row))};
}
Value Capture::callable(CallableRow row) {
  return {Kind::Callable, state->callables.add(std::move(row))};
}
Value Capture::cell(Value contents) {
  return {Kind::Cell, state->cells.add({contents})};
}

//===----------------------------------------------------------------------===//
// Breaks and reports
//===----------------------------------------------------------------------===//

std::nullopt_t Capture::breakHere(BreakInfo::Reason reason,
                                  std::string detail) {
  // The first reason is the one nearest to what happened.
  if (!broke)
    broke = BreakInfo{reason, std::move(detail), {}, line};
  return std::nullopt;
}

void Capture::noteOperation(std::string name) {
  state->operations.push_back(std::move(name));
}

} // namespace wok::capture
