//===- FrameEvaluator.cpp - The PEP 523 hook ------------------------------===//

#include "FrameEvaluator.h"

#include "Emulate.h"
#include "HostCounters.h"
#include "Internals.h"
#include "Registry.h"
#include "TrapCode.h"
#include "wok/Python/Host.h"

#include <cassert>
#include <cstring>
#include <pthread.h>
#include <unordered_map>

namespace wok::python {

namespace {

//===--- State ------------------------------------------------------------===//

/// What the hook knows of a thread.
struct ThreadState {
  uint32_t windows = 0;
  uint32_t pauses = 0;
  /// Below this address of the C stack the hook is left out: with it every
  /// Python call takes C stack, which plain CPython does not need. 0: not known
  /// yet.
  uintptr_t stackFloor = 0;
  /// The frame that was given to the evaluator that was there before us. If it
  /// comes back, the two evaluators stand on each other.
  _PyInterpreterFrame *chained = nullptr;
};
thread_local ThreadState threadState;

/// What holds for the process. Under the GIL.
struct HookState {
  PyInterpreterState *interpreter = nullptr;
  _PyFrameEvalFunction previous = nullptr; ///< Null: CPython's own.
  uint32_t openThreads = 0;                ///< Threads with a window.
  bool everything = false;
  /// Watched generators -> the weak reference that reports their death.
  std::unordered_map<PyObject *, PyObject *> generators;
  std::unordered_map<PyObject *, PyObject *> generatorOfWeak;

