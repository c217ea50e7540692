//===- Decisions.cpp - What a capture decides by, and guards --------------===//

#include "wok/Capture/Capture.h"
#include "wok/Capture/State.h"
#include "wok/Capture/Tensors.h"
#include "wok/Runtime/CompiledSubgraph.h"

namespace wok::capture {

void Capture::guardType(Value value) {
  if (value.kind != Kind::Known)
    return;
  const KnownRow &row = knownRow(value);
  if (row.source == noSource)
    return;
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(row.object));
  guards.add({row.source, Predicate::TypeIs, 0, 0, sources.hold(type), line});
}

void Capture::guardIdentity(Value value) {
  if (value.kind != Kind::Known)
    return;
  const KnownRow &row = knownRow(value);
  // What a constant source finds is that object for ever.
  if (row.source == noSource || sources[row.source].step == Step::Constant)
    return;
  guards.add({row.source, Predicate::Is, 0, 0, sources.hold(row.object), line});
}

void Capture::guardValue(Value value) {
  if (value.kind != Kind::Known)
    return;
  const KnownRow &row = knownRow(value);
  if (row.source == noSource || sources[row.source].step == Step::Constant)
    return;
  PyObject *object = row.object;
  bool byValue = PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
                 PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
  if (!byValue)
    return guardIdentity(value);
  guards.add({row.source, Predicate::Equals, 0, 0, sources.hold(object), line});
}

/// Knowns of these types are one object for each value that a program can tell
/// apart: `is` on two of them is decided by their values' guards. Others need a
/// guard on the pair.
static bool isSingleton(PyObject *object) {
  return object == Py_None || object == Py_True || object == Py_False ||
         object == Py_Ellipsis || object == Py_NotImplemented ||
         PyType_Check(object) || PyModule_Check(object);
}

std::optional<bool> Capture::sameObject(Value a, Value b) {
  if (a.kind == Kind::Scalar || b.kind == Kind::Scalar) {
    // A number is never one of the singletons.
    PyObject *other = object(a.kind == Kind::Scalar ? b : a);
    if (other && (other == Py_None || PyType_Check(other))) {
      guardIdentity(a.kind == Kind::Scalar ? b : a);
      return false;
    }
    return breakHere(BreakInfo::Reason::UnsupportedPython,
                     "identity of a number that varies");
  }
  // A tensor of the graph that is a live object is compared as that object.
  auto live = [&](Value value) -> KnownRow {
    if (value.kind == Kind::Known)
      return knownRow(value);
    if (value.kind == Kind::Tensor) {
      const TensorRow &row = tensorRow(value);
      return {row.object, row.source};
    }
    return {nullptr, noSource};
  };
  KnownRow left = live(a), right = live(b);
  if (!left.object || !right.object) {
    if (left.object || right.object)
      return false; // A fresh object is no live one.
    return a == b;
  }
  bool same = left.object == right.object;
  if (left.source == right.source)
    return same;
  auto guardSingle = [&](const KnownRow &single, const KnownRow &other) {
    if (single.source != noSource &&
        sources[single.source].step != Step::Constant)
      guards.add({single.source, Predicate::Is, 0, 0,
                  sources.hold(single.object), line});
    if (other.source == noSource)
      return;
    guards.add({other.source, same ? Predicate::Is : Predicate::IsNot, 0, 0,
                sources.hold(single.object), line});
  };
  bool leftFixed =
      left.source == noSource || sources[left.source].step == Step::Constant;
  bool rightFixed =
      right.source == noSource || sources[right.source].step == Step::Constant;
  if (rightFixed || isSingleton(right.object))
    guardSingle(right, left);
  else if (leftFixed || isSingleton(left.object))
    guardSingle(left, right);
  else
    guards.add({left.source,
                same ? Predicate::SameObject : Predicate::NotSameObject,
                right.source, 0, nullptr, line});
  return same;
}

std::optional<std::vector<Value>> Capture::asItems(Value value) {
  if (value.kind == Kind::Sequence) {
    const SequenceRow &row = sequenceRow(value);
    if (row.type == SequenceRow::Type::Tuple ||
        row.type == SequenceRow::Type::List)
      return row.items;
    return std::nullopt;
  }
  PyObject *live = object(value);
  if (!live)
    return std::nullopt;
  bool isTuple = PyTuple_CheckExact(live) ||
                 std::string_view(Py_TYPE(live)->tp_name) == "torch.Size";
  if (!isTuple && !PyList_CheckExact(live))
    return std::nullopt;
  if (!readable(value))
    return std::nullopt;
  SourceId source = knownRow(value).source;
  Py_ssize_t length = Py_SIZE(live);
  if (source != noSource) {
    guardType(value);
    guards.add({source, Predicate::LengthIs, length, 0, nullptr, line});
  }
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(length));
  for (Py_ssize_t i = 0; i < length; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(live, i);
    items.push_back(source == noSource
                        ? constant(item)
                        : known(item, sources.get(Step::SequenceItem, source,
                                                  static_cast<uint32_t>(i))));
  }
  return items;
}

