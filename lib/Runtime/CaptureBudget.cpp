//===- CaptureBudget.cpp --------------------------------------------------===//

#include "wok/Runtime/CaptureBudget.h"

#include <algorithm>

using namespace wok::runtime;

bool CaptureBudget::begin(size_t entries) noexcept {
  uint32_t seen = misses.fetch_add(1, std::memory_order_relaxed) + 1;
  State now = state.load(std::memory_order_acquire);
  if (now == State::Busy || now == State::Frozen || entries >= limit ||
      seen < wakeAt.load(std::memory_order_relaxed))
    return false;
  return state.compare_exchange_strong(now, State::Busy,
                                       std::memory_order_acq_rel);
}

void CaptureBudget::finish(Outcome outcome) noexcept {
  uint32_t seen = misses.load(std::memory_order_relaxed);
  State next = State::Open;
  if (outcome == Outcome::Compiled) {
    uint32_t count = compiled.fetch_add(1, std::memory_order_relaxed) + 1;
    uint32_t doublings =
        count < immediate ? 0 : std::min<uint32_t>(count - immediate + 1, 20);
    wakeAt.store(seen + (1u << doublings), std::memory_order_relaxed);
  } else {
    uint32_t count = failures.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count == 2) {
      next = State::Cold;
      wakeAt.store(2 * seen + 16, std::memory_order_relaxed);
    } else if (count > 2) {
      next = State::Frozen;
    }
  }
  // A host may have frozen the site meanwhile.
  State busy = State::Busy;
  state.compare_exchange_strong(busy, next, std::memory_order_acq_rel);
}

void CaptureBudget::freeze() noexcept {
  state.store(State::Frozen, std::memory_order_release);
}

void CaptureBudget::reset() noexcept {
  misses = 0;
  compiled = 0;
  failures = 0;
  wakeAt = 0;
  state.store(State::Open, std::memory_order_release);
}
