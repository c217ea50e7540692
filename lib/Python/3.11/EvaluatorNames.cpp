//===- EvaluatorNames.cpp - Locals, globals and cells ---------------------===//

#include "Evaluator.h"
#include "Peek.h"

#include "wok/Capture/Tensors.h"

#include <algorithm>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::EffectKind;
using capture::Predicate;

//===----------------------------------------------------------------------===//
// Locals
//===----------------------------------------------------------------------===//

/// The outer frame's locals become values when they are first looked at.
Value &Evaluator::local(uint32_t slot) {
  Frame &current = frame();
  if (!isOuter() || touched[slot])
    return current.locals[slot];
  touched[slot] = true;
  SourceId source = capture.sources.get(Step::Local, capture::noSource, slot);
  if (PyObject *object = view.localsplus[slot])
    current.locals[slot] = capture.known(object, source);
  return current.locals[slot];
}

bool Evaluator::storeLocal(uint32_t slot, Value value) {
  Value old = local(slot);
  if (old == value)
    return true;
  if (!old.isNull() && !letGo(old))
    return false;
  // A slot that was unbound stays to be let go of nothing. At the entry only
  // arguments are bound.
  if (isOuter() && old.isNull() && !view.localsplus[slot] &&
      startOffset != frame().bytecode->entry())
    capture.guards.add(
        {capture.sources.get(Step::Local, capture::noSource, slot),
         Predicate::SlotNull, 0, 0, nullptr, capture.line});
  local(slot) = value;
  return true;
}

/// Types whose release runs nothing of the program and frees nothing that
/// could.
static bool releasesQuietly(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  return type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type ||
         type == &PyBytes_Type || object == Py_None ||
         type == &PyComplex_Type || type == &PyEllipsis_Type ||
         type == &PyModule_Type || type == &PyCFunction_Type ||
         type == &PyMethodDescr_Type || type == &PyRange_Type ||
         type == &PyRangeIter_Type || type == &PyCode_Type ||
         type == &PyType_Type;
}

bool Evaluator::letGo(Value value, int depth) {
  if (depth > 8)
    return breakHere(Reason::Finalizer, "a deep container");
  if (value.kind == Kind::Sequence) {
    for (Value item : capture.sequenceRow(value).items)
      if (!letGo(item, depth + 1))
        return false;
    return true;
  }
  if (value.kind == Kind::Table) {
    for (auto [key, item] : capture.tableRow(value).entries)
      if (!letGo(key, depth + 1) || !letGo(item, depth + 1))
        return false;
    return true;
  }
  if (value.kind != Kind::Known)
    return true; // Fresh: it is never made.
  const capture::KnownRow row = capture.knownRow(value);
  if (row.source == capture::noSource || releasesQuietly(row.object))
    return true;
  // Found through something that lives on and still holds it.
  const capture::Source &source = capture.sources[row.source];
  if (source.step != Step::Local && source.step != Step::Stack &&
      source.step != Step::CellContents)
    return true;
  capture::Library library;
  if (capture::isTensorType(Py_TYPE(row.object), library) &&
      capture::diesQuietly(row.object)) {
    capture.guards.add(
        {row.source, Predicate::DiesQuietly, 0, 0, nullptr, capture.line});
    return true;
  }
  // Somebody else holds it: the frame's own references are some.
  Py_ssize_t frames = 1;
  for (Value before : released) {
    if (before == value)
      return true;
    std::optional<bool> same = capture.sameObject(before, value);
    if (!same)
      return false;
    frames += *same;
  }
  auto ours = std::ranges::count_if(state.objects, [&](const auto &held) {
    return held.get() == row.object;
  });
  if (Py_REFCNT(row.object) - ours > frames) {
    capture.guards.add({row.source, Predicate::RefCountAbove, frames, 0,
                        nullptr, capture.line});
    released.push_back(value);
    return true;
  }
  return breakHere(Reason::Finalizer, nameOf(row.object));
}

