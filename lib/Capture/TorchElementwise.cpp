//===- TorchElementwise.cpp - Elementwise functions of PyTorch --*- C++ -*-===//

#include "Importers.h"
#include "Torch.h"

#include <cmath>

using namespace wok;
using namespace wok::capture;
using V = Emitter::V;

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::optional<Value> storeOut(Call &call, V v, Value out) {
  if (call.emitter.failed() || v == Emitter::bad)
    return call.giveUp();
  Emitter::Extents wanted = call.emitter.extents(v);
  if (call.capture.graph.type(call.capture.tensorRow(out).value).extents !=
      wanted)
    return call.unsupported("out has another shape");
  return storeInto(call.emitter, out, v, call.bound.name);
}

std::optional<Value> capture::torchFinish(Call &call, V v,
                                          std::span<const Value> tensors,
                                          unsigned out) {
  Emitter &e = call.emitter;
  if (e.failed() || v == Emitter::bad)
    return call.giveUp();
  if (call.bound.inPlace)
    return storeInto(e, call.arg(0), v, call.bound.name);
  if (out != ~0u && call.has(out))
    return storeOut(call, v, call.arg(out));
  return newTensor(call.capture, Library::Torch, v,
                   torchLayout(call.capture, tensors, e.extents(v)));
}

std::optional<Value> capture::torchFinishDense(Call &call, V v, unsigned out) {
  if (call.emitter.failed() || v == Emitter::bad)
    return call.giveUp();
  if (call.bound.inPlace || (out != ~0u && call.has(out)))
    return torchFinish(call, v, {}, out);
  return newTensor(call.capture, Library::Torch, v);
}

static std::optional<Value> finishLike(Call &call, V v, unsigned out = ~0u) {
  Value input = call.arg(0);
  return torchFinish(call, v, std::span(&input, 1), out);
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// An operation of the dialect on floats; integers become floats first.
std::optional<Value> capture::torchFloatUnary(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  x = e.cast(x, torchFloatType(call.capture, e.dtype(x)));
  return finishLike(call, e.unary(call.detail(), x), 1);
}

/// An operation of the dialect that keeps the dtype; not for bools.
std::optional<Value> capture::torchUnary(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) == DType::I1 && call.detail() != "sign")
    return call.unsupported("a bool tensor");
  if (e.dtype(x) == DType::I1)
    return finishLike(call, x, 1);
  return finishLike(call, e.unary(call.detail(), x), 1);
}

std::optional<Value> capture::torchRound(Call &call) {
  if (call.integer(1) != 0)
    return call.unsupported("decimals");
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) == DType::I1)
    return call.unsupported("a bool tensor");
  return finishLike(call, e.unary("round", x), 2);
}

//===----------------------------------------------------------------------===//
// Compositions of one operand
//===----------------------------------------------------------------------===//

static V reluOf(Emitter &e, V x) {
  // Keeps NaN and -0.
  return e.select(e.compare("lt", x, e.like(x, 0)), e.like(x, 0), x);
}

static V exponentOfMinus(Emitter &e, V x) {
  return e.unary("exp", e.unary("neg", x));
}

namespace {

struct Composition {
  std::string_view name;
  enum Takes : uint8_t {
    Floats,        ///< Floats only: eager raises for others.
    FloatsInOne,   ///< Likewise; f16 and bf16 are rounded once, at the end.
    PromotedInOne, ///< Integers become floats; rounded once.
    Promoted,      ///< Integers become floats.
    Numbers,       ///< Keeps the dtype; eager raises for bool.
    Any,           ///< Keeps the dtype.
  } takes;
  V (*compose)(Emitter &, V);
};

} // namespace

