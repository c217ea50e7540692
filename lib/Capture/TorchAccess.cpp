//===- TorchAccess.cpp - PyTorch's functions, found at run time -----------===//

#include "TorchAccess.h"

#include "wok/Capture/Guard.h"
#include "wok/Support/DType.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace wok::capture {

namespace {

// Read by every lookup; written once, under the GIL, and never freed.
TorchAccess *found = nullptr;
bool gaveUp = false;

constexpr int8_t torchTypes[] = {
    /*I1*/ 11, /*I8*/ 1,  /*U8*/ 0,    /*I16*/ 2, /*I32*/ 3,
    /*I64*/ 4, /*F16*/ 5, /*BF16*/ 15, /*F32*/ 6, /*F64*/ 7};
constexpr const char *torchNames[] = {
    "bool",  "int8",    "uint8",    "int16",   "int32",
    "int64", "float16", "bfloat16", "float32", "float64"};

template <class Function>
void lookUp(Function &function, const char *name) {
  function = reinterpret_cast<Function>(findTorchSymbol(name));
}

/// Whether a module is still being imported: its names are not all there yet.
bool isInitializing(PyObject *module) {
  Ref<> spec = Ref<>::steal(PyObject_GetAttrString(module, "__spec__"));
  if (!spec) {
    PyErr_Clear();
    return false;
  }
  Ref<> flag = Ref<>::steal(PyObject_GetAttrString(spec, "_initializing"));
  PyErr_Clear();
  return flag && flag == Py_True;
}

Ref<> evaluate(PyObject *torch, const char *expression) {
  Ref<> globals = Ref<>::steal(PyDict_New());
  if (!globals || PyDict_SetItemString(globals, "torch", torch) < 0 ||
      PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) < 0) {
    PyErr_Clear();
    return {};
  }
  Ref<> result =
      Ref<>::steal(PyRun_String(expression, Py_eval_input, globals, globals));
  PyErr_Clear();
  return result;
}

bool asKeys(PyObject *number, uint64_t &keys) {
  if (!number || !PyLong_Check(number))
    return false;
  keys = PyLong_AsUnsignedLongLongMask(number);
  return !PyErr_Occurred();
}

void *handleOf(PyObject *tensor) {
  return reinterpret_cast<char *>(tensor) + sizeof(PyObject);
}
void *implOf(PyObject *tensor) {
  return *static_cast<void **>(handleOf(tensor));
}

/// Finds the key set in a TensorImpl: the one word that says of each sample
/// what Python says of it.
bool findKeySet(PyObject *torch, TorchAccess &torchAccess) {
  Ref<> samples =
      evaluate(torch, "torch.inference_mode(False)(lambda: "
                      "[(t, torch._C._dispatch_keys(t).raw_repr()) for t in ("
                      "torch.empty(2, 3), torch.empty(2, device='meta'), "
                      "torch.ones(2).to_sparse(),"
                      "torch.zeros(2, dtype=torch.complex64).conj(), "
                      "torch._neg_view(torch.zeros(2)))])()");
  Ref<> inference = evaluate(
      torch, "torch.inference_mode()("
             "lambda: torch._C._dispatch_keys(torch.empty(2)).raw_repr())()");
  if (!asKeys(inference, torchAccess.inferenceKeys))
    return false;
  if (!samples || PyList_GET_SIZE(samples.get()) != 5)
    return false;
  // A TensorImpl of the known versions is longer than this.
  constexpr size_t bytes = 184;
  size_t hits = 0;
  for (size_t offset = 0; offset < bytes; offset += 8) {
    bool all = true;
    for (Py_ssize_t i = 0; i < 5 && all; ++i) {
      PyObject *pair = PyList_GET_ITEM(samples.get(), i);
      uint64_t keys = 0, word = 0;
      if (!asKeys(PyTuple_GET_ITEM(pair, 1), keys))
        return false;
      std::memcpy(
          &word,
          static_cast<char *>(implOf(PyTuple_GET_ITEM(pair, 0))) + offset, 8);
      all = word == keys;
      if (i == 0)
        torchAccess.plainKeys = keys;
    }
    if (all) {
      torchAccess.keySetOffset = offset;
      ++hits;
    }
  }
  return hits == 1;
}

