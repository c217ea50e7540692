//===- ReferenceScalar.cpp - Operations on single elements ------*- C++ -*-===//

#include "ReferenceScalar.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace wok;
using namespace wok::test;

double test::roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F64:
    return value;
  case DType::F32:
    return static_cast<float>(value);
  case DType::F16:
    return static_cast<double>(
        static_cast<_Float16>(static_cast<float>(value)));
  case DType::BF16: {
    float single = static_cast<float>(value);
    if (std::isnan(single))
      return single;
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof(bits));
    bits += 0x7fff + ((bits >> 16) & 1);
    bits &= 0xffff0000;
    std::memcpy(&single, &bits, sizeof(bits));
    return single;
  }
  default:
    ADD_FAILURE() << "not a float";
    return value;
  }
}

double test::ulpOf(DType dtype, double value) {
  struct Format {
    int precision, leastExponent;
  };
  Format format = dtype == DType::F64   ? Format{53, -1022}
                  : dtype == DType::F32 ? Format{24, -126}
                  : dtype == DType::F16 ? Format{11, -14}
                                        : Format{8, -126};
  int exponent = value == 0 || !std::isfinite(value) ? format.leastExponent
                                                     : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.leastExponent) -
                             (format.precision - 1));
}

int64_t test::wrapTo(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I1:
    return value & 1;
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

namespace {

/// Elementary functions in a type that has room: f64 for f32, and long double
/// for f64.
template <class T>
T elementary(std::string_view op, T x, bool &known) {
  if (op == "exp")
    return std::exp(x);
  if (op == "exp2")
    return std::exp2(x);
  if (op == "expm1")
    return std::expm1(x);
  if (op == "log")
    return std::log(x);
  if (op == "log2")
    return std::log2(x);
  if (op == "log10")
    return std::log10(x);
  if (op == "log1p")
    return std::log1p(x);
  if (op == "sin")
    return std::sin(x);
  if (op == "cos")
    return std::cos(x);
  if (op == "tan")
    return std::tan(x);
  if (op == "tanh")
    return std::tanh(x);
  if (op == "erf")
    return std::erf(x);
  known = false;
  return x;
}

/// `T` is the compute type: float (of f16 and bf16 too) or double.
template <class T>
T floatUnary(std::string_view op, T x) {
  using Wide =
      std::conditional_t<std::is_same_v<T, float>, double, long double>;
  bool known = true;
  Wide wide = elementary<Wide>(op, x, known);
  if (known)
    return static_cast<T>(wide);
  if (op == "neg")
    return -x;
  if (op == "abs")
    return std::fabs(x);
  if (op == "sign")
    return static_cast<T>((x > 0) - (x < 0));
  if (op == "sqrt")
    return std::sqrt(x);
  if (op == "rsqrt")
    return T(1) / std::sqrt(x);
  if (op == "sigmoid")
    return T(1) / (T(1) + static_cast<T>(std::exp(static_cast<Wide>(-x))));
  if (op == "floor")
    return std::floor(x);
  if (op == "ceil")
    return std::ceil(x);
  if (op == "round")
    return std::nearbyint(x);
  if (op == "trunc")
    return std::trunc(x);
  ADD_FAILURE() << "no reference for " << op;
  return x;
}

template <class T>
T floatRemainder(T a, T b) {
  T m = std::fmod(a, b);
  return m != 0 && std::signbit(m) != std::signbit(b) ? m + b : m;
}

template <class T>
T floatFloorDiv(T a, T b) {
  if (b == 0)
    return a / b;
  T m = std::fmod(a, b);
  T d = (a - m) / b;
  if (m != 0 && std::signbit(m) != std::signbit(b))
    d -= 1;
  if (d == 0)
    return std::copysign(T(0), a / b);
  T f = std::floor(d);
  return d - f > T(0.5) ? f + 1 : f;
}

template <class T>
T floatBinary(std::string_view op, T a, T b) {
  using Wide =
      std::conditional_t<std::is_same_v<T, float>, double, long double>;
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "div")
    return a / b;
  if (op == "floor_div")
    return floatFloorDiv(a, b);
  if (op == "remainder")
    return floatRemainder(a, b);
  if (op == "fmod")
    return std::fmod(a, b);
  if (op == "pow")
    return static_cast<T>(std::pow(static_cast<Wide>(a), static_cast<Wide>(b)));
  if (op == "min" || op == "max") {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    return (op == "min" ? b < a : b > a) ? b : a;
  }
  ADD_FAILURE() << "no reference for " << op;
  return a;
}

/// Wraps as two's complement does.
int64_t wrapping(std::string_view op, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  uint64_t result = op == "add" ? x + y : op == "sub" ? x - y : x * y;
  return static_cast<int64_t>(result);
}

int64_t integerPower(DType dtype, int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = wrapping("mul", result, base);
    base = wrapping("mul", base, base);
  }
  return wrapTo(dtype, result);
}