static const Composition compositions[] = {
    {"reciprocal", Composition::Promoted,
     [](Emitter &e, V x) { return e.div(e.like(x, 1), x); }},
    {"frac", Composition::Floats,
     [](Emitter &e, V x) { return e.sub(x, e.unary("trunc", x)); }},
    {"relu", Composition::Numbers, reluOf},
    {"relu6", Composition::Numbers,
     [](Emitter &e, V x) {
       V low = reluOf(e, x);
       return e.select(e.compare("gt", low, e.like(x, 6)), e.like(x, 6), low);
     }},
    {"silu", Composition::FloatsInOne,
     [](Emitter &e, V x) {
       return e.div(x, e.add(e.like(x, 1), exponentOfMinus(e, x)));
     }},
    {"tanhshrink", Composition::Floats,
     [](Emitter &e, V x) { return e.sub(x, e.unary("tanh", x)); }},
    {"softsign", Composition::Any,
     [](Emitter &e, V x) {
       // Integers stay integers up to the division.
       V below = e.add(e.unary("abs", x), e.like(x, 1));
       DType dtype = torchFloatType(e.capture, e.dtype(x));
       return e.div(e.cast(x, dtype), e.cast(below, dtype));
     }},
    {"isnan", Composition::Any,
     [](Emitter &e, V x) {
       if (e.failed() || isFloat(e.dtype(x)))
         return e.unary("is_nan", x);
       return e.filled(DType::I1, 0, e.extents(x));
     }},
    {"isinf", Composition::Any,
     [](Emitter &e, V x) {
       if (e.failed() || isFloat(e.dtype(x)))
         return e.compare("eq", e.unary("abs", x), e.like(x, INFINITY));
       return e.filled(DType::I1, 0, e.extents(x));
     }},
    {"isfinite", Composition::Any,
     [](Emitter &e, V x) {
       if (e.failed() || isFloat(e.dtype(x)))
         return e.compare("lt", e.unary("abs", x), e.like(x, INFINITY));
       return e.filled(DType::I1, 1, e.extents(x));
     }},
    {"logical_not", Composition::Any,
     [](Emitter &e, V x) { return e.logicalNot(x); }},
    {"bitwise_not", Composition::Any,
     [](Emitter &e, V x) { return e.unary("not", x); }},
    {"signbit", Composition::Floats,
     [](Emitter &e, V x) {
       // 1/x tells the sign of zero; of a NaN nothing does.
       V below = e.compare("lt", x, e.like(x, 0));
       V zero = e.compare("eq", x, e.like(x, 0));
       V inverse = e.compare("lt", e.div(e.like(x, 1), x), e.like(x, 0));
       return e.binary("or", below, e.binary("and", zero, inverse));
     }},
    {"logsigmoid", Composition::FloatsInOne,
     [](Emitter &e, V x) {
       V least = e.binary("min", e.like(x, 0), x);
       V tail = e.unary("neg", e.unary("abs", x));
       return e.sub(least, e.unary("log1p", e.unary("exp", tail)));
     }},
    {"hardsigmoid", Composition::FloatsInOne,
     [](Emitter &e, V x) {
       V y = e.add(x, e.like(x, 3));
       V low = e.select(e.compare("lt", y, e.like(x, 0)), e.like(x, 0), y);
       V both = e.select(e.compare("gt", low, e.like(x, 6)), e.like(x, 6), low);
       return e.div(both, e.like(x, 6));
     }},
    {"hardswish", Composition::FloatsInOne,
     [](Emitter &e, V x) {
       V y = e.add(x, e.like(x, 3));
       V low = e.select(e.compare("lt", y, e.like(x, 0)), e.like(x, 0), y);
       V both = e.select(e.compare("gt", low, e.like(x, 6)), e.like(x, 6), low);
       return e.div(e.mul(x, both), e.like(x, 6));
     }},
};

std::optional<Value> capture::torchComposed(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  DType dtype = e.dtype(x);
  for (const Composition &composition : compositions) {
    if (composition.name != call.detail())
      continue;
    bool floats = composition.takes == Composition::Floats ||
                  composition.takes == Composition::FloatsInOne;
    if (floats && !isFloat(dtype))
      return call.unsupported("integers");
    if (composition.takes == Composition::Promoted ||
        composition.takes == Composition::PromotedInOne)
      dtype = torchFloatType(call.capture, dtype);
    if (composition.takes == Composition::Numbers && dtype == DType::I1)
      return call.unsupported("a bool tensor");
    bool inOne = composition.takes == Composition::FloatsInOne ||
                 composition.takes == Composition::PromotedInOne;
    x = e.cast(x, inOne ? computeType(dtype) : dtype);
    V y = composition.compose(e, x);
    if (inOne)
      y = e.cast(y, dtype);
    return finishLike(call, y, 1);
  }
  return call.unsupported("no composition");
}

