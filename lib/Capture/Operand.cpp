//===- Operand.cpp - Operands of tensor operations --------------*- C++ -*-===//

#include "Operand.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;

//===----------------------------------------------------------------------===//
// NumPy scalars
//===----------------------------------------------------------------------===//

/// The dtype of an instance of numpy.generic.
static std::optional<DType> scalarDtype(PyObject *object) {
  if (!object || PyFloat_CheckExact(object) || PyLong_CheckExact(object))
    return std::nullopt;
  PyObject *generic = findObject("numpy.generic");
  if (!generic || !PyType_IsSubtype(Py_TYPE(object),
                                    reinterpret_cast<PyTypeObject *>(generic)))
    return std::nullopt;
  return dtypeOf(reinterpret_cast<PyObject *>(Py_TYPE(object)), Library::NumPy);
}

/// Whether the object stays where it was found: in a module or a constant.
static bool isLasting(const SourceTable &sources, SourceId id) {
  if (id == noSource)
    return true;
  while (sources[id].parent != noSource)
    id = sources[id].parent;
  Step root = sources[id].step;
  return root == Step::Globals || root == Step::Builtins ||
         root == Step::Constant;
}

bool capture::isTensorLike(const Capture &capture, Value value) {
  return capture.isTensor(value) ||
         scalarDtype(capture.object(value)).has_value();
}

std::optional<Value> capture::asTensorLike(Capture &capture, Value value) {
  if (capture.isTensor(value))
    return capture.asTensor(value);
  PyObject *object = capture.object(value);
  std::optional<DType> dtype = scalarDtype(object);
  // One that a call brings is another object each time: a guard of its identity
  // would never hold again.
  if (!dtype || !isLasting(capture.sources, capture.knownRow(value).source))
    return capture.breakHere(BreakInfo::Reason::UnsupportedTensor,
                             "a NumPy scalar");
  Emitter emitter(capture);
  Emitter::V v = Emitter::bad;
  if (isFloat(*dtype)) {
    Ref<> number = Ref<>::steal(PyNumber_Float(object));
    if (number)
      v = emitter.number(*dtype, PyFloat_AS_DOUBLE(number.get()));
  } else {
    Ref<> number = Ref<>::steal(PyNumber_Long(object));
    if (number)
      v = emitter.number(*dtype, int64_t{PyLong_AsLongLong(number)});
  }
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return capture.breakHere(BreakInfo::Reason::UnsupportedTensor);
  }
  capture.guardValue(value);
  return newArray(capture, v);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool capture::torchIsPlain(Capture &capture) {
  if (!capture.ambient(Ambient::FunctionModes) &&
      !capture.ambient(Ambient::DispatchModes))
    return true;
  capture.breakHere(BreakInfo::Reason::Ambient, "a torch mode");
  return false;
}

Operand capture::operandOf(Capture &capture, Value value) {
  Operand operand;
  operand.value = value;
  if (value.kind == Kind::Tensor) {
    const TensorRow &row = capture.tensorRow(value);
    const importer::TensorType &type = capture.graph.type(row.value);
    operand.isTensor = true;
    operand.dtype = type.dtype;
    operand.rank = type.extents.size();
    operand.wrapped = row.wrappedNumber;
    return operand;
  }
  if (std::optional<NumberType> number = numberType(capture, value))
    operand.number = *number;
  return operand;
}

std::vector<Value> capture::tensorsOf(std::span<const Operand> operands) {
  std::vector<Value> tensors;
  for (const Operand &operand : operands)
    if (operand.isTensor)
      tensors.push_back(operand.value);
  return tensors;
}

Emitter::V capture::emit(Emitter &emitter, const Operand &operand,
                         DType dtype) {
  if (operand.isTensor)
    return emitter.cast(emitter.capture.read(operand.value), dtype);
  return numberValue(emitter, operand.value, dtype).value_or(Emitter::bad);
}

//===----------------------------------------------------------------------===//
// Nested lists
//===----------------------------------------------------------------------===//

static constexpr size_t maxNestedNumbers = 64;

