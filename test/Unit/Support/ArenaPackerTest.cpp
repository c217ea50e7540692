//===- ArenaPackerTest.cpp ------------------------------------------------===//

#include "wok/Support/ArenaPacker.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

using namespace wok;

namespace {

constexpr int64_t alignment = 64;

/// Every promise of packArena but its quality.
void expectValid(std::span<const ArenaRequest> requests,
                 const ArenaLayout &layout) {
  ASSERT_EQ(layout.offsets.size(), requests.size());
  EXPECT_GE(layout.bytes, largestLiveSet(requests, alignment));
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_GE(layout.offsets[i], 0);
    EXPECT_EQ(layout.offsets[i] % alignment, 0);
    EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = requests[i].first <= requests[j].last &&
                      requests[j].first <= requests[i].last;
      bool apart = layout.offsets[i] + requests[i].bytes <= layout.offsets[j] ||
                   layout.offsets[j] + requests[j].bytes <= layout.offsets[i];
      EXPECT_TRUE(!together || apart || !requests[i].bytes ||
                  !requests[j].bytes)
          << i << " and " << j;
    }
  }
}

TEST(ArenaPacker, Empty) {
  ArenaLayout layout = packArena({}, alignment);
  EXPECT_EQ(layout.bytes, 0);
  EXPECT_TRUE(layout.offsets.empty());
}

TEST(ArenaPacker, SharesBytesOfBuffersThatNeverMeet) {
  const ArenaRequest requests[] = {{1000, 0, 1}, {500, 2, 3}, {24, 2, 2}};
  ArenaLayout layout = packArena(requests, alignment);
  expectValid(requests, layout);
  EXPECT_EQ(layout.bytes, 1024);
}

TEST(ArenaPacker, LiveRangesAreClosed) {
  const ArenaRequest requests[] = {{64, 0, 1}, {64, 1, 2}};
  EXPECT_EQ(packArena(requests, alignment).bytes, 128);
  EXPECT_EQ(largestLiveSet(requests, alignment), 128);
}

TEST(ArenaPacker, BuffersWithoutBytes) {
  const ArenaRequest requests[] = {{0, 0, 5}, {0, 0, 5}, {1, 2, 3}};
  ArenaLayout layout = packArena(requests, alignment);
  expectValid(requests, layout);
  EXPECT_EQ(layout.bytes, 64);
}

TEST(ArenaPacker, ReachesTheLargestLiveSet) {
  const ArenaRequest requests[] = {{128, 0, 1}, {64, 0, 3},  {128, 2, 5},
                                   {64, 4, 7},  {128, 6, 7}, {64, 2, 3},
                                   {64, 4, 5},  {64, 0, 1}};
  ArenaLayout layout = packArena(requests, alignment);
  expectValid(requests, layout);
  EXPECT_EQ(layout.bytes, largestLiveSet(requests, alignment));
}

std::vector<ArenaRequest> randomRequests(std::mt19937 &random, size_t count) {
  std::vector<ArenaRequest> requests(count);
  std::uniform_real_distribution<double> unit;
  for (ArenaRequest &request : requests) {
    // Sizes over three orders of magnitude, lifetimes mostly short: as
    // transients of a network.
    request.bytes = static_cast<int64_t>(std::exp2(6 + 10 * unit(random)));
    request.first = static_cast<uint32_t>(unit(random) * 2 * count);
    request.last =
        request.first +
        static_cast<uint32_t>(-std::log(1 - unit(random)) * (2 + count / 8.0));
  }
  return requests;
}

TEST(ArenaPacker, RandomInstances) {
  std::mt19937 random(1);
  double sum = 0, worst = 0;
  constexpr int instances = 1000;
  for (int i = 0; i < instances; ++i) {
    std::vector<ArenaRequest> requests =
        randomRequests(random, 5 + random() % 196);
    ArenaLayout layout = packArena(requests, alignment);
    expectValid(requests, layout);
    double ratio =
        static_cast<double>(layout.bytes) / largestLiveSet(requests, alignment);
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  std::printf("peak / largest live set: mean %.4f, max %.4f\n", sum / instances,
              worst);
  RecordProperty("mean", std::to_string(sum / instances));
  RecordProperty("max", std::to_string(worst));
  EXPECT_LE(sum / instances, 1.02);
}

TEST(ArenaPacker, UniformInstances) {
  // The hardest mix: sizes and lifetimes uniform, many buffers live at a time.
  std::mt19937 random(2);
  double sum = 0, worst = 0;
  constexpr int instances = 100;
  for (int i = 0; i < instances; ++i) {
    std::vector<ArenaRequest> requests(5 + random() % 196);
    for (ArenaRequest &request : requests) {
      uint32_t a = random() % 100, b = random() % 100;
      request = {int64_t(1 + random() % 64) * 64, std::min(a, b),
                 std::max(a, b)};
    }
    ArenaLayout layout = packArena(requests, alignment);
    expectValid(requests, layout);
    double ratio =
        static_cast<double>(layout.bytes) / largestLiveSet(requests, alignment);
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  std::printf("uniform: mean %.4f, max %.4f\n", sum / instances, worst);
  EXPECT_LE(sum / instances, 1.02);
}

TEST(ArenaPacker, SizesThatNobodyHasStayCountable) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (int64_t bytes : {most, most - 1, most / 2, int64_t(-1), -most - 1}) {
    std::vector<ArenaRequest> requests(300, {bytes, 0, 1});
    requests.push_back({64, 0, 1});
    ArenaLayout layout = packArena(requests, alignment);
    EXPECT_GT(layout.bytes, most / 8);
    EXPECT_GE(largestLiveSet(requests, alignment), most / 8);
    for (int64_t offset : layout.offsets)
      EXPECT_GE(offset, 0);
  }
}

TEST(ArenaPacker, Deterministic) {
  std::mt19937 random(3);
  std::vector<ArenaRequest> requests = randomRequests(random, 60);
  ArenaLayout first = packArena(requests, alignment),
              second = packArena(requests, alignment);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.bytes, second.bytes);
}

} // namespace