/// F.relu(input, inplace): the flag says whether it writes.
std::optional<Value> capture::torchWithInplaceFlag(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  DType dtype = e.dtype(x);
  V y = Emitter::bad;
  for (const Composition &composition : compositions)
    if (composition.name == call.detail()) {
      bool inOne = composition.takes == Composition::FloatsInOne;
      if (composition.takes < Composition::Numbers && !isFloat(dtype))
        return call.unsupported("integers");
      if (dtype == DType::I1)
        return call.unsupported("a bool tensor");
      y = composition.compose(e, inOne ? e.cast(x, computeType(dtype)) : x);
      y = e.cast(y, dtype);
    }
  if (call.boolean(1))
    return storeInto(e, call.arg(0), y, call.bound.name);
  return finishLike(call, y);
}

std::optional<Value> capture::torchSquare(Call &call) {
  // pow(x, 2): bools become integers.
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) == DType::I1)
    x = e.cast(x, DType::I64);
  return finishLike(call, e.mul(x, x), 1);
}

std::optional<Value> capture::torchGelu(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  std::string_view approximate = call.string(1, "none");
  V x = e.cast(input, computeType(dtype));
  V y;
  if (approximate == "tanh") {
    V cube = e.mul(e.mul(x, x), x);
    V inner = e.mul(e.like(x, M_SQRT2 * M_2_SQRTPI * 0.5),
                    e.add(x, e.mul(e.like(x, 0.044715), cube)));
    V gate = e.add(e.like(x, 1), e.unary("tanh", inner));
    y = e.mul(e.mul(e.like(x, 0.5), x), gate);
  } else if (approximate == "none") {
    V gate =
        e.add(e.like(x, 1), e.unary("erf", e.mul(x, e.like(x, M_SQRT1_2))));
    y = e.mul(e.mul(x, e.like(x, 0.5)), gate);
  } else {
    return call.unsupported("approximate");
  }
  return finishLike(call, e.cast(y, dtype));
}

std::optional<Value> capture::torchSoftplus(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  double beta = call.real(1, 1), threshold = call.real(2, 20);
  V x = e.cast(input, computeType(dtype));
  V scaled = beta == 1 ? x : e.mul(x, e.like(x, beta));
  V soft = e.unary("log1p", e.unary("exp", scaled));
  if (beta != 1)
    soft = e.div(soft, e.like(x, beta));
  V y = e.select(e.compare("gt", scaled, e.like(x, threshold)), x, soft);
  return finishLike(call, e.cast(y, dtype));
}

std::optional<Value> capture::torchLeakyRelu(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  V x = e.cast(input, computeType(dtype));
  V below = e.mul(x, e.like(x, call.real(1, 0.01)));
  V y = e.select(e.compare("gt", x, e.like(x, 0)), x, below);
  y = e.cast(y, dtype);
  if (call.boolean(2))
    return storeInto(e, call.arg(0), y, call.bound.name);
  return finishLike(call, y);
}

//===----------------------------------------------------------------------===//
// Two and three operands
//===----------------------------------------------------------------------===//

static std::optional<Value> finishBinary(Call &call, V v,
                                         std::span<const Operand> operands,
                                         unsigned out = ~0u) {
  return torchFinish(call, v, tensorsOf(operands), out);
}

static bool onNumbers(const Operand (&operands)[2]) {
  return !operands[0].isTensor && !operands[1].isTensor;
}

/// name(input, other, *, out)
std::optional<Value> capture::torchBinaryCall(Call &call) {
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1))};
  if (onNumbers(operands))
    return call.unsupported("Python numbers");
  V v = torchBinary(call.emitter, call.detail(), operands[0], operands[1]);
  return finishBinary(call, v, operands, 2);
}

