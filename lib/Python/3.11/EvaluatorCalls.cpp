//===- EvaluatorCalls.cpp - Calls: inlined, imported, or a break ----------===//

#include "Evaluator.h"
#include "Peek.h"

#include "wok/Capture/Tensors.h"

#include <algorithm>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::CallableRow;
using capture::Predicate;
using capture::Ref;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool Evaluator::call(Value callable, Arguments arguments) {
  if (callable.kind == Kind::Callable) {
    const CallableRow &row = state.callables[callable.index];
    if (row.type == CallableRow::Type::Function)
      return callFunction(callable, arguments);
    if (row.type == CallableRow::Type::Super)
      return breakHere(Reason::UnknownCall, "super");
    arguments.positional.insert(arguments.positional.begin(), row.self);
    return call(row.function, std::move(arguments));
  }
  if (callable.kind != Kind::Known)
    return breakHere(Reason::UnknownCall);
  return callKnown(callable, arguments);
}

bool Evaluator::callKnown(Value callable, Arguments &arguments) {
  PyObject *object = capture.object(callable);
  if (isDisabled(object)) {
    capture.guardIdentity(callable);
    return breakHere(Reason::DisabledCall, nameOf(object));
  }
  if (std::optional<bool> done = callBuiltin(object, arguments)) {
    if (*done)
      capture.guardIdentity(callable);
    return *done;
  }
  if (const capture::CallableEntry *entry = capture::findCallable(object)) {
    capture.guardIdentity(callable);
    if (entry->code) {
      if (PyFunction_GET_CODE(object) != entry->code)
        return callFunction(callable, arguments);
      SourceId source = capture.knownRow(callable).source;
      if (source == capture::noSource)
        source = capture.sources.get(Step::Constant, capture::noSource, 0,
                                     capture.sources.hold(object));
      capture.guards.add({capture.sources.get(Step::FunctionCode, source),
                          Predicate::Is, 0, 0,
                          capture.sources.hold(entry->code), capture.line});
    }
    return importCall(*entry, arguments);
  }
  // Methods of builtin containers.
  if (Py_TYPE(object) == &PyMethodDescr_Type && !arguments.positional.empty()) {
    Value self = arguments.positional.front();
    PyTypeObject *type = PyDescr_TYPE(object);
    PyObject *live = capture.object(self);
    bool isContainer = type == &PyList_Type || type == &PyDict_Type ||
                       type == &PyTuple_Type || type == &PySet_Type ||
                       type == &PyUnicode_Type;
    bool matches =
        live ? Py_TYPE(live) == type
             : self.kind == Kind::Sequence || self.kind == Kind::Table;
    const char *name = PyUnicode_AsUTF8(PyDescr_NAME(object));
    if (isContainer && matches && name) {
      Arguments rest = arguments;
      rest.positional.erase(rest.positional.begin());
      return push(containerMethod(self, name, rest));
    }
    return breakHere(Reason::UnknownCall, nameOf(object));
  }
  if (PyObject *target = jitTarget(object)) {
    capture.guardIdentity(callable);
    return call(capture.constant(target), std::move(arguments));
  }
  if (PyFunction_Check(object))
    return callFunction(callable, arguments);
  if (PyMethod_Check(object)) {
    capture.guardType(callable);
    SourceId source = capture.knownRow(callable).source;
    auto part = [&](PyObject *what, Step step) {
      return source == capture::noSource
                 ? capture.constant(what)
                 : capture.known(what, capture.sources.get(step, source));
    };
    Value self = part(PyMethod_GET_SELF(object), Step::MethodSelf);
    arguments.positional.insert(arguments.positional.begin(), self);
    return call(part(PyMethod_GET_FUNCTION(object), Step::MethodFunction),
                std::move(arguments));
  }
  if (PyType_Check(object))
    return callClass(callable, arguments);
  if (std::optional<bool> done = callDunder(callable, "__call__", arguments))
    return *done;
  return breakHere(Reason::UnknownCall, nameOf(object));
}

