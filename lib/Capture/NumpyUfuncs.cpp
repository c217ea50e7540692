//===- NumpyUfuncs.cpp - Elementwise functions of NumPy ---------*- C++ -*-===//

#include "Compositions.h"
#include "Importers.h"
#include "Numpy.h"

#include <cmath>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::optional<Value> capture::numpyFinish(Call &call, V v,
                                          std::span<const Value> tensors,
                                          unsigned out) {
  Emitter &e = call.emitter;
  if (e.failed() || v == Emitter::bad)
    return call.giveUp();
  if (out != ~0u && call.has(out)) {
    Value target = call.arg(out);
    const TensorRow &row = call.capture.tensorRow(target);
    if (call.capture.graph.type(row.value).extents != e.extents(v))
      return call.unsupported("out has another shape");
    return storeInto(e, target, v, call.bound.name);
  }
  return newArray(call.capture, v,
                  numpyLayout(call.capture, tensors, e.extents(v)));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// The loop that a function on floats takes for a dtype.
static DType floatLoop(DType dtype) {
  if (isFloat(dtype))
    return dtype;
  if (byteWidth(dtype) == 1)
    return DType::F16;
  return dtype == DType::I16 ? DType::F32 : DType::F64;
}

static V signOf(Emitter &e, V x) {
  V sign = e.unary("sign", x);
  if (e.failed() || !isFloat(e.dtype(x)))
    return sign;
  return e.select(e.unary("is_nan", x), x, sign);
}

static V unaryOf(Emitter &e, std::string_view name, V x) {
  if (e.failed())
    return Emitter::bad;
  DType dtype = e.dtype(x);
  bool isBool = dtype == DType::I1;
  if (name == "isnan" || name == "isinf" || name == "isfinite") {
    if (!isFloat(dtype))
      return e.filled(DType::I1, name == "isfinite", e.extents(x));
    if (name == "isnan")
      return e.unary("is_nan", x);
    return e.compare(name == "isinf" ? "eq" : "lt", e.unary("abs", x),
                     e.like(x, INFINITY));
  }
  if (name == "logical_not")
    return e.logicalNot(x);
  if (name == "not")
    return isFloat(dtype) ? unsupported(e, "a float") : e.unary("not", x);
  if (name == "abs" && isBool)
    return x;
  if (isBool && (name == "neg" || name == "sign" || name == "positive"))
    return unsupported(e, "a bool array");
  if (name == "positive")
    return x;
  if (name == "neg" || name == "abs")
    return e.unary(name, x);
  if (name == "sign")
    return signOf(e, x);
  if (name == "square") {
    x = isBool ? e.cast(x, DType::I8) : x;
    return e.mul(x, x);
  }
  if (name == "reciprocal")
    return isFloat(dtype) ? e.div(e.like(x, 1), x) : unsupported(e, "integers");
  bool rounds = name == "floor" || name == "ceil" || name == "trunc";
  if (rounds && !isFloat(dtype))
    return x;
  return e.unary(name, e.cast(x, floatLoop(dtype)));
}

/// A ufunc of one operand: (x, out)
std::optional<Value> capture::numpyUnary(Call &call) {
  Emitter &e = call.emitter;
  Operand operand = operandOf(call.capture, call.arg(0));
  if (!operand.isTensor)
    return call.unsupported("a Python number");
  V v = unaryOf(e, call.detail(), emit(e, call.arg(0)));
  Value input = call.arg(0);
  return numpyFinish(call, v, std::span(&input, 1), 1);
}

std::optional<Value> capture::numpyUnaryOperator(Capture &capture, char op,
                                                 Value operand) {
  Emitter e(capture);
  std::string_view name = op == '-' ? "neg" : op == '~' ? "not" : "positive";
  V v = unaryOf(e, name, emit(e, operand));
  if (e.failed() || v == Emitter::bad)
    return e.giveUp(name);
  return newArray(capture, v,
                  numpyLayout(capture, std::span(&operand, 1), e.extents(v)));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static V remainderOf(Emitter &e, V a, V b) {
  V rest = e.binary("remainder", a, b);
  if (e.failed() || !isFloat(e.dtype(a)))
    return rest;
  // A zero has the sign of the divisor.
  V zero =
      e.select(e.compare("lt", b, e.like(b, 0)), e.like(b, -0.0), e.like(b, 0));
  return e.select(e.compare("eq", rest, e.like(rest, 0)), zero, rest);
}

/// array ** number, as the operator's fast paths and np.power give it.
static V powerOf(Emitter &e, const Operand &a, const Operand &b, DType dtype) {
  if (b.isTensor || !a.isTensor) {
    if (!isFloat(dtype))
      return unsupported(e, "an integer power with an array as exponent");
    return e.binary("pow", emit(e, a, dtype), emit(e, b, dtype));
  }
  std::optional<double> exponent = e.capture.asFloat(b.value);
  V x = emit(e, a, dtype);
  if (a.dtype == DType::I1)
    return unsupported(e, "a power of bools");
  if (!exponent)
    return unsupported(e, "the exponent");
  if (!isFloat(dtype)) {
    if (dtype == DType::I1 || *exponent < 0 || *exponent > 64)
      return unsupported(e, "an integer power");
    if (*exponent == 0)
      return e.filled(dtype, 1, e.extents(x));
    V result = x;
    for (int i = 1; i < *exponent; ++i)
      result = e.mul(result, x);
    return result;
  }
  if (*exponent == 0)
    return e.filled(dtype, 1, e.extents(x));
  if (*exponent == 1)
    return x;
  if (*exponent == 2)
    return e.mul(x, x);
  if (*exponent == -1)
    return e.div(e.like(x, 1), x);
  if (*exponent == 0.5)
    return e.unary("sqrt", x);
  return e.binary("pow", x, e.number(dtype, *exponent));
}

static V binaryOf(Emitter &e, std::string_view name, const Operand &a,
                  const Operand &b) {
  Operand operands[] = {a, b};
  if (name.starts_with("logical_"))
    return logicalOf(e, name.substr(8), a, b);
  std::optional<DType> common = numpyResultType(operands);
  if (!common)
    return unsupported(e, "the dtypes");
  DType dtype = *common;
  bool isBool = dtype == DType::I1;
  auto plain = [&](std::string_view op) {
    return e.binary(op, emit(e, a, dtype), emit(e, b, dtype));
  };
  if (name == "add")
    return plain(isBool ? "or" : "add");
  if (name == "mul")
    return plain(isBool ? "and" : "mul");
  if (name == "maximum")
    return plain(isBool ? "or" : "max");
  if (name == "minimum")
    return plain(isBool ? "and" : "min");
  if (name == "eq" || name == "ne" || name == "lt" || name == "le" ||
      name == "gt" || name == "ge")
    return e.compare(name, emit(e, a, dtype), emit(e, b, dtype));
  if (name.starts_with("bitwise_"))
    return isFloat(dtype) ? unsupported(e, "floats") : plain(name.substr(8));
  if (name == "div") {
    dtype = isFloat(dtype) ? dtype : DType::F64;
    return plain("div");
  }
  if (name == "fmax" || name == "fmin") {
    if (isBool)
      return plain(name == "fmax" ? "or" : "and");
    return ignoreNaN(e, name.substr(1), emit(e, a, dtype), emit(e, b, dtype));
  }
  if (isBool)
    return unsupported(e, "bool operands");
  if (name == "sub" || name == "fmod")
    return plain(name);
  if (name == "floor_divide")
    return plain("floor_div");
  if (name == "remainder")
    return remainderOf(e, emit(e, a, dtype), emit(e, b, dtype));
  if (name == "pow")
    return powerOf(e, a, b, dtype);
  if (name == "shl" || name == "shr")
    return shiftByNumber(e, name, a, b, dtype);
  return unsupported(e, name);
}

/// A ufunc of two operands: (x1, x2, out)
std::optional<Value> capture::numpyBinary(Call &call) {
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1))};
  if (!operands[0].isTensor && !operands[1].isTensor)
    return call.unsupported("Python numbers");
  V v = binaryOf(call.emitter, call.detail(), operands[0], operands[1]);
  return numpyFinish(call, v, tensorsOf(operands), 2);
}

