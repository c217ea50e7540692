//===- OpenMP.cpp ---------------------------------------------------------===//

#include "OpenMP.h"
#include "LoadedLibraries.h"

#include <type_traits>

#include <atomic>
#include <mutex>

#include <dlfcn.h>
#include <pthread.h>

using namespace wok::runtime;

namespace {
enum class State : int { Unknown, Absent, Loaded };
std::atomic<State> state{State::Unknown};
std::atomic<bool> forked{false};
} // namespace

static OpenMP found;
static std::mutex findMutex;

const OpenMP *OpenMP::loaded() noexcept {
  State now = state.load(std::memory_order_acquire);
  if (now == State::Unknown) [[unlikely]] {
    find();
    now = state.load(std::memory_order_acquire);
  }
  return now == State::Loaded ? &found : nullptr;
}

void OpenMP::find() noexcept {
  if (state.load(std::memory_order_acquire) == State::Loaded ||
      forked.load(std::memory_order_relaxed))
    return;
  std::lock_guard lock(findMutex);
  if (state.load(std::memory_order_relaxed) == State::Loaded)
    return;

  void *library = dlsym(RTLD_DEFAULT, "GOMP_parallel")
                      ? RTLD_DEFAULT
                      : findLoadedLibrary("libgomp");
  auto symbol = [&](const char *name, auto &target) {
    target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(
        dlsym(library, name));
    return target != nullptr;
  };
  OpenMP candidate;
  bool complete = (library || dlsym(RTLD_DEFAULT, "GOMP_parallel")) &&
                  symbol("GOMP_parallel", candidate.gompParallel) &&
                  symbol("omp_get_max_threads", candidate.getMaxThreads) &&
                  symbol("omp_in_parallel", candidate.getInParallel) &&
                  symbol("omp_get_thread_num", candidate.getThreadNum);
  if (!complete) {
    state.store(State::Absent, std::memory_order_release);
    return;
  }
  found = candidate;
  // The child of a fork has the parent's libgomp but not its threads, and would
  // wait for them.
  pthread_atfork(nullptr, nullptr, [] {
    forked.store(true, std::memory_order_relaxed);
    state.store(State::Absent, std::memory_order_release);
  });
  state.store(State::Loaded, std::memory_order_release);
}
