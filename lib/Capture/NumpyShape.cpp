//===- NumpyShape.cpp - Views, shapes and new arrays in NumPy ---*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Numpy.h"
#include "Views.h"

#include <algorithm>
#include <cmath>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

static std::optional<Value> fresh(Call &call, V v,
                                  std::vector<uint8_t> layout = {}) {
  if (call.emitter.failed() || v == Emitter::bad)
    return call.giveUp();
  return newTensor(call.capture, Library::NumPy, v, std::move(layout));
}

/// Order 'K': the dimensions as they lie in memory.
static std::vector<uint8_t> keptOrder(Call &call, Value array) {
  return numpyLayout(call.capture, std::span(&array, 1),
                     call.emitter.extents(call.capture.tensorRow(array).value));
}

/// A view where the strides allow one, else a copy.
static std::optional<Value> reshaped(Call &call, const Extents &extents,
                                     bool copies = false) {
  ViewBuilder view(call.emitter, call.arg(0));
  // A scalar has no memory to view.
  if (!copies && !call.capture.tensorRow(call.arg(0)).numpyScalar &&
      view.reshape(extents))
    return finishView(call, view);
  return fresh(call,
               call.emitter.reshape(emit(call.emitter, call.arg(0)), extents));
}

/// reshape(a, shape), a.reshape(*shape)
std::optional<Value> capture::numpyReshape(Call &call) {
  if (call.string(2, "C") != "C")
    return call.unsupported("order");
  Extents shape;
  int64_t inferred;
  if (!call.extentItems(1, shape, &inferred))
    return std::nullopt;
  Extents from = call.emitter.extents(emit(call.emitter, call.arg(0)));
  if (!inferExtent(call.emitter, from, shape, inferred))
    return call.unsupported("an inferred extent");
  return reshaped(call, shape);
}

/// ravel(a), a.flatten(): the latter always copies.
std::optional<Value> capture::numpyRavel(Call &call) {
  if (call.string(1, "C") != "C")
    return call.unsupported("order");
  Emitter &e = call.emitter;
  Extents flat = {e.build.elementCount(e.extents(emit(e, call.arg(0))))};
  bool copies =
      call.detail() == "copy" ||
      !isContiguous(call.capture, geometryOf(call.capture, call.arg(0)));
  return reshaped(call, flat, copies);
}

/// transpose(a, axes), a.transpose(*axes)
std::optional<Value> capture::numpyTranspose(Call &call) {
  size_t rank = call.emitter.rank(emit(call.emitter, call.arg(0)));
  std::vector<int64_t> permutation;
  if (!call.has(1)) {
    permutation = allDims(rank);
    std::ranges::reverse(permutation);
    return permuted(call, permutation);
  }
  if (!call.integerItems(1, permutation))
    return std::nullopt;
  if (permutation.size() != rank)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  for (int64_t &dim : permutation)
    if (!wrapDim(call, dim, rank))
      return std::nullopt;
  return permuted(call, permutation);
}

/// swapaxes(a, axis1, axis2)
std::optional<Value> capture::numpySwapaxes(Call &call) {
  size_t rank = call.emitter.rank(emit(call.emitter, call.arg(0)));
  int64_t a = call.integer(1), b = call.integer(2);
  if (!wrapDim(call, a, rank) || !wrapDim(call, b, rank) || rank == 0)
    return call.unsupported("axes");
  std::vector<int64_t> permutation = allDims(rank);
  std::swap(permutation[a], permutation[b]);
  return permuted(call, permutation);
}

/// squeeze(a, axis)
std::optional<Value> capture::numpySqueeze(Call &call) {
  Capture &capture = call.capture;
  ViewBuilder view(call.emitter, call.arg(0));
  std::vector<int64_t> dims;
  bool all = !call.has(1);
  if (!all && !call.integerItems(1, dims))
    return std::nullopt;
  for (int64_t &dim : dims)
    if (!wrapDim(call, dim, view.rank()))
      return std::nullopt;
  for (size_t i = view.rank(); i-- > 0;) {
    bool asked =
        all || std::ranges::find(dims, static_cast<int64_t>(i)) != dims.end();
    if (!asked)
      continue;
    if (capture.graph.extent(view.extent(i)).kind != ExtentExpr::Kind::Constant)
      capture.asConstant(view.extent(i));
    if (capture.graph.constantValue(view.extent(i)) == 1)
      view.dropUnit(i);
    else if (!all)
      return capture.breakHere(BreakInfo::Reason::WouldRaise, call.bound.name);
  }
  return finishView(call, view);
}

