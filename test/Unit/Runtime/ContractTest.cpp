//===- ContractTest.cpp ---------------------------------------------------===//

#include "wok/Runtime/Contract.h"
#include "wok/Runtime/Parallel.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace wok;
using namespace wok::runtime;

namespace {

/// Values as doubles and as they lie in memory; exact for the small integers
/// that the tests use.
float halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float magnitude = exponent ? std::ldexp(1024.f + mantissa, exponent - 25)
                             : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}
uint16_t floatToHalf(float value) {
  // Positive halves are in the order of their bits. The nearest of two; even in
  // the middle.
  static const std::vector<float> values = [] {
    std::vector<float> all(0x7c00);
    for (size_t bits = 0; bits < all.size(); ++bits)
      all[bits] = halfToFloat(uint16_t(bits));
    return all;
  }();
  float magnitude = std::fabs(value);
  size_t above = std::lower_bound(values.begin(), values.end(), magnitude) -
                 values.begin();
  if (above == values.size())
    return 0x7c00 | (value < 0 ? 0x8000 : 0);
  if (above && values[above] != magnitude) {
    float down = magnitude - values[above - 1], up = values[above] - magnitude;
    above -= down < up || (down == up && (above & 1));
  }
  return uint16_t(above | (value < 0 ? 0x8000 : 0));
}

double load(DType dtype, const std::byte *at) {
  auto as = [&](auto zero) {
    std::memcpy(&zero, at, sizeof(zero));
    return zero;
  };
  switch (dtype) {
  case DType::I1:
    return as(uint8_t(0)) != 0;
  case DType::I8:
    return as(int8_t(0));
  case DType::U8:
    return as(uint8_t(0));
  case DType::I16:
    return as(int16_t(0));
  case DType::I32:
    return as(int32_t(0));
  case DType::I64:
    return static_cast<double>(as(int64_t(0)));
  case DType::F16:
    return halfToFloat(as(uint16_t(0)));
  case DType::BF16: {
    uint32_t wide = uint32_t(as(uint16_t(0))) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  case DType::F32:
    return as(0.f);
  case DType::F64:
    return as(0.);
  }
  return 0;
}

void store(DType dtype, std::byte *at, int64_t value) {
  auto as = [&](auto stored) { std::memcpy(at, &stored, sizeof(stored)); };
  switch (dtype) {
  case DType::I1:
    return as(uint8_t(value & 1));
  case DType::I8:
  case DType::U8:
    return as(uint8_t(value));
  case DType::I16:
    return as(int16_t(value));
  case DType::I32:
    return as(int32_t(value));
  case DType::I64:
    return as(value);
  case DType::F16:
    return as(floatToHalf(float(value)));
  case DType::BF16: {
    float wide = float(value);
    uint32_t bits;
    std::memcpy(&bits, &wide, 4);
    return as(uint16_t(bits >> 16));
  }
  case DType::F32:
    return as(float(value));
  case DType::F64:
    return as(double(value));
  }
}

struct Case {
  DType dtype;
  int64_t batch, m, n, k;
  bool transposeLhs = false, transposeRhs = false;
  int64_t pad = 0;        ///< Elements between rows.
  bool broadcast = false; ///< rhs has batch stride 0.
  int64_t magnitude = 3;  ///< Largest operand.
};

struct Problem {
  explicit Problem(const Case &c) : c(c) {
    size_t width = byteWidth(c.dtype);
    args = {};
    args.batch = c.batch, args.m = c.m, args.n = c.n, args.k = c.k;
    args.transposeLhs = c.transposeLhs, args.transposeRhs = c.transposeRhs;
    args.dtype = static_cast<int64_t>(c.dtype);
    int64_t lhsRows = c.transposeLhs ? c.k : c.m,
            rhsRows = c.transposeRhs ? c.n : c.k;
    args.lhsLeading = (c.transposeLhs ? c.m : c.k) + c.pad;
    args.rhsLeading = (c.transposeRhs ? c.k : c.n) + c.pad;
    args.outLeading = c.n + c.pad;
    args.lhsBatchStride = lhsRows * args.lhsLeading;
    args.rhsBatchStride = c.broadcast ? 0 : rhsRows * args.rhsLeading;
    args.outBatchStride = c.m * args.outLeading;
    lhs.resize((c.batch * args.lhsBatchStride + 1) * width);
    rhs.resize(((c.broadcast ? 1 : c.batch) * rhsRows * args.rhsLeading + 1) *
               width);
    out.resize((c.batch * args.outBatchStride + 1) * width, std::byte(0x5a));
    std::mt19937 random(17);
    bool isSigned = c.dtype != DType::I1 && c.dtype != DType::U8;
    for (auto *operand : {&lhs, &rhs})
      for (size_t i = 0; i + width <= operand->size(); i += width) {
        int64_t value = random() % (2 * c.magnitude + 1);
        store(c.dtype, operand->data() + i,
              isSigned ? value - c.magnitude : value);
      }
    args.lhs = lhs.data(), args.rhs = rhs.data(), args.out = out.data();
  }

  /// The element as an exact integer, reduced to the type.
  std::vector<std::byte> expected(int64_t b, int64_t i, int64_t j) const {
    size_t width = byteWidth(c.dtype);
    int64_t sum = 0;
    for (int64_t p = 0; p < c.k; ++p) {
      int64_t l =
          b * args.lhsBatchStride +
          (c.transposeLhs ? p * args.lhsLeading + i : i * args.lhsLeading + p);
      int64_t r =
          b * args.rhsBatchStride +
          (c.transposeRhs ? j * args.rhsLeading + p : p * args.rhsLeading + j);
      sum += static_cast<int64_t>(load(c.dtype, lhs.data() + l * width)) *
             static_cast<int64_t>(load(c.dtype, rhs.data() + r * width));
    }
    std::vector<std::byte> bytes(width);
    store(c.dtype, bytes.data(), c.dtype == DType::I1 ? sum != 0 : sum);
    return bytes;
  }

  void check() const {
    size_t width = byteWidth(c.dtype);
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          const std::byte *at =
              out.data() +
              (b * args.outBatchStride + i * args.outLeading + j) * width;
          std::vector<std::byte> want = expected(b, i, j);
          if (std::memcmp(at, want.data(), width) == 0 ||
              load(c.dtype, at) == load(c.dtype, want.data()))
            continue; // -0.0 is 0.0.
          FAIL() << toString(c.dtype) << " [" << b << ", " << i << ", " << j
                 << "] of " << c.batch << "x" << c.m << "x" << c.n << "x" << c.k
                 << (c.transposeLhs ? " lhs^T" : "")
                 << (c.transposeRhs ? " rhs^T" : "") << ": "
                 << load(c.dtype, at) << ", not " << load(c.dtype, want.data());
        }
    // Between rows nothing is written.
    for (int64_t row = 0; c.pad && row < c.batch * c.m; ++row)
      for (int64_t j = c.n; j < args.outLeading; ++j)
        for (size_t byte = 0; byte < width; ++byte)
          ASSERT_EQ(out[(row * args.outLeading + j) * width + byte],
                    std::byte(0x5a));
  }

  Case c;
  WokContractArgs args;
  std::vector<std::byte> lhs, rhs, out;
};