/// add, sub, rsub with alpha: input + alpha * other, rounded once.
std::optional<Value> capture::torchAddSub(Call &call) {
  Emitter &e = call.emitter;
  Operand a = operandOf(call.capture, call.arg(0));
  Operand b = operandOf(call.capture, call.arg(1));
  bool negate = call.detail() != "add";
  if (call.detail() == "rsub")
    std::swap(a, b);
  Operand operands[] = {a, b};
  bool scaled = false;
  if (call.has(2)) {
    std::optional<double> alpha = call.capture.asFloat(call.arg(2));
    if (!alpha)
      return call.unsupported("alpha");
    scaled = *alpha != 1;
  }
  if (!a.isTensor && !b.isTensor)
    return call.unsupported("Python numbers");
  if (!scaled) {
    V v = torchBinary(e, negate ? "sub" : "add", a, b);
    return finishBinary(call, v, operands, 3);
  }
  DType dtype = torchResultType(call.capture, operands);
  Operand factor = operandOf(call.capture, call.arg(2));
  if (dtype == DType::I1 ||
      (!isFloat(dtype) && factor.number == NumberType::Float))
    return call.unsupported("alpha");
  V alpha = emit(e, factor, dtype);
  if (negate)
    alpha = e.unary("neg", alpha);
  V left = emit(e, a, dtype), right = emit(e, b, dtype);
  V v = isFloat(dtype) ? e.fma(alpha, right, left)
                       : e.add(left, e.mul(alpha, right));
  return finishBinary(call, v, operands, 3);
}

/// div(input, other, *, rounding_mode, out)
std::optional<Value> capture::torchDivide(Call &call) {
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1))};
  std::string_view mode = call.string(2, "true");
  std::string_view name = mode == "floor"   ? "floor_divide"
                          : mode == "trunc" ? "trunc_divide"
                          : mode == "true"  ? "div"
                                            : "";
  if (name.empty() || onNumbers(operands))
    return call.unsupported("rounding_mode");
  V v = torchBinary(call.emitter, name, operands[0], operands[1]);
  return finishBinary(call, v, operands, 3);
}

/// where(condition, input, other)
std::optional<Value> capture::torchWhere(Call &call) {
  // Tensor.where(self, condition, other) has the first two swapped.
  bool method = call.detail() == "method";
  Value condition = call.arg(method ? 1 : 0), first = call.arg(method ? 0 : 1);
  Emitter &e = call.emitter;
  Operand operands[] = {operandOf(call.capture, condition),
                        operandOf(call.capture, first),
                        operandOf(call.capture, call.arg(2))};
  if (!operands[0].isTensor || operands[0].dtype != DType::I1)
    return call.unsupported("a condition that is no bool tensor");
  DType dtype = torchResultType(call.capture, std::span(operands).subspan(1));
  V v = e.select(emit(e, condition), emit(e, operands[1], dtype),
                 emit(e, operands[2], dtype));
  return finishBinary(call, v, operands, 3);
}

std::optional<Value> capture::torchMaskedFill(Call &call) {
  Emitter &e = call.emitter;
  Operand value = operandOf(call.capture, call.arg(2));
  V x = emit(e, call.arg(0)), mask = emit(e, call.arg(1));
  if (e.dtype(mask) != DType::I1 || (value.isTensor && value.rank != 0))
    return call.unsupported("mask or value");
  bool isFloatValue =
      value.isTensor ? isFloat(value.dtype) : value.number == NumberType::Float;
  if (isFloatValue && !isFloat(e.dtype(x)))
    return call.unsupported("a float for integers");
  V v = e.select(mask, emit(e, value, e.dtype(x)), x);
  return torchFinishDense(call, v);
}

