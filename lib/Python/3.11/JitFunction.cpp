//===- JitFunction.cpp - What `wok.jit` returns ---------------------------===//

#include "JitFunction.h"

#include "FrameEvaluator.h"
#include "HostCounters.h"
#include "Internals.h"
#include "Registry.h"

#include "structmember.h"

#include <cassert>
#include <cstddef>

namespace wok::python {

using capture::Ref;

namespace {

/// A callable around another one; one layout for the three types.
struct Wrapper {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  /// What is called. A function with options of its own is called by a twin
  /// with code of its own, because options and captures belong to code.
  PyObject *callable;
  /// What the user gave: the same object, or the function of that twin.
  PyObject *original;
  PyObject *dict;
  PyObject *weakReferences;
  JitOptions options;
  /// The watched code of a plain function, valid while the function has that
  /// code and the registry that generation.
  PyCodeObject *code;
  WatchedCode *watched;
  uint64_t generation;

  static Wrapper *from(PyObject *object) {
    return reinterpret_cast<Wrapper *>(object);
  }
  PyObject *object() { return reinterpret_cast<PyObject *>(this); }

  WatchedCode *watchedCode() {
    auto *current =
        reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(callable));
    Registry &registry = Registry::get();
    if (code != current || generation != registry.generation()) {
      watched = registry.watch(current, options);
      code = current;
      generation = registry.generation();
    }
    return watched;
  }
};

//===--- Calls ------------------------------------------------------------===//

PyObject *callWatched(Wrapper *self, PyObject *const *args, size_t nargsf,
                      PyObject *kwnames) {
  Ref<> callable = Ref<>::share(self->callable);
  Ref<> result;
  {
    HookWindow window;
    result = Ref<>::steal(PyObject_Vectorcall(callable, args, nargsf, kwnames));
  }
  if (result && !watchGenerator(result))
    return nullptr;
  return result.release();
}

PyObject *callFunction(PyObject *object, PyObject *const *args, size_t nargsf,
                       PyObject *kwnames) {
  Wrapper *self = Wrapper::from(object);
  if (isPaused())
    return PyObject_Vectorcall(self->callable, args, nargsf, kwnames);
  PyThreadState *ts = _PyThreadState_GET();
  WatchedCode *watched = self->watchedCode();
  // A trace function is owed a frame.
  if (watched && watched->isDispatching() && !ts->cframe->use_tracing) {
    watched->retain();
    PyObject *result = tryFrameless(
        *watched->sites(), reinterpret_cast<PyFunctionObject *>(self->callable),
        args, nargsf, kwnames);
    watched->release();
    if (result) {
      ++hostCounters.frameless;
      return result;
    }
    if (ts->curexc_type)
      return nullptr;
  }
  return callWatched(self, args, nargsf, kwnames);
}

PyObject *callAny(PyObject *object, PyObject *const *args, size_t nargsf,
                  PyObject *kwnames) {
  Wrapper *self = Wrapper::from(object);
  if (isPaused())
    return PyObject_Vectorcall(self->callable, args, nargsf, kwnames);
  return callWatched(self, args, nargsf, kwnames);
}

PyObject *callDisabled(PyObject *object, PyObject *const *args, size_t nargsf,
                       PyObject *kwnames) {
  HookPause pause;
  return PyObject_Vectorcall(Wrapper::from(object)->callable, args, nargsf,
                             kwnames);
}

//===--- Attributes -------------------------------------------------------===//

/// What the wrapper does not have itself, the wrapped callable has.
PyObject *getAttribute(PyObject *object, PyObject *name) {
  PyObject *result = PyObject_GenericGetAttr(object, name);
  if (result || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return result;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  result = PyObject_GetAttr(Wrapper::from(object)->original, name);
  if (!result && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return result;
}

/// Attributes of functions that have a meaning for calls are those of the
/// wrapped function, also when they are set.
PyObject *getForwarded(PyObject *object, void *name) {
  return PyObject_GetAttrString(Wrapper::from(object)->original,
                                static_cast<const char *>(name));
}
int setForwarded(PyObject *object, PyObject *value, void *name) {
  Wrapper *self = Wrapper::from(object);
  const char *text = static_cast<const char *>(name);
  if (self->original != self->callable &&
      PyObject_SetAttrString(self->callable, text, value) < 0)
    return -1;
  return PyObject_SetAttrString(self->original, text, value);
}

PyObject *getWrapped(PyObject *object, void *) {
  return Py_NewRef(Wrapper::from(object)->original);
}

PyObject *represent(PyObject *object) {
  const char *kind = strrchr(Py_TYPE(object)->tp_name, '.') + 1;
  return PyUnicode_FromFormat("<wok.%s of %R>", kind,
                              Wrapper::from(object)->original);
}

PyObject *bind(PyObject *self, PyObject *instance, PyObject *) {
  if (!instance || instance == Py_None)
    return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

/// By name where the name leads back here, as functions are pickled; else by
/// what is wrapped.
PyObject *reduce(PyObject *object, PyObject *) {
  Wrapper *self = Wrapper::from(object);
  Ref<> module = Ref<>::steal(PyObject_GetAttrString(object, "__module__"));
  Ref<> name =
      module ? Ref<>::steal(PyObject_GetAttrString(object, "__qualname__"))
             : Ref<>();
  if (module && name && PyUnicode_Check(name.get())) {
    Ref<> found = Ref<>::steal(PyImport_GetModule(module));
    Ref<> parts =
        found ? Ref<>::steal(PyObject_CallMethod(name, "split", "s", "."))
              : Ref<>();
    for (Py_ssize_t i = 0; found && parts && i < PyList_GET_SIZE(parts.get());
         ++i)
      found = Ref<>::steal(
          PyObject_GetAttr(found, PyList_GET_ITEM(parts.get(), i)));
    if (found.get() == object)
      return name.release();
  }
  PyErr_Clear();
  Ref<> wok = Ref<>::steal(PyImport_ImportModule("wok._jit"));
  Ref<> rebuild =
      wok ? Ref<>::steal(PyObject_GetAttrString(wok, "_rebuild")) : Ref<>();
  if (!rebuild)
    return nullptr;
  return Py_BuildValue("N(Osii)", rebuild.release(), self->original,
                       strrchr(Py_TYPE(object)->tp_name, '.') + 1,
                       int(self->options.fullgraph),
                       int(self->options.dynamic));
}

PyObject *itself(PyObject *object, PyObject *) { return Py_NewRef(object); }

//===--- Life -------------------------------------------------------------===//

int traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Wrapper::from(object)->callable);
  Py_VISIT(Wrapper::from(object)->original);
  Py_VISIT(Wrapper::from(object)->dict);
  return 0;
}

int clear(PyObject *object) {
  Py_CLEAR(Wrapper::from(object)->dict);
  return 0;
}

void deallocate(PyObject *object) {
  Wrapper *self = Wrapper::from(object);
  PyObject_GC_UnTrack(object);
  if (self->weakReferences)
    PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->dict);
  Py_CLEAR(self->callable);
  Py_CLEAR(self->original);
  PyObject_GC_Del(object);
}

#define WOK_FORWARDED(name, doc)                                               \
  {name, getForwarded, setForwarded, PyDoc_STR(doc), const_cast<char *>(name)}
PyGetSetDef functionAttributes[] = {
    {"__wrapped__", getWrapped, nullptr,
     PyDoc_STR("The callable that this one watches."), nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
     nullptr},
    WOK_FORWARDED("__code__", "The code of the wrapped function."),
    WOK_FORWARDED("__defaults__", "The defaults of the wrapped function."),
    WOK_FORWARDED("__kwdefaults__",
                  "The keyword-only defaults of the wrapped function."),
    WOK_FORWARDED("__annotations__",
                  "The annotations of the wrapped function."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef WOK_FORWARDED
PyGetSetDef callableAttributes[] = {
    {"__wrapped__", getWrapped, nullptr,
     PyDoc_STR("The callable that this one wraps."), nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef functionMethods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__copy__", itself, METH_NOARGS, nullptr},
    {"__deepcopy__", itself, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef callableMethods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject makeType(const char *name, const char *doc) {
  PyTypeObject type = {};
  type.ob_base.ob_base.ob_refcnt = 1;
  type.tp_name = name;
  type.tp_doc = doc;
  type.tp_basicsize = sizeof(Wrapper);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                  Py_TPFLAGS_HAVE_VECTORCALL |
                  Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_vectorcall_offset = offsetof(Wrapper, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_getattro = getAttribute;
  type.tp_setattro = PyObject_GenericSetAttr;
  type.tp_repr = represent;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_dealloc = deallocate;
  type.tp_dictoffset = offsetof(Wrapper, dict);
  type.tp_weaklistoffset = offsetof(Wrapper, weakReferences);
  type.tp_getset = callableAttributes;
  type.tp_methods = callableMethods;
  return type;
}

PyTypeObject jitFunctionType = [] {
  PyTypeObject type = makeType(
      "wok._wok.JitFunction", PyDoc_STR("A Python function that Wok watches."));
  type.tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  type.tp_descr_get = bind;
  type.tp_getset = functionAttributes;
  type.tp_methods = functionMethods;
  return type;
}();
PyTypeObject jitCallableType = makeType(
    "wok._wok.JitCallable", PyDoc_STR("A callable under which Wok watches."));
PyTypeObject disabledCallableType =
    makeType("wok._wok.DisabledCallable",
             PyDoc_STR("A callable under which Wok does not watch."));

Ref<> make(PyTypeObject &type, vectorcallfunc vectorcall, PyObject *callable,
           PyObject *original, const JitOptions &options) {
  auto *self = PyObject_GC_New(Wrapper, &type);
  if (!self)
    return nullptr;
  self->vectorcall = vectorcall;
  self->callable = Py_NewRef(callable);
  self->original = Py_NewRef(original);
  self->dict = nullptr;
  self->weakReferences = nullptr;
  self->options = options;
  self->code = nullptr;
  self->watched = nullptr;
  self->generation = 0;
  PyObject_GC_Track(self->object());
  return Ref<>::steal(self->object());
}

/// A function that does the same, with code of its own.
Ref<> twinOf(PyObject *function) {
  Ref<> code = Ref<>::steal(
      PyObject_CallMethod(PyFunction_GET_CODE(function), "replace", nullptr));
  auto *from = reinterpret_cast<PyFunctionObject *>(function);
  Ref<PyFunctionObject> twin =
      code ? Ref<PyFunctionObject>::steal(PyFunction_NewWithQualName(
                 code, from->func_globals, from->func_qualname))
           : Ref<PyFunctionObject>();
  if (!twin)
    return nullptr;
  auto copy = [](PyObject *&to, PyObject *value) {
    Ref<>::steal(std::exchange(to, Py_XNewRef(value)));
  };
  copy(twin->func_name, from->func_name);
  copy(twin->func_doc, from->func_doc);
  copy(twin->func_module, from->func_module);
  copy(twin->func_closure, from->func_closure);
  copy(twin->func_annotations, from->func_annotations);
  PyObject *object = twin.pyObject();
  // By the setters: they also tell CPython's specialised calls.
  if (PyFunction_SetDefaults(object, from->func_defaults ? from->func_defaults
                                                         : Py_None) < 0 ||
      PyFunction_SetKwDefaults(
          object, from->func_kwdefaults ? from->func_kwdefaults : Py_None) < 0)
    return nullptr;
  return Ref<>::steal(twin.releaseObject());
}

} // namespace

bool addJitTypes(PyObject *module) {
  return PyModule_AddType(module, &jitFunctionType) == 0 &&
         PyModule_AddType(module, &jitCallableType) == 0 &&
         PyModule_AddType(module, &disabledCallableType) == 0;
}

Ref<> makeJit(PyObject *original, const JitOptions &options) {
  Ref<> callable = Ref<>::share(original);
  if (options != JitOptions()) {
    if (PyFunction_Check(original)) {
      callable = twinOf(original);
    } else if (PyMethod_Check(original) &&
               PyFunction_Check(PyMethod_GET_FUNCTION(original))) {
      Ref<> function = twinOf(PyMethod_GET_FUNCTION(original));
      callable = function ? Ref<>::steal(PyMethod_New(
                                function, PyMethod_GET_SELF(original)))
                          : Ref<>();
    }
    if (!callable)
      return nullptr;
  }
  PyObject *function = PyMethod_Check(callable.get())
                           ? PyMethod_GET_FUNCTION(callable.get())
                           : callable.get();
  if (PyFunction_Check(function))
    Registry::get().watch(
        reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(function)),
        options);
  if (!PyFunction_Check(original))
    return make(jitCallableType, callAny, callable, original, options);
  return make(jitFunctionType, callFunction, callable, original, options);
}

Ref<> makeDisabled(PyObject *callable) {
  return make(disabledCallableType, callDisabled, callable, callable,
              JitOptions());
}

PyObject *jitTarget(PyObject *callable) {
  return Py_IS_TYPE(callable, &jitFunctionType)
             ? Wrapper::from(callable)->callable
             : nullptr;
}

} // namespace wok::python
