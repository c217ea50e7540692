//===- Emulate.cpp - Trivial instructions at a site -----------------------===//

#include "Emulate.h"

#include "TrapCode.h"

#include <utility>

namespace wok::python {

namespace {

/// The value of `name`, or null; only if the probe runs no `__eq__` of the
/// program.
PyObject *lookUp(PyObject *dict, PyObject *name) {
  if (!PyDict_CheckExact(dict) ||
      reinterpret_cast<PyDictObject *>(dict)->ma_keys->dk_kind ==
          DICT_KEYS_GENERAL)
    return nullptr;
  return PyDict_GetItemWithError(dict, name);
}

} // namespace

int32_t emulate(_PyInterpreterFrame *frame, const TrapCode &trap,
                int32_t offset) {
  const uint32_t arg = trap.trappedArg(offset);
  PyObject **fast = frame->localsplus;
  int &top = frame->stacktop;
  auto push = [&](PyObject *value) { fast[top++] = Py_NewRef(value); };

  switch (trap.pristineOp(offset)) {
  case Op::Nop:
    break;
  case Op::LoadFast:
  case Op::LoadClosure:
    if (!fast[arg])
      return -1;
    push(fast[arg]);
    break;
  case Op::StoreFast:
    if (fast[arg])
      return -1;
    fast[arg] = fast[--top];
    break;
  case Op::LoadConst:
    push(PyTuple_GET_ITEM(frame->f_code->co_consts, arg));
    break;
  case Op::LoadDeref: {
    PyObject *value = PyCell_GET(fast[arg]);
    if (!value)
      return -1;
    push(value);
    break;
  }
  case Op::LoadGlobal: {
    PyObject *name = PyTuple_GET_ITEM(frame->f_code->co_names, arg >> 1);
    PyObject *value = lookUp(frame->f_globals, name);
    if (!value) {
      // A globals dict with foreign keys may hold the name after all.
      if (!PyDict_CheckExact(frame->f_globals) ||
          reinterpret_cast<PyDictObject *>(frame->f_globals)
                  ->ma_keys->dk_kind == DICT_KEYS_GENERAL)
        return -1;
      value = lookUp(frame->f_builtins, name);
    }
    if (!value)
      return -1;
    if (arg & 1)
      fast[top++] = nullptr;
    push(value);
    break;
  }
  case Op::PushNull:
    fast[top++] = nullptr;
    break;
  case Op::Copy:
    // It may copy a null: under a call.
    fast[top] = fast[top - arg];
    Py_XINCREF(fast[top]);
    ++top;
    break;
  case Op::Swap:
    std::swap(fast[top - 1], fast[top - arg]);
    break;
  case Op::JumpForward:
    return trap.bytecode().at(offset)->target;
  default:
    return -1;
  }
  return trap.bytecode().at(offset)->next;
}

} // namespace wok::python
