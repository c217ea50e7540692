//===- Module.cpp - The extension module wok._wok -------------------------===//

#include "Module.h"

#include "CaptureText.h"
#include "FrameEvaluator.h"
#include "HostCounters.h"
#include "Internals.h"
#include "JitFunction.h"
#include "Registry.h"
#include "Testing.h"
#include "wok/Capture/Ref.h"
#include "wok/Python/Host.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace wok::python {

using capture::Ref;

PyObject *breakErrorType() {
  static PyObject *type = PyErr_NewExceptionWithDoc(
      "wok.BreakError",
      "A function under `wok.jit(fullgraph=True)` met something that cannot be "
      "captured.\n\n"
      "The message names the file, the line and the reason.",
      PyExc_RuntimeError, nullptr);
  return type;
}

namespace {

/// The code of a function, of a bound method's function or of a code object;
/// null and no exception otherwise. Borrowed.
PyCodeObject *codeOf(PyObject *object) {
  if (PyMethod_Check(object))
    object = PyMethod_GET_FUNCTION(object);
  if (PyObject *target = jitTarget(object))
    object = target;
  if (PyFunction_Check(object))
    object = PyFunction_GET_CODE(object);
  return PyCode_Check(object) ? reinterpret_cast<PyCodeObject *>(object)
                              : nullptr;
}

PyObject *needsCode(PyObject *object) {
  return PyErr_Format(
      PyExc_TypeError,
      "expected a Python function, a method or a code object, not %.200s",
      Py_TYPE(object)->tp_name);
}

//===--- wok.* ------------------------------------------------------------===//

PyObject *jit(PyObject *, PyObject *args, PyObject *keywords) {
  static const char *names[] = {"", "fullgraph", "dynamic", nullptr};
  PyObject *callable;
  int fullgraph = 0, dynamic = -1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$pi:jit",
                                   const_cast<char **>(names), &callable,
                                   &fullgraph, &dynamic))
    return nullptr;
  if (!PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "%R is not callable", callable);
  JitOptions options;
  options.fullgraph = fullgraph;
  options.dynamic = static_cast<int8_t>(dynamic);
  return makeJit(callable, options).release();
}

PyObject *disable(PyObject *, PyObject *callable) {
  PyCodeObject *code = PyCode_Check(callable) ? nullptr : codeOf(callable);
  if (!code) {
    if (!PyCallable_Check(callable))
      return PyErr_Format(PyExc_TypeError, "%R is not callable", callable);
    return makeDisabled(callable).release();
  }
  WatchedCode *watched = Registry::get().watch(code);
  if (!watched)
    return PyErr_NoMemory();
  watched->disabled = true;
  PyObject *function =
      PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  if (PyObject *target = jitTarget(function))
    function = target;
  if (!markDisabled(function))
    return PyErr_Occurred() ? nullptr : PyErr_NoMemory();
  return Py_NewRef(callable);
}

PyObject *reset(PyObject *, PyObject *) {
  Registry::get().clear();
  resetAll();
  hostCounters = HostCounters();
  Py_RETURN_NONE;
}

