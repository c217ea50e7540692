//===- EvaluatorContainers.cpp - Iteration, dicts, container methods ------===//

#include "Evaluator.h"
#include "Peek.h"

#include "wok/Capture/Tensors.h"

#include <algorithm>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::IteratorRow;
using capture::Predicate;
using capture::Ref;
using capture::SequenceRow;
using capture::TableRow;

//===----------------------------------------------------------------------===//
// Iteration
//===----------------------------------------------------------------------===//

/// The numbers of range(start, stop, step).
static std::optional<std::vector<Value>>
rangeItems(Capture &capture, long long start, long long stop, long long step,
           uint32_t limit) {
  if (step == 0)
    return capture.breakHere(Reason::WouldRaise, "range");
  std::vector<Value> items;
  for (__int128 i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (items.size() >= limit)
      return capture.breakHere(Reason::LoopBudget, "range");
    items.push_back(capture.constant(static_cast<long long>(i)));
  }
  return items;
}

std::optional<std::vector<Value>> Evaluator::itemsOf(Value value) {
  switch (value.kind) {
  case Kind::Sequence: {
    const SequenceRow row = capture.sequenceRow(value);
    if (row.type == SequenceRow::Type::Range) {
      std::optional<long long> start = capture.asInt(row.items[0]),
                               stop = capture.asInt(row.items[1]),
                               step = capture.asInt(row.items[2]);
      if (!start || !stop || !step)
        return capture.breakHere(Reason::UnsupportedPython, "range");
      return rangeItems(capture, *start, *stop, *step, budget.trips);
    }
    if (row.type != SequenceRow::Type::Slice)
      return row.items;
    break;
  }
  case Kind::Iterator:
    return drain(value);
  case Kind::Table: {
    std::vector<Value> keys;
    for (auto [key, entry] : capture.tableRow(value).entries)
      keys.push_back(key);
    return keys;
  }
  default:
    break;
  }
  if (capture.isTensor(value)) {
    std::optional<Value> tensor = capture.asTensor(value);
    if (!tensor)
      return std::nullopt;
    const auto &extents = capture.graph.type(capture.read(*tensor)).extents;
    if (extents.empty())
      return capture.breakHere(Reason::WouldRaise, "iterating over 0-d");
    int64_t count = capture.graph.constantValue(extents[0]);
    if (capture.graph.extent(extents[0]).kind !=
        importer::ExtentExpr::Kind::Constant)
      count = capture.asConstant(extents[0]);
    if (count > budget.trips)
      return capture.breakHere(Reason::LoopBudget, "iterating over a tensor");
    std::vector<Value> items;
    for (int64_t i = 0; i < count; ++i) {
      std::optional<Value> item =
          subscript(value, capture.constant(static_cast<long long>(i)));
      if (!item)
        return std::nullopt;
      items.push_back(*item);
    }
    return items;
  }
  PyObject *live = capture.object(value);
  if (!live)
    return capture.breakHere(Reason::UnsupportedPython, "iteration");
  if (PyDict_CheckExact(live)) {
    auto entries = entriesOf(value);
    if (!entries)
      return std::nullopt;
    std::vector<Value> keys;
    for (auto &[key, entry] : *entries)
      keys.push_back(key);
    return keys;
  }
  if (PyRange_Check(live)) {
    capture.guardIdentity(value);
    std::vector<Value> items;
    Py_ssize_t length = PyObject_Size(live);
    if (length < 0 || length > budget.trips) {
      PyErr_Clear();
      return capture.breakHere(Reason::LoopBudget, "range");
    }
    for (Py_ssize_t i = 0; i < length; ++i)
      items.push_back(
          capture.constant(Ref<>::steal(PySequence_GetItem(live, i)).get()));
    return items;
  }
  if (PyUnicode_CheckExact(live)) {
    capture.guardValue(value);
    std::vector<Value> items;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(live); ++i)
      items.push_back(capture.constant(
          Ref<>::steal(PyUnicode_Substring(live, i, i + 1)).get()));
    return items;
  }
  if (std::optional<std::vector<Value>> items = capture.asItems(value))
    return items;
  return capture.breakHere(Reason::UnsupportedPython,
                           std::string("iterating over a ") +
                               Py_TYPE(live)->tp_name);
}

