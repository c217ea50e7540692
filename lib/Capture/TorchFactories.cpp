//===- TorchFactories.cpp - Tensors from nothing ----------------*- C++ -*-===//

#include "Importers.h"
#include "Torch.h"

#include <cmath>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

/// Arguments `first`...: dtype, layout, device, requires_grad, pin_memory as
/// all factories end. False, with a break, if they ask for more than a CPU
/// tensor.
static bool isPlainFactory(Call &call, unsigned device) {
  if (isDefaultDevice(call, device))
    return true;
  call.unsupported("device");
  return false;
}

static std::optional<Value> filledTensor(Call &call, DType dtype, V value,
                                         const Extents &extents,
                                         std::vector<uint8_t> layout = {}) {
  Emitter &e = call.emitter;
  V v = e.broadcastTo(e.cast(value, dtype), extents);
  if (e.failed() || value == Emitter::bad)
    return call.giveUp();
  return newTensor(call.capture, Library::Torch, v, std::move(layout));
}

static V fillNumber(Call &call, DType dtype) {
  return call.emitter.number(dtype, call.detail() == "1" ? 1 : 0);
}

/// zeros, ones: (*size, *, dtype, device, ...)
std::optional<Value> capture::torchFilled(Call &call) {
  Extents extents;
  if (!call.extentItems(0, extents) || !isPlainFactory(call, 2))
    return std::nullopt;
  DType dtype =
      call.has(1) ? call.dtype(1, DType::F32) : torchDefaultDtype(call.capture);
  return filledTensor(call, dtype, fillNumber(call, dtype), extents);
}

/// full(size, fill_value, *, dtype, device, ...)
std::optional<Value> capture::torchFull(Call &call) {
  Extents extents;
  if (!call.extentItems(0, extents) || !isPlainFactory(call, 3))
    return std::nullopt;
  Operand value = operandOf(call.capture, call.arg(1));
  DType dtype = DType::I64;
  if (call.has(2))
    dtype = call.dtype(2, dtype);
  else if (value.number == NumberType::Bool)
    dtype = DType::I1;
  else if (value.number == NumberType::Float)
    dtype = torchDefaultDtype(call.capture);
  return filledTensor(call, dtype, emit(call.emitter, value, dtype), extents);
}

/// zeros_like, ones_like: (input, *, dtype, device, ...)
std::optional<Value> capture::torchFilledLike(Call &call) {
  Emitter &e = call.emitter;
  if (!isPlainFactory(call, 2))
    return std::nullopt;
  V like = emit(e, call.arg(0));
  DType dtype = call.dtype(1, e.dtype(like));
  return filledTensor(call, dtype, fillNumber(call, dtype), e.extents(like),
                      preservedLayout(call.capture, call.arg(0)));
}

/// full_like(input, fill_value, *, dtype, device, ...)
std::optional<Value> capture::torchFullLike(Call &call) {
  Emitter &e = call.emitter;
  if (!isPlainFactory(call, 3))
    return std::nullopt;
  V like = emit(e, call.arg(0));
  DType dtype = call.dtype(2, e.dtype(like));
  Operand value = operandOf(call.capture, call.arg(1));
  return filledTensor(call, dtype, emit(e, value, dtype), e.extents(like),
                      preservedLayout(call.capture, call.arg(0)));
}

/// new_zeros, new_ones: (self, *size, *, dtype, device, ...)
std::optional<Value> capture::torchNewFilled(Call &call) {
  Extents extents;
  if (!call.extentItems(1, extents) || !isPlainFactory(call, 3))
    return std::nullopt;
  DType own = call.emitter.dtype(emit(call.emitter, call.arg(0)));
  DType dtype = call.dtype(2, own);
  return filledTensor(call, dtype, fillNumber(call, dtype), extents);
}

/// new_full(self, size, fill_value, *, dtype, device, ...)
std::optional<Value> capture::torchNewFull(Call &call) {
  Extents extents;
  if (!call.extentItems(1, extents) || !isPlainFactory(call, 4))
    return std::nullopt;
  DType own = call.emitter.dtype(emit(call.emitter, call.arg(0)));
  DType dtype = call.dtype(3, own);
  Operand value = operandOf(call.capture, call.arg(2));
  return filledTensor(call, dtype, emit(call.emitter, value, dtype), extents);
}

