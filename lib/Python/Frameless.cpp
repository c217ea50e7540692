//===- Frameless.cpp - Calls that are one subgraph ------------------------===//
//
// Where a function's entry has a specialization that returns, a call needs no
// frame: guards, kernels and exit run on its arguments.
//
//===----------------------------------------------------------------------===//

#include "3.11/Peek.h"
#include "CodeSites.h"
#include "Recording.h"

namespace wok::python {

using namespace capture;

thread_local const Specialization *refusedWithoutFrame = nullptr;

namespace {

/// Puts the arguments where a frame would have them. False if that takes more
/// than a look: the interpreter then binds them (and raises what is to be
/// raised).
bool bindArguments(PyFunctionObject *function, PyObject *const *args,
                   Py_ssize_t given, PyObject *kwnames, PyObject **locals) {
  auto *code = reinterpret_cast<PyCodeObject *>(function->func_code);
  int positional = code->co_argcount,
      total = positional + code->co_kwonlyargcount;
  if (given > positional)
    return false;
  for (Py_ssize_t i = 0; i < given; ++i)
    locals[i] = args[i];
  Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    // Names in calls are interned, as those of the code.
    PyObject *name = PyTuple_GET_ITEM(kwnames, k);
    int slot = code->co_posonlyargcount;
    while (slot < total &&
           PyTuple_GET_ITEM(code->co_localsplusnames, slot) != name)
      ++slot;
    if (slot == total || locals[slot])
      return false;
    locals[slot] = args[given + k];
  }
  if (given == positional && total == positional)
    return true;
  PyObject *defaults = function->func_defaults;
  Py_ssize_t defaulted = defaults ? PyTuple_GET_SIZE(defaults) : 0;
  for (int slot = static_cast<int>(given); slot < positional; ++slot) {
    if (locals[slot])
      continue;
    Py_ssize_t index = slot - (positional - defaulted);
    if (index < 0)
      return false;
    locals[slot] = PyTuple_GET_ITEM(defaults, index);
  }
  for (int slot = positional; slot < total; ++slot) {
    if (locals[slot])
      continue;
    PyObject *name = PyTuple_GET_ITEM(code->co_localsplusnames, slot);
    if (!function->func_kwdefaults ||
        peekDict(function->func_kwdefaults, name, locals[slot]) != Peek::Found)
      return false;
  }
  return true;
}

} // namespace

PyObject *tryFrameless(CodeSites &sites, PyFunctionObject *function,
                       PyObject *const *args, size_t nargsf,
                       PyObject *kwnames) {
  SiteState *state = sites.entryState;
  if (!state || !state->returns || !sites.framelessCode)
    return nullptr;
  auto *code = reinterpret_cast<PyCodeObject *>(function->func_code);
  llvm::SmallVector<PyObject *, 24> locals(code->co_nlocalsplus, nullptr);
  if (!bindArguments(function, args, PyVectorcall_NARGS(nargsf), kwnames,
                     locals.data()))
    return nullptr;
  PyObject *closure = function->func_closure;
  for (int i = 0; i < code->co_nfreevars; ++i)
    locals[code->co_nlocalsplus - code->co_nfreevars + i] =
        PyTuple_GET_ITEM(closure, i);

  FrameModel model(function, locals.data());
  model.reserve(state->tensors, state->symbols);
  runtime::Lookup<FrameModel> lookup;
  const Specialization *entry = state->site.find(model, lookup);
  if (!entry || !entry->exit.exit.returns)
    return nullptr;
  if (runtime::run(model, *entry, lookup.registers()) !=
      runtime::RunResult::Committed)
    return nullptr;
  if (Recording *recording = Recording::current())
    recording->ran(*entry);
  return model.result;
}

} // namespace wok::python
