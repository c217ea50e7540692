//===- ThreadPool.cpp -----------------------------------------------------===//

#include "ThreadPool.h"
#include "Shares.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <pthread.h>

using namespace wok::runtime;

namespace {

std::atomic<ThreadPool *> instance{nullptr};

int defaultThreads() {
  int count = 0;
  if (const char *text = std::getenv("WOK_NUM_THREADS"))
    count = std::atoi(text);
  if (count <= 0)
    count = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, Shares::maxShares);
}

/// How long a worker looks for the next loop before it sleeps. Waking one costs
/// about as much.
constexpr auto spinTime = std::chrono::microseconds(30);

} // namespace

ThreadPool &ThreadPool::get() noexcept {
  if (ThreadPool *pool = instance.load(std::memory_order_acquire)) [[likely]]
    return *pool;
  // Never freed: its threads may outlive static destructors.
  auto *fresh = new ThreadPool(defaultThreads());
  ThreadPool *expected = nullptr;
  if (!instance.compare_exchange_strong(expected, fresh,
                                        std::memory_order_acq_rel)) {
    delete fresh;
    return *expected;
  }
  static std::once_flag registered;
  std::call_once(registered, [] {
    // The child has none of the threads, and perhaps a lock that one of them
    // held.
    pthread_atfork(nullptr, nullptr,
                   [] { instance.store(nullptr, std::memory_order_release); });
  });
  return *fresh;
}

void ThreadPool::run(void (*newWork)(void *, int) noexcept, void *newData,
                     int newCount) noexcept {
  std::unique_lock lock(busy, std::try_to_lock);
  if (!lock || newCount < 2) {
    newWork(newData, 0);
    return;
  }
  if (started < newCount - 1) [[unlikely]]
    start(newCount - 1);

  work = newWork;
  data = newData;
  count = newCount;
  unsigned job = latest.load(std::memory_order_relaxed) + 1;
  job += job == 0;
  open.store(job, std::memory_order_seq_cst);
  latest.store(job, std::memory_order_release);
  latest.notify_all();

  newWork(newData, 0);

  open.store(0, std::memory_order_seq_cst);
  while (active.load(std::memory_order_seq_cst) != 0)
    std::this_thread::yield();
}

void ThreadPool::start(int workers) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (started < workers) {
      std::thread([this, index = started + 1] { serve(index); }).detach();
      ++started;
    }
  } catch (const std::system_error &) {
    // Fewer threads, then; the loop does not depend on them.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

unsigned ThreadPool::waitForJob(unsigned last) noexcept {
  auto started = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < 64; ++i)
      if (unsigned now = latest.load(std::memory_order_acquire); now != last)
        return now;
    if (std::chrono::steady_clock::now() - started > spinTime)
      latest.wait(last, std::memory_order_acquire);
    else
      std::this_thread::yield();
  }
}

void ThreadPool::serve(int index) noexcept {
  // A worker begins for the sake of a job that is open already or gone; either
  // is fine.
  for (unsigned job = 0;;) {
    job = waitForJob(job);
    active.fetch_add(1, std::memory_order_seq_cst);
    if (open.load(std::memory_order_seq_cst) == job && index < count)
      work(data, index);
    active.fetch_sub(1, std::memory_order_seq_cst);
  }
}
