//===- Attributes.cpp - Attributes of tensors and arrays --------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Numpy.h"
#include "Torch.h"
#include "Views.h"

#include "wok/Capture/Tensors.h"
#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using Extents = Emitter::Extents;

static bool isConstant(const importer::Graph &graph, ExtentId id) {
  return graph.extent(id).kind == ExtentExpr::Kind::Constant;
}

/// A shape: torch.Size of known extents, else (and for NumPy) a tuple.
static Value shapeOf(Capture &capture, Library library,
                     std::span<const ExtentId> extents) {
  bool known = std::ranges::all_of(
      extents, [&](ExtentId id) { return isConstant(capture.graph, id); });
  PyObject *size = findObject("torch.Size");
  if (library == Library::Torch && known && size) {
    Ref<> items =
        Ref<>::steal(PyTuple_New(static_cast<Py_ssize_t>(extents.size())));
    for (size_t i = 0; i < extents.size(); ++i)
      PyTuple_SET_ITEM(
          items.get(), static_cast<Py_ssize_t>(i),
          PyLong_FromLongLong(capture.graph.constantValue(extents[i])));
    Ref<> made = Ref<>::steal(PyObject_CallOneArg(size, items));
    if (made)
      return capture.constant(made.get());
    PyErr_Clear();
  }
  std::vector<Value> items;
  for (ExtentId id : extents)
    items.push_back(capture.extentValue(id));
  Value shape = capture.tuple(std::move(items));
  if (library == Library::Torch && size)
    capture.changeSequence(shape).structure = size;
  return shape;
}

static Value elementCountOf(Emitter &e, std::span<const ExtentId> extents) {
  return e.capture.extentValue(e.build.elementCount(extents));
}

static std::optional<Value> permutedView(Emitter &e, Value tensor,
                                         std::span<const int64_t> permutation,
                                         std::string_view name) {
  ViewBuilder view(e, tensor);
  view.permute(permutation);
  if (e.failed())
    return e.giveUp(name);
  return view.finish();
}

/// torch.device('cpu'), one object.
static PyObject *cpuDevice() {
  static auto &device = *new Ref<>();
  PyObject *type = findObject("torch.device");
  if (!device && type)
    device = Ref<>::steal(PyObject_CallFunction(type, "s", "cpu"));
  PyErr_Clear();
  return device;
}

/// Whether the tensor requires grad: only a live one can.
static bool requiresGrad(Capture &capture, Value tensor) {
  const TensorRow &row = capture.tensorRow(tensor);
  TensorInfo info;
  return row.object && inspect(row.object, info) && info.requiresGrad;
}

static Value boolean(Capture &capture, bool value) {
  return capture.constant(value ? Py_True : Py_False);
}

/// What both libraries call alike.
static std::optional<Value> commonAttribute(Emitter &e, Value tensor,
                                            std::string_view name,
                                            const Extents &extents,
                                            DType dtype) {
  Capture &capture = e.capture;
  Library library = capture.tensorRow(tensor).library;
  if (name == "shape")
    return shapeOf(capture, library, extents);
  if (name == "ndim")
    return capture.constant(static_cast<long long>(extents.size()));
  if (name == "itemsize")
    return capture.constant(static_cast<long long>(byteWidth(dtype)));
  if (name == "dtype")
    if (PyObject *object = dtypeObject(dtype, library))
      return capture.constant(object);
  if (name == "nbytes") {
    Extents bytes = extents;
    bytes.push_back(
        capture.graph.constant(static_cast<int64_t>(byteWidth(dtype))));
    return elementCountOf(e, bytes);
  }
  if (name == "T") {
    // PyTorch warns: it is to be an error.
    if (library == Library::Torch && extents.size() != 2 && !extents.empty())
      return capture.breakHere(BreakInfo::Reason::UnsupportedOp,
                               "T of a tensor that is no matrix");
    std::vector<int64_t> permutation = allDims(extents.size());
    std::ranges::reverse(permutation);
    return permutedView(e, tensor, permutation, "T");
  }
  if (name == "mT" && extents.size() >= 2) {
    std::vector<int64_t> permutation = allDims(extents.size());
    std::iter_swap(permutation.end() - 1, permutation.end() - 2);
    return permutedView(e, tensor, permutation, "mT");
  }
  return std::nullopt;
}

static std::optional<Value> torchAttribute(Emitter &e, Value tensor,
                                           std::string_view name) {
  Capture &capture = e.capture;
  if (name == "device")
    if (PyObject *device = cpuDevice())
      return capture.constant(device);
  if (name == "requires_grad")
    return boolean(capture, requiresGrad(capture, tensor));
  if (name == "layout")
    if (PyObject *strided = findObject("torch.strided"))
      return capture.constant(strided);
  constexpr std::string_view never[] = {
      "is_cuda",   "is_sparse", "is_quantized", "is_meta",      "is_nested",
      "is_mkldnn", "is_mps",    "is_xpu",       "is_sparse_csr"};
  if (std::ranges::find(never, name) != std::end(never))
    return boolean(capture, false);
  if (name == "is_cpu")
    return boolean(capture, true);
  return std::nullopt;
}

