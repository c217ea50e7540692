//===- NumpyReduce.cpp - Reductions of NumPy --------------------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Numpy.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;

/// Argument `i` as the axes: None for all, an int, or a tuple of ints. An empty
/// tuple reduces nothing and is left alone.
static bool axes(Call &call, unsigned i, size_t rank,
                 std::vector<int64_t> &dims) {
  if (call.has(i) && call.items(i).empty()) {
    call.unsupported("no axis");
    return false;
  }
  return reductionDims(call, i, rank, dims);
}

/// The dimensions that are left keep their order in memory.
static std::vector<uint8_t>
keptLayout(Call &call, std::span<const int64_t> dims, bool keep) {
  Value input = call.arg(0);
  size_t rank = call.emitter.rank(call.capture.tensorRow(input).value);
  std::vector<uint8_t> order =
      numpyLayout(call.capture, std::span(&input, 1),
                  call.emitter.extents(call.capture.tensorRow(input).value));
  if (order.empty() || keep)
    return order;
  std::vector<int> renamed(rank, -1);
  int next = 0;
  for (size_t i = 0; i < rank; ++i)
    if (std::ranges::find(dims, static_cast<int64_t>(i)) == dims.end())
      renamed[i] = next++;
  std::vector<uint8_t> kept;
  for (uint8_t dim : order)
    if (renamed[dim] >= 0)
      kept.push_back(static_cast<uint8_t>(renamed[dim]));
  if (std::ranges::is_sorted(kept))
    kept.clear();
  return kept;
}

static std::optional<Value> finish(Call &call, V v,
                                   std::span<const int64_t> dims, bool keep,
                                   unsigned out) {
  if (call.emitter.failed() || v == Emitter::bad)
    return call.giveUp();
  if (call.has(out))
    return numpyFinish(call, v, {}, out);
  return newArray(call.capture, v, keptLayout(call, dims, keep));
}

/// sum, prod, mean: (a, axis, dtype, out, keepdims)
std::optional<Value> capture::numpySum(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!axes(call, 1, e.rank(x), dims))
    return std::nullopt;
  bool isMean = call.detail() == "mean", keep = call.boolean(4);
  DType own = e.dtype(x);
  if (own == DType::U8 && !isMean && !call.has(2))
    return call.unsupported("the sum of uint8 is uint64");
  DType result = isFloat(own) ? own : isMean ? DType::F64 : DType::I64;
  result = call.dtype(2, result);
  if (result == DType::I1 || (isMean && !isFloat(result)))
    return call.unsupported("the result's dtype");
  if (isMean && isAnyEmpty(call, x, dims))
    return call.unsupported("the mean of nothing"); // NumPy warns.
  DType wide = computeType(result);
  x = e.cast(e.cast(x, result), wide);
  V v = e.reduce(call.detail() == "prod" ? "prod" : "sum", x, dims, keep);
  if (isMean)
    v = e.div(v, e.countOf(x, dims, wide));
  return finish(call, e.cast(v, result), dims, keep, 3);
}

/// max, min: (a, axis, out, keepdims)
std::optional<Value> capture::numpyExtremum(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!axes(call, 1, e.rank(x), dims))
    return std::nullopt;
  if (isAnyEmpty(call, x, dims))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  std::string_view kind = call.detail();
  if (kind == "ptp") {
    if (e.dtype(x) == DType::I1)
      return call.unsupported("bools");
    V v = e.sub(e.reduce("max", x, dims, call.boolean(3)),
                e.reduce("min", x, dims, call.boolean(3)));
    return finish(call, v, dims, call.boolean(3), 2);
  }
  if (e.dtype(x) == DType::I1)
    kind = kind == "max" ? "any" : "all";
  return finish(call, e.reduce(kind, x, dims, call.boolean(3)), dims,
                call.boolean(3), 2);
}

/// argmax, argmin: (a, axis, out, *, keepdims)
std::optional<Value> capture::numpyArg(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) == DType::I1 || e.rank(x) == 0)
    return call.unsupported("a bool or 0-d array");
  std::vector<int64_t> dims = allDims(e.rank(x));
  if (isAnyEmpty(call, x, dims))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  V v = Emitter::bad;
  if (call.has(1)) {
    int64_t dim = call.integer(1);
    if (!wrapDim(call, dim, e.rank(x)))
      return std::nullopt;
    v = e.argReduce(call.detail(), x, dim, call.boolean(3));
  } else {
    if (call.boolean(3))
      return call.unsupported("keepdims without axis");
    Emitter::Extents flat = {e.build.elementCount(e.extents(x))};
    v = e.argReduce(call.detail(), e.reshape(x, flat), 0);
  }
  return numpyFinish(call, v, {}, 2);
}

/// any, all: (a, axis, out, keepdims)
std::optional<Value> capture::numpyAnyAll(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!axes(call, 1, e.rank(x), dims))
    return std::nullopt;
  V v = e.reduce(call.detail(), e.truth(x), dims, call.boolean(3));
  return finish(call, v, dims, call.boolean(3), 2);
}

/// var, std: (a, axis, dtype, out, ddof, keepdims)
std::optional<Value> capture::numpyVariance(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!axes(call, 1, e.rank(x), dims))
    return std::nullopt;
  DType dtype = isFloat(e.dtype(x)) ? e.dtype(x) : DType::F64;
  if (dtype == DType::F16 || (call.has(2) && call.dtype(2, dtype) != dtype))
    return call.unsupported("the dtype");
  int64_t count = 1;
  for (int64_t dim : dims) {
    ExtentId extent = e.extent(x, dim);
    count *= call.capture.graph.extent(extent).kind ==
                     importer::ExtentExpr::Kind::Constant
                 ? call.capture.graph.constantValue(extent)
                 : call.capture.asConstant(extent);
  }
  double freedom = static_cast<double>(count) - call.real(4, 0);
  if (freedom <= 0)
    return call.unsupported("no degrees of freedom"); // NumPy warns.
  bool keep = call.boolean(5);
  x = e.cast(x, dtype);
  V mean = e.div(e.reduce("sum", x, dims, true),
                 e.number(dtype, static_cast<double>(count)));
  V distance = e.sub(x, mean);
  V v = e.div(e.reduce("sum", e.mul(distance, distance), dims, keep),
              e.number(dtype, freedom));
  if (call.detail() == "std")
    v = e.unary("sqrt", v);
  return finish(call, v, dims, keep, 3);
}
