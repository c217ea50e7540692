//===- TorchShape.cpp - Views and shapes in PyTorch -------------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Torch.h"
#include "Views.h"

#include <algorithm>
#include <numeric>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

static size_t rankOf(Call &call, unsigned i = 0) {
  return call.emitter.rank(call.capture.tensorRow(call.arg(i)).value);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// A view where the strides allow one, else a copy; `mustView`: else a break.
static std::optional<Value> reshaped(Call &call, Value tensor,
                                     const Extents &extents, bool mustView) {
  ViewBuilder view(call.emitter, tensor);
  if (view.reshape(extents))
    return finishView(call, view);
  if (mustView)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  V v = call.emitter.reshape(view.value(), extents);
  return torchFinishDense(call, v);
}

/// view, reshape: (input, *shape). unflatten is reshape with one dimension cut.
std::optional<Value> capture::torchReshape(Call &call) {
  Extents shape;
  int64_t inferred;
  if (!call.extentItems(1, shape, &inferred))
    return std::nullopt;
  Extents from = call.emitter.extents(emit(call.emitter, call.arg(0)));
  if (!inferExtent(call.emitter, from, shape, inferred))
    return call.unsupported("an inferred extent");
  return reshaped(call, call.arg(0), shape, call.detail() == "view");
}

/// view_as, reshape_as
std::optional<Value> capture::torchReshapeAs(Call &call) {
  Extents shape = call.emitter.extents(emit(call.emitter, call.arg(1)));
  return reshaped(call, call.arg(0), shape, call.detail() == "view");
}

/// flatten(input, start_dim, end_dim); ravel(input)
std::optional<Value> capture::torchFlatten(Call &call) {
  Emitter &e = call.emitter;
  Extents from = e.extents(emit(e, call.arg(0)));
  if (from.empty())
    return reshaped(call, call.arg(0), {call.capture.graph.constant(1)}, false);
  int64_t start = call.integer(1, 0), end = call.integer(2, -1);
  if (!wrapDim(call, start, from.size()) || !wrapDim(call, end, from.size()))
    return std::nullopt;
  if (start > end)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  if (start == end)
    return call.arg(0);
  Extents shape(from.begin(), from.begin() + start);
  shape.push_back(
      e.build.elementCount(std::span(from).subspan(start, end - start + 1)));
  shape.insert(shape.end(), from.begin() + end + 1, from.end());
  return reshaped(call, call.arg(0), shape, false);
}

/// unflatten(input, dim, sizes)
std::optional<Value> capture::torchUnflatten(Call &call) {
  Emitter &e = call.emitter;
  Extents from = e.extents(emit(e, call.arg(0))), sizes;
  int64_t dim = call.integer(1), inferred;
  if (!wrapDim(call, dim, from.size()) ||
      !call.extentItems(2, sizes, &inferred))
    return std::nullopt;
  if (from.empty() ||
      !inferExtent(e, std::span(from).subspan(dim, 1), sizes, inferred))
    return call.unsupported("sizes");
  Extents shape(from.begin(), from.begin() + dim);
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  shape.insert(shape.end(), from.begin() + dim + 1, from.end());
  return reshaped(call, call.arg(0), shape, true);
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// permute(input, *dims)
std::optional<Value> capture::torchPermute(Call &call) {
  std::vector<int64_t> dims;
  size_t rank = rankOf(call);
  if (!call.integerItems(1, dims) || !wrapDims(call, dims, rank))
    return std::nullopt;
  if (dims.size() != rank)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  return permuted(call, dims);
}

/// transpose(input, dim0, dim1); t(input)
std::optional<Value> capture::torchTranspose(Call &call) {
  size_t rank = rankOf(call);
  std::vector<int64_t> permutation = allDims(rank);
  if (call.detail() == "t") {
    if (rank > 2)
      return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                    call.bound.name);
    std::ranges::reverse(permutation);
    return permuted(call, permutation);
  }
  int64_t a = call.integer(1), b = call.integer(2);
  if (!wrapDim(call, a, rank) || !wrapDim(call, b, rank))
    return std::nullopt;
  if (rank > 0)
    std::swap(permutation[a], permutation[b]);
  return permuted(call, permutation);
}

/// movedim(input, source, destination)
std::optional<Value> capture::torchMovedim(Call &call) {
  size_t rank = rankOf(call);
  std::vector<int64_t> from, to;
  if (!call.integerItems(1, from) || !call.integerItems(2, to) ||
      !wrapDims(call, from, rank) || !wrapDims(call, to, rank))
    return std::nullopt;
  if (from.size() != to.size() || rank == 0)
    return call.unsupported("dimensions");
  std::vector<int64_t> permutation(rank, -1);
  for (size_t i = 0; i < from.size(); ++i)
    permutation[to[i]] = from[i];
  int64_t next = 0;
  for (int64_t &source : permutation) {
    if (source >= 0)
      continue;
    while (std::ranges::find(from, next) != from.end())
      ++next;
    source = next++;
  }
  return permuted(call, permutation);
}

//===----------------------------------------------------------------------===//
// Units, expansion
//===----------------------------------------------------------------------===//

/// squeeze(input, dim), squeeze(input)
std::optional<Value> capture::torchSqueeze(Call &call) {
  Capture &capture = call.capture;
  ViewBuilder view(call.emitter, call.arg(0));
  std::vector<int64_t> dims;
  bool all = !call.has(1);
  if (!all &&
      (!call.integerItems(1, dims) || !wrapDims(call, dims, view.rank())))
    return std::nullopt;
  for (size_t i = view.rank(); i-- > 0;) {
    bool asked =
        all || std::ranges::find(dims, static_cast<int64_t>(i)) != dims.end();
    if (!asked)
      continue;
    ExtentId extent = view.extent(i);
    if (capture.graph.extent(extent).kind != ExtentExpr::Kind::Constant)
      capture.asConstant(extent); // 1 or not decides the rank.
    if (capture.graph.constantValue(extent) == 1)
      view.dropUnit(i);
  }
  return finishView(call, view);
}

/// unsqueeze(input, dim)
std::optional<Value> capture::torchUnsqueeze(Call &call) {
  ViewBuilder view(call.emitter, call.arg(0));
  int64_t dim = call.integer(1);
  if (!wrapDim(call, dim, view.rank() + 1))
    return std::nullopt;
  view.insertUnit(dim);
  return finishView(call, view);
}

/// expand(input, *sizes), broadcast_to, expand_as
std::optional<Value> capture::torchExpand(Call &call) {
  Capture &capture = call.capture;
  ViewBuilder view(call.emitter, call.arg(0));
  Extents to;
  if (call.detail() == "as") {
    to = call.emitter.extents(emit(call.emitter, call.arg(1)));
  } else {
    const std::vector<Value> &items = call.items(1);
    if (items.size() < view.rank())
      return capture.breakHere(BreakInfo::Reason::WouldRaise, call.bound.name);
    size_t added = items.size() - view.rank();
    for (size_t i = 0; i < items.size(); ++i) {
      std::optional<ExtentId> extent = asExtent(capture, items[i]);
      if (!extent)
        return call.unsupported("sizes");
      if (capture.graph.constantValue(*extent) == -1 && i >= added)
        extent = view.extent(i - added);
      else if (capture.graph.extent(*extent).kind ==
                   ExtentExpr::Kind::Constant &&
               capture.graph.constantValue(*extent) < 0)
        return capture.breakHere(BreakInfo::Reason::WouldRaise,
                                 call.bound.name);
      to.push_back(*extent);
    }
  }
  view.expand(to);
  return finishView(call, view);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static std::optional<int64_t> staticExtent(Call &call, ExtentId extent) {
  Capture &capture = call.capture;
  if (capture.graph.extent(extent).kind != ExtentExpr::Kind::Constant)
    return capture.asConstant(extent);
  return capture.graph.constantValue(extent);
}

/// One piece of `tensor`: elements start, ... of `dim`.
static std::optional<Value> piece(Call &call, Value tensor, int64_t dim,
                                  int64_t start, int64_t size) {
  ViewBuilder view(call.emitter, tensor);
  view.slice(dim, call.capture.graph.constant(start),
             call.capture.graph.constant(size));
  return finishView(call, view);
}

/// narrow(input, dim, start, length)
std::optional<Value> capture::torchNarrow(Call &call) {
  ViewBuilder view(call.emitter, call.arg(0));
  int64_t dim = call.integer(1), start = call.integer(2);
  int64_t length = call.integer(3);
  if (!wrapDim(call, dim, view.rank()) || view.rank() == 0)
    return call.unsupported("dim");
  int64_t extent = *staticExtent(call, view.extent(dim));
  if (start < 0)
    start += extent;
  if (start < 0 || length < 0 || start + length > extent)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  return piece(call, call.arg(0), dim, start, length);
}

/// select(input, dim, index)
std::optional<Value> capture::torchSelect(Call &call) {
  ViewBuilder view(call.emitter, call.arg(0));
  int64_t dim = call.integer(1);
  if (!wrapDim(call, dim, view.rank()) || view.rank() == 0)
    return call.unsupported("dim");
  std::optional<ExtentId> index =
      wrapIndex(call.capture, call.arg(2), view.extent(dim));
  if (!index)
    return std::nullopt;
  view.select(dim, *index);
  return finishView(call, view);
}

/// The pieces of these sizes along a dimension, as a tuple.
static std::optional<Value> pieces(Call &call, int64_t dim,
                                   std::span<const int64_t> sizes) {
  std::vector<Value> result;
  int64_t start = 0;
  for (int64_t size : sizes) {
    std::optional<Value> part = piece(call, call.arg(0), dim, start, size);
    if (!part)
      return std::nullopt;
    result.push_back(*part);
    start += size;
  }
  return call.capture.tuple(std::move(result));
}

/// chunk(input, chunks, dim); split(input, size or sizes, dim)
std::optional<Value> capture::torchSplit(Call &call) {
  Extents from = call.emitter.extents(emit(call.emitter, call.arg(0)));
  int64_t dim = call.integer(2, 0);
  if (!wrapDim(call, dim, from.size()))
    return std::nullopt;
  if (from.empty())
    return call.unsupported("a scalar");
  int64_t extent = *staticExtent(call, from[dim]);
  std::vector<int64_t> given, sizes;
  if (!call.integerItems(1, given))
    return std::nullopt;
  bool list = call.capture.asItems(call.arg(1)).has_value();
  if (list) {
    if (call.detail() == "chunk" ||
        std::accumulate(given.begin(), given.end(), int64_t{0}) != extent ||
        std::ranges::any_of(given, [](int64_t size) { return size < 0; }))
      return call.unsupported("sizes");
    return pieces(call, dim, given);
  }
  int64_t size = given[0];
  if (size <= 0 || extent == 0)
    return call.unsupported("sizes");
  if (call.detail() == "chunk")
    size = (extent + size - 1) / size;
  for (int64_t at = 0; at < extent; at += size)
    sizes.push_back(std::min(size, extent - at));
  return pieces(call, dim, sizes);
}

/// unbind(input, dim)
std::optional<Value> capture::torchUnbind(Call &call) {
  Capture &capture = call.capture;
  Extents from = call.emitter.extents(emit(call.emitter, call.arg(0)));
  int64_t dim = call.integer(1, 0);
  if (!wrapDim(call, dim, from.size()))
    return std::nullopt;
  if (from.empty())
    return call.unsupported("a scalar");
  int64_t extent = *staticExtent(call, from[dim]);
  std::vector<Value> result;
  for (int64_t i = 0; i < extent; ++i) {
    ViewBuilder view(call.emitter, call.arg(0));
    view.select(dim, capture.graph.constant(i));
    std::optional<Value> part = finishView(call, view);
    if (!part)
      return std::nullopt;
    result.push_back(*part);
  }
  return capture.tuple(std::move(result));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static bool isMemoryFormat(Call &call, unsigned i, std::string_view name) {
  PyObject *object = call.capture.object(call.arg(i));
  std::string path = "torch." + std::string(name);
  if (!object || object != findObject(path))
    return false;
  call.capture.guardIdentity(call.arg(i));
  return true;
}

/// The layout that a memory_format argument asks for; nullopt if unknown.
static std::optional<std::vector<uint8_t>> formatLayout(Call &call,
                                                        unsigned i) {
  if (!call.has(i) || isMemoryFormat(call, i, "preserve_format"))
    return preservedLayout(call.capture, call.arg(0));
  if (isMemoryFormat(call, i, "contiguous_format"))
    return std::vector<uint8_t>();
  if (isMemoryFormat(call, i, "channels_last") && rankOf(call) == 4)
    return std::vector<uint8_t>{0, 2, 3, 1};
  return std::nullopt;
}

/// contiguous(self, *, memory_format)
std::optional<Value> capture::torchContiguous(Call &call) {
  if (call.has(1) && !isMemoryFormat(call, 1, "contiguous_format"))
    return call.unsupported("memory_format");
  Geometry geometry = geometryOf(call.capture, call.arg(0));
  if (isContiguous(call.capture, geometry))
    return call.arg(0);
  return torchFinishDense(call, emit(call.emitter, call.arg(0)));
}

/// clone(input, *, memory_format)
std::optional<Value> capture::torchClone(Call &call) {
  std::optional<std::vector<uint8_t>> layout = formatLayout(call, 1);
  if (!layout)
    return call.unsupported("memory_format");
  return newTensor(call.capture, Library::Torch,
                   emit(call.emitter, call.arg(0)), std::move(*layout));
}

/// detach(input), alias, view_as(self): another tensor on the same storage.
std::optional<Value> capture::torchAlias(Call &call) {
  ViewBuilder view(call.emitter, call.arg(0));
  return finishView(call, view);
}

/// The operand itself: x.positive(), dropout that is off, ...
std::optional<Value> capture::torchSelf(Call &call) {
  if (call.detail() == "positive" &&
      call.emitter.dtype(emit(call.emitter, call.arg(0))) == DType::I1)
    return call.unsupported("a bool tensor");
  return call.arg(0);
}

static std::optional<Value> converted(Call &call, DType dtype, bool copy,
                                      std::vector<uint8_t> layout) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  if (e.dtype(v) == dtype && !copy)
    return call.arg(0);
  V cast = e.cast(v, dtype);
  if (e.failed())
    return call.giveUp();
  return newTensor(call.capture, Library::Torch, cast, std::move(layout));
}

static bool isCpu(Call &call, unsigned i) {
  if (!call.has(i))
    return true;
  PyObject *object = call.capture.object(call.arg(i));
  if (object && PyUnicode_CheckExact(object)) {
    std::optional<std::string_view> name = call.capture.asString(call.arg(i));
    return name && *name == "cpu";
  }
  // A torch.device prints as device(type='cpu'); only that one is ours.
  PyObject *type = findObject("torch.device");
  if (!object || reinterpret_cast<PyObject *>(Py_TYPE(object)) != type)
    return false;
  Ref<> kind = Ref<>::steal(PyObject_GetAttrString(object, "type"));
  if (!kind) {
    PyErr_Clear();
    return false;
  }
  if (PyUnicode_CompareWithASCIIString(kind, "cpu") != 0)
    return false;
  call.capture.guardIdentity(call.arg(i));
  return true;
}

bool capture::isDefaultDevice(Call &call, unsigned i) { return isCpu(call, i); }

/// to(self, dtype, ...), to(self, device, dtype, ...), to(self, other, ...)
std::optional<Value> capture::torchTo(Call &call) {
  Emitter &e = call.emitter;
  DType own = e.dtype(emit(e, call.arg(0)));
  DType dtype = own;
  unsigned copy, format;
  if (call.overload() == 0) { // dtype
    dtype = call.dtype(1, own);
    copy = 3, format = 4;
  } else if (call.overload() == 1) { // other
    dtype = e.dtype(emit(e, call.arg(1)));
    copy = 3, format = 4;
  } else { // device, dtype
    if (!isCpu(call, 1))
      return call.unsupported("device");
    dtype = call.dtype(2, own);
    copy = 4, format = 5;
  }
  if (call.has(format) && !isMemoryFormat(call, format, "preserve_format"))
    return call.unsupported("memory_format");
  return converted(call, dtype, call.boolean(copy),
                   preservedLayout(call.capture, call.arg(0)));
}

/// float(), half(), ...: the dtype is the detail.
std::optional<Value> capture::torchCast(Call &call) {
  if (call.has(1) && !isMemoryFormat(call, 1, "preserve_format"))
    return call.unsupported("memory_format");
  for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
    DType dtype = static_cast<DType>(i);
    if (toString(dtype) == call.detail())
      return converted(call, dtype, false,
                       preservedLayout(call.capture, call.arg(0)));
  }
  return call.unsupported("dtype");
}

/// type_as(self, other)
std::optional<Value> capture::torchTypeAs(Call &call) {
  DType dtype = call.emitter.dtype(emit(call.emitter, call.arg(1)));
  return converted(call, dtype, false,
                   preservedLayout(call.capture, call.arg(0)));
}
