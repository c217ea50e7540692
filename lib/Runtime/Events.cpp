//===- Events.cpp ---------------------------------------------------------===//

#include "wok/Runtime/Events.h"
#include "wok/Runtime/ReadScope.h"

#include <algorithm>
#include <mutex>
#include <vector>

using namespace wok::runtime;

std::atomic<uint32_t> EventStream::listeners{0};

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<EventListener *> listeners;
};
// Never destroyed: threads may emit until the process is gone.
Registry &registry() {
  static auto *registry = new Registry;
  return *registry;
}
} // namespace

EventListener::EventListener(Threads threads)
    : thread(threads == Threads::This ? &thisThread() : nullptr) {
  std::lock_guard lock(registry().mutex);
  registry().listeners.push_back(this);
  EventStream::listeners.fetch_add(1, std::memory_order_relaxed);
}

EventListener::~EventListener() { stop(); }

void EventListener::stop() noexcept {
  std::lock_guard lock(registry().mutex);
  if (stopped)
    return;
  stopped = true;
  std::erase(registry().listeners, this);
  EventStream::listeners.fetch_sub(1, std::memory_order_relaxed);
}

void EventStream::emit(const Event &event) noexcept {
  const void *self = &thisThread();
  std::lock_guard lock(registry().mutex);
  for (EventListener *listener : registry().listeners)
    if (!listener->thread || listener->thread == self)
      listener->heard(event);
}