std::optional<Value> Evaluator::iterate(Value value) {
  if (value.kind == Kind::Iterator)
    return value;
  IteratorRow row;
  if (value.kind == Kind::Sequence &&
      capture.sequenceRow(value).type == SequenceRow::Type::List) {
    row.type = IteratorRow::Type::List;
    row.iterable = value;
    return capture.iterator(std::move(row));
  }
  std::optional<std::vector<Value>> items = itemsOf(value);
  if (!items)
    return std::nullopt;
  if (items->size() > budget.trips)
    return capture.breakHere(Reason::LoopBudget);
  row.items = std::move(*items);
  // An exit can make the iterator of what is iterated by position.
  PyObject *live = capture.object(value);
  bool byPosition = value.kind == Kind::Sequence ||
                    (live && (PyList_CheckExact(live) ||
                              PyTuple_CheckExact(live) || PyRange_Check(live)));
  if (byPosition)
    row.iterable = value;
  return capture.iterator(std::move(row));
}

std::optional<Value> Evaluator::next(Value iterator) {
  if (iterator.kind != Kind::Iterator)
    return capture.breakHere(Reason::UnsupportedPython, "a live iterator");
  const IteratorRow &row = state.iterators[iterator.index];
  uint32_t position = row.position;
  auto advance = [&] {
    state.iterators.change(iterator.index).position = position + 1;
  };
  switch (row.type) {
  case IteratorRow::Type::Items: {
    if (position >= row.items.size())
      return Value();
    Value item = row.items[position];
    advance();
    return item;
  }
  case IteratorRow::Type::List: {
    const auto &items = capture.sequenceRow(row.iterable).items;
    if (position >= items.size())
      return Value();
    if (position >= budget.trips)
      return capture.breakHere(Reason::LoopBudget);
    Value item = items[position];
    advance();
    return item;
  }
  case IteratorRow::Type::Zip: {
    std::vector<Value> items;
    const std::vector<Value> inner = row.inner;
    for (Value from : inner) {
      std::optional<Value> item = next(from);
      if (!item || item->isNull())
        return item;
      items.push_back(*item);
    }
    advance();
    return capture.tuple(std::move(items));
  }
  case IteratorRow::Type::Generator:
    return resume(row.generator);
  case IteratorRow::Type::Enumerate: {
    long long number = row.start + position;
    std::optional<Value> item = next(row.inner[0]);
    if (!item || item->isNull())
      return item;
    advance();
    return capture.tuple({capture.constant(number), *item});
  }
  }
  return std::nullopt;
}

std::optional<std::vector<Value>> Evaluator::drain(Value iterator) {
  std::vector<Value> items;
  for (;;) {
    std::optional<Value> item = next(iterator);
    if (!item)
      return std::nullopt;
    if (item->isNull())
      return items;
    if (items.size() >= budget.trips)
      return capture.breakHere(Reason::LoopBudget);
    items.push_back(*item);
  }
}

//===----------------------------------------------------------------------===//
// Dicts and sets
//===----------------------------------------------------------------------===//

/// Keys that are compared without running Python code.
static bool isPlainKey(PyObject *key) {
  PyTypeObject *type = Py_TYPE(key);
  if (type == &PyTuple_Type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i)
      if (!isPlainKey(PyTuple_GET_ITEM(key, i)))
        return false;
    return true;
  }
  return type == &PyUnicode_Type || type == &PyLong_Type ||
         type == &PyBool_Type || type == &PyFloat_Type ||
         type == &PyBytes_Type || key == Py_None;
}

std::optional<std::vector<std::pair<Value, Value>>>
Evaluator::entriesOf(Value dict) {
  if (dict.kind == Kind::Table)
    return capture.tableRow(dict).entries;
  PyObject *live = capture.object(dict);
  if (!live || !PyDict_CheckExact(live))
    return capture.breakHere(Reason::UnsupportedPython, "entries");
  if (!capture.readable(dict))
    return std::nullopt;
  if (PyDict_GET_SIZE(live) > budget.trips)
    return capture.breakHere(Reason::LoopBudget, "a dict");
  const capture::KnownRow row = capture.knownRow(dict);
  auto keys = Ref<>::steal(PyTuple_New(PyDict_GET_SIZE(live)));
  std::vector<std::pair<Value, Value>> entries;
  Py_ssize_t position = 0, index = 0;
  PyObject *key, *value;
  while (PyDict_Next(live, &position, &key, &value)) {
    if (!isPlainKey(key))
      return capture.breakHere(Reason::UnsupportedPython, "a key");
    PyTuple_SET_ITEM(keys.get(), index++, Py_NewRef(key));
    capture.sources.hold(key);
    entries.emplace_back(
        capture.constant(key),
        row.source == capture::noSource
            ? capture.constant(value)
            : capture.known(value, capture.sources.get(Step::DictValue,
                                                       row.source, 0, key)));
  }
  if (row.source != capture::noSource) {
    capture.guardType(dict);
    capture.guards.add({row.source, Predicate::DictOrder, 0, 0,
                        capture.sources.hold(keys), capture.line});
  }
  return entries;
}

