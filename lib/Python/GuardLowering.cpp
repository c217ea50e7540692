//===- GuardLowering.cpp - From guards to a guard program -----------------===//

#include "GuardModel.h"
#include "GuardRecords.h"
#include "GuardText.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace wok::python {

using namespace capture;
using runtime::GuardRecord;

namespace {

bool takesWeakReference(PyObject *object) {
  return PyType_SUPPORTS_WEAKREFS(Py_TYPE(object));
}

/// Lives as long as the process: its address is its identity.
bool isImmortal(PyObject *object) {
  return object == Py_None || object == Py_True || object == Py_False ||
         object == Py_Ellipsis || object == Py_NotImplemented ||
         (PyType_Check(object) &&
          !(reinterpret_cast<PyTypeObject *>(object)->tp_flags &
            Py_TPFLAGS_HEAPTYPE));
}

class Lowering {
public:
  Lowering(const CapturedSubgraph &subgraph, GuardTable &table)
      : table(table), subgraph(subgraph) {}

  bool run(const std::vector<SourceId> &needed);

private:
  GuardTable &table;
  bool walk(SourceId source);
  void lower(const Guard &guard, uint32_t index);
  void lowerEquals(uint16_t source, PyObject *object);
  void lowerTensor(uint16_t source, const Guard &guard);
  /// Keeps `object` for as long as the specialization.
  uint64_t hold(PyObject *object) {
    table.held.push_back(Ref<>::share(object));
    return reinterpret_cast<uint64_t>(object);
  }
  void append(Record kind, uint16_t source, uint64_t operand = 0,
              uint16_t detail = 0, uint16_t target = 0) {
    table.program.records.push_back(
        {static_cast<uint16_t>(kind), target, source, detail, operand});
    table.guardOf.push_back(current);
  }
  /// `strong` if a record may hold or need not hold the object, else `weak`
  /// with a weak reference.
  void appendIdentity(Record strong, Record weak, uint16_t source,
                      PyObject *object);

  const CapturedSubgraph &subgraph;
  std::unordered_map<SourceId, uint16_t> registers;
  std::unordered_set<SourceId> nullable;
  std::unordered_set<int32_t> definedSymbols;
  uint32_t current = UINT32_MAX;
};

} // namespace

void Lowering::appendIdentity(Record strong, Record weak, uint16_t source,
                              PyObject *object) {
  if (!isImmortal(object) && takesWeakReference(object)) {
    if (PyObject *reference = PyWeakref_NewRef(object, nullptr)) {
      table.held.push_back(Ref<>::steal(reference));
      append(weak, source, reinterpret_cast<uint64_t>(reference));
      return;
    }
    PyErr_Clear();
  }
  append(strong, source, hold(object));
}

/// Emits the loads of a path that has not been walked yet.
bool Lowering::walk(SourceId source) {
  if (registers.contains(source))
    return true;
  const Source &step = subgraph.sources[source];
  if (step.parent != noSource && !walk(step.parent))
    return false;
  if (registers.size() >= UINT16_MAX - 1)
    return false;
  auto target = static_cast<uint16_t>(registers.size());
  registers.emplace(source, target);
  uint16_t parent = step.parent == noSource ? 0 : registers[step.parent];
  if (step.step == Step::Constant && PyType_Check(step.operand)) {
    // A class of the program may die: it is found while it lives.
    appendIdentity(Record::LoadConstant, Record::LoadWeakConstant, parent,
                   step.operand);
    table.program.records.back().target = target;
  } else {
    uint64_t operand = step.operand ? hold(step.operand) : step.arg;
    append(loadOf(step.step), parent, operand, 0, target);
  }
  if (nullable.contains(source))
    table.program.records.back().kind |= nullableBit;
  return true;
}

void Lowering::lowerEquals(uint16_t source, PyObject *object) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow)
      return append(Record::EqualsInt, source, static_cast<uint64_t>(value));
  } else if (PyFloat_CheckExact(object)) {
    uint64_t bits;
    double value = PyFloat_AS_DOUBLE(object);
    std::memcpy(&bits, &value, sizeof(bits));
    return append(Record::EqualsFloat, source, bits);
  } else if (!PyUnicode_CheckExact(object) && !PyBytes_CheckExact(object)) {
    return appendIdentity(Record::Is, Record::IsWeak, source, object);
  }
  append(Record::EqualsObject, source, hold(object));
}

void Lowering::lowerTensor(uint16_t source, const Guard &guard) {
  const TensorGuard &from = subgraph.guards.tensors[guard.number];
  TensorCheck check;
  check.type = from.type;
  hold(reinterpret_cast<PyObject *>(from.type));
  check.input = static_cast<uint32_t>(table.tensors.size());
  table.described.push_back({guard.source, check.input});
  check.dtype = from.dtype;
  check.requiresGrad = from.requiresGrad;
  check.dense = from.dense;
  check.rank = static_cast<uint8_t>(from.extents.size());
  for (size_t d = 0; d < from.extents.size(); ++d) {
    TensorCheck::Dimension dimension{from.extents[d], runtime::dynamicExtent,
                                     -1, false, static_cast<uint8_t>(d)};
    if (d < from.strides.size())
      dimension.stride = from.strides[d];
    if (d < from.symbols.size() && from.symbols[d] >= 0) {
      dimension.symbol = from.symbols[d];
      dimension.defines = definedSymbols.insert(from.symbols[d]).second;
    }
    if (d < from.strideOrder.size())
      dimension.order = from.strideOrder[d];
    check.dimensions.push_back(dimension);
  }
  table.tensors.push_back(std::move(check));
  append(Record::Tensor, source,
         reinterpret_cast<uint64_t>(&table.tensors.back()));
}

