//===- ReadScope.h - What a reader sees stays alive -------------*- C++ -*-===//
//
// Lists that many threads read and few change are published through an atomic
// pointer. A reader takes no lock: it opens a scope, and what was published
// when it looked stays alive until the scope ends. A writer publishes a new
// list and retires the old one, which is destroyed when no scope can see it any
// more.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_RUNTIME_READSCOPE_H
#define WOK_RUNTIME_READSCOPE_H

#include "wok/Runtime/Counters.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace wok::runtime {

/// What the runtime knows about a thread. Never freed; used again by later
/// threads.
struct ThreadRecord {
  /// Epoch at which the outermost open scope began, or 0.
  std::atomic<uint64_t> active{0};
  uint32_t depth = 0;
  /// Written by the owning thread only.
  std::atomic<uint64_t> counters[counterCount] = {};
  std::atomic<bool> taken{true};
  ThreadRecord *next = nullptr;
};

namespace detail {
extern constinit thread_local ThreadRecord *threadRecord;
extern std::atomic<uint64_t> epoch;
ThreadRecord &registerThread() noexcept;
} // namespace detail

/// The record of the calling thread.
inline ThreadRecord &thisThread() noexcept {
  ThreadRecord *record = detail::threadRecord;
  return record ? *record : detail::registerThread();
}

/// Adds to a counter of this thread.
inline void count(Counter counter, uint64_t amount = 1) noexcept {
  std::atomic<uint64_t> &cell =
      thisThread().counters[static_cast<size_t>(counter)];
  cell.store(cell.load(std::memory_order_relaxed) + amount,
             std::memory_order_relaxed);
}

/// While one is open on a thread, nothing that the thread reads from a
/// `Published` is destroyed. Scopes nest. Must end on the thread that began it.
class ReadScope {
public:
  ReadScope() noexcept : record(thisThread()) {
    if (record.depth++ == 0)
      record.active.store(detail::epoch.load(std::memory_order_acquire),
                          std::memory_order_seq_cst);
  }
  ~ReadScope() {
    if (--record.depth == 0)
      record.active.store(0, std::memory_order_release);
  }
  ReadScope(const ReadScope &) = delete;
  ReadScope &operator=(const ReadScope &) = delete;

private:
  ThreadRecord &record;
};

/// Hands `object` over: a later `collectRetired` destroys it, once every scope
/// that is open now has ended. Destroys nothing itself.
void retire(std::shared_ptr<const void> object);

/// The same for objects that are memory and nothing else: those are destroyed
/// by later calls too, so that they never pile up.
void retirePlain(std::shared_ptr<const void> object);

/// Destroys what no scope sees any more. A host calls it when it has time, and
/// where destructors may run (under the GIL). Returns how many objects still
/// wait.
size_t collectRetired();

/// A pointer to an immutable object that is replaced as a whole. `isPlain`: its
/// destructor only frees memory.
template <class T, bool isPlain = false>
class Published {
public:
  Published() = default;
  Published(const Published &) = delete;
  Published &operator=(const Published &) = delete;
  /// No reader may be left.
  ~Published() = default;

  /// Needs an open `ReadScope`, or whatever excludes writers.
  const T *read() const noexcept {
    return current.load(std::memory_order_seq_cst);
  }

  /// One writer at a time. The old object is retired.
  void publish(std::shared_ptr<const T> fresh) {
    current.store(fresh.get(), std::memory_order_seq_cst);
    std::swap(owner, fresh);
    if (fresh)
      isPlain ? retirePlain(std::move(fresh)) : retire(std::move(fresh));
  }

private:
  std::atomic<const T *> current{nullptr};
  std::shared_ptr<const T> owner;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_READSCOPE_H
