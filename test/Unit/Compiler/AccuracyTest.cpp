//===- AccuracyTest.cpp - Elementary functions, densely ---------*- C++ -*-===//
//
// Every function against one with more bits, on many thousand arguments of each
// region where an implementation takes another way.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <bit>
#include <cmath>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;

namespace {

struct AccuracyTest : TargetTest {
  std::mt19937_64 random{1};

  double between(double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  }
  /// Any bit pattern.
  double anyNumber(DType dtype) {
    return dtype == DType::F32 ? static_cast<double>(std::bit_cast<float>(
                                     static_cast<uint32_t>(random())))
                               : std::bit_cast<double>(random());
  }
  /// A number near a multiple of pi/2, as near as `dtype` has one.
  double nearQuarterTurn(DType dtype) {
    double turns = std::floor(std::exp2(between(0, 29)));
    return roundTo(dtype, static_cast<double>(turns * 0x1.921fb54442d1846ap0L));
  }
  double argument(DType dtype, size_t i) {
    switch (i % 8) {
    case 0:
      return anyNumber(dtype);
    case 1:
      return roundTo(dtype, between(-800, 800));
    case 2:
    case 3:
      return roundTo(dtype, between(-7, 7));
    case 4:
      return roundTo(dtype, between(-1, 2));
    case 5: // About 1, ever nearer.
      return roundTo(dtype, 1 + between(-1, 1) * std::exp2(-between(0, 52)));
    case 6:
      return roundTo(dtype, between(-1, 1) * std::exp2(-between(0, 60)));
    default:
      return nearQuarterTurn(dtype);
    }
  }
};

constexpr size_t count = 40000;
constexpr DType precise[] = {DType::F32, DType::F64};

TEST_P(AccuracyTest, Unary) {
  const char *names[] = {"exp",   "exp2", "expm1", "log", "log2", "log10",
                         "log1p", "tanh", "erf",   "sin", "cos",  "tan"};
  for (DType dtype : precise)
    for (const char *name : names) {
      SCOPED_TRACE(std::string(toString(dtype)) + " " + name);
      Tensor x(dtype, {static_cast<int64_t>(count)});
      for (size_t i = 0; i < count; ++i)
        x.elements[i].f = argument(dtype, i);
      reset();
      graph.outputs = {b.unary(name, input(dtype, x.extents)).value()};
      check({x}, {.ulps = 1});
    }
}

TEST_P(AccuracyTest, Power) {
  for (DType dtype : precise) {
    SCOPED_TRACE(std::string(toString(dtype)));
    double limit = dtype == DType::F32 ? 130 : 1080;
    Tensor x(dtype, {static_cast<int64_t>(count)}), y = x;
    for (size_t i = 0; i < count; ++i) {
      double base = argument(dtype, i), size = std::fabs(std::log2(base));
      x.elements[i].f = base;
      // Results of every size; whole exponents now and then.
      double exponent = size > 0 && std::isfinite(size)
                            ? between(-1, 1) * limit / size
                            : between(-3, 3);
      y.elements[i].f =
          roundTo(dtype, i % 5 ? exponent : std::nearbyint(exponent));
    }
    reset();
    ValueId base = input(dtype, x.extents), exponent = input(dtype, y.extents);
    graph.outputs = {b.binary("pow", base, exponent).value()};
    check({x, y}, {.ulps = 1});
  }
}

WOK_FOR_ALL_TARGETS(AccuracyTest);

} // namespace
