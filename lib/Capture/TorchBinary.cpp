//===- TorchBinary.cpp - Arithmetic and comparison in PyTorch ---*- C++ -*-===//
//
// What eager computes for two operands, with its promotion and its special
// cases for Python numbers.
//
//===----------------------------------------------------------------------===//

#include "Compositions.h"
#include "Torch.h"

#include <cmath>

using namespace wok;
using namespace wok::capture;
using V = Emitter::V;

static bool isReduced(DType dtype) { return computeType(dtype) != dtype; }

/// A number or a 0-d tensor: what eager's kernels take as a scalar operand.
static bool isScalarOperand(const Operand &operand) {
  return !operand.isTensor || operand.rank == 0;
}

/// An int as an element of `dtype`: cut to its bits, as eager does.
static int64_t wrapped(long long number, DType dtype) {
  switch (dtype) {
  case DType::I8:
    return static_cast<int8_t>(number);
  case DType::U8:
    return static_cast<uint8_t>(number);
  case DType::I16:
    return static_cast<int16_t>(number);
  case DType::I32:
    return static_cast<int32_t>(number);
  default:
    return number;
  }
}

/// The operand of an arithmetic operation or comparison.
static V value(Emitter &e, const Operand &operand, DType dtype) {
  if (!operand.isTensor && operand.number == NumberType::Int &&
      isInteger(dtype) && dtype != DType::I64)
    if (std::optional<long long> number = e.capture.asInt(operand.value))
      return e.number(dtype, wrapped(*number, dtype));
  return emit(e, operand, dtype);
}

/// f16 and bf16 with a scalar on the right: multiplication and division read
/// the scalar in f32, unrounded; the other operations round it first.
static V withScalar(Emitter &e, std::string_view op, const Operand &a,
                    const Operand &b, DType dtype) {
  if (isReduced(dtype) && isScalarOperand(b)) {
    V wide = e.binary(op, e.cast(value(e, a, dtype), DType::F32),
                      value(e, b, DType::F32));
    return e.cast(wide, dtype);
  }
  return e.binary(op, value(e, a, dtype), value(e, b, dtype));
}

/// Whether x is negative or -0; of a NaN nothing is known.
static V hasSign(Emitter &e, V x) {
  V zero = e.like(x, 0);
  V inverse = e.compare("lt", e.div(e.like(x, 1), x), zero);
  return e.binary("or", e.compare("lt", x, zero),
                  e.binary("and", e.compare("eq", x, zero), inverse));
}

/// Floor division of f16 and bf16 tensors, which eager rounds at every step.
static V reducedFloorDivide(Emitter &e, V a, V b) {
  V zero = e.like(a, 0), quotient = e.div(a, b);
  V rest = e.binary("fmod", a, b);
  V down = e.div(e.sub(a, rest), b);
  V signs = e.compare("ne", e.cast(e.compare("lt", b, zero), DType::I8),
                      e.cast(e.compare("lt", rest, zero), DType::I8));
  V inexact = e.binary("and", e.compare("ne", rest, zero), signs);
  down = e.select(inexact, e.sub(down, e.like(a, 1)), down);
  V floor = e.unary("floor", down);
  V above = e.compare("gt", e.sub(down, floor), e.like(a, 0.5));
  floor = e.select(above, e.add(floor, e.like(a, 1)), floor);
  V signedZero = e.select(hasSign(e, quotient), e.like(a, -0.0), zero);
  floor = e.select(e.compare("eq", down, zero), signedZero, floor);
  return e.select(e.compare("eq", b, zero), quotient, floor);
}

/// x multiplied with itself; exact modulo 2^n in whatever order.
static V integerPower(Emitter &e, V x, int64_t exponent) {
  V result = Emitter::bad;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = result == Emitter::bad ? x : e.mul(result, x);
    if (exponent > 1)
      x = e.mul(x, x);
  }
  return result;
}

/// Tensor ** number, in `dtype`.
static V powerOfNumber(Emitter &e, const Operand &a, const Operand &b,
                       DType dtype) {
  Capture &capture = e.capture;
  V x = emit(e, a, dtype);
  std::optional<double> exponent = capture.asFloat(b.value);
  if (!exponent)
    return unsupported(e, "the exponent");
  if (*exponent == 0)
    return e.filled(dtype, 1, e.extents(x));
  if (*exponent == 1)
    return x;
  if (!isFloat(dtype)) {
    if (dtype == DType::I1 || *exponent < 0 || *exponent > 64)
      return unsupported(e, "an integer power");
    return integerPower(e, x, static_cast<int64_t>(*exponent));
  }
  // f16 takes the general power in f32; short cuts that are the same bits.
  bool isHalf = dtype == DType::F16;
  if (isHalf)
    x = e.cast(x, DType::F32);
  V result = Emitter::bad;
  if (*exponent == 0.5 && !isHalf)
    result = e.unary("sqrt", x);
  else if (*exponent == -0.5 && !isHalf)
    result = e.unary("rsqrt", x);
  else if (*exponent == 2)
    result = e.mul(x, x);
  else if (*exponent == 3)
    result = e.mul(e.mul(x, x), x);
  else if (*exponent == -1)
    result = e.div(e.like(x, 1), x);
  else if (*exponent == -2)
    result = e.div(e.like(x, 1), e.mul(x, x));
  else
    result = e.binary("pow", x, e.like(x, *exponent));
  return e.cast(result, dtype);
}

