//===- ThreadPool.h - Wok's own threads -------------------------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_THREADPOOL_H
#define WOK_LIB_RUNTIME_THREADPOOL_H

#include <atomic>
#include <mutex>

namespace wok::runtime {

/// Threads that wait for one loop after another. They begin at the first loop,
/// block all signals, and last as long as the process. A forked child gets a
/// new pool.
class ThreadPool {
public:
  static ThreadPool &get() noexcept;

  /// The calling thread counts.
  int threads() const noexcept {
    return wanted.load(std::memory_order_relaxed);
  }
  void setThreads(int count) noexcept {
    wanted.store(count, std::memory_order_relaxed);
  }

  /// Calls `work(data, index)` on this thread with index 0 and on at most
  /// `count` - 1 others with indices from 1. Threads that come late are not
  /// waited for: `work(data, 0)` alone must do everything if nobody helps.
  /// Serial while another thread uses the pool.
  void run(void (*work)(void *, int) noexcept, void *data, int count) noexcept;

private:
  explicit ThreadPool(int wanted) : wanted(wanted) {}
  void start(int workers) noexcept;
  void serve(int index) noexcept;
  unsigned waitForJob(unsigned last) noexcept;

  std::atomic<int> wanted;
  std::mutex busy; ///< Held by the thread whose loop runs.
  int started = 0; ///< Workers; under `busy`.

  // The job. A worker counts itself in `active` and then looks whether `open`
  // still is the job it came for; the caller clears `open` and then waits for
  // `active`. One of the two sees the other.
  alignas(64) std::atomic<unsigned> latest{
      0}; ///< Number of the last job; what workers wait for.
  alignas(64) std::atomic<unsigned> open{
      0}; ///< Number of the job that takes workers, or 0.
  void (*work)(void *, int) noexcept = nullptr;
  void *data = nullptr;
  int count = 0;
  alignas(64) std::atomic<int> active{0};
};

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_THREADPOOL_H