constexpr DType allTypes[] = {DType::I1,  DType::I8,  DType::U8,  DType::I16,
                              DType::I32, DType::I64, DType::F16, DType::BF16,
                              DType::F32, DType::F64};

/// Sums of small integers are exact in every type but bf16 and f16, where `k`
/// stays small.
int64_t depthFor(DType dtype, int64_t k) {
  return dtype == DType::BF16 ? std::min<int64_t>(k, 20) : k;
}

TEST(ContractLoops, EveryTypeTransposeAndEdge) {
  const int64_t sizes[][3] = {
      {1, 1, 1}, {1, 1, 17}, {1, 33, 5}, {29, 1, 70},  {2, 3, 4},
      {7, 9, 0}, {0, 5, 3},  {4, 0, 3},  {13, 130, 7}, {97, 19, 65}};
  for (DType dtype : allTypes)
    for (auto [m, n, k] : sizes)
      for (int flags = 0; flags < 8; ++flags) {
        Problem problem({dtype, 2, m, n, depthFor(dtype, k), bool(flags & 1),
                         bool(flags & 2), flags & 4 ? 3 : 0});
        contractByLoops(problem.args);
        ASSERT_NO_FATAL_FAILURE(problem.check());
      }
}

TEST(ContractLoops, SeveralTilesAndBlocks) {
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::I64})
    for (int flags = 0; flags < 4; ++flags) {
      Problem problem(
          {dtype, 1, 100, 140, 300, bool(flags & 1), bool(flags & 2)});
      contractByLoops(problem.args);
      ASSERT_NO_FATAL_FAILURE(problem.check());
    }
}

TEST(ContractLoops, BatchesAndBroadcast) {
  for (int64_t batch : {0, 1, 5}) {
    Problem problem({DType::F32, batch, 4, 5, 6, false, true, 1, true});
    contractByLoops(problem.args);
    ASSERT_NO_FATAL_FAILURE(problem.check());
  }
}

