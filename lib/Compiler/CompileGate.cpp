//===- CompileGate.cpp - Compiles against fork and exit ---------*- C++ -*-===//

#include "CompileGate.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <pthread.h>

using namespace wok;

namespace {

/// Never destroyed: threads may outlive the statics of this library.
struct GateState {
  std::mutex mutex;
  std::condition_variable idle;
  int compiling = 0;
  bool closed = false;
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
  if (depth == 0)
    state.idle.wait(lock, [&] { return state.compiling == 0; });
  // Stays locked over the fork, so that no compile begins.
  lock.release();
}

void afterForkInParent() { gateState().mutex.unlock(); }

void afterForkInChild() {
  GateState &state = gateState();
  // Whoever waited is not here.
  new (&state.idle) std::condition_variable;
  state.mutex.unlock();
}

void atExit() {
  GateState &state = gateState();
  std::unique_lock lock(state.mutex);
  state.closed = true;
  if (depth == 0)
    state.idle.wait(lock, [&] { return state.compiling == 0; });
}

} // namespace

CompileGate::CompileGate() {
  GateState &state = gateState();
  std::lock_guard lock(state.mutex);
  entered = !state.closed || depth > 0;
  if (!entered)
    return;
  ++state.compiling;
  ++depth;
}

CompileGate::~CompileGate() {
  if (!entered)
    return;
  GateState &state = gateState();
  std::lock_guard lock(state.mutex);
  --depth;
  if (--state.compiling == 0)
    state.idle.notify_all();
}

void CompileGate::install() {
  static const bool installed = [] {
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    std::atexit(atExit);
    return true;
  }();
  (void)installed;
}