/// expand_dims(a, axis)
std::optional<Value> capture::numpyExpandDims(Call &call) {
  ViewBuilder view(call.emitter, call.arg(0));
  std::vector<int64_t> dims;
  if (!call.integerItems(1, dims))
    return std::nullopt;
  size_t rank = view.rank() + dims.size();
  Extents shape;
  for (int64_t &dim : dims)
    if (!wrapDim(call, dim, rank))
      return std::nullopt;
  std::ranges::sort(dims);
  if (std::ranges::adjacent_find(dims) != dims.end())
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  // a.reshape(...), whose strides of new dimensions are not 0.
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    bool added = std::ranges::binary_search(dims, static_cast<int64_t>(i));
    shape.push_back(added ? call.capture.graph.constant(1)
                          : view.extent(next++));
  }
  return reshaped(call, shape);
}

/// copy(a, order), a.copy(order)
std::optional<Value> capture::numpyCopy(Call &call) {
  // np.copy keeps the order in memory, a.copy() makes row-major.
  bool method = call.detail() == "method";
  std::string_view order = call.string(1, method ? "C" : "K");
  if (order != "C" && order != "K")
    return call.unsupported("order");
  return fresh(call, emit(call.emitter, call.arg(0)),
               order == "K" ? keptOrder(call, call.arg(0))
                            : std::vector<uint8_t>());
}

/// a.astype(dtype, order, casting, subok, copy)
std::optional<Value> capture::numpyAstype(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  DType dtype = call.dtype(1, e.dtype(v));
  if (call.string(2, "K") != "K" || call.string(3, "unsafe") != "unsafe")
    return call.unsupported("order or casting");
  if (dtype == e.dtype(v) && !call.boolean(5, true))
    return call.arg(0);
  bool scalar = call.capture.tensorRow(call.arg(0)).numpyScalar;
  V cast = e.cast(v, dtype);
  if (e.failed())
    return call.giveUp();
  if (scalar)
    return newArray(call.capture, cast);
  return fresh(call, cast, keptOrder(call, call.arg(0)));
}

//===----------------------------------------------------------------------===//
// Put together
//===----------------------------------------------------------------------===//

static std::optional<std::vector<V>> promoted(Call &call) {
  if (call.items(0).empty())
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  std::vector<Operand> operands;
  for (Value array : call.items(0))
    operands.push_back(operandOf(call.capture, array));
  std::optional<DType> dtype = numpyResultType(operands);
  if (!dtype)
    return call.unsupported("the dtypes");
  std::vector<V> values;
  for (const Operand &operand : operands)
    values.push_back(emit(call.emitter, operand, *dtype));
  return values;
}

static std::optional<Value> concatenated(Call &call, std::span<const V> values,
                                         int64_t dim) {
  Emitter &e = call.emitter;
  V v = e.concat(values, dim);
  if (e.failed())
    return call.giveUp();
  return fresh(call, v, numpyLayout(call.capture, call.items(0), e.extents(v)));
}

/// concatenate(arrays, axis)
std::optional<Value> capture::numpyConcatenate(Call &call) {
  std::optional<std::vector<V>> values = promoted(call);
  if (!values)
    return std::nullopt;
  Emitter &e = call.emitter;
  size_t rank = e.rank(values->front());
  int64_t dim = call.integer(1, 0);
  if (rank == 0 || !wrapDim(call, dim, rank))
    return call.unsupported("axis");
  for (size_t i = 0; i < values->size(); ++i) {
    if (e.rank((*values)[i]) != rank)
      return call.unsupported("ranks");
    if (rank > 1 && !keptOrder(call, call.items(0)[i]).empty())
      return call.unsupported("arrays that are not row-major");
  }
  return concatenated(call, *values, dim);
}

/// stack(arrays, axis), vstack, hstack
std::optional<Value> capture::numpyStack(Call &call) {
  std::optional<std::vector<V>> values = promoted(call);
  if (!values)
    return std::nullopt;
  Emitter &e = call.emitter;
  std::string_view how = call.detail();
  int64_t dim = how.empty() ? call.integer(1, 0) : 0;
  if (how.empty() && !wrapDim(call, dim, e.rank(values->front()) + 1))
    return std::nullopt;
  for (size_t i = 0; i < values->size(); ++i) {
    V &v = (*values)[i];
    if (!keptOrder(call, call.items(0)[i]).empty())
      return call.unsupported("arrays that are not row-major");
    if (how.empty()) {
      v = e.unsqueeze(v, dim);
      continue;
    }
    while (e.rank(v) < (how == "v" ? 2u : 1u) && !e.failed())
      v = e.unsqueeze(v, 0);
  }
  if (how == "h")
    dim = e.rank(values->front()) == 1 ? 0 : 1;
  for (V v : *values)
    if (e.rank(v) != e.rank(values->front()))
      return call.unsupported("ranks");
  return fresh(call, e.concat(*values, dim));
}