std::optional<bool> Evaluator::callDunder(Value object, const char *name,
                                          Arguments &arguments) {
  PyObject *live = capture.object(object);
  if (!live || !(Py_TYPE(live)->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return std::nullopt;
  PyObject *method = PyUnicode_InternFromString(name);
  SourceId source;
  PyTypeObject *type = Py_TYPE(live);
  PyObject *found = classAttribute(type, method, source);
  if (!found || !PyFunction_Check(found))
    return std::nullopt;
  capture.guardType(object);
  if (std::string_view(name) == "__call__" && isModuleCall(found)) {
    capture.guards.add({source, Predicate::Is, 0, 0,
                        capture.sources.hold(found), capture.line});
    return callModule(object, arguments);
  }
  std::optional<Attribute> attribute =
      bindClassAttribute(object, type, found, source);
  if (!attribute)
    return false;
  arguments.positional.insert(arguments.positional.begin(), object);
  return call(attribute->value, std::move(arguments));
}

bool Evaluator::importCall(const capture::CallableEntry &entry,
                           const Arguments &arguments) {
  std::vector<std::pair<std::string_view, Value>> keywords;
  for (auto [name, value] : arguments.keywords) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) {
      PyErr_Clear();
      return false;
    }
    keywords.emplace_back(text, value);
  }
  // Builtins that consume an iterable take a list of its items.
  std::vector<Value> positional = arguments.positional;
  if (!entry.isOperation && !positional.empty() &&
      positional[0].kind == Kind::Iterator) {
    std::optional<std::vector<Value>> items = drain(positional[0]);
    if (!items)
      return false;
    positional[0] = capture.list(std::move(*items));
  }
  std::optional<Value> result =
      entry.import(capture, {positional, keywords}, entry.detail);
  if (!result)
    return breakHere(Reason::UnsupportedArgument, entry.name);
  if (result->kind == Kind::Tensor &&
      !capture.guardTensorClass(capture.tensorRow(*result).type))
    return false;
  if (entry.isOperation)
    capture.noteOperation(entry.name);
  push(*result);
  return true;
}

//===----------------------------------------------------------------------===//
// Python functions
//===----------------------------------------------------------------------===//

bool Evaluator::callFunction(Value function, Arguments &arguments) {
  Frame callee;
  PyFunctionObject *live = nullptr;
  SourceId source = capture::noSource;
  if (function.kind == Kind::Known) {
    live = reinterpret_cast<PyFunctionObject *>(capture.object(function));
    source = capture.knownRow(function).source;
    callee.code = reinterpret_cast<PyCodeObject *>(live->func_code);
    if (source == capture::noSource) {
      source = capture.sources.get(
          Step::Constant, capture::noSource, 0,
          capture.sources.hold(reinterpret_cast<PyObject *>(live)));
    } else {
      capture.guards.add(
          {source, Predicate::TypeIs, 0, 0,
           capture.sources.hold(reinterpret_cast<PyObject *>(&PyFunction_Type)),
           capture.line});
    }
    capture.guards.add({capture.sources.get(Step::FunctionCode, source),
                        Predicate::Is, 0, 0,
                        capture.sources.hold(live->func_code), capture.line});
    callee.globals = capture.known(
        live->func_globals, capture.sources.get(Step::FunctionGlobals, source));
    if (live->func_builtins != view.builtins)
      return breakHere(Reason::UnsupportedPython, "other builtins");
    if (live->func_closure) {
      std::vector<Value> cells;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(live->func_closure); ++i)
        cells.push_back(
            capture.known(PyTuple_GET_ITEM(live->func_closure, i),
                          capture.sources.get(Step::FunctionClosure, source,
                                              static_cast<uint32_t>(i))));
      callee.closure = capture.tuple(std::move(cells));
    }
  } else {
    const CallableRow &row = state.callables[function.index];
    callee.code = reinterpret_cast<PyCodeObject *>(capture.object(row.code));
    callee.globals = row.globals;
    callee.closure = row.closure;
  }
  callee.builtins = frames.front().builtins;
  PyCodeObject *code = callee.code;
  if (code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))
    return breakHere(Reason::UnknownCall, "a coroutine function");
  if (frames.size() >= budget.frames)
    return breakHere(Reason::CaptureBudget, "recursion");
  callee.bytecode = decode(code);
  if (!callee.bytecode)
    return breakHere(Reason::UnsupportedPython, "bytecode");

  // Bind the arguments; whatever would be a TypeError is a break.
  callee.locals.resize(static_cast<size_t>(code->co_nlocalsplus));
  size_t positional = static_cast<size_t>(code->co_argcount),
         keywordOnly = static_cast<size_t>(code->co_kwonlyargcount),
         named = positional + keywordOnly;
  std::vector<bool> given(named);
  size_t count = std::min(positional, arguments.positional.size());
  for (size_t i = 0; i < count; ++i) {
    callee.locals[i] = arguments.positional[i];
    given[i] = true;
  }
  bool hasRest = code->co_flags & CO_VARARGS;
  if (hasRest)
    callee.locals[named] = capture.tuple(
        {arguments.positional.begin() + static_cast<ptrdiff_t>(count),
         arguments.positional.end()});
  else if (arguments.positional.size() > count)
    return breakHere(Reason::WouldRaise, "too many arguments");
  Value keywords;
  if (code->co_flags & CO_VARKEYWORDS)
    keywords = callee.locals[named + hasRest] = capture.table({});
  for (auto [name, value] : arguments.keywords) {
    size_t slot = static_cast<size_t>(code->co_posonlyargcount);
    while (slot < named &&
           PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames,
                                              static_cast<Py_ssize_t>(slot)),
                             name) != 0)
      ++slot;
    if (slot < named) {
      if (given[slot])
        return breakHere(Reason::WouldRaise, "an argument given twice");
      callee.locals[slot] = value;
      given[slot] = true;
    } else if (keywords.isNull()) {
      return breakHere(Reason::WouldRaise, "an unexpected keyword");
    } else if (!setEntry(keywords, capture.constant(name), value)) {
      return false;
    }
  }
  for (size_t slot = 0; slot < named; ++slot) {
    if (given[slot])
      continue;
    std::optional<Value> value =
        slot < positional
            ? positionalDefault(function, source, slot, positional)
            : keywordDefault(function, source,
                             PyTuple_GET_ITEM(code->co_localsplusnames,
                                              static_cast<Py_ssize_t>(slot)));
    if (!value)
      return breakHere(Reason::WouldRaise, "a missing argument");
    callee.locals[slot] = *value;
  }
  frames.push_back(std::move(callee));
  return true;
}

