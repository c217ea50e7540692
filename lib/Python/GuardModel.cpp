//===- GuardModel.cpp - Guard programs over CPython's objects -------------===//

#include "GuardModel.h"

#include "3.11/Peek.h"
#include "GuardRecords.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>
#include <cstring>

namespace wok::python {

using namespace capture;
using runtime::dynamicExtent;
using runtime::GuardRecord;

int64_t GuardTable::extent(importer::ExtentId id,
                           const int64_t *symbolValues) const {
  using Kind = importer::ExtentExpr::Kind;
  const importer::ExtentExpr &expression = extents[id];
  if (expression.kind == Kind::Constant)
    return expression.constant;
  if (expression.kind == Kind::Symbol)
    return symbolValues[expression.constant];
  int64_t lhs = extent(expression.lhs, symbolValues);
  int64_t rhs = extent(expression.rhs, symbolValues);
  // Wraps rather than trap: extents that exist never get there.
  auto wrap = [](uint64_t value) { return static_cast<int64_t>(value); };
  auto floorDiv = [](int64_t a, int64_t b) {
    if (b == 0 || b == -1)
      return b == 0 ? int64_t{0}
                    : static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
  };
  switch (expression.kind) {
  case Kind::Add:
    return wrap(static_cast<uint64_t>(lhs) + static_cast<uint64_t>(rhs));
  case Kind::Sub:
    return wrap(static_cast<uint64_t>(lhs) - static_cast<uint64_t>(rhs));
  case Kind::Mul:
    return wrap(static_cast<uint64_t>(lhs) * static_cast<uint64_t>(rhs));
  case Kind::FloorDiv:
    return floorDiv(lhs, rhs);
  default: // CeilDiv
    return -floorDiv(wrap(0 - static_cast<uint64_t>(lhs)), rhs);
  }
}

GuardTable::~GuardTable() {
  if (!Py_IsInitialized() || _Py_IsFinalizing())
    for (Ref<> &object : held)
      object.leak();
}

bool GuardTable::isDead() const {
  for (const Ref<> &object : held)
    if (PyWeakref_CheckRef(object.get()) &&
        PyWeakref_GET_OBJECT(object.get()) == Py_None)
      return true;
  return false;
}

uint32_t GuardTable::describedAt(SourceId source) const {
  for (auto [id, index] : described)
    if (id == source)
      return index;
  return UINT32_MAX;
}

std::string GuardTable::describe(uint32_t index) const {
  // A step that failed stands for the guard that needed it.
  while (index < guardOf.size() && guardOf[index] == UINT32_MAX)
    ++index;
  return index < guardOf.size() ? texts[guardOf[index]]
                                : "a source that finds nothing";
}

uint16_t GuardTable::registerOf(SourceId source) const {
  for (auto [id, number] : registers)
    if (id == source)
      return number;
  return UINT16_MAX;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// One step from `registers[record.source]`. False if the object is not of the
/// kind that the step reads; otherwise `result` is what it found, null for
/// nothing.
static bool load(const GuardRecord &record, PyObject **registers,
                 const GuardRoots &roots, PyObject *&result) {
  PyObject *parent = registers[record.source];
  auto *operand = reinterpret_cast<PyObject *>(record.operand);
  result = nullptr;
  switch (recordOf(record)) {
  case Record::LoadLocal:
    result = roots.localsplus[record.operand];
    return true;
  case Record::LoadStack:
    result = roots.stack[record.operand];
    return true;
  case Record::LoadFunction:
    result = reinterpret_cast<PyObject *>(roots.function);
    return true;
  case Record::LoadGlobals:
    result = roots.globals;
    return true;
  case Record::LoadBuiltins:
    result = roots.builtins;
    return true;
  case Record::LoadConstant:
    result = operand;
    return true;
  case Record::LoadWeakConstant:
    result = PyWeakref_GET_OBJECT(operand);
    return result != Py_None;
  default:
    break;
  }
  if (!parent)
    return false;
  auto *function = reinterpret_cast<PyFunctionObject *>(parent);
  switch (recordOf(record)) {
  case Record::LoadFunctionGlobals:
    result = PyFunction_Check(parent) ? function->func_globals : nullptr;
    return true;
  case Record::LoadFunctionCode:
    result = PyFunction_Check(parent) ? function->func_code : nullptr;
    return true;
  case Record::LoadFunctionDefault:
    if (!PyFunction_Check(parent) || !function->func_defaults ||
        PyTuple_GET_SIZE(function->func_defaults) <=
            static_cast<Py_ssize_t>(record.operand))
      return true;
    result = PyTuple_GET_ITEM(function->func_defaults, record.operand);
    return true;
  case Record::LoadFunctionKwDefault:
    if (!PyFunction_Check(parent) || !function->func_kwdefaults)
      return true;
    return peekDict(function->func_kwdefaults, operand, result) !=
           Peek::Unknown;
  case Record::LoadFunctionClosure:
    if (!PyFunction_Check(parent) || !function->func_closure ||
        PyTuple_GET_SIZE(function->func_closure) <=
            static_cast<Py_ssize_t>(record.operand))
      return true;
    result = PyTuple_GET_ITEM(function->func_closure, record.operand);
    return true;
  case Record::LoadCellContents:
    if (!PyCell_Check(parent))
      return false;
    result = PyCell_GET(parent);
    return true;
  case Record::LoadMethodFunction:
    result = PyMethod_Check(parent) ? PyMethod_GET_FUNCTION(parent) : nullptr;
    return true;
  case Record::LoadMethodSelf:
    result = PyMethod_Check(parent) ? PyMethod_GET_SELF(parent) : nullptr;
    return true;
  case Record::LoadModuleDict:
    result = PyModule_Check(parent) ? PyModule_GetDict(parent) : nullptr;
    return true;
  case Record::LoadInstanceDict:
    result = peekInstanceDict(parent);
    return true;
  case Record::LoadAttributeValue:
    return peekAttribute(parent, operand, result) != Peek::Unknown;
  case Record::LoadInstanceSlot:
    // The type was guarded before: the slot is one of its members.
    if (static_cast<Py_ssize_t>(record.operand + sizeof(PyObject *)) >
        Py_TYPE(parent)->tp_basicsize)
      return false;
    std::memcpy(&result, reinterpret_cast<char *>(parent) + record.operand,
                sizeof(result));
    return true;
  case Record::LoadDictValue:
    return peekDict(parent, operand, result) != Peek::Unknown;
  case Record::LoadSequenceItem:
    if (PyTuple_Check(parent)) {
      if (static_cast<Py_ssize_t>(record.operand) < PyTuple_GET_SIZE(parent))
        result = PyTuple_GET_ITEM(parent, record.operand);
    } else if (PyList_Check(parent)) {
      if (static_cast<Py_ssize_t>(record.operand) < PyList_GET_SIZE(parent))
        result = PyList_GET_ITEM(parent, record.operand);
    } else {
      return false;
    }
    return true;
  case Record::LoadType:
    result = reinterpret_cast<PyObject *>(Py_TYPE(parent));
    return true;
  case Record::LoadTypeLookup:
    if (!PyType_Check(parent))
      return false;
    result = peekType(reinterpret_cast<PyTypeObject *>(parent), operand);
    return true;
  case Record::LoadTensorGrad:
    return false; // Its getter makes a new object at times: never guarded
                  // through.
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static bool hasLength(PyObject *object, Py_ssize_t length) {
  if (PyTuple_Check(object) || PyList_Check(object))
    return Py_SIZE(object) == length;
  if (PyDict_Check(object))
    return PyDict_GET_SIZE(object) == length;
  if (PyAnySet_Check(object))
    return PySet_GET_SIZE(object) == length;
  if (PyUnicode_CheckExact(object) && PyUnicode_IS_READY(object))
    return PyUnicode_GET_LENGTH(object) == length;
  return false;
}

/// The referent of a weak reference is `object`. None is what an empty one has;
/// it takes no weak references itself.
static bool isReferent(PyObject *reference, PyObject *object) {
  return PyWeakref_GET_OBJECT(reference) == object && object != Py_None;
}

static bool testTensor(const TensorCheck &check, PyObject *object,
                       LookupState &state) {
  TensorInfo &info = state.tensors[check.input];
  if (Py_TYPE(object) != check.type || !inspect(object, info) ||
      info.dtype != check.dtype || info.rank != check.rank ||
      info.requiresGrad != check.requiresGrad)
    return false;
  const TensorCheck::Dimension *dimensions = check.dimensions.data();
  for (int d = 0; d < check.rank; ++d) {
    const TensorCheck::Dimension &dimension = dimensions[d];
    int64_t extent = info.extents[d];
    if (dimension.extent != dynamicExtent) {
      if (extent != dimension.extent)
        return false;
    } else if (dimension.symbol >= 0) {
      if (dimension.defines)
        state.symbols[dimension.symbol] = extent;
      else if (state.symbols[dimension.symbol] != extent)
        return false;
    }
  }
  if (check.dense) {
    int64_t next = 1;
    bool empty = false;
    for (int i = check.rank; i-- > 0;) {
      uint8_t d = dimensions[i].order;
      int64_t extent = info.extents[d];
      if (extent != 1 && info.stride(d) != next) {
        // Strides of an empty tensor mean nothing.
        empty = empty || std::find(info.extents, info.extents + info.rank, 0) !=
                             info.extents + info.rank;
        if (!empty)
          return false;
      }
      next *= extent;
    }
    return true;
  }
  for (int d = 0; d < check.rank; ++d)
    if (dimensions[d].stride != dynamicExtent && info.extents[d] > 1 &&
        info.stride(d) != dimensions[d].stride)
      return false;
  return true;
}

static bool testRelation(const RelationCheck &check, const LookupState &state) {
  int64_t lhs = check.table->extent(check.relation.lhs, state.symbols.data());
  int64_t rhs = check.table->extent(check.relation.rhs, state.symbols.data());
  switch (check.relation.kind) {
  case ExtentRelation::Kind::Equal:
    return lhs == rhs;
  case ExtentRelation::Kind::NotEqual:
    return lhs != rhs;
  case ExtentRelation::Kind::Less:
    return lhs < rhs;
  case ExtentRelation::Kind::LessEqual:
    return lhs <= rhs;
  }
  return false;
}

/// The bytes between the first and the last element of both do not meet.
static bool testNoOverlap(PyObject *a, PyObject *b) {
  auto range = [](PyObject *object, uintptr_t &low, uintptr_t &high) {
    TensorInfo info;
    if (!inspect(object, info))
      return false;
    low = high = reinterpret_cast<uintptr_t>(info.data);
    for (int d = 0; d < info.rank; ++d) {
      if (info.extents[d] == 0) {
        high = low;
        return true;
      }
      int64_t reach = info.stride(d) * info.itemBytes * (info.extents[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    high += info.itemBytes;
    return true;
  };
  uintptr_t lowA, highA, lowB, highB;
  return range(a, lowA, highA) && range(b, lowB, highB) &&
         (highA <= lowB || highB <= lowA);
}

bool runRecord(const GuardRecord &record, PyObject **registers,
               const GuardRoots &roots, LookupState &state) noexcept {
  Record kind = recordOf(record);
  if (isLoad(kind)) {
    PyObject *result;
    if (!load(record, registers, roots, result))
      return false;
    registers[record.target] = result;
    return result || isNullable(record);
  }
  PyObject *object = registers[record.source];
  auto *operand = reinterpret_cast<PyObject *>(record.operand);
  auto number = static_cast<int64_t>(record.operand);
  if (!object && kind != Record::SlotNull && kind != Record::Ambient &&
      kind != Record::RecursionRoom && kind != Record::ExtentRelation)
    return false;
  switch (kind) {
  case Record::TypeIs:
    return Py_TYPE(object) == reinterpret_cast<PyTypeObject *>(operand);
  case Record::TypeIsWeak:
    return isReferent(operand, reinterpret_cast<PyObject *>(Py_TYPE(object)));
  case Record::Is:
    return object == operand;
  case Record::IsWeak:
    return isReferent(operand, object);
  case Record::IsNot:
    return object != operand;
  case Record::EqualsInt: {
    int64_t value;
    return peekInt(object, value) && value == number;
  }
  case Record::EqualsFloat:
    return PyFloat_CheckExact(object) &&
           std::memcmp(&reinterpret_cast<PyFloatObject *>(object)->ob_fval,
                       &record.operand, 8) == 0;
  case Record::EqualsObject:
    return peekEqual(object, operand);
  case Record::IntAtLeast: {
    int64_t value;
    return peekInt(object, value) && value >= number;
  }
  case Record::IntAtMost: {
    int64_t value;
    return peekInt(object, value) && value <= number;
  }
  case Record::FloatType:
    return PyFloat_CheckExact(object);
  case Record::LengthIs:
    return hasLength(object, number);
  case Record::KeyAbsent: {
    PyObject *value;
    return peekDict(object, operand, value) == Peek::Absent;
  }
  case Record::AttributeAbsent: {
    PyObject *value;
    return peekAttribute(object, operand, value) == Peek::Absent;
  }
  case Record::Present:
    return true; // It would have failed above.
  case Record::SlotNull:
    return !object;
  case Record::SameObject:
    return object == registers[record.detail];
  case Record::NotSameObject:
    return object != registers[record.detail];
  case Record::DictVersion:
    return PyDict_Check(object) && dictVersion(object) == record.operand;
  case Record::TypeVersion:
    return PyType_Check(object) && record.operand &&
           typeVersion(reinterpret_cast<PyTypeObject *>(object)) ==
               record.operand;
  case Record::DictOrder:
    return peekOrder(object, operand);
  case Record::Tensor:
    return testTensor(*reinterpret_cast<const TensorCheck *>(record.operand),
                      object, state);
  case Record::ExtentRelation:
    return testRelation(
        *reinterpret_cast<const RelationCheck *>(record.operand), state);
  case Record::NoOverlap:
    return registers[record.detail] &&
           testNoOverlap(object, registers[record.detail]);
  case Record::Ambient:
    return readAmbient(static_cast<Ambient>(record.detail)) == number;
  case Record::RecursionRoom:
    return readAmbient(Ambient::RecursionRoom) >= number;
  case Record::RefCountAbove:
    return Py_REFCNT(object) > number;
  case Record::DiesQuietly:
    return diesQuietly(object);
  default:
    return false;
  }
}

} // namespace wok::python