/// outer(a, b)
std::optional<Value> capture::numpyOuter(Call &call) {
  Emitter &e = call.emitter;
  V a = emit(e, call.arg(0)), b = emit(e, call.arg(1));
  if (e.rank(a) != 1 || e.rank(b) != 1)
    return call.unsupported("ranks");
  DType dtype = numpyPromoteTypes(e.dtype(a), e.dtype(b));
  if (dtype == DType::I1)
    return call.unsupported("bools");
  return fresh(call, e.mul(e.unsqueeze(e.cast(a, dtype), 1), e.cast(b, dtype)));
}

/// diff(a): a[1:] - a[:-1] along the last axis
std::optional<Value> capture::numpyDiff(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  if (call.integer(1, 1) != 1 || e.rank(v) == 0 || e.dtype(v) == DType::I1)
    return call.unsupported("n");
  int64_t dim = call.integer(2, -1);
  if (!wrapDim(call, dim, e.rank(v)))
    return std::nullopt;
  ExtentId extent = e.extent(v, dim);
  int64_t count =
      call.capture.graph.extent(extent).kind == ExtentExpr::Kind::Constant
          ? call.capture.graph.constantValue(extent)
          : call.capture.asConstant(extent);
  if (count == 0)
    return call.unsupported("an empty axis");
  ExtentId size = call.capture.graph.constant(count - 1);
  return fresh(call,
               e.sub(e.sliceDim(v, dim, 1, size), e.sliceDim(v, dim, 0, size)),
               keptOrder(call, call.arg(0)));
}

/// take(a, indices, axis)
std::optional<Value> capture::numpyTake(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0)), indices = emit(e, call.arg(1));
  int64_t dim = call.integer(2, 0);
  if (!call.has(2)) {
    Extents flat = {e.build.elementCount(e.extents(v))};
    v = e.reshape(v, flat);
  }
  if (!isInteger(e.dtype(indices)) || e.rank(v) == 0 || e.rank(indices) == 0)
    return call.unsupported("indices");
  if (!wrapDim(call, dim, e.rank(v)))
    return std::nullopt;
  indices = e.cast(indices, DType::I64);
  V length = e.extentNumber(DType::I64, e.extent(v, dim));
  V wrapped = e.select(e.compare("lt", indices, e.number(DType::I64, 0)),
                       e.add(indices, length), indices);
  return fresh(call, e.gather(v, wrapped, dim));
}

//===----------------------------------------------------------------------===//
// From nothing
//===----------------------------------------------------------------------===//

/// zeros, ones: (shape, dtype, order)
std::optional<Value> capture::numpyFilled(Call &call) {
  Extents extents;
  if (!call.extentItems(0, extents))
    return std::nullopt;
  if (call.string(2, "C") != "C")
    return call.unsupported("order");
  DType dtype = call.dtype(1, DType::F64);
  V one = call.emitter.number(dtype, call.detail() == "1" ? 1 : 0);
  return fresh(call, call.emitter.broadcastTo(one, extents));
}

/// full(shape, fill_value, dtype)
std::optional<Value> capture::numpyFull(Call &call) {
  Extents extents;
  if (!call.extentItems(0, extents))
    return std::nullopt;
  Operand value = operandOf(call.capture, call.arg(1));
  constexpr DType defaults[] = {DType::I1, DType::I64, DType::F64};
  DType dtype = value.isTensor ? value.dtype
                               : defaults[static_cast<uint8_t>(value.number)];
  dtype = call.dtype(2, dtype);
  if ((value.isTensor && value.rank != 0) ||
      (!value.isTensor && value.number == NumberType::Float && !isFloat(dtype)))
    return call.unsupported("fill_value");
  return fresh(call, call.emitter.broadcastTo(emit(call.emitter, value, dtype),
                                              extents));
}