PyObject *stats(PyObject *, PyObject *) {
  Ref<> counters = Ref<>::steal(statistics());
  if (!counters)
    return nullptr;
  auto add = [&](const char *name, uint64_t value) {
    Ref<> number = Ref<>::steal(PyLong_FromUnsignedLongLong(value));
    return number && PyDict_SetItemString(counters, name, number) == 0;
  };
#define X(name, text)                                                          \
  if (!add(#name, hostCounters.name))                                          \
    return nullptr;
  WOK_HOST_COUNTERS(X)
#undef X
  return counters.release();
}

PyObject *setWatchEverything(PyObject *, PyObject *on) {
  int truth = PyObject_IsTrue(on);
  if (truth < 0)
    return nullptr;
  watchEverything(truth);
  Py_RETURN_NONE;
}

PyObject *setArm(PyObject *, PyObject *argument) {
  const char *chars = PyUnicode_AsUTF8(argument);
  if (!chars)
    return nullptr;
  std::string_view text = chars;
  ArmPolicy policy;
  if (text == "all") {
    policy.mode = ArmPolicy::Mode::All;
  } else if (text.starts_with("random:")) {
    policy.mode = ArmPolicy::Mode::Random;
    const char *end = text.data() + text.size();
    auto [stop, error] =
        std::from_chars(text.data() + strlen("random:"), end, policy.seed);
    if (error != std::errc() || stop != end)
      return PyErr_Format(PyExc_ValueError,
                          "WOK_ARM=random:SEED needs a number, not '%s'",
                          chars);
  } else if (text != "auto") {
    return PyErr_Format(PyExc_ValueError,
                        "WOK_ARM must be auto, all or random:SEED, not '%s'",
                        chars);
  }
  Registry::get().policy = policy;
  Registry::get().clear();
  Py_RETURN_NONE;
}

PyObject *begin(PyObject *, PyObject *) {
  beginRecording();
  Py_RETURN_NONE;
}

PyObject *end(PyObject *, PyObject *) { return endRecording(); }

//===--- For tests --------------------------------------------------------===//

PyObject *opcodeTable(PyObject *, PyObject *) {
  Ref<> table = Ref<>::steal(PyDict_New());
  if (!table)
    return nullptr;
  static constexpr std::pair<uint16_t, const char *> traitNames[] = {
      {Raises, "Raises"},
      {CallsUser, "CallsUser"},
      {JumpsForward, "JumpsForward"},
      {JumpsBackward, "JumpsBackward"},
      {CallGroup, "CallGroup"},
      {Suspends, "Suspends"},
      {ExcState, "ExcState"},
      {Prologue, "Prologue"},
      {Ends, "Ends"}};
  for (int number = 0; number < 256; ++number) {
    const OpInfo &info = opInfo(static_cast<Op>(number));
    if (!info.name)
      continue;
    Ref<> traits = Ref<>::steal(PyFrozenSet_New(nullptr));
    for (auto [trait, name] : traitNames) {
      if (!(info.traits & trait))
        continue;
      Ref<> text = Ref<>::steal(PyUnicode_FromString(name));
      if (!traits || !text || PySet_Add(traits, text) < 0)
        return nullptr;
    }
    Ref<> row = Ref<>::steal(
        Py_BuildValue("(iiO)", number, int(info.caches), traits.get()));
    if (!row || PyDict_SetItemString(table, info.name, row) < 0)
      return nullptr;
  }
  return table.release();
}

PyObject *opcodeEffect(PyObject *, PyObject *args) {
  int op, arg, jump;
  if (!PyArg_ParseTuple(args, "iip", &op, &arg, &jump))
    return nullptr;
  StackEffect effect =
      stackEffect(static_cast<Op>(op), static_cast<uint32_t>(arg), jump);
  return Py_BuildValue("(ii)", effect.pops, effect.pushes);
}

std::optional<Bytecode> decodeBytes(const Py_buffer &code,
                                    const Py_buffer &table) {
  auto span = [](const Py_buffer &buffer) {
    return std::span(static_cast<const uint8_t *>(buffer.buf),
                     static_cast<size_t>(buffer.len));
  };
  return Bytecode::decode(span(code), span(table));
}

PyObject *decode(PyObject *, PyObject *args) {
  Py_buffer code, table;
  if (!PyArg_ParseTuple(args, "y*y*", &code, &table))
    return nullptr;
  std::optional<Bytecode> bytecode = decodeBytes(code, table);
  PyBuffer_Release(&code);
  PyBuffer_Release(&table);
  if (!bytecode)
    Py_RETURN_NONE;
  Ref<> rows = Ref<>::steal(PyList_New(0));
  for (const Instruction &instruction : bytecode->instructions()) {
    const ExceptionHandler *handler =
        bytecode->handlerFor(instruction.opOffset);
    Ref<> row = Ref<>::steal(Py_BuildValue(
        "{s:i,s:i,s:i,s:i,s:I,s:s,s:O,s:O,s:i,s:i}", "offset",
        instruction.offset, "op_offset", instruction.opOffset, "next",
        instruction.next, "target", instruction.target, "arg", instruction.arg,
        "name", opInfo(instruction.op).name, "exit_legal",
        bytecode->exitLegal(instruction.offset) ? Py_True : Py_False,
        "trap_legal",
        bytecode->trapLegal(instruction.offset) ? Py_True : Py_False, "handler",
        handler ? handler->target : -1, "handler_depth",
        handler ? handler->depth : -1));
    if (!rows || !row || PyList_Append(rows, row) < 0)
      return nullptr;
  }
  return rows.release();
}

PyObject *armedOffsets(PyObject *, PyObject *object) {
  PyCodeObject *code = codeOf(object);
  if (!code)
    return needsCode(object);
  WatchedCode *watched = Registry::get().find(code);
  if (!watched)
    Py_RETURN_NONE;
  Ref<> list = Ref<>::steal(PyList_New(0));
  for (int32_t offset : watched->armedOffsets()) {
    Ref<> number = Ref<>::steal(PyLong_FromLong(offset));
    if (!list || !number || PyList_Append(list, number) < 0)
      return nullptr;
  }
  return list.release();
}

PyObject *hookInstalled(PyObject *, PyObject *) {
  return PyBool_FromLong(PyInterpreterState_Get()->eval_frame != nullptr);
}

PyMethodDef methods[] = {
    {"jit", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(jit)),
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("jit(callable, /, *, fullgraph=False, dynamic=-1)\n--\n\nA "
               "callable that is watched.")},
    {"disable", disable, METH_O,
     PyDoc_STR("disable(callable, /)\n--\n\nNever captures `callable`.")},
    {"reset", reset, METH_NOARGS,
     PyDoc_STR("reset()\n--\n\nForgets all captures and counters.")},
    {"stats", stats, METH_NOARGS,
     PyDoc_STR("stats()\n--\n\nA dict of counters.")},
    {"watch_everything", setWatchEverything, METH_O,
     PyDoc_STR("watch_everything(on, /)\n--\n\nWatches every function of every "
               "thread.")},
    {"set_arm", setArm, METH_O,
     PyDoc_STR(
         "set_arm(mode, /)\n--\n\n\"auto\", \"all\" or \"random:SEED\".")},
    {"begin_recording", begin, METH_NOARGS,
     PyDoc_STR("begin_recording()\n--\n\nKeeps what happens on this thread.")},
    {"end_recording", end, METH_NOARGS,
     PyDoc_STR("end_recording()\n--\n\nWhat happened since begin_recording.")},
    {"_opcode_table", opcodeTable, METH_NOARGS, nullptr},
    {"_stack_effect", opcodeEffect, METH_VARARGS, nullptr},
    {"_decode", decode, METH_VARARGS, nullptr},
    {"_armed", armedOffsets, METH_O, nullptr},
    {"_capture", captureAsText, METH_VARARGS, nullptr},
    {"_hook_installed", hookInstalled, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "wok._wok",
                          PyDoc_STR("Wok's CPython host."),
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace

PyObject *createModule() {
  if (!std::string_view(Py_GetVersion()).starts_with("3.11.")) {
    PyErr_Format(PyExc_ImportError,
                 "this build of Wok is for CPython 3.11, not %s",
                 Py_GetVersion());
    return nullptr;
  }
  // Debug builds have other layouts and assertions that trap code does not
  // keep.
  if (PySys_GetObject("gettotalrefcount")) {
    PyErr_SetString(PyExc_ImportError,
                    "Wok does not work with debug builds of CPython");
    return nullptr;
  }
  if (!setUpFrameEvaluator()) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_Format(PyExc_ImportError, "Wok cannot see sys.settrace: %S",
                 value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return nullptr;
  }
  Ref<> module = Ref<>::steal(PyModule_Create(&definition));
  if (!module || !addJitTypes(module) || !addTestFunctions(module) ||
      !breakErrorType() ||
      PyModule_AddObjectRef(module, "BreakError", breakErrorType()) < 0)
    return nullptr;
  return module.release();
}

} // namespace wok::python