/// np.matmul and `@`; `dot` differs only above two dimensions.
static V productOf(Emitter &e, V a, V b) {
  if (e.failed())
    return Emitter::bad;
  DType dtype = numpyPromoteTypes(e.dtype(a), e.dtype(b));
  if (dtype == DType::I1)
    return unsupported(e, "bool matrices");
  return matmul(e, e.cast(a, dtype), e.cast(b, dtype));
}

std::optional<Value> capture::numpyMatmul(Call &call) {
  Emitter &e = call.emitter;
  V a = emit(e, call.arg(0)), b = emit(e, call.arg(1));
  bool isDot = call.detail() == "dot";
  if (isDot && (e.rank(a) == 0 || e.rank(b) == 0)) {
    Operand operands[] = {operandOf(call.capture, call.arg(0)),
                          operandOf(call.capture, call.arg(1))};
    return numpyFinish(call, binaryOf(e, "mul", operands[0], operands[1]), {},
                       2);
  }
  if (isDot && e.rank(b) > 2)
    return call.unsupported("more than two dimensions");
  return numpyFinish(call, productOf(e, a, b), {}, 2);
}

std::optional<Value> capture::numpyOperator(Capture &capture,
                                            std::string_view name, Value lhs,
                                            Value rhs, bool inPlace) {
  Emitter e(capture);
  Operand operands[] = {operandOf(capture, lhs), operandOf(capture, rhs)};
  std::vector<Value> tensors = tensorsOf(operands);
  V v = Emitter::bad;
  if (name == "matmul") {
    if (!operands[0].isTensor || !operands[1].isTensor)
      return capture.breakHere(BreakInfo::Reason::WouldRaise, "matmul");
    v = productOf(e, emit(e, lhs), emit(e, rhs));
    tensors.clear();
  } else {
    v = binaryOf(e, name, operands[0], operands[1]);
  }
  std::string shown = "numpy." + std::string(name);
  if (e.failed() || v == Emitter::bad)
    return e.giveUp(shown);
  // A NumPy scalar is replaced, not written to.
  if (inPlace && !capture.tensorRow(lhs).numpyScalar)
    return storeInto(e, lhs, v, shown);
  std::vector<uint8_t> layout;
  if (!tensors.empty())
    layout = numpyLayout(capture, tensors, e.extents(v));
  return newArray(capture, v, std::move(layout));
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

/// where(condition, x, y)
std::optional<Value> capture::numpyWhere(Call &call) {
  Emitter &e = call.emitter;
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1)),
                        operandOf(call.capture, call.arg(2))};
  if (!operands[0].isTensor)
    return call.unsupported("a condition that is no array");
  std::optional<DType> dtype = numpyResultType(std::span(operands).subspan(1));
  if (!dtype)
    return call.unsupported("the dtypes");
  V v = e.select(e.truth(emit(e, call.arg(0))), emit(e, operands[1], *dtype),
                 emit(e, operands[2], *dtype));
  if (e.failed())
    return call.giveUp();
  // A 0-d array, not a scalar.
  return newTensor(
      call.capture, Library::NumPy, v,
      numpyLayout(call.capture, tensorsOf(operands), e.extents(v)));
}

/// clip(a, a_min, a_max, out)
std::optional<Value> capture::numpyClip(Call &call) {
  Emitter &e = call.emitter;
  std::vector<Operand> operands = {operandOf(call.capture, call.arg(0))};
  for (unsigned i : {1u, 2u})
    if (call.has(i))
      operands.push_back(operandOf(call.capture, call.arg(i)));
  std::optional<DType> dtype = numpyResultType(operands);
  if (!dtype || *dtype == DType::I1 || !operands[0].isTensor ||
      operands.size() == 1)
    return call.unsupported("the operands");
  V v = emit(e, operands[0], *dtype);
  if (call.has(1))
    v = e.binary("max", v, emit(e, operands[1], *dtype));
  if (call.has(2))
    v = e.binary("min", v, emit(e, operands.back(), *dtype));
  return numpyFinish(call, v, tensorsOf(operands), 3);
}