/// Reads tensors whose answers are known through the fast way. Only after the
/// version was checked: a wrong layout would not answer, but crash. The samples
/// are small: PyTorch fills large ones on threads, and a process that has these
/// cannot fork and compute.
bool selfTest(PyObject *torch, TorchAccess &access) {
  if (!access.getDataPtr || !access.getSizes || !access.getStrides ||
      !access.getDtype || !access.getDim || !access.requiresGrad)
    return false;
  Ref<> samples = evaluate(
      torch,
      "torch.inference_mode(False)(lambda: "
      "[(t, t.data_ptr(), t.dim(), tuple(t.shape), tuple(t.stride()), n, "
      "t.requires_grad) for t, n in "
      "((torch.zeros(5, 7).t()[1:, ::2], 6), (torch.zeros((), "
      "dtype=torch.int64), 4),"
      "(torch.zeros(2, 3, 1, 2, 3, 1, 2, dtype=torch.bool), 11),"
      "(torch.zeros(3, dtype=torch.bfloat16, requires_grad=True), 15),"
      "(torch.nn.Parameter(torch.zeros(3, 2), requires_grad=False), 6))])()");
  if (!samples)
    return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(samples.get()); ++i) {
    PyObject *row = PyList_GET_ITEM(samples.get(), i);
    PyObject *tensor = PyTuple_GET_ITEM(row, 0);
    void *handle = handleOf(tensor), *data = nullptr;
    const int64_t *sizes = nullptr, *strides = nullptr;
    int32_t dtype = -1;
    int64_t dim = -1;
    if (access.getDataPtr(handle, &data) || access.getDim(handle, &dim) ||
        access.getSizes(handle, &sizes) ||
        access.getStrides(handle, &strides) || access.getDtype(handle, &dtype))
      return false;
    if (PyLong_AsVoidPtr(PyTuple_GET_ITEM(row, 1)) != data ||
        PyLong_AsLongLong(PyTuple_GET_ITEM(row, 2)) != dim ||
        PyLong_AsLong(PyTuple_GET_ITEM(row, 5)) != dtype ||
        access.requiresGrad(implOf(tensor)) !=
            (PyTuple_GET_ITEM(row, 6) == Py_True))
      return false;
    for (int64_t d = 0; d < dim; ++d)
      if (PyLong_AsLongLong(PyTuple_GET_ITEM(PyTuple_GET_ITEM(row, 3), d)) !=
              sizes[d] ||
          PyLong_AsLongLong(PyTuple_GET_ITEM(PyTuple_GET_ITEM(row, 4), d)) !=
              strides[d])
        return false;
  }
  return findKeySet(torch, access);
}

/// Makes tensors the fast way and looks at them through Python.
bool selfTestMaking(TorchAccess &access) {
  if (!access.emptyCpu || !access.emptyStridedCpu || !access.wrap)
    return false;
  int64_t sizes[] = {3, 4}, strides[] = {1, 3};
  for (bool strided : {false, true}) {
    TorchHandle handle =
        strided ? access.emptyStridedCpu({sizes, 2}, {strides, 2}, 6, false)
                : access.emptyCpu({sizes, 2}, 6, false, 0);
    Ref<> tensor = Ref<>::steal(access.wrap(&handle));
    if (!tensor || tensor.type() != access.tensorType)
      return false;
    Ref<> shape = Ref<>::steal(PyObject_GetAttrString(tensor, "shape"));
    Ref<> stride = Ref<>::steal(PyObject_CallMethod(tensor, "stride", nullptr));
    Ref<> expected = Ref<>::steal(
        Py_BuildValue("(ii)(ii)", 3, 4, strided ? 1 : 4, strided ? 3 : 1));
    if (!shape || !stride || !expected ||
        PyObject_RichCompareBool(shape, PyTuple_GET_ITEM(expected.get(), 0),
                                 Py_EQ) != 1 ||
        PyObject_RichCompareBool(stride, PyTuple_GET_ITEM(expected.get(), 1),
                                 Py_EQ) != 1)
      return false;
  }
  return true;
}