std::optional<Value> Evaluator::positionalDefault(Value function,
                                                  SourceId source, size_t slot,
                                                  size_t positional) {
  if (function.kind == Kind::Callable) {
    Value defaults = state.callables[function.index].defaults;
    std::optional<std::vector<Value>> items =
        defaults.isNull() ? std::nullopt : capture.asItems(defaults);
    if (!items || slot + items->size() < positional)
      return std::nullopt;
    return (*items)[slot + items->size() - positional];
  }
  PyObject *defaults =
      reinterpret_cast<PyFunctionObject *>(capture.object(function))
          ->func_defaults;
  size_t count = defaults ? static_cast<size_t>(PyTuple_GET_SIZE(defaults)) : 0;
  if (slot + count < positional)
    return std::nullopt;
  auto index = static_cast<uint32_t>(slot + count - positional);
  return capture.known(
      PyTuple_GET_ITEM(defaults, index),
      capture.sources.get(Step::FunctionDefault, source, index));
}

std::optional<Value> Evaluator::keywordDefault(Value function, SourceId source,
                                               PyObject *name) {
  if (function.kind == Kind::Callable) {
    Value defaults = state.callables[function.index].kwdefaults;
    if (defaults.isNull())
      return std::nullopt;
    std::optional<Value> found = findEntry(defaults, capture.constant(name));
    if (!found || found->isNull())
      return std::nullopt;
    return found;
  }
  PyObject *defaults =
      reinterpret_cast<PyFunctionObject *>(capture.object(function))
          ->func_kwdefaults;
  PyObject *value = nullptr;
  if (!defaults || peekDict(defaults, name, value) != Peek::Found)
    return std::nullopt;
  return capture.known(value,
                       capture.sources.get(Step::FunctionKwDefault, source, 0,
                                           capture.sources.hold(name)));
}

bool Evaluator::makeFunction(uint32_t flags) {
  CallableRow row;
  row.type = CallableRow::Type::Function;
  row.code = pop();
  if (flags & 8)
    row.closure = pop();
  if (flags & 4)
    row.annotations = pop();
  if (flags & 2)
    row.kwdefaults = pop();
  if (flags & 1)
    row.defaults = pop();
  row.globals = frame().globals;
  auto *code = reinterpret_cast<PyCodeObject *>(capture.object(row.code));
  row.qualname = capture.constant(code->co_qualname);
  push(capture.callable(row));
  return true;
}