/// clamp(input, min, max), clamp_min(input, min), clamp_max(input, max)
std::optional<Value> capture::torchClamp(Call &call) {
  Emitter &e = call.emitter;
  unsigned low = call.detail() == "max" ? ~0u : 1;
  unsigned high = call.detail() == "min" ? ~0u : call.detail() == "max" ? 1 : 2;
  unsigned out = call.detail() == "both" ? 3 : 2;
  std::vector<Operand> operands = {operandOf(call.capture, call.arg(0))};
  auto bound = [&](unsigned i) -> std::optional<Operand> {
    if (!call.has(i))
      return std::nullopt;
    operands.push_back(operandOf(call.capture, call.arg(i)));
    return operands.back();
  };
  std::optional<Operand> least = bound(low), most = bound(high);
  if (!least && !most)
    return call.unsupported("no bound");
  DType dtype = torchResultType(call.capture, operands);
  if (dtype == DType::I1)
    return call.unsupported("bools");
  V v = emit(e, operands[0], dtype);
  auto limit = [&](const Operand &operand, bool isLow) {
    V edge = emit(e, operand, dtype);
    if (operand.isTensor) {
      v = e.binary(isLow ? "max" : "min", v, edge);
      return true;
    }
    // A number: keeps NaN, and the -0 that equals it.
    std::optional<double> number = call.capture.asFloat(operand.value);
    if (!number || std::isnan(*number))
      return false;
    v = e.select(e.compare(isLow ? "lt" : "gt", v, edge), edge, v);
    return true;
  };
  if ((least && !limit(*least, true)) || (most && !limit(*most, false)))
    return call.unsupported("a bound");
  return torchFinish(call, v, tensorsOf(operands), out);
}

/// lerp(input, end, weight)
std::optional<Value> capture::torchLerp(Call &call) {
  Emitter &e = call.emitter;
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1)),
                        operandOf(call.capture, call.arg(2))};
  DType dtype = operands[0].dtype;
  if (!isFloat(dtype) || operands[1].dtype != dtype ||
      (operands[2].isTensor && operands[2].dtype != dtype))
    return call.unsupported("dtypes");
  DType wide = computeType(dtype);
  V start = e.cast(emit(e, operands[0], dtype), wide);
  V end = e.cast(emit(e, operands[1], dtype), wide);
  V weight = operands[2].isTensor ? e.cast(emit(e, operands[2], dtype), wide)
                                  : emit(e, operands[2], wide);
  V span = e.sub(end, start);
  V near = e.fma(weight, span, start);
  V far = e.fma(e.unary("neg", span), e.sub(e.like(weight, 1), weight), end);
  V isNear = e.compare("lt", e.unary("abs", weight), e.like(weight, 0.5));
  V v = e.cast(e.select(isNear, near, far), dtype);
  return torchFinish(call, v, tensorsOf(operands), 3);
}

/// addcmul(input, a, b, *, value), addcdiv
std::optional<Value> capture::torchAddC(Call &call) {
  Emitter &e = call.emitter;
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1)),
                        operandOf(call.capture, call.arg(2))};
  DType dtype = torchResultType(call.capture, operands);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  DType wide = computeType(dtype);
  auto widened = [&](const Operand &o) {
    return e.cast(emit(e, o, dtype), wide);
  };
  V x = widened(operands[0]), a = widened(operands[1]),
    b = widened(operands[2]);
  if (call.has(3)) {
    std::optional<double> value = call.capture.asFloat(call.arg(3));
    if (!value)
      return call.unsupported("value");
    if (*value != 1)
      a = e.mul(e.number(wide, *value), a);
  }
  V v = call.detail() == "mul" ? e.fma(a, b, x) : e.add(x, e.div(a, b));
  return torchFinish(call, e.cast(v, dtype), tensorsOf(operands), 4);
}

/// fill_, zero_
std::optional<Value> capture::torchFill(Call &call) {
  Emitter &e = call.emitter;
  DType dtype =
      call.capture.graph.type(call.capture.tensorRow(call.arg(0)).value).dtype;
  V v = Emitter::bad;
  if (call.detail() == "zero") {
    v = e.number(dtype, 0);
  } else {
    Operand value = operandOf(call.capture, call.arg(1));
    if (value.isTensor && value.rank != 0)
      return call.unsupported("a value that is no number");
    if (!value.isTensor && value.number == NumberType::Float && !isFloat(dtype))
      return call.unsupported("a float for integers");
    v = emit(e, value, dtype);
  }
  return storeInto(e, call.arg(0), v, call.bound.name);
}

/// copy_(source)
std::optional<Value> capture::torchCopy(Call &call) {
  Emitter &e = call.emitter;
  DType dtype =
      call.capture.graph.type(call.capture.tensorRow(call.arg(0)).value).dtype;
  V v = e.cast(emit(e, call.arg(1)), dtype);
  return storeInto(e, call.arg(0), v, call.bound.name);
}