  bool wanted() const {
    return openThreads > 0 || everything || !generators.empty();
  }
};
HookState &hook() {
  static auto &state = *new HookState;
  return state;
}

PyObject *evaluateFrame(PyThreadState *, _PyInterpreterFrame *, int throwFlag);

/// Whether frames come to this evaluator first.
bool isTopmost(const PyThreadState *ts) {
  return ts->interp->eval_frame == evaluateFrame;
}

void install() {
  HookState &state = hook();
  if (!state.interpreter)
    state.interpreter = PyInterpreterState_Get();
  _PyFrameEvalFunction &current = state.interpreter->eval_frame;
  if (current == evaluateFrame)
    return;
  state.previous = current;
  current = evaluateFrame;
}

void uninstall() {
  HookState &state = hook();
  // Another evaluator may have come on top of ours; it will put ours back,
  // which then finds no window.
  if (!state.interpreter || state.interpreter->eval_frame != evaluateFrame)
    return;
  state.interpreter->eval_frame = state.previous;
  state.previous = nullptr;
}

void uninstallUnlessWanted() {
  if (!hook().wanted())
    uninstall();
}

/// Takes the hook away for a while, if it is the topmost; true if it was.
bool lift() {
  HookState &state = hook();
  if (!state.interpreter || state.interpreter->eval_frame != evaluateFrame)
    return false;
  uninstall();
  return true;
}

/// Ends a successful `lift`. An evaluator that came in between and is still
/// there stays on top: whoever put it there wants the next frames.
void lower(_PyFrameEvalFunction below) {
  if (hook().wanted() && hook().interpreter->eval_frame == below)
    install();
}

bool stackIsLow(ThreadState &thread) {
  char here;
  if (thread.stackFloor == 0) [[unlikely]] {
    // The hook may use a quarter of the thread's stack; what the program itself
    // needs stays.
    thread.stackFloor = 1;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      void *bottom = nullptr;
      size_t size = 0;
      if (pthread_attr_getstack(&attributes, &bottom, &size) == 0)
        thread.stackFloor =
            reinterpret_cast<uintptr_t>(bottom) + size - size / 4;
      pthread_attr_destroy(&attributes);
    }
  }
  return reinterpret_cast<uintptr_t>(&here) < thread.stackFloor;
}

/// A frame that is not watched goes to whoever would have got it without us.
PyObject *chain(ThreadState &thread, PyThreadState *ts,
                _PyInterpreterFrame *frame, int throwFlag) {
  _PyFrameEvalFunction previous = hook().previous;
  if (!previous || thread.chained == frame)
    return _PyEval_EvalFrameDefault(ts, frame, throwFlag);
  _PyInterpreterFrame *saved = std::exchange(thread.chained, frame);
  PyObject *result = previous(ts, frame, throwFlag);
  thread.chained = saved;
  return result;
}

//===--- Arrivals ---------------------------------------------------------===//

/// Makes a frame that stands at a site the current frame of its thread, as
/// CPython's evaluator does for a frame that it runs, and takes a recursion
/// level: so code of ours may run Python there.
class FrameLink {
public:
  FrameLink(PyThreadState *ts, _PyInterpreterFrame *frame) : ts(ts) {
    _PyCFrame *below = ts->cframe;
    linked.use_tracing = below->use_tracing;
    linked.previous = below;
    linked.current_frame = frame;
    frame->is_entry = true;
    frame->previous = below->current_frame;
    ts->cframe = &linked;
    --ts->recursion_remaining;
  }
  ~FrameLink() {
    ++ts->recursion_remaining;
    ts->cframe = linked.previous;
    ts->cframe->use_tracing = linked.use_tracing;
  }
  FrameLink(const FrameLink &) = delete;
  FrameLink &operator=(const FrameLink &) = delete;

private:
  PyThreadState *ts;
  _PyCFrame linked;
};

Arrival arriveAt(PyThreadState *ts, _PyInterpreterFrame *frame,
                 WatchedCode &watched, int32_t offset) {
  const int slots = frame->f_code->co_nlocalsplus;
  FrameView view;
  view.function = frame->f_func;
  view.code = watched.code();
  view.globals = frame->f_globals;
  view.builtins = frame->f_builtins;
  view.localsDict = frame->f_locals;
  view.localsplus = frame->localsplus;
  view.stack = frame->localsplus + slots;
  view.stackDepth = frame->stacktop - slots;
  view.offset = offset;
  view.isGenerator = frame->owner == FRAME_OWNED_BY_GENERATOR;

  // Frames that our own work enters (finalizers, the libraries' Python) are not
  // for capture.
  HookPause pause;
  FrameLink link(ts, frame);
  Arrival arrival =
      arrivalOverride ? arrivalOverride(view) : arrive(*watched.sites(), view);
  assert((arrival.action == Arrival::Action::Raise) ==
         (PyErr_Occurred() != nullptr));
  return arrival;
}

/// Whether the evaluator came back because of a trap, and not because the frame
/// is done.
bool stoppedAtTrap(PyThreadState *ts, _PyInterpreterFrame *frame,
                   const TrapCode &trap, PyObject *result, int32_t offset) {
  // A null on top of the stack (PUSH_NULL) is a null result, but without an
  // exception.
  if (!result)
    return ts->curexc_type == nullptr;
  switch (trap.pristineOp(offset)) {
  case Op::ReturnValue:
  case Op::ReturnGenerator:
    return false;
  case Op::YieldValue:
    return !(frame->owner == FRAME_OWNED_BY_GENERATOR &&
             _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_SUSPENDED);
  default:
    return true;
  }
}

/// Runs a frame on trap code from where it stands to its return or yield.
///
/// The frame owns a reference to its code; while it runs here that is one to
/// the copy, and the one to the original is ours. Whoever sees the frame after
/// it left sees the original.
class TrapRun {
public:
  TrapRun(PyThreadState *ts, _PyInterpreterFrame *frame, WatchedCode &watched,
          TrapCode &trap)
      : ts(ts), frame(frame), watched(watched), trap(trap),
        original(frame->f_code) {
    ++hostCounters.frames;
    watched.retain();
    trap.retain();
    ++trap.frames;
    trap.settle();
    const int32_t offset = _PyInterpreterFrame_LASTI(frame);
    Py_INCREF(trap.copy());
    frame->f_code = trap.copy();
    frame->prev_instr = trap.units() + offset;
  }
  ~TrapRun() {
    trap.settle();
    restoreOriginal();
    --trap.frames;
    trap.release();
    watched.release();
  }
  TrapRun(const TrapRun &) = delete;
  TrapRun &operator=(const TrapRun &) = delete;

  /// True: the frame is done, with `result`. False: it goes on, on its original
  /// code.
  bool run(PyObject *&result) {
    int throwFlag = 0;
    for (;;) {
      result = _PyEval_EvalFrameDefault(ts, frame, throwFlag);
      throwFlag = 0;
      const int32_t offset =
          static_cast<int32_t>(frame->prev_instr - trap.units());
      if (!stoppedAtTrap(ts, frame, trap, result, offset)) [[unlikely]]
        return true;
      ++hostCounters.traps;
      // What the trap "returned" was popped without losing its reference; there
      // may have been nothing on the stack at all. `result` is never looked at.
      ++frame->stacktop;
      trap.settle();
      if (!mayTakeOver()) {
        goOnAt(offset);
        return false;
      }
      throwFlag = handleStop(offset);
      if (!mayTakeOver() && !throwFlag)
        return false;
    }
  }

private:
  /// Tracing sees every instruction of the original, and nothing of ours.
  bool mayTakeOver() const {
    return !trap.isRetired() && !ts->cframe->use_tracing;
  }

  void goOnAt(int32_t offset) { frame->prev_instr = trap.units() + offset - 1; }

