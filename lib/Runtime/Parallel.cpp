//===- Parallel.cpp - wok_parallel_for ------------------------------------===//

#include "wok/Runtime/Parallel.h"

#include "OpenMP.h"
#include "Shares.h"
#include "ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cfenv>

using namespace wok::runtime;

namespace {

thread_local bool insideLoop = false;
thread_local bool prefersOwnPool = false;

/// One loop in flight: what all its threads share.
struct Loop {
  Loop(int64_t begin, int64_t end, int64_t grain,
       int32_t (*body)(int64_t, int64_t, void *), void *ctx, int threads)
      : shares(begin, end, grain, threads), body(body), ctx(ctx) {
    std::fegetenv(&modes);
  }

  /// Takes pieces until none is left. Runs on each thread, the caller's
  /// included.
  void work(int index) noexcept {
    int32_t local = 0;
    for (auto piece = shares.next(index); piece; piece = shares.next(index))
      local |= body(piece->first, piece->last, ctx);
    if (local)
      status.fetch_or(local, std::memory_order_relaxed);
  }

  /// `work` on a thread that is not the caller's: in the caller's
  /// floating-point modes, and leaving the flags that were raised in `flags`.
  void workElsewhere(int index) noexcept {
    std::fenv_t own;
    std::fegetenv(&own);
    std::fesetenv(&modes);
    std::feclearexcept(FE_ALL_EXCEPT);
    insideLoop = true;
    work(index);
    insideLoop = false;
    if (int raised = std::fetestexcept(FE_ALL_EXCEPT))
      flags.fetch_or(raised, std::memory_order_relaxed);
    std::fesetenv(&own);
  }

  Shares shares;
  int32_t (*body)(int64_t, int64_t, void *);
  void *ctx;
  std::fenv_t modes;
  std::atomic<int32_t> status{0};
  std::atomic<int> flags{0};
};

} // namespace

int wok::runtime::threadCount() noexcept {
  if (insideLoop)
    return 1;
  const OpenMP *openMP = OpenMP::loaded();
  if (!openMP)
    return ThreadPool::get().threads();
  if (openMP->inParallel())
    return 1;
  int most = std::clamp(openMP->maxThreads(), 1, Shares::maxShares);
  return prefersOwnPool ? std::min(most, ThreadPool::get().threads()) : most;
}

OwnPoolScope::OwnPoolScope(bool isWanted) noexcept : before(prefersOwnPool) {
  prefersOwnPool |= isWanted;
}
OwnPoolScope::~OwnPoolScope() { prefersOwnPool = before; }

bool wok::runtime::usesOpenMP() noexcept { return OpenMP::loaded() != nullptr; }
void wok::runtime::findLoadedOpenMP() noexcept { OpenMP::find(); }
void wok::runtime::setOwnPoolThreads(int count) noexcept {
  ThreadPool::get().setThreads(std::clamp(count, 1, Shares::maxShares));
}

int32_t wok_parallel_for(int64_t begin, int64_t end, int64_t grain,
                         int32_t (*body)(int64_t, int64_t, void *), void *ctx) {
  if (end <= begin)
    return 0;
  grain = std::max<int64_t>(grain, 1);
  if (insideLoop || end - begin <= grain)
    return body(begin, end, ctx);

  int64_t pieces = (end - begin - 1) / grain + 1;
  const OpenMP *openMP = prefersOwnPool ? nullptr : OpenMP::loaded();
  int threads = static_cast<int>(std::min<int64_t>(threadCount(), pieces));
  if (threads < 2)
    return body(begin, end, ctx);

  Loop loop(begin, end, grain, body, ctx, threads);
  if (openMP) {
    // A team of the size that OpenMP wants: libgomp ends threads when a team is
    // smaller than the last.
    openMP->parallel(
        [](void *data) {
          auto &loop = *static_cast<Loop *>(data);
          int index = OpenMP::loaded()->threadNumber();
          if (index != 0) {
            loop.workElsewhere(index);
          } else {
            insideLoop = true;
            loop.work(0);
            insideLoop = false;
          }
        },
        &loop);
  } else {
    insideLoop = true;
    auto work = [](void *data, int index) noexcept {
      auto &loop = *static_cast<Loop *>(data);
      index == 0 ? loop.work(0) : loop.workElsewhere(index);
    };
    ThreadPool::get().run(work, &loop, threads);
    insideLoop = false;
  }
  if (int raised = loop.flags.load(std::memory_order_relaxed))
    std::feraiseexcept(raised);
  return loop.status.load(std::memory_order_relaxed);
}
