//===- StitcherTest.cpp - Runs of subgraphs on a model host ---------------===//

#include "ModelHost.h"
#include "Sanitizers.h"
#include "wok/Runtime/Events.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

using namespace wok;
using namespace wok::runtime;
using namespace wok::runtime::test;

namespace {

using Entry = Specialization<Model>;

int32_t timesTwo(void *const *data, const int64_t *, std::byte *,
                 const int64_t *) {
  for (int i = 0; i < 2; ++i)
    static_cast<float *>(data[1])[i] = 2 * static_cast<float *>(data[0])[i];
  return 0;
}

int32_t outOfRange(void *const *, const int64_t *, std::byte *,
                   const int64_t *) {
  return static_cast<int32_t>(Status::IndexOutOfRange);
}

struct Fixture {
  std::vector<Local> frame{{1, {3, 4}}, {0, {}}};
  Site<Model> site;

  std::shared_ptr<const Entry>
  add(std::shared_ptr<const CompiledSubgraph> subgraph,
      Model::Exit exit = {.inputs = {0}, .result = 1}) {
    auto entry = std::make_shared<Entry>(hasTag(0, 1), std::move(subgraph),
                                         std::move(exit));
    site.insert(entry);
    return entry;
  }
  RunResult operator()() {
    Model model(frame);
    Lookup<Model> lookup;
    RunResult result;
    EXPECT_TRUE(tryRun(model, site, lookup, result));
    EXPECT_EQ(Model::Outputs::alive, 0);
    return result;
  }
};

uint64_t counter(Counter which) {
  return readCounters()[static_cast<size_t>(which)];
}

TEST(Stitcher, CommitsTheResult) {
  Fixture run;
  run.add(code(timesTwo));
  resetCounters();
  EXPECT_EQ(run(), RunResult::Committed);
  EXPECT_EQ(run.frame[1].values, (std::vector<float>{6, 8}));
  EXPECT_EQ(counter(Counter::Runs), 1u);
  EXPECT_EQ(counter(Counter::OpsCompiled), 1u);
}

TEST(Stitcher, ExitWithoutComputation) {
  Fixture run;
  run.add(nullptr);
  EXPECT_EQ(run(), RunResult::Committed);
}

TEST(Stitcher, NothingHappensWhenAStepRefuses) {
  for (int step = 0; step < 3; ++step) {
    Fixture run;
    run.frame[1].values = {9};
    run.add(code(step == 2 ? outOfRange : timesTwo),
            {.inputs = {0},
             .result = 1,
             .refuseInputs = step == 0,
             .refuseOutputs = step == 1});
    resetCounters();
    EXPECT_EQ(run(), RunResult::Refused);
    EXPECT_EQ(run.frame[1].values, std::vector<float>{9});
    EXPECT_EQ(counter(Counter::Fallbacks), 1u);
    EXPECT_EQ(counter(Counter::Runs), 0u);
  }
}

TEST(Stitcher, CommitMayFail) {
  Fixture run;
  run.add(code(timesTwo), {.inputs = {0}, .result = 1, .failCommit = true});
  EXPECT_EQ(run(), RunResult::Raised);
}

TEST(Stitcher, StaticArena) {
  Fixture run;
  auto subgraph = code([](void *const *data, const int64_t *dims,
                          std::byte *arena, const int64_t *offsets) {
    bool aligned = reinterpret_cast<uintptr_t>(arena) % arenaAlignment == 0;
    std::fill_n(reinterpret_cast<char *>(arena), 4096, 1);
    static_cast<float *>(data[1])[0] = aligned && !dims && !offsets;
    static_cast<float *>(data[1])[1] = 0;
    return 0;
  });
  subgraph->arenaBytes = 4096;
  run.add(subgraph);
  EXPECT_EQ(run(), RunResult::Committed);
  EXPECT_EQ(run.frame[1].values[0], 1);
}

TEST(Stitcher, SymbolicExtents) {
  Fixture run;
  // The output is the input and one more; two transients of its size are live
  // at a time.
  auto subgraph = code(
      [](void *const *data, const int64_t *dims, std::byte *arena,
         const int64_t *offsets) -> int32_t {
        int64_t n = dims[0];
        if (dims[1] != 1 || dims[2] != n + 1 || offsets[0] == offsets[1])
          return 1;
        auto *scratch = reinterpret_cast<float *>(arena + offsets[1]);
        for (int64_t i = 0; i <= n; ++i)
          scratch[i] = i < n ? static_cast<float *>(data[0])[i] : -1;
        std::copy_n(scratch, n + 1, static_cast<float *>(data[1]));
        return 0;
      },
      dynamicExtent);
  subgraph->shape = [](const int64_t *dims, int64_t *extents, int64_t *bytes) {
    extents[0] = dims[0] + 1;
    bytes[0] = bytes[1] = 4 * extents[0];
  };
  subgraph->transients = {{dynamicExtent, 0, 1}, {dynamicExtent, 1, 2}};
  run.add(subgraph);
  for (size_t size : {2, 100, 2, 0, 5000}) {
    run.frame[0].values.assign(size, 5);
    EXPECT_EQ(run(), RunResult::Committed);
    ASSERT_EQ(run.frame[1].values.size(), size + 1);
    EXPECT_EQ(run.frame[1].values.back(), -1);
    if (size)
      EXPECT_EQ(run.frame[1].values[0], 5);
  }
}

TEST(Stitcher, TransientsThatNobodyCanHoldAreRefused) {
  Fixture run;
  auto subgraph = code([](void *const *, const int64_t *, std::byte *,
                          const int64_t *) -> int32_t { std::abort(); },
                       dynamicExtent);
  subgraph->shape = [](const int64_t *dims, int64_t *extents, int64_t *bytes) {
    extents[0] = dims[0];
    bytes[0] = bytes[1] = std::numeric_limits<int64_t>::max();
  };
  subgraph->transients = {{dynamicExtent, 0, 1}, {dynamicExtent, 1, 2}};
  run.add(subgraph);
  run.frame[0].values.assign(3, 5);
  EXPECT_EQ(run(), RunResult::Refused);
}

TEST(ArenaLayouts, PackedOncePerShape) {
  ReadScope scope;
  ArenaLayouts layouts;
  const ArenaRequest transients[] = {{dynamicExtent, 0, 0},
                                     {dynamicExtent, 0, 0}};
  const int64_t bytes[] = {100, 200}, other[] = {1, 2};
  const ArenaLayout &first = layouts.find(transients, bytes);
  EXPECT_EQ(first.bytes, 128 + 256);
  EXPECT_EQ(layouts.find(transients, other).bytes, 128);
  EXPECT_EQ(&layouts.find(transients, bytes), &first);
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t sizes[] = {64 * i, 64};
    EXPECT_EQ(layouts.find(transients, sizes).bytes, 64 * i + 64);
  }
}