  /// The frame stopped at `offset`. Prepares it to be run again; returns the
  /// throw flag.
  int handleStop(int32_t offset) {
    while (trap.isSite(offset)) {
      ++hostCounters.arrivals;
      // With another evaluator on top, what the frame calls is not for capture.
      if ((watched.isDispatching() || arrivalOverride) &&
          ts->recursion_remaining > 1 && isTopmost(ts)) {
        Arrival arrival = arriveAt(ts, frame, watched, offset);
        if (!arrival.arm.empty())
          watched.arm(arrival.arm);
        if (!arrival.disarm.empty())
          watched.disarm(arrival.disarm);
        const int base = frame->f_code->co_nlocalsplus;
        if (arrival.action == Arrival::Action::Resume) {
          ++hostCounters.resumed;
          frame->stacktop = base + arrival.stackDepth;
          goOnAt(arrival.offset);
          return 0;
        }
        if (arrival.action == Arrival::Action::Raise) {
          frame->stacktop = base + arrival.stackDepth;
          frame->prev_instr =
              trap.units() +
              trap.bytecode().containing(arrival.offset).opOffset;
          return 1;
        }
      }
      if (!trap.isArmed(
              offset)) // The dispatcher took it away, or tracing began.
        break;
      int32_t next = emulate(frame, trap, offset);
      if (next < 0) {
        ++hostCounters.passed;
        trap.passOver(offset);
        break;
      }
      ++hostCounters.emulated;
      offset = next;
    }
    goOnAt(offset);
    return 0;
  }

  void restoreOriginal() {
    const int32_t offset =
        static_cast<int32_t>(frame->prev_instr - trap.units());
    assert(frame->f_code == trap.copy());
    frame->f_code = original;
    frame->prev_instr = _PyCode_CODE(original) + offset;
    Py_DECREF(trap.copy());
  }

  PyThreadState *ts;
  _PyInterpreterFrame *frame;
  WatchedCode &watched;
  TrapCode &trap;
  PyCodeObject *original;
};

PyObject *runOnTrapCode(PyThreadState *ts, _PyInterpreterFrame *frame,
                        WatchedCode &watched, TrapCode &trap) {
  PyObject *result = nullptr;
  if (TrapRun(ts, frame, watched, trap).run(result))
    return result;
  return _PyEval_EvalFrameDefault(ts, frame, 0);
}

/// `generator` is done or dead.
void forgetGenerator(PyObject *generator) {
  HookState &state = hook();
  auto found = state.generators.find(generator);
  if (found == state.generators.end())
    return;
  PyObject *weak = found->second;
  state.generatorOfWeak.erase(weak);
  state.generators.erase(found);
  uninstallUnlessWanted();
  Py_DECREF(weak);
}

PyObject *generatorDied(PyObject *, PyObject *weak) {
  auto found = hook().generatorOfWeak.find(weak);
  if (found != hook().generatorOfWeak.end())
    forgetGenerator(found->second);
  Py_RETURN_NONE;
}

//===--- The hook ---------------------------------------------------------===//

/// The call that makes a generator: its frame is about to be copied into the
/// generator.
bool makesGenerator(const _PyInterpreterFrame *frame) {
  return (frame->f_code->co_flags &
          (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) &&
         frame->owner != FRAME_OWNED_BY_GENERATOR;
}

/// Runs `frame` without the hook, so that CPython runs what it calls on one C
/// frame.
PyObject *evaluateUnhooked(PyThreadState *ts, _PyInterpreterFrame *frame,
                           int throwFlag) {
  ++hostCounters.capped;
  _PyFrameEvalFunction previous = hook().previous;
  const bool lifted = lift();
  PyObject *result = previous ? previous(ts, frame, throwFlag)
                              : _PyEval_EvalFrameDefault(ts, frame, throwFlag);
  if (lifted)
    lower(previous);
  return result;
}

PyObject *evaluateWatched(ThreadState &thread, PyThreadState *ts,
                          _PyInterpreterFrame *frame, int throwFlag) {
  WatchedCode *watched = Registry::get().watch(frame->f_code);
  if (watched && watched->disabled) {
    HookPause pause;
    return _PyEval_EvalFrameDefault(ts, frame, throwFlag);
  }
  if (throwFlag || ts->cframe->use_tracing)
    return _PyEval_EvalFrameDefault(ts, frame, throwFlag);
  TrapCode *trap =
      watched && !makesGenerator(frame) ? watched->trapCode() : nullptr;
  if (!trap)
    return chain(thread, ts, frame, throwFlag);
  return runOnTrapCode(ts, frame, *watched, *trap);
}

PyObject *evaluateFrame(PyThreadState *ts, _PyInterpreterFrame *frame,
                        int throwFlag) {
  ThreadState &thread = threadState;
  HookState &state = hook();
  // Frames that an evaluator on top of ours hands down are none of ours: it is
  // at work (compiling, perhaps), or it passed them over.
  if (ts->interp != state.interpreter || thread.pauses || !isTopmost(ts))
    return chain(thread, ts, frame, throwFlag);
  if (stackIsLow(thread)) [[unlikely]]
    return evaluateUnhooked(ts, frame, throwFlag);
  if (thread.windows || state.everything)
    return evaluateWatched(thread, ts, frame, throwFlag);
  if (!state.generators.empty() && frame->owner == FRAME_OWNED_BY_GENERATOR) {
    PyGenObject *generator = _PyFrame_GetGenerator(frame);
    auto *object = reinterpret_cast<PyObject *>(generator);
    if (state.generators.count(object)) {
      PyObject *result;
      {
        HookWindow window;
        result = evaluateWatched(thread, ts, frame, throwFlag);
      }
      if (generator->gi_frame_state != FRAME_SUSPENDED)
        forgetGenerator(object);
      return result;
    }
  }
  // Left behind by an evaluator that was on top of ours when the last window
  // closed.
  if (!state.wanted()) {
    _PyFrameEvalFunction previous = state.previous;
    uninstall();
    if (previous)
      return previous(ts, frame, throwFlag);
  }
  return chain(thread, ts, frame, throwFlag);
}

//===--- Audit hook and getter --------------------------------------------===//

bool auditSelfTest = false;

/// Trace functions see events of the original code only: frames that run on
/// trap code when tracing begins must not meet a trap any more.
int auditHook(const char *event, PyObject *, void *) {
  if (event[0] == 's' && (!std::strcmp(event, "sys.settrace") ||
                          !std::strcmp(event, "sys.setprofile")))
    Registry::get().retireFlying();
  else if (event[0] == 'w' && !std::strcmp(event, "wok.selftest"))
    auditSelfTest = true;
  return 0;
}

PyObject *frameCode(PyObject *frame, void *) {
  PyCodeObject *code =
      PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame));
  if (PyCodeObject *original = TrapCode::originalOf(code)) {
    Py_INCREF(original);
    Py_DECREF(code);
    code = original;
  }
  return reinterpret_cast<PyObject *>(code);
}

