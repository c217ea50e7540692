//===- CompileGate.cpp - Compiles against fork and exit ---------*- C++ -*-===//

#include "CompileGate.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace wok;

namespace {

/// Never destroyed: threads may outlive the statics of this library.
struct GateState {
  std::mutex mutex;
  std::condition_variable idle;
  std::condition_variable open;
  int compiling = 0;
  /// Forks that wait until nothing compiles; no compile begins meanwhile, for
  /// threads that compile all the time would keep them waiting.
  int forks = 0;
  bool closed = false;
  /// Who closed it.
  std::thread::id closer;
};

GateState &gateState() {
  static GateState *state = new GateState;
  return *state;
}

/// Compiles nest: one that is under way on this thread holds the gate open for
/// those it begins, whoever waits.
thread_local int depth = 0;

void beforeFork() {
  GateState &state = gateState();
  std::unique_lock lock(state.mutex);
  // A fork from within a compile would wait for itself. The child must not
  // compile; it got what it asked for.
  ++state.forks;
  if (depth == 0)
    state.idle.wait(lock, [&] { return state.compiling == 0; });
  --state.forks;
  // Stays locked over the fork, so that no compile begins.
  lock.release();
}

void afterForkInParent() {
  GateState &state = gateState();
  state.mutex.unlock();
  state.open.notify_all();
}

void afterForkInChild() {
  GateState &state = gateState();
  // Whoever waited is not here.
  new (&state.idle) std::condition_variable;
  new (&state.open) std::condition_variable;
  state.forks = 0;
  state.mutex.unlock();
}

/// Lets no compile begin and waits for those that are under way.
void closeGate() {
  GateState &state = gateState();
  std::unique_lock lock(state.mutex);
  state.closed = true;
  state.closer = std::this_thread::get_id();
  if (depth == 0)
    state.idle.wait(lock, [&] { return state.compiling == 0; });
}

/// Handlers of `atexit` are too late: statics that LLVM makes while it compiles
/// are newer, and destroyed before. What belongs to the main thread goes first
/// of all.
struct MainThreadEnd {
  bool isMain = gettid() == getpid();
  ~MainThreadEnd() {
    if (isMain)
      closeGate();
  }
};

void watchEnd() {
  static thread_local MainThreadEnd end;
  (void)end;
}

//===----------------------------------------------------------------------===//
// The end of a thread that compiled
//===----------------------------------------------------------------------===//

extern "C" int __cxa_thread_atexit(void (*destructor)(void *), void *object,
                                   void *dso) noexcept;
extern "C" void *__dso_handle;

void enter(GateState &state) {
  ++state.compiling;
  ++depth;
}

void leave(GateState &state) {
  --depth;
  if (--state.compiling == 0)
    state.idle.notify_all();
}

/// MLIR keeps caches for each thread and context, and takes its locks when the
/// thread's are destroyed. That is under the gate as well: it is entered before
/// any of them goes, by what was registered after all of them, and left in the
/// destructor of a POSIX key, which runs after all destructors of C++.
void enterForTheEnd(void *) {
  static const pthread_key_t leaveLast = [] {
    pthread_key_t key;
    pthread_key_create(&key, [](void *) {
      std::lock_guard lock(gateState().mutex);
      leave(gateState());
    });
    return key;
  }();
  GateState &state = gateState();
  std::unique_lock lock(state.mutex);
  // The end of the main thread closes the gate itself.
  if (state.closed || depth > 0 || gettid() == getpid())
    return;
  state.open.wait(lock, [&] { return state.forks == 0; });
  if (pthread_setspecific(leaveLast, &state) == 0)
    enter(state);
}

/// The thread that loads this library is as a rule the one that ends the
/// process, and may never compile itself.
[[maybe_unused]] const bool watched = (watchEnd(), true);

} // namespace

CompileGate::CompileGate(WhenClosed whenClosed) {
  watchEnd();
  GateState &state = gateState();
  std::unique_lock lock(state.mutex);
  if (depth == 0)
    state.open.wait(lock, [&] { return state.forks == 0; });
  entered = !state.closed || depth > 0;
  if (!entered && whenClosed == WhenClosed::Stay &&
      state.closer != std::this_thread::get_id()) {
    lock.unlock();
    for (;;)
      pause();
  }
  if (entered)
    enter(state);
}

CompileGate::~CompileGate() {
  if (!entered)
    return;
  GateState &state = gateState();
  std::lock_guard lock(state.mutex);
  leave(state);
}

void CompileGate::watchThreadEnd() {
  __cxa_thread_atexit(enterForTheEnd, nullptr, &__dso_handle);
}

void CompileGate::install() {
  watchEnd();
  static const bool installed = [] {
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    std::atexit(closeGate);
    return true;
  }();
  (void)installed;
}