/// Whether two keys of a fresh dict or set are one.
static std::optional<bool> sameKey(Capture &capture, Value a, Value b) {
  if (a == b)
    return true;
  PyObject *x = capture.object(a), *y = capture.object(b);
  if (x && y && isPlainKey(x) && isPlainKey(y)) {
    capture.guardValue(a);
    capture.guardValue(b);
    return PyObject_RichCompareBool(x, y, Py_EQ) == 1;
  }
  auto hasIdentity = [&](Value value) {
    PyObject *object = capture.object(value);
    return capture.isTensor(value) ||
           (object && Py_TYPE(object)->tp_hash == PyBaseObject_Type.tp_hash);
  };
  auto isPlain = [&](Value value) {
    PyObject *object = capture.object(value);
    return object && isPlainKey(object);
  };
  if ((hasIdentity(a) || isPlain(a)) && (hasIdentity(b) || isPlain(b)))
    return capture.sameObject(a, b);
  return capture.breakHere(Reason::UnsupportedPython, "a key");
}

/// A Scalar as a key is asked for its value.
static bool fixKey(Capture &capture, Value &key) {
  if (key.kind == Kind::Scalar) {
    std::optional<long long> number = capture.asInt(key);
    if (!number) {
      capture.breakHere(Reason::UnsupportedPython, "a key");
      return false;
    }
    key = capture.constant(*number);
  }
  if (key.kind == Kind::Sequence) {
    // A tuple of known things is a known tuple.
    const SequenceRow &row = capture.sequenceRow(key);
    auto tuple =
        Ref<>::steal(PyTuple_New(static_cast<Py_ssize_t>(row.items.size())));
    for (size_t i = 0; i < row.items.size(); ++i) {
      PyObject *item = capture.object(row.items[i]);
      if (row.type != SequenceRow::Type::Tuple || !item || !isPlainKey(item)) {
        capture.breakHere(Reason::UnsupportedPython, "a key");
        return false;
      }
      capture.guardValue(row.items[i]);
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       Py_NewRef(item));
    }
    key = capture.constant(tuple);
  }
  return true;
}

std::optional<Value> Evaluator::findEntry(Value dict, Value key) {
  if (!fixKey(capture, key))
    return std::nullopt;
  if (dict.kind == Kind::Table) {
    bool isSet = capture.tableRow(dict).type == TableRow::Type::Set;
    const auto entries = capture.tableRow(dict).entries;
    for (auto [candidate, value] : entries) {
      std::optional<bool> same = sameKey(capture, candidate, key);
      if (!same)
        return std::nullopt;
      if (*same)
        return isSet ? candidate : value;
    }
    return Value();
  }
  PyObject *name = capture.object(key);
  if (!name || !isPlainKey(name) || PyTuple_CheckExact(name))
    return capture.breakHere(Reason::UnsupportedPython, "a key");
  if (!capture.readable(dict))
    return std::nullopt;
  capture.guardType(dict);
  capture.guardValue(key);
  return dictValue(dict, name);
}

bool Evaluator::setEntry(Value dict, Value key, Value value) {
  if (dict.kind != Kind::Table)
    return breakHere(Reason::ForeignStore, "an entry of a dict");
  if (!fixKey(capture, key))
    return false;
  // What is not hashable by value or identity is not a key here.
  std::optional<bool> usable = sameKey(capture, key, capture.none());
  if (!usable)
    return false;
  const auto entries = capture.tableRow(dict).entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    std::optional<bool> same = sameKey(capture, entries[i].first, key);
    if (!same)
      return false;
    if (*same) {
      if (!letGo(entries[i].second))
        return false;
      capture.changeTable(dict).entries[i].second = value;
      return true;
    }
  }
  capture.changeTable(dict).entries.emplace_back(key, value);
  return true;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