/// zeros_like, ones_like: (a, dtype); full_like(a, fill_value, dtype)
std::optional<Value> capture::numpyFilledLike(Call &call) {
  Emitter &e = call.emitter;
  bool full = call.detail() == "full";
  V like = emit(e, call.arg(0));
  DType dtype = call.dtype(full ? 2 : 1, e.dtype(like));
  V value = Emitter::bad;
  if (full) {
    Operand operand = operandOf(call.capture, call.arg(1));
    if ((operand.isTensor && operand.rank != 0) ||
        (!operand.isTensor && operand.number == NumberType::Float &&
         !isFloat(dtype)))
      return call.unsupported("fill_value");
    value = emit(e, operand, dtype);
  } else {
    value = e.number(dtype, call.detail() == "1" ? 1 : 0);
  }
  return fresh(call, e.broadcastTo(value, e.extents(like)),
               keptOrder(call, call.arg(0)));
}

/// arange(stop), arange(start, stop, step): *, dtype
std::optional<Value> capture::numpyArange(Call &call) {
  Emitter &e = call.emitter;
  bool stopOnly = call.overload() == 0;
  unsigned option = stopOnly ? 1 : 3;
  Value start = stopOnly ? call.capture.constant(0LL) : call.arg(0);
  Value stop = call.arg(stopOnly ? 0 : 1);
  Value step =
      !stopOnly && call.has(2) ? call.arg(2) : call.capture.constant(1LL);
  bool integers = true;
  for (Value bound : {start, stop, step})
    integers &= operandOf(call.capture, bound).number == NumberType::Int;
  DType dtype = call.dtype(option, integers ? DType::I64 : DType::F64);
  std::optional<double> from = call.capture.asFloat(start);
  std::optional<double> by = call.capture.asFloat(step);
  std::optional<ExtentId> count = asExtent(call.capture, stop);
  if (!from || !by || *by == 0 || dtype == DType::I1)
    return call.unsupported("bounds");
  bool simple = integers && *from == 0 && *by == 1;
  if (!simple || !count || hintOf(call.capture.graph, *count) < 0) {
    std::optional<double> to = call.capture.asFloat(stop);
    if (!to || !std::isfinite(*to) || !std::isfinite(*from))
      return call.unsupported("bounds");
    count = call.capture.graph.constant(
        static_cast<int64_t>(std::max(0.0, std::ceil((*to - *from) / *by))));
  }
  Extents extents = {*count};
  V v = e.iota(DType::I64, extents, 0);
  if (integers && isInteger(dtype)) {
    if (!simple)
      v = e.add(e.mul(v, e.number(DType::I64, *by)),
                e.number(DType::I64, *from));
    return fresh(call, e.cast(v, dtype));
  }
  if (dtype != DType::F64 && !(simple && isFloat(dtype)))
    return call.unsupported("dtype");
  // start + i * delta, where delta is what (start + step) - start leaves.
  double delta = (*from + *by) - *from;
  v = e.cast(v, DType::F64);
  if (!simple)
    v = e.add(e.mul(v, e.number(DType::F64, delta)),
              e.number(DType::F64, *from));
  return fresh(call, e.cast(v, dtype));
}

/// asarray(a), array(a): of an array, a number, or numbers in nested lists.
std::optional<Value> capture::numpyArray(Call &call) {
  Emitter &e = call.emitter;
  Value data = call.arg(0);
  if (data.kind != Kind::Tensor) {
    std::optional<NestedNumbers> numbers = nestedNumbers(call.capture, data);
    if (!numbers)
      return call.unsupported("data that is no array and no list of numbers");
    constexpr DType defaults[] = {DType::I1, DType::I64, DType::F64};
    DType dtype = call.dtype(1, defaults[static_cast<uint8_t>(numbers->type)]);
    return fresh(call, emitNested(e, *numbers, dtype));
  }
  const TensorRow &row = call.capture.tensorRow(data);
  V v = emit(e, data);
  DType dtype = call.dtype(1, e.dtype(v));
  if (row.numpyScalar || (call.detail() == "as" && dtype == e.dtype(v)))
    return row.numpyScalar ? fresh(call, e.cast(v, dtype)) : call.arg(0);
  return fresh(call, e.cast(v, dtype), keptOrder(call, data));
}

/// np.float32(x), ...: a scalar of the dtype, or an array cast to it.
std::optional<Value> capture::numpyScalarType(Call &call) {
  Emitter &e = call.emitter;
  std::optional<DType> dtype = dtypeOf(call.bound.callable, Library::NumPy);
  if (!dtype)
    return call.unsupported("the dtype");
  Operand operand = operandOf(call.capture, call.arg(0));
  if (!operand.isTensor && operand.number == NumberType::Float &&
      !isFloat(*dtype))
    return call.unsupported("a float for integers");
  V v = emit(e, operand, *dtype);
  return numpyFinish(call, v, {});
}
