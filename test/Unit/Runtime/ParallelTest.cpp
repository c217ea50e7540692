//===- ParallelTest.cpp ---------------------------------------------------===//

#include "wok/Runtime/Parallel.h"
#include "Sanitizers.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace wok::runtime;

namespace {

struct Pieces {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> pieces;
  std::set<std::thread::id> threads;

  int32_t add(int64_t first, int64_t last) {
    std::lock_guard lock(mutex);
    pieces.emplace_back(first, last);
    threads.insert(std::this_thread::get_id());
    return 0;
  }
};

void expectCovers(Pieces &pieces, int64_t begin, int64_t end, int64_t grain) {
  std::sort(pieces.pieces.begin(), pieces.pieces.end());
  int64_t at = begin;
  for (auto [first, last] : pieces.pieces) {
    EXPECT_EQ(first, at);
    EXPECT_EQ((first - begin) % grain, 0);
    EXPECT_TRUE(last == end || (last - begin) % grain == 0);
    at = last;
  }
  EXPECT_EQ(at, end);
}

/// Of Wok's own pool. A test that ran before may have loaded a libgomp: oneDNN
/// brings one.
class Parallel : public testing::Test {
protected:
  void SetUp() override {
    if (usesOpenMP())
      GTEST_SKIP() << "loops run on libgomp's pool";
  }
};

TEST_F(Parallel, CoversEachRangeOnce) {
  for (int threads : {1, 2, 3, 8}) {
    setOwnPoolThreads(threads);
    for (int64_t end : {0, 1, 7, 8, 9, 16, 17, 1000, 4097})
      for (int64_t grain : {1, 3, 8, 1000}) {
        Pieces pieces;
        wok_parallel_for(
            -5, end - 5, grain,
            [](int64_t first, int64_t last, void *ctx) {
              return static_cast<Pieces *>(ctx)->add(first, last);
            },
            &pieces);
        expectCovers(pieces, -5, end - 5, grain);
      }
  }
}

TEST_F(Parallel, NeverOverflows) {
  setOwnPoolThreads(4);
  std::atomic<int64_t> sum{0};
  int64_t end = INT64_MAX, begin = end - 1000;
  parallelFor(begin, end, 10, [&](int64_t first, int64_t last) -> int32_t {
    sum += last - first;
    return 0;
  });
  EXPECT_EQ(sum, 1000);
}

TEST_F(Parallel, OrsStatuses) {
  setOwnPoolThreads(3);
  int32_t status =
      parallelFor(0, 100, 10, [](int64_t first, int64_t) -> int32_t {
        return first == 20 ? 1 : first == 80 ? 4 : 0;
      });
  // Pieces may be longer than the grain: 20 and 80 need not begin one.
  EXPECT_EQ(status & ~5, 0);
  EXPECT_EQ(parallelFor(0, 2, 1,
                        [](int64_t first, int64_t) -> int32_t {
                          return first ? 2 : 1;
                        }),
            3);
}

TEST_F(Parallel, NestedLoopsAreSerial) {
  setOwnPoolThreads(4);
  EXPECT_EQ(threadCount(), 4);
  std::atomic<int> wrong{0};
  parallelFor(0, 8, 1, [&](int64_t, int64_t) -> int32_t {
    auto self = std::this_thread::get_id();
    wrong += threadCount() != 1;
    parallelFor(0, 100, 1, [&](int64_t first, int64_t last) -> int32_t {
      wrong += std::this_thread::get_id() != self || first != 0 || last != 100;
      return 0;
    });
    return 0;
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(Parallel, UsesSeveralThreads) {
  setOwnPoolThreads(2);
  Pieces pieces;
  // Long enough for a worker to come.
  for (int attempt = 0; attempt < 100 && pieces.threads.size() < 2; ++attempt)
    parallelFor(0, 8, 1, [&](int64_t first, int64_t last) -> int32_t {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return pieces.add(first, last);
    });
  EXPECT_EQ(pieces.threads.size(), 2u);
}

TEST_F(Parallel, CallersOnManyThreads) {
  setOwnPoolThreads(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        parallelFor(0, 1000, 10, [&](int64_t first, int64_t last) -> int32_t {
          sum += last - first;
          return 0;
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 200 * 1000);
}

/// What a worker writes is seen by the caller afterwards, without more
/// synchronisation.
TEST_F(Parallel, ResultsAreVisible) {
  setOwnPoolThreads(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> values(64);
    parallelFor(0, 64, 1, [&](int64_t first, int64_t last) -> int32_t {
      for (int64_t i = first; i < last; ++i)
        values[i] = round;
      return 0;
    });
    for (int value : values)
      ASSERT_EQ(value, round);
  }
}

TEST_F(Parallel, FloatingPointFlagsReachTheCaller) {
  setOwnPoolThreads(2);
  volatile double zero = 0;
  std::feclearexcept(FE_ALL_EXCEPT);
  parallelFor(0, 2, 1, [&](int64_t first, int64_t last) -> int32_t {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    volatile double result = 1 / zero;
    return result < 0;
  });
  EXPECT_TRUE(std::fetestexcept(FE_DIVBYZERO));
  EXPECT_FALSE(std::fetestexcept(FE_INVALID));

  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_UPWARD);
  std::atomic<int> wrong{0};
  parallelFor(0, 2, 1, [&](int64_t, int64_t) -> int32_t {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    wrong += std::fegetround() != FE_UPWARD;
    return 0;
  });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(std::fetestexcept(FE_DIVBYZERO))
      << "a worker keeps flags of an earlier loop";
}

#if !WOK_TEST_TSAN
TEST_F(Parallel, WorksAfterFork) {
  setOwnPoolThreads(2);
  auto sum = [] {
    std::atomic<int64_t> total{0};
    parallelFor(0, 1000, 10, [&](int64_t first, int64_t last) -> int32_t {
      total += last - first;
      return 0;
    });
    return total.load();
  };
  ASSERT_EQ(sum(), 1000);
  pid_t child = fork();
  if (child == 0)
    _exit(sum() == 1000 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum(), 1000);
}
#endif

} // namespace