std::optional<Value>
wok::capture::importTensorAttribute(Capture &capture, Value tensor,
                                    std::string_view name) {
  constexpr std::string_view known[] = {
      "shape",     "ndim",      "itemsize",      "dtype",         "nbytes",
      "T",         "mT",        "size",          "device",        "layout",
      "is_cuda",   "is_sparse", "is_quantized",  "requires_grad", "is_meta",
      "is_nested", "is_mkldnn", "is_sparse_csr", "is_mps",        "is_xpu",
      "is_cpu"};
  if (std::ranges::find(known, name) == std::end(known))
    return std::nullopt;
  std::optional<Value> input = asTensorLike(capture, tensor);
  if (!input)
    return std::nullopt;
  Library library = capture.tensorRow(*input).library;
  if (name == "size" && library == Library::Torch)
    return std::nullopt; // A method.
  Emitter e(capture);
  Emitter::V v = emit(e, *input);
  // By value: what is appended may move the table of types.
  Extents extents = e.extents(v);
  if (name == "size")
    return elementCountOf(e, extents);
  if (std::optional<Value> found =
          commonAttribute(e, *input, name, extents, e.dtype(v)))
    return found;
  if (capture.pendingBreak() || library == Library::NumPy)
    return std::nullopt;
  return torchAttribute(e, *input, name);
}

//===----------------------------------------------------------------------===//
// Methods that only ask
//===----------------------------------------------------------------------===//

/// size(dim), stride(dim), dim(), numel(), is_contiguous(), ...
std::optional<Value> capture::torchMetadata(Call &call) {
  Capture &capture = call.capture;
  Emitter &e = call.emitter;
  Value tensor = call.arg(0);
  Emitter::V v = emit(e, tensor);
  Extents extents = e.extents(v);
  std::string_view what = call.detail();
  if (what == "size" || what == "stride") {
    std::vector<ExtentId> values = extents;
    // Those of an empty tensor are not guarded.
    if (what == "stride" && std::ranges::any_of(extents, [&](ExtentId id) {
          return capture.graph.constantValue(id) == 0;
        }))
      return call.unsupported("strides of an empty tensor");
    if (what == "stride")
      values = geometryOf(capture, tensor).strides;
    if (!call.has(1))
      return shapeOf(capture, what == "size" ? Library::Torch : Library::NumPy,
                     values);
    int64_t dim = call.integer(1);
    if (values.empty() || !wrapDim(call, dim, values.size()))
      return capture.breakHere(BreakInfo::Reason::WouldRaise, call.bound.name);
    return capture.extentValue(values[dim]);
  }
  if (what == "dim")
    return capture.constant(static_cast<long long>(extents.size()));
  if (what == "numel")
    return elementCountOf(e, extents);
  if (what == "element_size")
    return capture.constant(static_cast<long long>(byteWidth(e.dtype(v))));
  if (what == "is_floating_point")
    return boolean(capture, isFloat(e.dtype(v)));
  if (what == "is_contiguous")
    return boolean(capture, isContiguous(capture, geometryOf(capture, tensor)));
  if (what == "true" || what == "false")
    return boolean(capture, what == "true");
  return call.unsupported(what);
}

/// item(), tolist(), numpy(): data that becomes a Python object.
std::optional<Value> capture::tensorToPython(Call &call) {
  return call.capture.breakHere(BreakInfo::Reason::DataToPython,
                                call.bound.name);
}

/// rand, randn, ...: the library draws the numbers.
std::optional<Value> capture::drawsRandomNumbers(Call &call) {
  return call.capture.breakHere(BreakInfo::Reason::RandomNumbers,
                                call.bound.name);
}

/// len(x): of a tensor its first extent, of a container its items.
std::optional<Value> capture::builtinLen(Call &call) {
  Capture &capture = call.capture;
  Value value = call.arg(0);
  if (isTensorLike(capture, value)) {
    std::optional<Value> tensor = asTensorLike(capture, value);
    if (!tensor)
      return std::nullopt;
    const Extents &extents =
        capture.graph.type(capture.tensorRow(*tensor).value).extents;
    if (extents.empty())
      return capture.breakHere(BreakInfo::Reason::WouldRaise, "len");
    return capture.extentValue(extents[0]);
  }
  if (std::optional<std::vector<Value>> items = capture.asItems(value))
    return capture.constant(static_cast<long long>(items->size()));
  if (value.kind == Kind::Table)
    return capture.constant(
        static_cast<long long>(capture.tableRow(value).entries.size()));
  if (std::optional<std::string_view> text = capture.asString(value))
    return capture.constant(
        static_cast<long long>(PyUnicode_GET_LENGTH(capture.object(value))));
  PyObject *object = capture.object(value);
  if (object && (PyDict_CheckExact(object) || PyAnySet_CheckExact(object) ||
                 PyBytes_CheckExact(object))) {
    if (!capture.readable(value))
      return std::nullopt;
    const KnownRow &row = capture.knownRow(value);
    Py_ssize_t length = PyObject_Size(object);
    capture.guardType(value);
    if (PyBytes_CheckExact(object))
      capture.guardValue(value);
    else if (row.source != noSource)
      capture.guards.add(
          {row.source, Predicate::LengthIs, length, 0, nullptr, capture.line});
    return capture.constant(static_cast<long long>(length));
  }
  return call.unsupported("len");
}