bool Evaluator::isMissed(Value value, bool ofFrame, int depth) const {
  if (depth > 16)
    return true;
  auto anyOf = [&](const std::vector<Value> &values) {
    return std::ranges::any_of(
        values, [&](Value each) { return isMissed(each, ofFrame, depth + 1); });
  };
  auto isLive = [&](PyObject *object, SourceId id) {
    if (!object || id == capture::noSource || releasesQuietly(object))
      return false;
    Step step = capture.sources[id].step;
    if (ofFrame)
      return step == Step::Local || step == Step::Stack ||
             step == Step::CellContents;
    return step != Step::Constant;
  };
  switch (value.kind) {
  case Kind::Known:
    return isLive(capture.object(value), capture.knownRow(value).source);
  case Kind::Tensor: {
    const capture::TensorRow &row = capture.tensorRow(value);
    return isLive(row.object, row.source);
  }
  case Kind::Sequence:
    return anyOf(capture.sequenceRow(value).items);
  case Kind::Table:
    return std::ranges::any_of(
        capture.tableRow(value).entries, [&](const auto &entry) {
          return isMissed(entry.first, ofFrame, depth + 1) ||
                 isMissed(entry.second, ofFrame, depth + 1);
        });
  case Kind::Iterator: {
    const capture::IteratorRow &row = state.iterators[value.index];
    return isMissed(row.iterable, ofFrame, depth + 1) || anyOf(row.items);
  }
  case Kind::Callable: {
    const capture::CallableRow &row = state.callables[value.index];
    return anyOf(
        {row.function, row.self, row.defaults, row.kwdefaults, row.closure});
  }
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

std::optional<Value> Evaluator::dictValue(Value dict, PyObject *key) {
  const capture::KnownRow row = capture.knownRow(dict);
  PyObject *value = nullptr;
  switch (peekDict(row.object, key, value)) {
  case Peek::Unknown:
    return capture.breakHere(Reason::UnsupportedPython,
                             "a dict with keys of its own kind");
  case Peek::Found:
    if (row.source == capture::noSource)
      return capture.constant(value);
    return capture.known(value,
                         capture.sources.get(Step::DictValue, row.source, 0,
                                             capture.sources.hold(key)));
  case Peek::Absent:
    break;
  }
  if (row.source != capture::noSource)
    capture.guards.add({row.source, Predicate::KeyAbsent, 0, 0,
                        capture.sources.hold(key), capture.line});
  return Value();
}

std::optional<Value> Evaluator::loadGlobal(PyObject *name) {
  Value globals = frame().globals;
  for (size_t i = state.journal.size(); i-- > 0;) {
    const capture::JournalEntry &entry = state.journal[i];
    if (entry.kind == EffectKind::SetGlobal &&
        capture.object(entry.target) == capture.object(globals) &&
        capture.object(entry.key) == name)
      return entry.value;
  }
  std::optional<Value> value = dictValue(globals, name);
  if (!value || !value->isNull())
    return value;
  value = dictValue(frame().builtins, name);
  if (value && value->isNull())
    return capture.breakHere(Reason::WouldRaise, "an unbound global");
  return value;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// What waits to be stored in a live cell; Null if nothing does. Two sources
/// may lead to one cell: whether they do is guarded.
std::optional<Value> Evaluator::pendingCell(Value cell) {
  const capture::KnownRow row = capture.knownRow(cell);
  for (size_t i = state.journal.size(); i-- > 0;) {
    const capture::JournalEntry entry = state.journal[i];
    if (entry.kind != EffectKind::SetCell)
      continue;
    if (entry.target == cell)
      return entry.value;
    const capture::KnownRow other = capture.knownRow(entry.target);
    if (row.source == capture::noSource || other.source == capture::noSource)
      return capture.breakHere(Reason::UnsupportedPython, "a cell");
    bool same = other.object == row.object;
    capture.guards.add({row.source,
                        same ? Predicate::SameObject : Predicate::NotSameObject,
                        other.source, 0, nullptr, capture.line});
    if (same)
      return entry.value;
  }
  return Value();
}

std::optional<Value> Evaluator::cellContents(Value cell) {
  if (cell.kind == Kind::Cell)
    return state.cells[cell.index].contents;
  PyObject *live = capture.object(cell);
  if (!live || !PyCell_Check(live))
    return capture.breakHere(Reason::UnsupportedPython, "a cell");
  std::optional<Value> pending = pendingCell(cell);
  if (!pending || !pending->isNull())
    return pending;
  PyObject *object = PyCell_GET(live);
  SourceId parent = capture.knownRow(cell).source;
  if (!object) {
    if (parent != capture::noSource)
      capture.guards.add({capture.sources.get(Step::CellContents, parent),
                          Predicate::SlotNull, 0, 0, nullptr, capture.line});
    return Value();
  }
  return parent == capture::noSource
             ? capture.constant(object)
             : capture.known(object,
                             capture.sources.get(Step::CellContents, parent));
}

std::optional<Value> Evaluator::loadCell(Value cell) {
  std::optional<Value> contents = cellContents(cell);
  if (contents && contents->isNull())
    return capture.breakHere(Reason::WouldRaise, "an empty cell");
  return contents;
}

bool Evaluator::storeCell(Value cell, Value value) {
  std::optional<Value> old = cellContents(cell);
  if (!old || !letGo(*old))
    return false;
  if (cell.kind == Kind::Cell) {
    state.cells.change(cell.index).contents = value;
    return true;
  }
  if (capture.knownRow(cell).source == capture::noSource)
    return breakHere(Reason::ForeignStore, "a variable of an outer function");
  state.journal.push_back({EffectKind::SetCell, cell, Value(), value});
  return true;
}

} // namespace wok::python