/// arange(end), arange(start, end, step): *, dtype, device, ...
std::optional<Value> capture::torchArange(Call &call) {
  Emitter &e = call.emitter;
  bool endOnly = call.overload() == 0;
  unsigned options = endOnly ? 1 : 3;
  if (!isPlainFactory(call, options + 1))
    return std::nullopt;
  Value start = endOnly ? call.capture.constant(0LL) : call.arg(0);
  Value end = call.arg(endOnly ? 0 : 1);
  Value step =
      !endOnly && call.has(2) ? call.arg(2) : call.capture.constant(1LL);
  bool integers = true;
  for (Value bound : {start, end, step})
    integers &= operandOf(call.capture, bound).number == NumberType::Int;
  DType dtype = call.has(options) ? call.dtype(options, DType::I64)
                : integers        ? DType::I64
                                  : torchDefaultDtype(call.capture);

  // arange(n): the extent may vary.
  std::optional<ExtentId> count = asExtent(call.capture, end);
  std::optional<double> from = call.capture.asFloat(start);
  std::optional<double> stride = call.capture.asFloat(step);
  if (!from || !stride || *stride == 0)
    return call.unsupported("bounds");
  bool simple = *from == 0 && *stride == 1 && integers;
  if (!simple || !count) {
    std::optional<double> to = call.capture.asFloat(end);
    if (!to || (*to - *from) / *stride < 0 || !std::isfinite(*to) ||
        !std::isfinite(*from))
      return call.unsupported("bounds");
    count = call.capture.graph.constant(
        static_cast<int64_t>(std::ceil((*to - *from) / *stride)));
  } else if (hintOf(call.capture.graph, *count) < 0) {
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  }
  Extents extents = {*count};
  if (isInteger(dtype) && integers) {
    V v = e.iota(DType::I64, extents, 0);
    if (!simple)
      v = e.add(e.mul(v, e.number(DType::I64, *stride)),
                e.number(DType::I64, *from));
    return torchFinishDense(call, e.cast(v, dtype));
  }
  // start + i * step in the accumulation type, which is f64 for f32 too.
  if (!isFloat(dtype))
    return call.unsupported("dtype");
  V v = e.iota(DType::I64, extents, 0);
  v = e.cast(v, DType::F64);
  v = e.add(e.mul(v, e.number(DType::F64, *stride)),
            e.number(DType::F64, *from));
  return torchFinishDense(call, e.cast(v, dtype));
}

/// eye(n, m, *, dtype, device, ...)
std::optional<Value> capture::torchEye(Call &call) {
  Emitter &e = call.emitter;
  if (!isPlainFactory(call, 3))
    return std::nullopt;
  std::optional<ExtentId> rows = asExtent(call.capture, call.arg(0));
  std::optional<ExtentId> columns =
      call.has(1) ? asExtent(call.capture, call.arg(1)) : rows;
  if (!rows || !columns || hintOf(call.capture.graph, *rows) < 0 ||
      hintOf(call.capture.graph, *columns) < 0)
    return call.unsupported("extents");
  DType dtype =
      call.has(2) ? call.dtype(2, DType::F32) : torchDefaultDtype(call.capture);
  Extents extents = {*rows, *columns};
  V diagonal = e.compare("eq", e.iota(DType::I64, extents, 0),
                         e.iota(DType::I64, extents, 1));
  return torchFinishDense(call, e.cast(diagonal, dtype));
}

/// tensor(data, *, dtype, device, ...) of numbers in nested lists.
std::optional<Value> capture::torchTensor(Call &call) {
  Capture &capture = call.capture;
  if (!isPlainFactory(call, 2))
    return std::nullopt;
  std::optional<NestedNumbers> numbers = nestedNumbers(capture, call.arg(0));
  if (!numbers)
    return call.unsupported("data that is no list of numbers");
  DType dtype = numbers->type == NumberType::Bool  ? DType::I1
                : numbers->type == NumberType::Int ? DType::I64
                                                   : torchDefaultDtype(capture);
  return torchFinishDense(
      call, emitNested(call.emitter, *numbers, call.dtype(1, dtype)));
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// is_grad_enabled(), get_default_dtype(), ...
std::optional<Value> capture::torchState(Call &call) {
  Capture &capture = call.capture;
  if (call.detail() == "grad")
    return capture.constant(capture.ambient(Ambient::GradMode) ? Py_True
                                                               : Py_False);
  if (call.detail() == "inference")
    return capture.constant(capture.ambient(Ambient::InferenceMode) ? Py_True
                                                                    : Py_False);
  if (call.detail() == "dtype")
    if (PyObject *dtype =
            dtypeObject(torchDefaultDtype(capture), Library::Torch))
      return capture.constant(dtype);
  return call.unsupported(call.detail());
}

/// has_torch_function(...): no exact tensor, number or None has one.
std::optional<Value> capture::torchHasFunction(Call &call) {
  Capture &capture = call.capture;
  if (!torchIsPlain(capture))
    return std::nullopt;
  std::vector<Value> values(call.raw().positional.begin(),
                            call.raw().positional.end());
  if (call.detail() == "sequence" && values.size() == 1)
    if (std::optional<std::vector<Value>> items = capture.asItems(values[0]))
      values = *items;
  for (Value value : values) {
    PyObject *object = capture.object(value);
    if (value.kind == Kind::Tensor || value.kind == Kind::Scalar ||
        value.kind == Kind::Sequence)
      continue;
    if (!object)
      return call.unsupported("an argument");
    if (!capture.isTensor(value) && object != Py_None &&
        !PyBool_Check(object) && !PyLong_CheckExact(object) &&
        !PyFloat_CheckExact(object) && !PyTuple_CheckExact(object) &&
        !PyList_CheckExact(object) && !PyUnicode_CheckExact(object))
      return call.unsupported("an argument");
    capture.guardType(value);
  }
  return capture.constant(Py_False);
}