void forkedChild() {
  // Only this thread lives on.
  hook().openThreads = threadState.windows > 0;
}

} // namespace

//===--- Interface --------------------------------------------------------===//

HookWindow::HookWindow() {
  ThreadState &thread = threadState;
  if (thread.windows++ > 0)
    return;
  ++hook().openThreads;
  if (!stackIsLow(thread))
    install();
}

HookWindow::~HookWindow() {
  if (--threadState.windows > 0)
    return;
  --hook().openThreads;
  uninstallUnlessWanted();
}

HookPause::HookPause() {
  ThreadState &thread = threadState;
  // If nobody else wants the hook, CPython's own evaluator runs what comes at
  // full speed.
  if (thread.pauses++ == 0 && hook().openThreads == (thread.windows > 0) &&
      !hook().everything) {
    below = hook().previous;
    lifted = lift();
  }
}

HookPause::~HookPause() {
  --threadState.pauses;
  if (lifted)
    lower(below);
}

bool isPaused() { return threadState.pauses > 0; }

void watchEverything(bool on) {
  hook().everything = on;
  on ? install() : uninstallUnlessWanted();
}

bool watchGenerator(PyObject *generator) {
  if (!PyGen_CheckExact(generator) && !PyCoro_CheckExact(generator) &&
      !PyAsyncGen_CheckExact(generator))
    return true;
  HookState &state = hook();
  if (state.generators.count(generator))
    return true;
  static PyMethodDef method = {"_generator_died", generatorDied, METH_O,
                               nullptr};
  static PyObject *callback = PyCFunction_New(&method, nullptr);
  PyObject *weak = callback ? PyWeakref_NewRef(generator, callback) : nullptr;
  if (!weak)
    return false;
  state.generators.emplace(generator, weak);
  state.generatorOfWeak.emplace(weak, generator);
  install();
  return true;
}

bool setUpFrameEvaluator() {
  static bool done = false;
  if (done)
    return true;
  // An audit hook that is there already may veto ours, silently; hence the
  // test.
  if (PySys_AddAuditHook(auditHook, nullptr) < 0)
    return false;
  auditSelfTest = false;
  if (PySys_Audit("wok.selftest", nullptr) < 0)
    return false;
  if (!auditSelfTest) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "an audit hook of the program keeps Wok from adding its own");
    return false;
  }
  hook().interpreter = PyInterpreterState_Get();
  for (PyGetSetDef *getter = PyFrame_Type.tp_getset; getter && getter->name;
       ++getter)
    if (!std::strcmp(getter->name, "f_code"))
      getter->get = frameCode;
  pthread_atfork(nullptr, nullptr, forkedChild);
  done = true;
  return true;
}

} // namespace wok::python