bool Evaluator::returnValue(Value value) {
  Value result = frame().result;
  if (!result.isNull() && capture.object(value) != Py_None)
    return breakHere(Reason::WouldRaise, "__init__ returns a value");
  if (int64_t generator = frame().generator; generator >= 0) {
    generators.change(static_cast<uint32_t>(generator)).state =
        Generator::State::Finished;
    frames.pop_back();
    return true;
  }
  frames.pop_back();
  push(result.isNull() ? value : result);
  return true;
}

//===----------------------------------------------------------------------===//
// torch.nn.Module
//===----------------------------------------------------------------------===//

namespace {
/// What calling a module looks at besides the module.
struct ModuleCalls {
  PyObject *call = nullptr; ///< torch.nn.Module.__call__
  std::vector<PyObject *> hooks;
};
} // namespace

static const ModuleCalls &moduleCalls() {
  static ModuleCalls calls;
  if (calls.call)
    return calls;
  PyObject *module =
      PyDict_GetItemString(PyImport_GetModuleDict(), "torch.nn.modules.module");
  if (!module || !PyModule_Check(module))
    return calls;
  PyObject *names = PyModule_GetDict(module);
  PyObject *type = PyDict_GetItemString(names, "Module");
  if (!type || !PyType_Check(type))
    return calls;
  for (const char *name :
       {"_global_backward_pre_hooks", "_global_backward_hooks",
        "_global_forward_hooks", "_global_forward_pre_hooks"}) {
    PyObject *hooks = PyDict_GetItemString(names, name);
    if (!hooks || !PyDict_Check(hooks))
      return calls;
    calls.hooks.push_back(hooks);
  }
  calls.call = peekType(reinterpret_cast<PyTypeObject *>(type),
                        PyUnicode_InternFromString("__call__"));
  return calls;
}

bool Evaluator::isModuleCall(PyObject *function) {
  return function == moduleCalls().call;
}

/// A module without hooks calls its `forward`.
bool Evaluator::callModule(Value module, Arguments &arguments) {
  auto noHooks = [&](Value hooks) {
    PyObject *live = capture.object(hooks);
    if (!live || !PyDict_Check(live) || PyDict_GET_SIZE(live) != 0)
      return false;
    capture.guardType(hooks);
    capture.guards.add({capture.knownRow(hooks).source, Predicate::LengthIs, 0,
                        0, nullptr, capture.line});
    return true;
  };
  for (PyObject *hooks : moduleCalls().hooks)
    if (!noHooks(capture.known(
            hooks, capture.sources.get(Step::Constant, capture::noSource, 0,
                                       capture.sources.hold(hooks)))))
      return breakHere(Reason::UnknownCall, "a module with global hooks");
  for (const char *name : {"_backward_hooks", "_backward_pre_hooks",
                           "_forward_hooks", "_forward_pre_hooks"}) {
    std::optional<Attribute> hooks =
        lookUp(module, PyUnicode_InternFromString(name));
    if (!hooks || hooks->how != Attribute::How::Value || !noHooks(hooks->value))
      return breakHere(Reason::UnknownCall, "a module with hooks");
  }
  std::optional<Attribute> compiled =
      lookUp(module, PyUnicode_InternFromString("_compiled_call_impl"));
  if (!compiled || compiled->how != Attribute::How::Value ||
      capture.object(compiled->value) != Py_None)
    return breakHere(Reason::UnknownCall, "a compiled module");
  capture.guardIdentity(compiled->value);

  std::optional<Attribute> forward =
      lookUp(module, PyUnicode_InternFromString("forward"));
  if (!forward)
    return false;
  if (forward->how == Attribute::How::Method)
    arguments.positional.insert(arguments.positional.begin(), forward->self);
  else if (forward->how != Attribute::How::Value)
    return breakHere(Reason::UnknownCall, "forward");
  return call(forward->value, std::move(arguments));
}

