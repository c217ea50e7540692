//===- CaptureBudget.h - Whether a site captures again ----------*- C++ -*-===//

#ifndef WOK_RUNTIME_CAPTUREBUDGET_H
#define WOK_RUNTIME_CAPTUREBUDGET_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wok::runtime {

/// Decides at a miss whether to capture. One thread captures at a time; others
/// go on in the interpreter. The first captures of a site happen at once, later
/// ones wait for twice as many misses each time; a site that gave nothing twice
/// is cold, and gets one new chance when it has been missed as often again.
/// Thread-safe.
class CaptureBudget {
public:
  enum class Outcome : uint8_t {
    Compiled, ///< A specialization was inserted.
    Nothing,  ///< There was nothing worth compiling.
    Failed,   ///< The compiler gave up.
  };

  /// Counts a miss at a site with `entries` specializations. True: the caller
  /// captures, and calls `finish` afterwards whatever happens.
  bool begin(size_t entries) noexcept;
  void finish(Outcome outcome) noexcept;

  /// Captures that gave a specialization. From the second on, what changed
  /// becomes dynamic.
  uint32_t captures() const noexcept {
    return compiled.load(std::memory_order_relaxed);
  }
  bool isCold() const noexcept {
    return state.load(std::memory_order_relaxed) >= State::Cold;
  }
  /// Cold for good: a host may take the site's trap away.
  void freeze() noexcept;
  /// As at the beginning.
  void reset() noexcept;

  /// Specializations of a site. Beyond, what exists serves on.
  size_t limit = 8;
  /// Captures that do not wait.
  uint32_t immediate = 4;

private:
  enum class State : uint8_t { Open, Busy, Cold, Frozen };
  std::atomic<State> state{State::Open};
  std::atomic<uint32_t> misses{0}, compiled{0}, failures{0};
  std::atomic<uint32_t> wakeAt{
      0}; ///< Misses at which the next capture may begin.
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_CAPTUREBUDGET_H