std::optional<std::vector<int64_t>> Evaluator::sliceIndices(Value slice,
                                                            int64_t length) {
  std::vector<Value> parts;
  if (slice.kind == Kind::Sequence) {
    parts = capture.sequenceRow(slice).items;
  } else {
    auto *live = reinterpret_cast<PySliceObject *>(capture.object(slice));
    capture.guardIdentity(slice);
    parts = {capture.constant(live->start), capture.constant(live->stop),
             capture.constant(live->step)};
  }
  auto number = [&](Value value, bool &given) -> std::optional<long long> {
    given = capture.object(value) != Py_None;
    if (!given) {
      capture.guardIdentity(value);
      return 0;
    }
    return capture.asInt(value);
  };
  bool hasStart, hasStop, hasStep;
  std::optional<long long> start = number(parts[0], hasStart),
                           stop = number(parts[1], hasStop),
                           step = number(parts[2], hasStep);
  if (!start || !stop || !step || (hasStep && *step == 0))
    return capture.breakHere(Reason::UnsupportedPython, "a slice");
  Py_ssize_t by = hasStep ? *step : 1;
  Py_ssize_t from = hasStart ? *start : by > 0 ? 0 : PY_SSIZE_T_MAX;
  Py_ssize_t to = hasStop ? *stop : by > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN;
  Py_ssize_t count = PySlice_AdjustIndices(length, &from, &to, by);
  std::vector<int64_t> indices;
  for (Py_ssize_t i = 0; i < count; ++i)
    indices.push_back(from + i * by);
  return indices;
}

//===----------------------------------------------------------------------===//
// Methods of lists, tuples, dicts, sets and strings
//===----------------------------------------------------------------------===//

/// Methods of exact str that only compute.
static bool isPureStringMethod(std::string_view name) {
  static constexpr std::string_view names[] = {
      "startswith",   "endswith",    "lower", "upper",     "strip",
      "lstrip",       "rstrip",      "split", "replace",   "find",
      "count",        "isdigit",     "title", "partition", "rpartition",
      "removeprefix", "removesuffix"};
  return std::ranges::find(names, name) != std::end(names);
}