/// super() of a method: its class is in the cell `__class__`, its self in the
/// first local.
bool Evaluator::callSuper(const Arguments &arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty())
    return breakHere(Reason::UnknownCall, "super with arguments");
  PyCodeObject *code = frame().code;
  Value self = code->co_argcount > 0 ? local(0) : Value();
  if (self.kind == Kind::Cell ||
      (capture.object(self) && PyCell_Check(capture.object(self)))) {
    std::optional<Value> contents = loadCell(self);
    if (!contents)
      return false;
    self = *contents;
  }
  for (int slot = 0; slot < code->co_nlocalsplus; ++slot) {
    if (PyUnicode_CompareWithASCIIString(
            PyTuple_GET_ITEM(code->co_localsplusnames, slot), "__class__") != 0)
      continue;
    std::optional<Value> cls = loadCell(local(static_cast<uint32_t>(slot)));
    if (!cls)
      return false;
    PyObject *type = capture.object(*cls), *object = capture.object(self);
    if (!type || !object || !PyType_Check(type) || PyType_Check(object) ||
        !PyType_IsSubtype(Py_TYPE(object),
                          reinterpret_cast<PyTypeObject *>(type)))
      break;
    capture.guardIdentity(*cls);
    capture.guardType(self);
    CallableRow row;
    row.type = CallableRow::Type::Super;
    row.function = *cls;
    row.self = self;
    push(capture.callable(row));
    return true;
  }
  return breakHere(Reason::UnknownCall, "super");
}

/// `import name` of a module that has been imported already.
std::optional<Value> Evaluator::importName(PyObject *name, Value level,
                                           Value from) {
  std::optional<long long> depth = capture.asInt(level);
  if (!depth || *depth != 0)
    return capture.breakHere(Reason::UnsupportedPython, "a relative import");
  static PyObject *const import = PyUnicode_InternFromString("__import__");
  std::optional<Value> importer = dictValue(frame().builtins, import);
  if (!importer || !capture.object(*importer) ||
      !PyCFunction_Check(capture.object(*importer)))
    return capture.breakHere(Reason::UnsupportedPython, "import");
  capture.guardIdentity(*importer);
  PyObject *dict = PyImport_GetModuleDict();
  Value modules =
      capture.known(dict, capture.sources.get(Step::Constant, capture::noSource,
                                              0, capture.sources.hold(dict)));
  auto find = [&](PyObject *path) -> std::optional<Value> {
    std::optional<Value> module = dictValue(modules, path);
    if (!module)
      return std::nullopt;
    PyObject *live = capture.object(*module);
    if (!live || !PyModule_CheckExact(live))
      return capture.breakHere(Reason::UnsupportedPython, "import");
    // While a module initialises, `import` waits for it.
    static PyObject *const specName = PyUnicode_InternFromString("__spec__");
    static PyObject *const initializing =
        PyUnicode_InternFromString("_initializing");
    PyObject *spec = nullptr, *flag = nullptr;
    if (peekDict(PyModule_GetDict(live), specName, spec) == Peek::Found &&
        peekAttribute(spec, initializing, flag) == Peek::Found &&
        flag == Py_True)
      return capture.breakHere(Reason::UnsupportedPython, "import");
    capture.guardIdentity(*module);
    return module;
  };
  std::optional<Value> module = find(name);
  if (!module || capture.object(from) != Py_None)
    return module;
  // `import a.b` binds a.
  Py_ssize_t dot =
      PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
  if (dot < 0)
    return module;
  auto head = Ref<>::steal(PyUnicode_Substring(name, 0, dot));
  return find(head);
}

bool Evaluator::callClass(Value type, Arguments &arguments) {
  // Descriptions of dtypes are constants.
  std::string_view name =
      reinterpret_cast<PyTypeObject *>(capture.object(type))->tp_name;
  if ((name == "torch.finfo" || name == "torch.iinfo") &&
      arguments.positional.size() == 1 && arguments.keywords.empty()) {
    PyObject *dtype = capture.object(arguments.positional[0]);
    if (dtype && std::string_view(Py_TYPE(dtype)->tp_name) == "torch.dtype") {
      capture.guardIdentity(type);
      capture.guardIdentity(arguments.positional[0]);
      auto result = Ref<>::steal(
          PyObject_CallOneArg(capture.object(type), dtype)); // In C.
      if (result) {
        push(capture.constant(result));
        return true;
      }
      PyErr_Clear();
      return breakHere(Reason::WouldRaise, std::string(name));
    }
  }
  return breakHere(Reason::UnknownCall, nameOf(capture.object(type)));
}

} // namespace wok::python
