//===- TensorValueTest.cpp ------------------------------------------------===//

#include "wok/Host/TensorValue.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace wok;
using namespace wok::host;

namespace {

constexpr int64_t any = runtime::dynamicExtent;

std::string roundTrip(llvm::StringRef text, DType dtype,
                      llvm::ArrayRef<int64_t> extents) {
  auto value = parseTensor(text, dtype, extents);
  if (!value)
    return "error: " + llvm::toString(value.takeError());
  return toString(*value);
}

TEST(TensorValue, ReadsWhatItPrints) {
  EXPECT_EQ(roundTrip("1.5", DType::F32, {}), "1.5");
  EXPECT_EQ(roundTrip(" [ [1,2] , [3, 4] ] ", DType::I32, {2, 2}),
            "[[1, 2], [3, 4]]");
  EXPECT_EQ(roundTrip("[true, 0, 1]", DType::I1, {3}), "[true, false, true]");
  EXPECT_EQ(roundTrip("[]", DType::F64, {0}), "[]");
  EXPECT_EQ(roundTrip("[[], []]", DType::F64, {2, 0}), "[[], []]");
  EXPECT_EQ(roundTrip("[nan, inf, -inf, -0.0]", DType::F16, {4}),
            "[nan, inf, -inf, -0]");
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    std::string once = roundTrip("3.14159265358979", dtype, {});
    EXPECT_EQ(roundTrip(once, dtype, {}), once);
  }
}

TEST(TensorValue, BracketsDecideDynamicExtents) {
  EXPECT_EQ(roundTrip("[[1, 2, 3]]", DType::I8, {any, any}), "[[1, 2, 3]]");
  EXPECT_EQ(roundTrip("[[1, 2, 3]]", DType::I8, {1, any}), "[[1, 2, 3]]");
}

TEST(TensorValue, OneNumberFillsStaticExtents) {
  EXPECT_EQ(roundTrip("7", DType::I64, {2, 2}), "[[7, 7], [7, 7]]");
}

TEST(TensorValue, RefusesWhatDoesNotFit) {
  for (auto [text, extents] :
       std::initializer_list<std::pair<const char *, std::vector<int64_t>>>{
           {"", {}},
           {"[1, 2", {2}},
           {"[1, [2]]", {2}},
           {"[[1], [2, 3]]", {any, any}},
           {"[1 2]", {2}},
           {"[1,, 2]", {3}},
           {"[1, 2] x", {2}},
           {"[1, 2]", {3}},
           {"[1, 2]", {any, any}},
           {"7", {any}},
           {"random", {any}},
           {"random:x", {2}},
           {"1.5", {}},
           {"300", {}}})
    EXPECT_TRUE(llvm::StringRef(roundTrip(text, DType::I8, extents))
                    .starts_with("error: "))
        << text;
}

TEST(TensorValue, RefusesWhatNobodyCanHold) {
  EXPECT_FALSE(TensorValue(DType::F32, {1ll << 32, 1ll << 32}).isSet());
  EXPECT_FALSE(TensorValue(DType::F64, {1ll << 60, 0}).isSet());
  EXPECT_FALSE(TensorValue(DType::I8, {INT64_MAX}).isSet());
  EXPECT_FALSE(TensorValue(DType::I8, {-1}).isSet());
  EXPECT_TRUE(TensorValue(DType::I8, {1000, 0}).isSet());
  for (const char *text : {"7", "random"})
    EXPECT_EQ(roundTrip(text, DType::F32, {1ll << 50}),
              "error: '" + std::string(text) + "': out of memory");
  // Brackets as deep as one likes.
  EXPECT_TRUE(llvm::StringRef(
                  roundTrip(std::string(1000000, '['), DType::I8, {any, any}))
                  .starts_with("error: "));
}

TEST(TensorValue, RandomFollowsTheSeed) {
  auto draw = [](const char *text, DType dtype) {
    return roundTrip(text, dtype, {5});
  };
  for (DType dtype : {DType::I1, DType::U8, DType::F16, DType::F64})
    EXPECT_EQ(draw("random:3", dtype), draw("random:3", dtype));
  EXPECT_NE(draw("random:3", DType::F32), draw("random:4", DType::F32));
  EXPECT_EQ(draw("random", DType::I64), draw("random:0", DType::I64));
}

} // namespace
