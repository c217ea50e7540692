//===- CaptureText.cpp - Captures as text, for tests ----------------------===//

#include "CaptureText.h"

#include "CodeObject.h"

#include "wok/Capture/Tensors.h"
#include "wok/Python/Evaluator.h"

namespace wok::python {

using capture::Ref;

/// The frame of a call of `function` with positional `args`, behind its
/// prologue. `slots` holds what the frame owns.
static bool makeFrame(PyFunctionObject *function, PyObject *args,
                      std::vector<Ref<>> &slots, std::vector<PyObject *> &raw,
                      FrameView &view) {
  auto *code = reinterpret_cast<PyCodeObject *>(function->func_code);
  std::optional<Bytecode> bytecode = decodeCode(code);
  if (!bytecode || bytecode->entry() < 0 ||
      PyTuple_GET_SIZE(args) != code->co_argcount || code->co_kwonlyargcount ||
      (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS))) {
    PyErr_SetString(PyExc_ValueError,
                    "captures as text take a plain function and exactly its "
                    "positional arguments");
    return false;
  }
  slots.resize(static_cast<size_t>(code->co_nlocalsplus));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    slots[static_cast<size_t>(i)] = Ref<>::share(PyTuple_GET_ITEM(args, i));
  for (const Instruction &instruction : bytecode->instructions()) {
    if (instruction.offset >= bytecode->entry())
      break;
    if (instruction.op == Op::MakeCell)
      slots[instruction.arg] =
          Ref<>::steal(PyCell_New(slots[instruction.arg].get()));
    if (instruction.op == Op::CopyFreeVars)
      for (uint32_t i = 0; i < instruction.arg; ++i)
        slots[slots.size() - instruction.arg + i] =
            Ref<>::share(PyTuple_GET_ITEM(function->func_closure, i));
  }
  raw.clear();
  for (const Ref<> &slot : slots)
    raw.push_back(slot.get());
  view = FrameView{};
  view.function = function;
  view.code = code;
  view.globals = function->func_globals;
  view.builtins = function->func_builtins;
  view.localsplus = raw.data();
  view.offset = bytecode->entry();
  return true;
}

PyObject *captureAsText(PyObject *, PyObject *args) {
  PyObject *function, *calls;
  int dynamic = -1;
  if (!PyArg_ParseTuple(args, "O!O!|i:_capture", &PyFunction_Type, &function,
                        &PyList_Type, &calls, &dynamic))
    return nullptr;
  capture::findTensorLibraries();
  capture::SiteHistory history;
  history.dynamic = static_cast<int8_t>(dynamic);
  auto texts = Ref<>::steal(PyList_New(0));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); ++i) {
    PyObject *call = PyList_GET_ITEM(calls, i);
    if (!PyTuple_Check(call)) {
      PyErr_SetString(PyExc_TypeError, "a call is a tuple of arguments");
      return nullptr;
    }
    std::vector<Ref<>> slots;
    std::vector<PyObject *> raw;
    FrameView view;
    if (!makeFrame(reinterpret_cast<PyFunctionObject *>(function), call, slots,
                   raw, view))
      return nullptr;
    CaptureOutcome outcome = captureAt(view, history);
    std::string text;
    if (outcome.subgraph) {
      text = toString(*outcome.subgraph, view.code);
    } else {
      static const char *const reasons[] = {
#define WOK_BREAK(name, code, text, hint) code,
#include "wok/Capture/BreakReasons.def"
#undef WOK_BREAK
      };
      text =
          std::string("nothing: ") +
          reasons[static_cast<size_t>(outcome.why.reason)] +
          (outcome.why.detail.empty() ? "" : " (" + outcome.why.detail + ")") +
          "\n";
    }
    text += "sites [";
    for (size_t k = 0; k < outcome.sites.size(); ++k)
      text += (k ? ", " : "") + std::to_string(outcome.sites[k]);
    text += "]\n";
    auto object = Ref<>::steal(PyUnicode_FromStringAndSize(
        text.data(), static_cast<Py_ssize_t>(text.size())));
    if (!object || PyList_Append(texts, object) < 0)
      return nullptr;
  }
  return texts.release();
}

} // namespace wok::python