int64_t integerBinary(std::string_view op, DType dtype, int64_t a, int64_t b,
                      runtime::Status &status) {
  if (op == "add" || op == "sub" || op == "mul")
    return wrapTo(dtype, wrapping(op, a, b));
  if (op == "div" || op == "floor_div" || op == "remainder" || op == "fmod") {
    if (b == 0) {
      addStatus(status, runtime::Status::DivisionByZero);
      return 0;
    }
    if (b == -1)
      return op == "div" || op == "floor_div"
                 ? wrapTo(dtype, wrapping("sub", 0, a))
                 : 0;
    int64_t quotient = a / b, rest = a % b;
    bool adjust = rest != 0 && (rest < 0) != (b < 0);
    if (op == "div")
      return quotient;
    if (op == "floor_div")
      return quotient - adjust;
    return op == "fmod" || !adjust ? rest : rest + b;
  }
  if (op == "pow")
    return integerPower(dtype, a, b);
  if (op == "min")
    return std::min(a, b);
  if (op == "max")
    return std::max(a, b);
  if (op == "and")
    return a & b;
  if (op == "or")
    return a | b;
  if (op == "xor")
    return a ^ b;
  int64_t width = static_cast<int64_t>(byteWidth(dtype)) * 8;
  bool inRange = b >= 0 && b < width;
  if (op == "shl")
    return inRange ? wrapTo(dtype,
                            static_cast<int64_t>(static_cast<uint64_t>(a) << b))
                   : 0;
  if (op == "shr")
    return inRange ? a >> b : (a < 0 ? -1 : 0);
  ADD_FAILURE() << "no reference for " << op;
  return a;
}

} // namespace

Element test::scalarUnary(std::string_view op, DType dtype, Element a) {
  Element result;
  if (op == "is_nan") {
    result.i = std::isnan(a.f);
  } else if (dtype == DType::F64) {
    result.f = floatUnary<double>(op, a.f);
  } else if (isFloat(dtype)) {
    result.f = roundTo(dtype, floatUnary<float>(op, static_cast<float>(a.f)));
  } else if (op == "not") {
    result.i = wrapTo(dtype, ~a.i);
  } else if (op == "neg") {
    result.i = wrapTo(dtype, wrapping("sub", 0, a.i));
  } else if (op == "abs") {
    result.i = wrapTo(dtype, a.i < 0 ? wrapping("sub", 0, a.i) : a.i);
  } else if (op == "sign") {
    result.i = (a.i > 0) - (a.i < 0);
  } else {
    ADD_FAILURE() << "no reference for " << op;
    result = a;
  }
  return result;
}

Element test::scalarBinary(std::string_view op, DType dtype, Element a,
                           Element b, runtime::Status &status) {
  Element result;
  if (dtype == DType::F64)
    result.f = floatBinary<double>(op, a.f, b.f);
  else if (isFloat(dtype))
    result.f = roundTo(dtype, floatBinary<float>(op, static_cast<float>(a.f),
                                                 static_cast<float>(b.f)));
  else
    result.i = integerBinary(op, dtype, a.i, b.i, status);
  return result;
}

bool test::scalarCompare(std::string_view predicate, DType dtype, Element a,
                         Element b) {
  auto compare = [&](auto x, auto y) {
    return predicate == "eq"   ? x == y
           : predicate == "ne" ? x != y
           : predicate == "lt" ? x < y
           : predicate == "le" ? x <= y
           : predicate == "gt" ? x > y
                               : x >= y;
  };
  return isFloat(dtype) ? compare(a.f, b.f) : compare(a.i, b.i);
}

Element test::scalarFma(DType dtype, Element a, Element b, Element c) {
  Element result;
  if (dtype == DType::F64)
    result.f = std::fma(a.f, b.f, c.f);
  else
    result.f = roundTo(dtype, std::fmaf(static_cast<float>(a.f),
                                        static_cast<float>(b.f),
                                        static_cast<float>(c.f)));
  return result;
}

Element test::scalarCast(DType from, DType to, Element a) {
  Element result;
  if (to == DType::I1) {
    result.i = isFloat(from) ? a.f != 0 : a.i != 0;
  } else if (isFloat(from) && isFloat(to)) {
    result.f = roundTo(to, a.f);
  } else if (isFloat(to)) {
    // f16 and bf16 are made from f32.
    result.f = to == DType::F64
                   ? static_cast<double>(a.i)
                   : roundTo(to, static_cast<double>(static_cast<float>(a.i)));
  } else if (isFloat(from)) {
    // As the processor's conversions do: what does not fit is the least number,
    // and the narrow types are cut from i32.
    bool wide = to == DType::I64;
    double limit = wide ? 0x1p63 : 0x1p31;
    double whole = std::trunc(a.f);
    if (whole >= -limit && whole < limit)
      result.i = static_cast<int64_t>(whole);
    else
      result.i = wide ? std::numeric_limits<int64_t>::min()
                      : std::numeric_limits<int32_t>::min();
    result.i = wrapTo(to, result.i);
  } else {
    result.i = wrapTo(to, a.i);
  }
  return result;
}