TEST(Arena, GrowsAndNests) {
  std::byte *outer, *inner;
  {
    ScratchScope scope;
    EXPECT_EQ(scope.reserve(0), nullptr);
    outer = scope.reserve(100);
    std::fill_n(outer, 100, std::byte(1));
    {
      ScratchScope nested;
      inner = nested.reserve(1000);
      std::fill_n(inner, 1000, std::byte(2));
    }
    EXPECT_EQ(outer[99], std::byte(1));
    EXPECT_EQ(scope.reserve(50), outer) << "smaller runs use the block again";
  }
  ScratchScope again;
  EXPECT_EQ(again.reserve(100), outer);
#if !WOK_TEST_TSAN && !WOK_TEST_ASAN // They end the process instead.
  EXPECT_EQ(again.reserve(INT64_MAX / 2), nullptr);
#endif
  EXPECT_NE(again.reserve(10), nullptr)
      << "a failed growth leaves the arena usable";
}

struct Recorder : EventListener {
  using EventListener::EventListener;
  ~Recorder() override { stop(); }
  void heard(const Event &event) noexcept override {
    kinds.emplace_back(toString(event.kind));
    guards.push_back(event.guard);
  }
  std::vector<std::string> kinds;
  std::vector<uint32_t> guards;
};

TEST(Events, TellTheStory) {
  Fixture run;
  run.site.name = "f.py:1";
  run.add(code(timesTwo));
  EXPECT_FALSE(EventStream::listening());
  {
    Recorder all, mine(EventListener::Threads::This);
    run();
    run.frame[0].tag = 2;
    Model model(run.frame);
    Lookup<Model> lookup;
    EXPECT_EQ(run.site.find(model, lookup), nullptr);
    std::thread([] {
      EventStream::emit({.kind = Event::Kind::Broke, .text = "print"});
    }).join();
    EXPECT_EQ(mine.kinds, (std::vector<std::string>{"hit", "ran", "missed"}));
    EXPECT_EQ(all.kinds,
              (std::vector<std::string>{"hit", "ran", "missed", "broke"}));
    EXPECT_EQ(mine.guards[2], 1u);
  }
  EXPECT_FALSE(EventStream::listening());
}

TEST(Counters, ThreadsThatEndedStillCount) {
  resetCounters();
  for (int round = 0; round < 3; ++round)
    std::thread([] { count(Counter::Breaks, 2); }).join();
  EXPECT_EQ(counter(Counter::Breaks), 6u);
  resetCounters();
  EXPECT_EQ(counter(Counter::Breaks), 0u);
}

TEST(Stitcher, RunsOnManyThreads) {
  Site<Model> site;
  site.insert(std::make_shared<Entry>(hasTag(0, 1), code(timesTwo),
                                      Model::Exit{.inputs = {0}, .result = 1}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::vector<Local> frame{{1, {float(t), 1}}, {0, {}}};
      for (int i = 0; i < 1000; ++i) {
        Model model(frame);
        Lookup<Model> lookup;
        RunResult result;
        ASSERT_TRUE(tryRun(model, site, lookup, result));
        ASSERT_EQ(frame[1].values[0], 2.f * t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Not a promise, a figure: what a hit costs without the host.
TEST(Stitcher, CostOfAHit) {
  Fixture run;
  run.add(code(timesTwo));
  constexpr int runs = 20000;
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto started = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) {
      Model model(run.frame);
      Lookup<Model> lookup;
      RunResult result;
      tryRun(model, run.site, lookup, result);
    }
    std::chrono::duration<double, std::nano> took =
        std::chrono::steady_clock::now() - started;
    best = std::min(best, took.count() / runs);
  }
  std::printf(
      "find and run, with a model host that allocates one vector: %.1f ns\n",
      best);
  RecordProperty("nanoseconds", std::to_string(best));
}

} // namespace
