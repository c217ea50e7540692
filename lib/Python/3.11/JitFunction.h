//===- JitFunction.h - What `wok.jit` returns -------------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_JITFUNCTION_H
#define WOK_LIB_PYTHON_3_11_JITFUNCTION_H

#include "wok/Capture/Ref.h"
#include "wok/Python/Host.h"

namespace wok::python {

/// Adds the types `JitFunction`, `JitCallable` and `DisabledCallable` to
/// `module`. False with an exception set on failure.
bool addJitTypes(PyObject *module);

/// A callable that opens a hook window around calls of `callable`. For a plain
/// Python function, or what binds like one, the result is a `JitFunction`,
/// which binds as a method too; for anything else a `JitCallable`, which does
/// not. Null with an exception set on failure.
capture::Ref<> makeJit(PyObject *callable, const JitOptions &options);

/// A callable under which nothing is watched, for what is no Python function.
capture::Ref<> makeDisabled(PyObject *callable);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_JITFUNCTION_H