std::optional<Value> Evaluator::containerMethod(Value self,
                                                std::string_view name,
                                                const Arguments &arguments) {
  const std::vector<Value> &args = arguments.positional;
  auto unsupported = [&] {
    return capture.breakHere(Reason::UnknownCall,
                             "method " + std::string(name));
  };
  if (!arguments.keywords.empty())
    return unsupported();
  PyObject *live = capture.object(self);

  // Strings.
  if (live && PyUnicode_CheckExact(live)) {
    if (!isPureStringMethod(name))
      return unsupported();
    auto packed =
        Ref<>::steal(PyTuple_New(static_cast<Py_ssize_t>(args.size())));
    capture.guardValue(self);
    for (size_t i = 0; i < args.size(); ++i) {
      PyObject *object = capture.object(args[i]);
      if (!object || !isPlainKey(object))
        return unsupported();
      capture.guardValue(args[i]);
      PyTuple_SET_ITEM(packed.get(), static_cast<Py_ssize_t>(i),
                       Py_NewRef(object));
    }
    auto method =
        Ref<>::steal(PyObject_GetAttrString(live, std::string(name).c_str()));
    auto result =
        method ? Ref<>::steal(PyObject_CallObject(method, packed)) : Ref<>();
    if (!result) {
      PyErr_Clear();
      return capture.breakHere(Reason::WouldRaise, std::string(name));
    }
    if (!PyList_CheckExact(result.get()))
      return capture.constant(result);
    std::vector<Value> items;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(result.get()); ++i)
      items.push_back(capture.constant(PyList_GET_ITEM(result.get(), i)));
    return capture.list(std::move(items));
  }

  // Dicts.
  bool isDict = (self.kind == Kind::Table &&
                 capture.tableRow(self).type == TableRow::Type::Dict) ||
                (live && PyDict_CheckExact(live));
  if (isDict) {
    if (name == "get" && (args.size() == 1 || args.size() == 2)) {
      std::optional<Value> found = findEntry(self, args[0]);
      if (!found || !found->isNull())
        return found;
      return args.size() == 2 ? args[1] : capture.none();
    }
    if (args.empty() &&
        (name == "items" || name == "keys" || name == "values")) {
      auto entries = entriesOf(self);
      if (!entries)
        return std::nullopt;
      // A view, of which only iteration is known.
      IteratorRow row;
      for (auto [key, value] : *entries)
        row.items.push_back(name == "keys"     ? key
                            : name == "values" ? value
                                               : capture.tuple({key, value}));
      return capture.iterator(std::move(row));
    }
    if (self.kind == Kind::Table) {
      if (name == "copy" && args.empty())
        return capture.table(capture.tableRow(self));
      if (name == "setdefault" && args.size() == 2) {
        std::optional<Value> found = findEntry(self, args[0]);
        if (!found || !found->isNull())
          return found;
        if (!setEntry(self, args[0], args[1]))
          return std::nullopt;
        return args[1];
      }
      if (name == "update" && args.size() == 1) {
        auto entries = entriesOf(args[0]);
        if (!entries)
          return std::nullopt;
        for (auto [key, value] : *entries)
          if (!setEntry(self, key, value))
            return std::nullopt;
        return capture.none();
      }
    }
    if (self.kind != Kind::Table)
      return capture.breakHere(Reason::ForeignStore,
                               "dict." + std::string(name));
    return unsupported();
  }
  if (self.kind == Kind::Table) {
    if (name == "add" && args.size() == 1) {
      if (!setEntry(self, args[0], Value()))
        return std::nullopt;
      return capture.none();
    }
    return unsupported();
  }

  // Lists and tuples.
  bool isList = self.kind == Kind::Sequence
                    ? capture.sequenceRow(self).type == SequenceRow::Type::List
                    : live && PyList_CheckExact(live);
  if (name == "index" || name == "count") {
    std::optional<std::vector<Value>> items = capture.asItems(self);
    if (!items || args.size() != 1)
      return unsupported();
    long long count = 0;
    for (size_t i = 0; i < items->size(); ++i) {
      std::optional<bool> same = equal((*items)[i], args[0]);
      if (!same)
        return std::nullopt;
      if (*same && name == "index")
        return capture.constant(static_cast<long long>(i));
      count += *same;
    }
    if (name == "index")
      return capture.breakHere(Reason::WouldRaise, "index");
    return capture.constant(count);
  }
  if (!isList)
    return unsupported();
  if (name == "copy" && args.empty()) {
    std::optional<std::vector<Value>> items = capture.asItems(self);
    if (!items)
      return std::nullopt;
    return capture.list(std::move(*items));
  }
  if (self.kind != Kind::Sequence)
    return capture.breakHere(Reason::ForeignStore, "list." + std::string(name));
  if (name == "append" && args.size() == 1) {
    capture.changeSequence(self).items.push_back(args[0]);
    return capture.none();
  }
  if (name == "extend" && args.size() == 1) {
    std::optional<std::vector<Value>> items = itemsOf(args[0]);
    if (!items)
      return std::nullopt;
    auto &row = capture.changeSequence(self).items;
    row.insert(row.end(), items->begin(), items->end());
    return capture.none();
  }
  if (name == "insert" && args.size() == 2) {
    std::optional<long long> index = capture.asInt(args[0]);
    if (!index)
      return unsupported();
    auto &row = capture.changeSequence(self).items;
    auto length = static_cast<long long>(row.size());
    long long place = *index < 0 ? *index + length : *index;
    place = std::clamp(place, 0LL, length);
    row.insert(row.begin() + place, args[1]);
    return capture.none();
  }
  if (name == "pop" && args.size() <= 1) {
    long long index = -1;
    if (args.size() == 1) {
      std::optional<long long> given = capture.asInt(args[0]);
      if (!given)
        return unsupported();
      index = *given;
    }
    auto length =
        static_cast<long long>(capture.sequenceRow(self).items.size());
    if (index < 0)
      index += length;
    if (index < 0 || index >= length)
      return capture.breakHere(Reason::WouldRaise, "pop");
    auto &row = capture.changeSequence(self).items;
    Value item = row[static_cast<size_t>(index)];
    row.erase(row.begin() + index);
    return item;
  }
  if (name == "reverse" && args.empty()) {
    std::ranges::reverse(capture.changeSequence(self).items);
    return capture.none();
  }
  return unsupported();
}

} // namespace wok::python