static bool flatten(Capture &capture, Value value, size_t depth,
                    NestedNumbers &nested) {
  if (isNumber(capture, value)) {
    nested.numbers.push_back(value);
    return depth == nested.shape.size();
  }
  std::optional<std::vector<Value>> items = capture.asItems(value);
  if (!items || items->empty())
    return false;
  int64_t extent = static_cast<int64_t>(items->size());
  if (nested.numbers.empty() && depth == nested.shape.size())
    nested.shape.push_back(extent);
  if (depth >= nested.shape.size() || nested.shape[depth] != extent)
    return false;
  for (Value item : *items)
    if (nested.numbers.size() >= maxNestedNumbers ||
        !flatten(capture, item, depth + 1, nested))
      return false;
  return true;
}

std::optional<NestedNumbers> capture::nestedNumbers(Capture &capture,
                                                    Value data) {
  NestedNumbers nested;
  if (!flatten(capture, data, 0, nested))
    return std::nullopt;
  for (Value number : nested.numbers)
    nested.type = std::max(nested.type, operandOf(capture, number).number);
  return nested;
}

Emitter::V capture::emitNested(Emitter &emitter, const NestedNumbers &nested,
                               DType dtype) {
  if (nested.type == NumberType::Float && !isFloat(dtype))
    return Emitter::bad;
  std::vector<Emitter::V> elements;
  for (Value number : nested.numbers) {
    std::optional<Emitter::V> v = numberValue(emitter, number, dtype);
    if (!v)
      return Emitter::bad;
    elements.push_back(*v);
  }
  if (nested.shape.empty())
    return elements.front();
  for (Emitter::V &v : elements)
    v = emitter.unsqueeze(v, 0);
  return emitter.reshape(emitter.concat(elements, 0),
                         emitter.build.extents(nested.shape));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

PyTypeObject *capture::tensorTypeOf(Library library) {
  PyObject *type =
      findObject(library == Library::Torch ? "torch.Tensor" : "numpy.ndarray");
  return reinterpret_cast<PyTypeObject *>(type);
}

Value capture::newTensor(Capture &capture, Library library, Emitter::V v,
                         std::vector<uint8_t> layout) {
  TensorRow row;
  row.library = library;
  row.value = v;
  row.type = tensorTypeOf(library);
  row.strideOrder = std::move(layout);
  return capture.tensor(std::move(row));
}

Value capture::newArray(Capture &capture, Emitter::V v,
                        std::vector<uint8_t> layout) {
  TensorRow row;
  row.library = Library::NumPy;
  row.value = v;
  row.type = tensorTypeOf(Library::NumPy);
  row.strideOrder = std::move(layout);
  row.numpyScalar = capture.graph.type(v).extents.empty();
  return capture.tensor(std::move(row));
}

/// Whether an in-place operation that computed `from` may store it as `to`.
static bool mayStore(Library library, DType from, DType to) {
  if (isFloat(from))
    return isFloat(to);
  if (to == DType::I1)
    return from == DType::I1;
  if (library == Library::NumPy && to == DType::U8)
    return from == DType::I1 || from == DType::U8;
  return true;
}

std::optional<Value> capture::storeInto(Emitter &emitter, Value target,
                                        Emitter::V v, std::string_view what) {
  if (emitter.failed() || v == Emitter::bad)
    return emitter.giveUp(what);
  Capture &capture = emitter.capture;
  const TensorRow &row = capture.tensorRow(target);
  // By value: what is appended now may move the graph's tables.
  importer::TensorType type = capture.graph.type(row.value);
  if (row.numpyScalar)
    return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                             std::string(what));
  if (!mayStore(row.library, emitter.dtype(v), type.dtype) ||
      emitter.rank(v) > type.extents.size())
    return capture.breakHere(BreakInfo::Reason::WouldRaise, std::string(what));
  v = emitter.broadcastTo(emitter.cast(v, type.dtype), type.extents);
  if (emitter.failed())
    return emitter.giveUp(what);
  if (!capture.write(target, v))
    return std::nullopt;
  return target;
}