/// Makes a view the fast way and compares it with Python's.
bool selfTestViews(PyObject *torch, TorchAccess &access) {
  if (!access.asStridedCall || !access.getStorageOffset)
    return false;
  Ref<> pair =
      evaluate(torch, "(lambda t: (t, torch.as_strided(t, (2, 3), (1, 4), 6)))"
                      "(torch.arange(24.0).reshape(4, 6)[1:])");
  if (!pair)
    return false;
  PyObject *base = PyTuple_GET_ITEM(pair.get(), 0);
  int64_t sizes[] = {2, 3}, strides[] = {1, 4}, offset = -1;
  if (access.getStorageOffset(handleOf(base), &offset) || offset != 6)
    return false;
  TorchHandle handle = access.asStridedCall(
      handleOf(base), {sizes, 2}, {strides, 2}, TorchOptionalInt(offset));
  Ref<> view = Ref<>::steal(access.wrap(&handle));
  Ref<> same =
      Ref<>::steal(view ? PyObject_CallMethod(view, "equal", "O",
                                              PyTuple_GET_ITEM(pair.get(), 1))
                        : nullptr);
  Ref<> owner =
      Ref<>::steal(view ? PyObject_GetAttrString(view, "_base") : nullptr);
  return same && same == Py_True && owner && owner != Py_None;
}

void lookUpFunctions(TorchAccess &access) {
  lookUp(access.getDataPtr, "aoti_torch_get_data_ptr");
  lookUp(access.getSizes, "aoti_torch_get_sizes");
  lookUp(access.getStrides, "aoti_torch_get_strides");
  lookUp(access.getDtype, "aoti_torch_get_dtype");
  lookUp(access.getDim, "aoti_torch_get_dim");
  lookUp(access.getStorageOffset, "aoti_torch_get_storage_offset");
  lookUp(access.copy, "aoti_torch_copy_");
  lookUp(access.asStridedCall,
         "_ZN2at4_ops10as_strided4callERKNS_6TensorEN3c108ArrayRefINS5_"
         "6SymIntEEES8_St8optionalIS7_E");
  lookUp(access.requiresGrad, "_ZNK3c1010TensorImpl13requires_gradEv");
  lookUp(
      access.emptyCpu,
      "_ZN2at6detail9empty_cpuEN3c108ArrayRefIlEENS1_10ScalarTypeEbSt8optional"
      "INS1_12MemoryFormatEE");
  lookUp(access.emptyStridedCpu, "_ZN2at6detail17empty_strided_"
                                 "cpuEN3c108ArrayRefIlEES3_NS1_10ScalarTypeEb");
  lookUp(access.wrap, "_Z16THPVariable_WrapON2at10TensorBaseE");
  lookUp(access.bumpVersion,
         "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE");
  lookUp(access.gradEnabled, "_ZN3c108GradMode10is_enabledEv");
  lookUp(access.inferenceEnabled, "_ZN3c1013InferenceMode10is_enabledEv");
  lookUp(access.autocastEnabled,
         "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE");
  lookUp(access.defaultDtype, "_ZN3c1031get_default_dtype_as_scalartypeEv");
  lookUp(access.functionModes,
         "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv");
  lookUp(access.functionDisabled,
         "_ZN2at4impl22PythonTorchFunctionTLS18get_disabled_stateEv");
  lookUp(access.dispatchModes,
         "_ZN3c104impl20TorchDispatchModeTLS13any_modes_setEb");
  lookUp(access.keyIncluded,
         "_ZN3c104impl28tls_is_dispatch_key_includedENS_11DispatchKeyE");
  lookUp(access.tracingState, "_ZN5torch3jit6tracer15getTracingStateEv");
}

/// What Python says where a function is not exported.
void findPythonAmbient(PyObject *torch, TorchAccess &access) {
  auto set = [&](Ambient which, const char *expression) {
    access.pythonAmbient[static_cast<size_t>(which)] =
        evaluate(torch, expression);
  };
  set(Ambient::GradMode, "torch.is_grad_enabled");
  set(Ambient::InferenceMode, "torch.is_inference_mode_enabled");
  set(Ambient::Autocast, "lambda: torch.is_autocast_enabled('cpu')");
  set(Ambient::DefaultDtype, "torch.get_default_dtype");
  set(Ambient::FunctionModes, "lambda: torch._C._len_torch_function_stack() + "
                              "(not torch._C._is_torch_function_enabled())");
  set(Ambient::DispatchModes,
      "lambda: torch._C._len_torch_dispatch_stack() + "
      "(torch._C._get_tracing_state() is not None) + "
      "torch._C._dispatch_tls_is_dispatch_key_included("
      "torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode)");
}