TEST(ContractLoops, IntegersWrap) {
  for (DType dtype : {DType::I8, DType::U8, DType::I16, DType::I32})
    for (int64_t n : {1, 6}) {
      int64_t magnitude = dtype == DType::I32   ? 1 << 20
                          : dtype == DType::I16 ? 3000
                                                : 120;
      Problem problem({dtype, 1, 5, n, 40, false, false, 0, false, magnitude});
      contractByLoops(problem.args);
      ASSERT_NO_FATAL_FAILURE(problem.check());
    }
}

TEST(ContractLoops, NarrowFloatsRoundOnce) {
  // 2048 + 1 + 1 is 2050 if the sum is rounded once, and 2048 if each step is
  // rounded to f16.
  uint16_t lhs[] = {floatToHalf(2048), floatToHalf(1), floatToHalf(1)};
  uint16_t rhs[] = {floatToHalf(1), floatToHalf(1), floatToHalf(1)};
  uint16_t out = 0;
  WokContractArgs args{lhs, rhs, &out, 1, 1, 1, 3, 3,
                       1,   1,   3,    3, 1, 0, 0, int64_t(DType::F16)};
  contractByLoops(args);
  EXPECT_EQ(halfToFloat(out), 2050);
}

TEST(ContractLoops, HalvesOverTheirRange) {
  // Every f16 times one comes back: denormals, infinities and NaN included.
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t lhs = static_cast<uint16_t>(bits), one = 0x3c00, out = 0;
    WokContractArgs args{&lhs, &one, &out, 1, 1, 1, 1, 1,
                         1,    1,    1,    1, 1, 0, 0, int64_t(DType::F16)};
    contractByLoops(args);
    bool isNan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff);
    if (isNan)
      ASSERT_TRUE((out & 0x7c00) == 0x7c00 && (out & 0x3ff)) << bits;
    else
      ASSERT_EQ(out & 0x7fff ? out : 0, bits & 0x7fff ? bits : 0) << bits;
  }
}

TEST(ContractLoops, SameBitsOnAnyThreadCount) {
  auto bits = [](int threads) {
    setOwnPoolThreads(threads);
    Problem problem({DType::F32, 2, 150, 170, 90});
    auto *values = reinterpret_cast<float *>(problem.lhs.data());
    for (size_t i = 0; i < problem.lhs.size() / 4; ++i)
      values[i] = std::sin(float(i));
    contractByLoops(problem.args);
    return problem.out;
  };
  EXPECT_EQ(bits(1), bits(3));
}

TEST(Contract, WhateverBackendIsThere) {
  for (DType dtype : allTypes)
    for (int flags = 0; flags < 4; ++flags)
      for (int64_t batch : {1, 3}) {
        Problem problem({dtype, batch, 34, 40, depthFor(dtype, 50),
                         bool(flags & 1), bool(flags & 2)});
        EXPECT_EQ(wok_contract(&problem.args), 0);
        ASSERT_NO_FATAL_FAILURE(problem.check()) << lastContractBackend();
      }
}

TEST(Contract, OneDnnComputesF32) {
  const ContractBackend *oneDnn = oneDnnBackend();
  if (!oneDnn)
    GTEST_SKIP() << "oneDNN is not installed";
  Problem problem({DType::F32, 1, 64, 48, 32, true, false, 2});
  EXPECT_EQ(wok_contract(&problem.args), 0);
  EXPECT_STREQ(lastContractBackend(), "onednn");
  ASSERT_NO_FATAL_FAILURE(problem.check());
  // What it does not do it leaves alone.
  Problem wide({DType::F64, 1, 64, 48, 32});
  EXPECT_FALSE(oneDnn->run(wide.args));
  for (DType dtype : {DType::I8, DType::BF16}) {
    Problem narrow({dtype, 2, 64, 48, 16});
    if (oneDnn->run(narrow.args))
      ASSERT_NO_FATAL_FAILURE(narrow.check());
  }
}

TEST(Contract, TheHostComesFirst) {
  static int calls = 0;
  static const ContractBackend host{"host",
                                    [](const WokContractArgs &args) noexcept {
                                      ++calls;
                                      return args.m == 2;
                                    }};
  setHostContractBackend(&host);
  Problem taken({DType::F32, 1, 2, 3, 4}), refused({DType::F32, 1, 3, 3, 4});
  wok_contract(&taken.args);
  EXPECT_STREQ(lastContractBackend(), "host");
  wok_contract(&refused.args);
  EXPECT_STREQ(lastContractBackend(), "loops");
  setHostContractBackend(nullptr);
  EXPECT_EQ(calls, 2);
  ASSERT_NO_FATAL_FAILURE(refused.check());
  findLoadedContractLibraries();
}

} // namespace
