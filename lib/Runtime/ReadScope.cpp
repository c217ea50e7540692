//===- ReadScope.cpp ------------------------------------------------------===//

#include "wok/Runtime/ReadScope.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include <pthread.h>

using namespace wok::runtime;

constinit thread_local ThreadRecord *detail::threadRecord = nullptr;
std::atomic<uint64_t> detail::epoch{1};

namespace {

std::atomic<ThreadRecord *> records{nullptr};

struct Retired {
  uint64_t epoch;
  std::shared_ptr<const void> object;
};
struct Graveyard {
  std::mutex mutex;
  std::vector<Retired> retired; ///< Whose destructors may run anything.
  std::vector<Retired> plain;
};
// Never destroyed: what still waits at the end of the process may need an
// interpreter that is gone.
Graveyard &graveyard() {
  static auto *graveyard = new Graveyard;
  return *graveyard;
}

/// Counts of the last reset, which are subtracted.
std::mutex baselineMutex;
std::array<uint64_t, counterCount> baseline{};

/// Gives the record back when its thread ends.
struct Leave {
  ThreadRecord *record = nullptr;
  ~Leave() {
    detail::threadRecord = nullptr;
    if (record)
      record->taken.store(false, std::memory_order_release);
  }
};
thread_local Leave leave;

/// In the child of a fork only this thread is left: scopes of the others never
/// end.
void resetAfterFork() {
  for (ThreadRecord *record = records.load(std::memory_order_acquire); record;
       record = record->next)
    if (record != detail::threadRecord) {
      record->active.store(0, std::memory_order_relaxed);
      record->depth = 0;
      record->taken.store(false, std::memory_order_relaxed);
    }
  graveyard().mutex.unlock();
}

} // namespace

ThreadRecord &detail::registerThread() noexcept {
  static std::once_flag registered;
  std::call_once(registered, [] {
    pthread_atfork([] { graveyard().mutex.lock(); },
                   [] { graveyard().mutex.unlock(); }, resetAfterFork);
  });

  ThreadRecord *mine = nullptr;
  for (ThreadRecord *record = records.load(std::memory_order_acquire);
       record && !mine; record = record->next) {
    bool free = false;
    if (record->taken.compare_exchange_strong(free, true,
                                              std::memory_order_acq_rel))
      mine = record;
  }
  if (!mine) {
    mine = new ThreadRecord;
    mine->next = records.load(std::memory_order_relaxed);
    while (!records.compare_exchange_weak(mine->next, mine,
                                          std::memory_order_acq_rel))
      ;
  }
  leave.record = mine;
  threadRecord = mine;
  return *mine;
}

/// Who opens a scope from here on reads a later epoch, and what was published
/// before.
static uint64_t nextEpoch() {
  return detail::epoch.fetch_add(1, std::memory_order_acq_rel);
}

/// Moves what no scope sees any more out of `retired`. Under the lock.
static std::vector<Retired> takeUnseen(std::vector<Retired> &retired) {
  uint64_t oldest = UINT64_MAX;
  for (ThreadRecord *record = records.load(std::memory_order_acquire); record;
       record = record->next)
    if (uint64_t active = record->active.load(std::memory_order_seq_cst))
      oldest = std::min(oldest, active);
  auto seen = std::partition(
      retired.begin(), retired.end(),
      [&](const Retired &object) { return object.epoch < oldest; });
  std::vector<Retired> unseen(std::make_move_iterator(retired.begin()),
                              std::make_move_iterator(seen));
  retired.erase(retired.begin(), seen);
  return unseen;
}

void wok::runtime::retire(std::shared_ptr<const void> object) {
  std::lock_guard lock(graveyard().mutex);
  graveyard().retired.push_back({nextEpoch(), std::move(object)});
}

void wok::runtime::retirePlain(std::shared_ptr<const void> object) {
  constexpr size_t enough = 16;
  std::vector<Retired> unseen; // Destroyed after the lock is gone.
  std::lock_guard lock(graveyard().mutex);
  std::vector<Retired> &plain = graveyard().plain;
  plain.push_back({nextEpoch(), std::move(object)});
  if (plain.size() >= enough)
    unseen = takeUnseen(plain);
}

size_t wok::runtime::collectRetired() {
  // Destructors may run anything, another collection included: not under the
  // lock.
  std::vector<Retired> unseen, plain;
  std::lock_guard lock(graveyard().mutex);
  unseen = takeUnseen(graveyard().retired);
  plain = takeUnseen(graveyard().plain);
  return graveyard().retired.size() + graveyard().plain.size();
}

static std::array<uint64_t, counterCount> sumCounters() {
  std::array<uint64_t, counterCount> sums{};
  for (ThreadRecord *record = records.load(std::memory_order_acquire); record;
       record = record->next)
    for (size_t i = 0; i < counterCount; ++i)
      sums[i] += record->counters[i].load(std::memory_order_relaxed);
  return sums;
}

std::array<uint64_t, counterCount> wok::runtime::readCounters() noexcept {
  std::lock_guard lock(baselineMutex);
  auto sums = sumCounters();
  for (size_t i = 0; i < counterCount; ++i)
    sums[i] -= baseline[i];
  return sums;
}

void wok::runtime::resetCounters() noexcept {
  std::lock_guard lock(baselineMutex);
  baseline = sumCounters();
}
