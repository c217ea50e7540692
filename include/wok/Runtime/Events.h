//===- Events.h - What happened, for reports --------------------*- C++ -*-===//
//
// One stream of events from the runtime and its hosts. When nobody listens an
// event costs one load; the counters of Counters.h always run.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_RUNTIME_EVENTS_H
#define WOK_RUNTIME_EVENTS_H

#include <atomic>
#include <cstdint>
#include <string_view>

namespace wok::runtime {

/// One thing that happened. Texts live as long as the call of the listener.
struct Event {
  enum class Kind : uint8_t {
    Captured, ///< A subgraph was read from the program; `text`: its operations.
    Compiled, ///< One phase of its compilation; `text`: the phase.
    Hit,      ///< A lookup found specialization `number`.
    Missed, ///< A lookup found none; `guard` of specialization `number` failed;
            ///< `text`: what it assumes.
    Ran,    ///< Specialization `number` ran and was committed.
    Broke,  ///< The interpreter goes on; `text`: the reason.
    FellBack, ///< A run was given up before it changed anything; `number`: the
              ///< status.
  };
  static constexpr uint32_t none = UINT32_MAX;

  Kind kind;
  std::string_view where = {}; ///< The site: "file:line".
  std::string_view text = {};
  uint32_t number = none;
  uint32_t guard = none;
  int64_t nanoseconds = 0; ///< What it cost.
};

constexpr std::string_view toString(Event::Kind kind) {
  constexpr std::string_view names[] = {
      "captured", "compiled", "hit", "missed", "ran", "broke", "fell back"};
  return names[static_cast<uint8_t>(kind)];
}

/// Hears events while it exists, on the thread where they happen, one at a
/// time.
class EventListener {
public:
  enum class Threads : uint8_t { All, This };
  explicit EventListener(Threads threads = Threads::All);
  virtual ~EventListener();
  EventListener(const EventListener &) = delete;

  /// Does not throw, and emits no events.
  virtual void heard(const Event &event) noexcept = 0;

protected:
  /// For destructors of subclasses: afterwards `heard` is called no more.
  void stop() noexcept;

private:
  friend class EventStream;
  const void *thread; ///< Null: all.
  bool stopped = false;
};

class EventStream {
public:
  static bool listening() noexcept {
    return listeners.load(std::memory_order_relaxed) != 0;
  }
  static void emit(const Event &event) noexcept;

private:
  friend class EventListener;
  static std::atomic<uint32_t> listeners;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_EVENTS_H