/// Reading a live object on which a store waits for the exit would see the old
/// state.
bool Capture::readable(Value value) {
  PyObject *live = object(value);
  if (!live)
    return true;
  SourceId source = knownRow(value).source;
  for (const JournalEntry &entry : state->journal) {
    const KnownRow *target =
        entry.target.kind == Kind::Known ? &knownRow(entry.target) : nullptr;
    if (!target || Py_TYPE(target->object) != Py_TYPE(live))
      continue;
    if (target->object == live) {
      breakHere(BreakInfo::Reason::ForeignStore,
                "a read of what was stored to before");
      return false;
    }
    // The two could be one object at another call.
    if (source != noSource && target->source != noSource)
      guards.add(
          {source, Predicate::NotSameObject, target->source, 0, nullptr, line});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t Capture::ambient(Ambient which) {
  int64_t now = readAmbient(which);
  guards.add({noSource, Predicate::Ambient, now, static_cast<int64_t>(which),
              nullptr, line});
  return now;
}

bool Capture::guardTensorClass(PyTypeObject *type) {
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return true; // Nobody can change it.
  uint32_t version = tensorClassVersion(type);
  if (!version) {
    breakHere(BreakInfo::Reason::UnsupportedTensor,
              std::string("the program has changed ") + type->tp_name);
    return false;
  }
  SourceId source =
      sources.get(Step::Constant, noSource, 0,
                  sources.hold(reinterpret_cast<PyObject *>(type)));
  guards.add({source, Predicate::TypeVersion, version, 0, nullptr, line});
  return true;
}

bool Capture::isTensor(Value value) const {
  if (value.kind == Kind::Tensor)
    return true;
  PyObject *live = object(value);
  Library library;
  return live && isTensorType(Py_TYPE(live), library);
}

/// The bytes that a tensor can touch: [first, second).
static std::pair<const char *, const char *> byteRange(const TensorInfo &info) {
  const char *low = static_cast<const char *>(info.data), *high = low;
  for (int32_t dim = 0; dim < info.rank; ++dim) {
    if (info.extents[dim] == 0)
      return {low, low};
    int64_t reach = (info.extents[dim] - 1) * info.stride(dim) * info.itemBytes;
    (reach < 0 ? low : high) += reach;
  }
  return {low, high + info.itemBytes};
}

static bool overlap(PyObject *a, PyObject *b) {
  TensorInfo left, right;
  if (!inspect(a, left) || !inspect(b, right))
    return true;
  auto [leftLow, leftHigh] = byteRange(left);
  auto [rightLow, rightHigh] = byteRange(right);
  return leftLow < rightHigh && rightLow < leftHigh;
}

/// An input that is written and another input must not share memory.
bool Capture::guardApart(const TensorRow &written, const TensorRow &other) {
  if (overlap(written.object, other.object)) {
    breakHere(BreakInfo::Reason::InPlace, "inputs that share memory");
    return false;
  }
  guards.add(
      {written.source, Predicate::NoOverlap, other.source, 0, nullptr, line});
  return true;
}

std::optional<Value> Capture::asTensor(Value value) {
  if (value.kind == Kind::Tensor)
    return value;
  if (value.kind != Kind::Known)
    return std::nullopt;
  if (auto found = state->asTensor.find(value.index);
      found != state->asTensor.end())
    return found->second;

  const KnownRow &row = knownRow(value);
  PyObject *live = row.object;
  Library library;
  if (!isTensorType(Py_TYPE(live), library))
    return std::nullopt;
  TensorInfo info;
  std::string why;
  if (!inspect(live, info, &why))
    return breakHere(BreakInfo::Reason::UnsupportedTensor, why);
  if (!guardTensorClass(Py_TYPE(live)))
    return std::nullopt;
  if (library == Library::Torch) {
    if (ambient(Ambient::FunctionModes) || ambient(Ambient::DispatchModes) ||
        ambient(Ambient::Autocast))
      return breakHere(BreakInfo::Reason::Ambient, "a mode of PyTorch");
    if (info.requiresGrad && ambient(Ambient::GradMode))
      return breakHere(BreakInfo::Reason::RequiresGrad);
  } else {
    ambient(Ambient::Errstate);
  }

  SourceId source = row.source != noSource
                        ? row.source
                        : sources.get(Step::Constant, noSource, 0, live);
  std::optional<std::vector<uint8_t>> order = denseOrder(info);
  bool rowMajor = order.has_value();
  if (order)
    for (size_t i = 0; i < order->size(); ++i)
      rowMajor &= (*order)[i] == i;

  // Extents: numbers, or symbols where they have varied. Symbols that have one
  // value now are one. Strides that are not dense decide the layout of results
  // and what can be a view, together with the extents: there all are numbers.
  TensorGuard guard{library,
                    info.dtype,
                    reinterpret_cast<PyTypeObject *>(sources.hold(
                        reinterpret_cast<PyObject *>(Py_TYPE(live)))),
                    info.requiresGrad,
                    order.has_value(),
                    {},
                    {},
                    {},
                    {}};
  importer::TensorType type{info.dtype, {}};
  auto input = static_cast<importer::ValueId>(graph.allNodes().size());
  for (int32_t dim = 0; dim < info.rank; ++dim) {
    int64_t extent = info.extents[dim];
    bool symbolic = order && meetNumber(source, dim + 1, extent) && extent > 1;
    guard.extents.push_back(symbolic ? runtime::dynamicExtent : extent);
    guard.symbols.push_back(-1);
    if (!symbolic) {
      type.extents.push_back(graph.constant(extent));
      continue;
    }
    size_t symbol = 0;
    while (symbol < state->symbolValues.size() &&
           state->symbolValues[symbol] != extent)
      ++symbol;
    if (symbol == state->symbolValues.size()) {
      importer::ExtentId id = graph.symbol(input, static_cast<uint32_t>(dim));
      state->symbolValues.push_back(extent);
      state->symbolSources.push_back({source, dim + 1});
      state->symbolExtents.push_back(id);
      guards.relations.push_back(
          {ExtentRelation::Kind::LessEqual, graph.constant(2), id});
      guards.add({noSource, Predicate::ExtentRelation,
                  static_cast<int64_t>(guards.relations.size() - 1), 0, nullptr,
                  line});
    }
    guard.symbols.back() = static_cast<int32_t>(symbol);
    type.extents.push_back(state->symbolExtents[symbol]);
  }
  if (order && !rowMajor)
    guard.strideOrder = *order;
  if (!order)
    for (int32_t dim = 0; dim < info.rank; ++dim)
      guard.strides.push_back(info.stride(dim));

  TensorRow result;
  result.library = library;
  result.type = Py_TYPE(live);
  result.object = live;
  result.source = source;
  result.value = graph.addInput(type, /*strided=*/!rowMajor);
  result.strideOrder = guard.strideOrder;
  result.geometry.extents = type.extents;
  result.geometry.offset = graph.constant(0);
  result.geometry.strides.resize(type.extents.size());
  if (order) {
    importer::ExtentId stride = graph.constant(1);
    for (size_t i = order->size(); i-- > 0;) {
      result.geometry.strides[(*order)[i]] = stride;
      stride = graph.binary(importer::ExtentExpr::Kind::Mul, stride,
                            type.extents[(*order)[i]]);
    }
  } else {
    for (int32_t dim = 0; dim < info.rank; ++dim)
      result.geometry.strides[dim] = graph.constant(info.stride(dim));
  }
  for (const JournalEntry &entry : state->journal)
    if (entry.kind == EffectKind::TensorWrite &&
        !guardApart(tensorRow(entry.target), result))
      return std::nullopt;

  guards.tensors.push_back(std::move(guard));
  guards.add({source, Predicate::Tensor,
              static_cast<int64_t>(guards.tensors.size() - 1), 0, nullptr,
              line});
  state->inputs.push_back({SubgraphInput::Kind::Tensor, source, result.value});
  Value asTensor = tensor(std::move(result));
  state->asTensor.emplace(value.index, asTensor);
  return asTensor;
}

importer::ValueId Capture::read(Value value) { return tensorRow(value).value; }

bool Capture::write(Value target, importer::ValueId value) {
  auto fail = [&](const char *why) {
    breakHere(BreakInfo::Reason::InPlace, why);
    return false;
  };
  const TensorRow &row = tensorRow(target);
  if (row.base)
    return fail("a write through a view");
  for (uint32_t i = 0; i < state->tensors.size(); ++i)
    if (state->tensors[i].base == target.index)
      return fail("a write to a tensor that has views");
  if (!row.object) {
    changeTensor(target).value = value;
    return true;
  }
  TensorInfo info;
  if (!inspect(row.object, info) || !info.writable || !denseOrder(info))
    return fail("a write to a tensor with overlapping or gapped memory");
  if (info.requiresGrad)
    return fail("a write to a tensor that requires grad");
  if (row.writes)
    return fail("a second write to an input");
  for (uint32_t i = 0; i < state->tensors.size(); ++i)
    if (i != target.index && state->tensors[i].object &&
        !guardApart(row, state->tensors[i]))
      return false;
  TensorRow &changed = changeTensor(target);
  changed.value = value;
  ++changed.writes;
  state->journal.push_back({EffectKind::TensorWrite, target, {}, target});
  return true;
}

} // namespace wok::capture
