//===- FrameEvaluator.h - The PEP 523 hook ----------------------*- C++ -*-===//
//
// Wok's frame evaluator is installed only while a window is open. In a window
// of its thread every frame is watched: it runs on trap code, and its arrivals
// at sites go to the dispatcher.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_FRAMEEVALUATOR_H
#define WOK_LIB_PYTHON_3_11_FRAMEEVALUATOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "wok/Python/Host.h"

namespace wok::python {

/// While it lives, frames that this thread enters are watched. Nests. Needs the
/// GIL at both ends.
class HookWindow {
public:
  HookWindow();
  ~HookWindow();
  HookWindow(const HookWindow &) = delete;
  HookWindow &operator=(const HookWindow &) = delete;
};

/// While it lives, frames that this thread enters are not watched, whatever
/// windows are open or are opened in between; nor are they slowed down if no
/// other thread has a window. Needs the GIL at both ends.
class HookPause {
public:
  HookPause();
  ~HookPause();
  HookPause(const HookPause &) = delete;
  HookPause &operator=(const HookPause &) = delete;

private:
  bool lifted = false;
  PyObject *(*below)(PyThreadState *, struct _PyInterpreterFrame *,
                     int) = nullptr;
};

/// Whether a HookPause lives on this thread.
bool isPaused();

/// Watches every frame of every thread of the interpreter from now on
/// (`--watch=all`), or no longer.
void watchEverything(bool on);

/// A generator, coroutine or async generator that a watched call returned: a
/// window opens whenever it runs. The hook stays installed as long as one
/// lives. Other objects are ignored. False with an exception set if there is no
/// memory.
bool watchGenerator(PyObject *generator);

/// Makes ready what lasts as long as the process: the audit hook that sees
/// `sys.settrace` coming, and the getter that hides trap code from
/// `frame.f_code`. Once. False with a Python exception if the audit hook was
/// vetoed: then nothing may be watched.
bool setUpFrameEvaluator();

/// Tests put themselves in the dispatcher's place.
inline Arrival (*arrivalOverride)(FrameView &frame) = nullptr;

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_FRAMEEVALUATOR_H