/// The exchange API's fourth function, if the capsule has version 1 of it.
void findDlpack(PyObject *tensorType, TorchAccess &access) {
  struct Header {
    uint32_t major, minor;
    Header *previous;
    void *functions[5];
  };
  Ref<> capsule = Ref<>::steal(
      PyObject_GetAttrString(tensorType, "__dlpack_c_exchange_api__"));
  if (!capsule || !PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    PyErr_Clear();
    return;
  }
  auto *header = static_cast<Header *>(
      PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  while (header && header->major != 1)
    header = header->previous;
  if (header)
    access.dlTensorFromObject =
        reinterpret_cast<decltype(access.dlTensorFromObject)>(
            header->functions[3]);
}

/// Whether nothing of PyTorch's ambient state would make the self-test read
/// something else.
bool isQuiet(PyObject *torch) {
  Ref<> quiet = evaluate(torch, "not (torch._C._len_torch_function_stack() or "
                                "torch._C._len_torch_dispatch_stack() or "
                                "torch._C._get_tracing_state())");
  return quiet && quiet == Py_True;
}

} // namespace

int8_t TorchAccess::scalarType(unsigned dtype) { return torchTypes[dtype]; }

const TorchAccess *torchAccess() { return found; }

void *findTorchSymbol(const char *name) {
  if (void *address = dlsym(RTLD_DEFAULT, name))
    return address;
  // torch's own libraries are loaded with local visibility.
  for (const char *library :
       {"libtorch_cpu.so", "libc10.so", "libtorch_python.so"})
    if (void *handle = dlopen(library, RTLD_NOLOAD | RTLD_NOW)) {
      void *address = dlsym(handle, name);
      dlclose(handle);
      if (address)
        return address;
    }
  return nullptr;
}

Ref<> findImported(const char *module, const char *name) {
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *object = modules ? PyDict_GetItemString(modules, module) : nullptr;
  if (!object || !PyModule_Check(object))
    return {};
  return Ref<>::share(PyDict_GetItemString(PyModule_GetDict(object), name));
}

void findTorch() {
  if (found || gaveUp)
    return;
  PyObject *torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (!torch || !PyModule_Check(torch) || isInitializing(torch))
    return;
  PendingException pending;
  Ref<> tensor = findImported("torch", "Tensor");
  Ref<> parameter = findImported("torch.nn.parameter", "Parameter");
  Ref<> version = findImported("torch", "__version__");
  if (!tensor || !parameter || !PyType_Check(tensor) ||
      !PyType_Check(parameter) || !isQuiet(torch))
    return;

  auto *access = new TorchAccess;
  access->tensorType = reinterpret_cast<PyTypeObject *>(tensor.release());
  access->parameterType = reinterpret_cast<PyTypeObject *>(parameter.release());
  access->emptyStrided = findImported("torch", "empty_strided");
  access->asStrided = findImported("torch", "as_strided");
  access->setGradEnabled = findImported("torch._C", "_set_grad_enabled");
  access->copyName = Ref<>::steal(PyUnicode_InternFromString("copy_"));
  for (size_t i = 0; i < std::size(torchNames); ++i)
    access->dtypes[i] = findImported("torch", torchNames[i]);
  findDlpack(reinterpret_cast<PyObject *>(access->tensorType), *access);
  findPythonAmbient(torch, *access);

  const char *text = version ? PyUnicode_AsUTF8(version) : nullptr;
  PyErr_Clear();
  const char *way = std::getenv("WOK_TORCH_ACCESS");
  bool mayBeFast = !way || std::string_view(way) != "dlpack";
  // The version whose layout these facts are of: an at::Tensor follows the
  // object's header.
  if (mayBeFast && text && std::strncmp(text, "2.13.", 5) == 0 &&
      access->tensorType->tp_basicsize == 48) {
    lookUpFunctions(*access);
    Ref<> key = evaluate(
        torch, "int(torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode)");
    if (key && PyLong_Check(key))
      access->functorchKey =
          static_cast<uint16_t>(PyLong_AsUnsignedLongMask(key));
    else
      access->keyIncluded = nullptr;
    access->layoutKnown = selfTest(torch, *access);
    if (!access->layoutKnown || !selfTestMaking(*access)) {
      access->emptyCpu = nullptr;
      access->emptyStridedCpu = nullptr;
      access->wrap = nullptr;
    }
    if (!access->wrap || !selfTestViews(torch, *access))
      access->asStridedCall = nullptr;
    if (!access->layoutKnown)
      access->bumpVersion = nullptr;
  }
  PyErr_Clear();
  if (!access->layoutKnown && !access->dlTensorFromObject) {
    gaveUp =
        true; // Neither way: its tensors are objects like others, and break.
    return;
  }
  found = access;
}

} // namespace wok::capture