void Lowering::lower(const Guard &guard, uint32_t index) {
  current = index;
  uint16_t source = guard.source == noSource ? 0 : registers[guard.source];
  auto number = static_cast<uint64_t>(guard.number);
  auto other = [&] { return registers[static_cast<SourceId>(guard.number)]; };
  switch (guard.predicate) {
  case Predicate::TypeIs:
    return appendIdentity(Record::TypeIs, Record::TypeIsWeak, source,
                          guard.object);
  case Predicate::Is:
    return appendIdentity(Record::Is, Record::IsWeak, source, guard.object);
  case Predicate::IsNot:
    // Another object at a dead one's address would fail this wrongly, which
    // only costs time; what must not be is a held object that keeps a program's
    // data alive.
    return append(Record::IsNot, source,
                  reinterpret_cast<uint64_t>(guard.object));
  case Predicate::Equals:
    return lowerEquals(source, guard.object);
  case Predicate::IntRange:
    append(Record::IntAtLeast, source, number);
    if (guard.upper != INT64_MAX)
      append(Record::IntAtMost, source, static_cast<uint64_t>(guard.upper));
    return;
  case Predicate::FloatType:
    return append(Record::FloatType, source);
  case Predicate::LengthIs:
    return append(Record::LengthIs, source, number);
  case Predicate::KeyAbsent:
    return append(Record::KeyAbsent, source, hold(guard.object));
  case Predicate::AttributeAbsent:
    return append(Record::AttributeAbsent, source, hold(guard.object));
  case Predicate::Present:
    return append(Record::Present, source);
  case Predicate::SlotNull:
    return append(Record::SlotNull, source);
  case Predicate::SameObject:
    return append(Record::SameObject, source, 0, other());
  case Predicate::NotSameObject:
    return append(Record::NotSameObject, source, 0, other());
  case Predicate::DictVersion:
    return append(Record::DictVersion, source, number);
  case Predicate::TypeVersion:
    return append(Record::TypeVersion, source, number);
  case Predicate::DictOrder:
    return append(Record::DictOrder, source, hold(guard.object));
  case Predicate::Tensor:
    return lowerTensor(source, guard);
  case Predicate::ExtentRelation:
    table.relations.push_back({&table, subgraph.guards.relations[number]});
    return append(Record::ExtentRelation, 0,
                  reinterpret_cast<uint64_t>(&table.relations.back()));
  case Predicate::NoOverlap:
    return append(Record::NoOverlap, source, 0, other());
  case Predicate::Ambient:
    if (static_cast<Ambient>(guard.upper) == Ambient::RecursionRoom)
      return append(Record::RecursionRoom, 0, number);
    return append(Record::Ambient, 0, number,
                  static_cast<uint16_t>(guard.upper));
  case Predicate::RefCountAbove:
    return append(Record::RefCountAbove, source, number);
  case Predicate::DiesQuietly:
    return append(Record::DiesQuietly, source);
  }
}

bool Lowering::run(const std::vector<SourceId> &needed) {
  const GuardList &list = subgraph.guards;
  for (importer::ExtentId id = 0; id < subgraph.graph.extentCount(); ++id)
    table.extents.push_back(subgraph.graph.extent(id));
  table.symbols = static_cast<uint32_t>(subgraph.graph.allSymbols().size());
  for (const Guard &guard : list.guards)
    if (guard.predicate == Predicate::SlotNull)
      nullable.insert(guard.source);

  // Ambient state is cheap and needs no path; relations need all symbols.
  for (bool relations : {false, true}) {
    for (uint32_t index = 0; index < list.guards.size(); ++index) {
      const Guard &guard = list.guards[index];
      if ((guard.predicate == Predicate::ExtentRelation) != relations)
        continue;
      current = UINT32_MAX;
      if (guard.source != noSource && !walk(guard.source))
        return false;
      bool twoSources = guard.predicate == Predicate::SameObject ||
                        guard.predicate == Predicate::NotSameObject ||
                        guard.predicate == Predicate::NoOverlap;
      if (twoSources && !walk(static_cast<SourceId>(guard.number)))
        return false;
      lower(guard, index);
    }
  }
  current = UINT32_MAX;
  for (SourceId source : needed)
    if (!walk(source))
      return false;

  table.program.registers =
      static_cast<uint16_t>(std::max<size_t>(registers.size(), 1));
  table.registers.assign(registers.begin(), registers.end());
  return true;
}

std::unique_ptr<GuardTable> lowerGuards(const CapturedSubgraph &subgraph,
                                        const std::vector<SourceId> &needed,
                                        PyCodeObject *code) {
  auto table = std::make_unique<GuardTable>();
  if (!Lowering(subgraph, *table).run(needed))
    return nullptr;
  for (const Guard &guard : subgraph.guards.guards)
    table->texts.push_back(describeGuard(subgraph, guard, code));
  return table;
}

} // namespace wok::python
