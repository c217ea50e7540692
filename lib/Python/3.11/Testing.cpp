//===- Testing.cpp - Private functions for the tests ----------------------===//
//
// `_set_arrival(callable)` puts a Python callable in the dispatcher's place, so
// that tests reach every way out of a site: go on, resume elsewhere with
// another frame state, raise, arm and disarm.
//
//===----------------------------------------------------------------------===//

#include "Testing.h"

#include "FrameEvaluator.h"
#include "Internals.h"
#include "wok/Capture/Ref.h"
#include "wok/Python/Host.h"

namespace wok::python {

using capture::Ref;

namespace {

PyObject *arrivalCallable = nullptr;

bool readOffsets(PyObject *list, std::vector<int32_t> &offsets) {
  for (Py_ssize_t i = 0, size = PyList_GET_SIZE(list); i < size; ++i)
    offsets.push_back(
        static_cast<int32_t>(PyLong_AsLong(PyList_GET_ITEM(list, i))));
  return !PyErr_Occurred();
}

/// Calls `arrivalCallable(code, offset, stack depth)` on the frame's site. It
/// returns None (go on), or (offset or None, {slot: value}, stack as a list,
/// offsets to arm, offsets to disarm); what it raises is raised at the site.
Arrival callArrival(FrameView &frame) {
  Arrival raised;
  raised.action = Arrival::Action::Raise;
  raised.offset = frame.offset;
  raised.stackDepth = frame.stackDepth;

  Ref<> callable = Ref<>::share(arrivalCallable);
  Ref<> answer = Ref<>::steal(PyObject_CallFunction(
      callable, "Oii", reinterpret_cast<PyObject *>(frame.code), frame.offset,
      frame.stackDepth));
  if (!answer)
    return raised;
  Arrival arrival;
  if (answer.get() == Py_None)
    return arrival;
  PyObject *offset, *slots, *stack, *arm, *disarm;
  if (!PyArg_ParseTuple(answer, "OO!O!O!O!", &offset, &PyDict_Type, &slots,
                        &PyList_Type, &stack, &PyList_Type, &arm, &PyList_Type,
                        &disarm) ||
      !readOffsets(arm, arrival.arm) || !readOffsets(disarm, arrival.disarm))
    return raised;
  if (offset == Py_None)
    return arrival;
  arrival.action = Arrival::Action::Resume;
  arrival.offset = static_cast<int32_t>(PyLong_AsLong(offset));
  if (PyErr_Occurred())
    return raised;

  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(slots, &position, &key, &value);)
    Ref<>::steal(
        std::exchange(frame.localsplus[PyLong_AsLong(key)], Py_NewRef(value)));
  while (frame.stackDepth > 0)
    Ref<>::steal(frame.stack[--frame.stackDepth]);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(stack); ++i)
    frame.stack[i] = Py_NewRef(PyList_GET_ITEM(stack, i));
  arrival.stackDepth = static_cast<int32_t>(PyList_GET_SIZE(stack));
  return arrival;
}

PyObject *setArrival(PyObject *, PyObject *callable) {
  const bool on = callable != Py_None;
  arrivalOverride = on ? callArrival : nullptr;
  Ref<>::steal(
      std::exchange(arrivalCallable, on ? Py_NewRef(callable) : nullptr));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_set_arrival", setArrival, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool addTestFunctions(PyObject *module) {
  return PyModule_AddFunctions(module, methods) == 0;
}

} // namespace wok::python