static V power(Emitter &e, const Operand &a, const Operand &b, DType dtype) {
  if (!b.isTensor)
    return powerOfNumber(e, a, b, dtype);
  if (!isFloat(dtype)) {
    // A negative exponent in the tensor has a meaning of its own.
    return unsupported(e, "an integer power with a tensor exponent");
  }
  if (!a.isTensor) {
    std::optional<double> base = e.capture.asFloat(a.value);
    if (base && *base == 1) {
      V exponent = emit(e, b, dtype);
      return e.filled(dtype, 1, e.extents(exponent));
    }
  }
  return e.binary("pow", emit(e, a, dtype), emit(e, b, dtype));
}

V capture::torchBinary(Emitter &e, std::string_view name, const Operand &a,
                       const Operand &b) {
  Operand both[] = {a, b};
  if (name.starts_with("logical_"))
    return logicalOf(e, name.substr(8), a, b);

  DType dtype = torchResultType(e.capture, both);
  auto plain = [&](std::string_view op) {
    return e.binary(op, value(e, a, dtype), value(e, b, dtype));
  };
  bool isBool = dtype == DType::I1;
  if (name == "add")
    return plain(isBool ? "or" : "add");
  if (name == "mul")
    return isBool ? plain("and") : withScalar(e, "mul", a, b, dtype);
  if (name == "maximum")
    return plain(isBool ? "or" : "max");
  if (name == "minimum")
    return plain(isBool ? "and" : "min");
  if (name == "eq" || name == "ne" || name == "lt" || name == "le" ||
      name == "gt" || name == "ge")
    return e.compare(name, value(e, a, dtype), value(e, b, dtype));
  if (name.starts_with("bitwise_")) {
    if (isFloat(dtype))
      return unsupported(e, "bitwise operations on floats");
    return plain(name.substr(8));
  }
  if (name == "div") {
    dtype = torchFloatType(e.capture, dtype);
    return withScalar(e, "div", a, b, dtype);
  }
  if (isBool)
    return unsupported(e, "bool operands");
  if (name == "sub") {
    auto isBoolOperand = [](const Operand &operand) {
      return operand.isTensor ? operand.dtype == DType::I1
                              : operand.number == NumberType::Bool;
    };
    if (isBoolOperand(a) || isBoolOperand(b))
      return unsupported(e, "a bool operand of a subtraction");
    return plain("sub");
  }
  if (name == "floor_divide") {
    if (isReduced(dtype) && !isScalarOperand(b))
      return reducedFloorDivide(e, value(e, a, dtype), value(e, b, dtype));
    return withScalar(e, "floor_div", a, b, dtype);
  }
  if (name == "trunc_divide") {
    if (isFloat(dtype)) {
      // By a scalar: truncated in f32, before the one rounding.
      if (isReduced(dtype) && isScalarOperand(b)) {
        V wide = e.div(e.cast(value(e, a, dtype), DType::F32),
                       value(e, b, DType::F32));
        return e.cast(e.unary("trunc", wide), dtype);
      }
      return e.unary("trunc", plain("div"));
    }
    return plain("div");
  }
  if (name == "remainder" || name == "fmod")
    return plain(name);
  if (name == "pow")
    return power(e, a, b, dtype);
  if (name == "shl" || name == "shr")
    return shiftByNumber(e, name, a, b, dtype);
  if (name == "fmax" || name == "fmin")
    return ignoreNaN(e, name.substr(1), value(e, a, dtype), value(e, b, dtype));
  return unsupported(e, name);
}

std::optional<Value> capture::torchOperator(Capture &capture,
                                            std::string_view name, Value lhs,
                                            Value rhs, bool inPlace) {
  if (!torchIsPlain(capture))
    return std::nullopt;
  Emitter e(capture);
  Operand operands[] = {operandOf(capture, lhs), operandOf(capture, rhs)};
  std::vector<Value> tensors = tensorsOf(operands);
  V v = Emitter::bad;
  bool reflected = !operands[0].isTensor;
  if (name == "matmul") {
    if (!operands[0].isTensor || !operands[1].isTensor)
      return capture.breakHere(BreakInfo::Reason::WouldRaise, "matmul");
    if (capture.ambient(Ambient::Autocast))
      return capture.breakHere(BreakInfo::Reason::Ambient, "autocast");
    v = matmul(e, emit(e, lhs), emit(e, rhs));
    tensors.clear(); // Row-major, whatever the operands are.
  } else if (reflected && name == "div") {
    // Tensor.__rtruediv__ is reciprocal() * other.
    DType dtype = torchFloatType(capture, operands[1].dtype);
    V x = e.cast(emit(e, rhs), dtype);
    V inverse = e.div(e.like(x, 1), x);
    if (e.failed())
      return e.giveUp("Tensor.__rtruediv__");
    Value reciprocal = newTensor(capture, Library::Torch, inverse);
    v = torchBinary(e, "mul", operandOf(capture, reciprocal), operands[0]);
  } else if (reflected && (name == "mul" || name == "add")) {
    v = torchBinary(e, name, operands[1], operands[0]);
  } else if (reflected && (name == "shl" || name == "shr")) {
    v = unsupported(e, "a number shifted by a tensor");
  } else {
    v = torchBinary(e, name, operands[0], operands[1]);
  }
  std::string shown = "torch." + std::string(name);
  if (v == Emitter::bad || e.failed())
    return e.giveUp(shown);
  if (inPlace)
    return storeInto(e, lhs, v, shown);
  return newTensor(capture, Library::Torch, v,
                   tensors.empty()
                       ? std::vector<uint8_t>()
                       : torchLayout(capture, tensors, e.extents(v)));
}
