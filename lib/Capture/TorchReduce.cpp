//===- TorchReduce.cpp - Reductions of PyTorch ------------------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Torch.h"

#include <algorithm>
#include <cmath>

using namespace wok;
using namespace wok::capture;
using V = Emitter::V;

/// The dtype that a sum or product is computed in and returned as.
static std::optional<DType> sumDtype(Call &call, V x, unsigned dtypeArgument) {
  DType own = call.emitter.dtype(x);
  bool isMean = call.detail() == "mean";
  DType result =
      call.dtype(dtypeArgument, isFloat(own) || isMean ? own : DType::I64);
  if ((isMean && !isFloat(result)) || result == DType::I1) {
    call.unsupported("the result's dtype");
    return std::nullopt;
  }
  return result;
}

/// sum, mean, nansum: (input, dim, keepdim, *, dtype, out)
std::optional<Value> capture::torchSum(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!reductionDims(call, 1, e.rank(x), dims))
    return std::nullopt;
  std::optional<DType> result = sumDtype(call, x, 3);
  if (!result)
    return std::nullopt;
  DType wide = computeType(*result);
  // Cast to the result first, as eager does: an f64 summed as f32 rounds.
  x = e.cast(e.cast(x, *result), wide);
  if (call.detail() == "nansum" && isFloat(*result))
    x = e.select(e.unary("is_nan", x), e.like(x, 0), x);
  V v = e.reduce("sum", x, dims, call.boolean(2));
  if (call.detail() == "mean")
    v = e.div(v, e.countOf(x, dims, wide));
  return torchFinishDense(call, e.cast(v, *result), 4);
}

/// prod(input, *, dtype), prod(input, dim, keepdim, *, dtype, out)
std::optional<Value> capture::torchProd(Call &call) {
  Emitter &e = call.emitter;
  if (call.capture.ambient(Ambient::Autocast))
    return call.capture.breakHere(BreakInfo::Reason::Ambient, "autocast");
  V x = emit(e, call.arg(0));
  bool all = call.overload() == 0;
  std::vector<int64_t> dims;
  if (all)
    dims = allDims(e.rank(x));
  else if (!reductionDims(call, 1, e.rank(x), dims))
    return std::nullopt;
  std::optional<DType> result = sumDtype(call, x, all ? 1 : 3);
  if (!result)
    return std::nullopt;
  x = e.cast(e.cast(x, *result), computeType(*result));
  V v = e.reduce("prod", x, dims, !all && call.boolean(2));
  return torchFinishDense(call, e.cast(v, *result), all ? ~0u : 4);
}

/// amax, amin: (input, dim, keepdim, *, out)
std::optional<Value> capture::torchExtremum(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!reductionDims(call, 1, e.rank(x), dims))
    return std::nullopt;
  if (isAnyEmpty(call, x, dims))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  // The dialect reduces bools by any and all.
  std::string_view kind = call.detail();
  if (e.dtype(x) == DType::I1)
    kind = kind == "max" ? "any" : "all";
  return torchFinishDense(call, e.reduce(kind, x, dims, call.boolean(2)), 3);
}

static Value pairOf(Call &call, V first, V second) {
  return call.capture.tuple({newTensor(call.capture, Library::Torch, first),
                             newTensor(call.capture, Library::Torch, second)});
}

/// torch.return_types.max(values, indices)
static std::optional<Value> valuesAndIndices(Call &call, V values, V indices) {
  if (call.emitter.failed())
    return call.giveUp();
  PyObject *type =
      findObject("torch.return_types." + std::string(call.detail()));
  if (!type)
    return call.unsupported("its result");
  Value pair = pairOf(call, values, indices);
  call.capture.changeSequence(pair).structure = type;
  return pair;
}

/// max, min: of all; along a dimension with indices; of two tensors.
std::optional<Value> capture::torchMaxMin(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::string_view kind = call.detail();
  if (call.overload() == 2) {
    Operand operands[] = {operandOf(call.capture, call.arg(0)),
                          operandOf(call.capture, call.arg(1))};
    V v = torchBinary(e, kind == "max" ? "maximum" : "minimum", operands[0],
                      operands[1]);
    return torchFinish(call, v, tensorsOf(operands), 2);
  }
  bool isBool = e.dtype(x) == DType::I1;
  std::string_view reduction = !isBool ? kind : kind == "max" ? "any" : "all";
  if (call.overload() == 0) {
    std::vector<int64_t> dims = allDims(e.rank(x));
    if (isAnyEmpty(call, x, dims))
      return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                    call.bound.name);
    return torchFinishDense(call, e.reduce(reduction, x, dims));
  }
  int64_t dim = call.integer(1);
  if (!wrapDim(call, dim, e.rank(x)))
    return std::nullopt;
  if (e.rank(x) == 0 || isBool)
    return call.unsupported("a scalar or a bool tensor");
  if (isAnyEmpty(call, x, std::span(&dim, 1)))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  bool keep = call.boolean(2);
  return valuesAndIndices(call, e.reduce(kind, x, std::span(&dim, 1), keep),
                          e.argReduce(kind, x, dim, keep));
}

/// argmax, argmin: (input, dim, keepdim)
std::optional<Value> capture::torchArg(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) == DType::I1)
    return call.unsupported("a bool tensor");
  std::vector<int64_t> dims = allDims(e.rank(x));
  if (isAnyEmpty(call, x, dims))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  if (e.rank(x) == 0)
    return torchFinishDense(call, e.number(DType::I64, 0));
  if (call.has(1)) {
    int64_t dim = call.integer(1);
    if (!wrapDim(call, dim, e.rank(x)))
      return std::nullopt;
    return torchFinishDense(
        call, e.argReduce(call.detail(), x, dim, call.boolean(2)));
  }
  if (call.boolean(2))
    return call.unsupported("keepdim without dim");
  Emitter::Extents flat = {e.build.elementCount(e.extents(x))};
  return torchFinishDense(call,
                          e.argReduce(call.detail(), e.reshape(x, flat), 0));
}

/// any, all: (input, dim, keepdim, *, out)
std::optional<Value> capture::torchAnyAll(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!reductionDims(call, 1, e.rank(x), dims))
    return std::nullopt;
  // For uint8 both give uint8.
  DType result = e.dtype(x) == DType::U8 ? DType::U8 : DType::I1;
  V v = e.reduce(call.detail(), e.truth(x), dims, call.boolean(2));
  return torchFinishDense(call, e.cast(v, result), 3);
}

/// The variance in two passes: mean((x - mean)^2) * n / (n - correction).
static V varianceOf(Emitter &e, V x, std::span<const int64_t> dims,
                    double correction, bool keep, V *mean = nullptr) {
  DType dtype = e.dtype(x);
  V count = e.countOf(x, dims, dtype);
  V center = e.div(e.reduce("sum", x, dims, true), count);
  V distance = e.sub(x, center);
  V sum = e.reduce("sum", e.mul(distance, distance), dims, keep);
  V freedom = e.sub(count, e.number(dtype, correction));
  freedom = e.binary("max", freedom, e.number(dtype, 0));
  if (mean)
    *mean = keep ? center : e.div(e.reduce("sum", x, dims), count);
  return e.div(sum, freedom);
}

/// Whether there are more elements than `correction`: PyTorch warns otherwise.
static bool hasFreedom(Emitter &e, V input, std::span<const int64_t> dims,
                       double correction) {
  importer::Graph &graph = e.capture.graph;
  const Emitter::Extents extents = e.extents(input);
  double atLeast = 1;
  for (int64_t dim : dims) {
    importer::ExtentId id = extents[static_cast<size_t>(dim)];
    bool isSymbol = graph.extent(id).kind == importer::ExtentExpr::Kind::Symbol;
    // Symbols are guarded to be 2 or more.
    atLeast *= isSymbol && correction < 2
                   ? 2
                   : static_cast<double>(e.capture.asConstant(id));
  }
  return atLeast > correction;
}

/// var, std, var_mean, std_mean: (input, dim, *, correction, keepdim) or
/// (input, unbiased) or (input, dim, unbiased, keepdim)
std::optional<Value> capture::torchVariance(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  std::vector<int64_t> dims;
  double correction = 1;
  bool keep = false;
  if (call.overload() == 0) {
    if (!reductionDims(call, 1, e.rank(input), dims))
      return std::nullopt;
    correction = call.real(2, 1);
    keep = call.boolean(3);
  } else if (call.overload() == 1) {
    dims = allDims(e.rank(input));
    correction = call.boolean(1) ? 1 : 0;
  } else {
    if (!reductionDims(call, 1, e.rank(input), dims))
      return std::nullopt;
    correction = call.boolean(2) ? 1 : 0;
    keep = call.boolean(3);
  }
  if (!hasFreedom(e, input, dims, correction))
    return call.unsupported("no degrees of freedom");
  V x = e.cast(input, computeType(dtype));
  bool withMean = call.detail().ends_with("_mean");
  V mean = Emitter::bad;
  V v = varianceOf(e, x, dims, correction, keep, withMean ? &mean : nullptr);
  if (call.detail().starts_with("std"))
    v = e.unary("sqrt", v);
  v = e.cast(v, dtype);
  if (withMean) {
    mean = e.cast(mean, dtype);
    if (e.failed())
      return call.giveUp();
    return pairOf(call, v, mean);
  }
  return torchFinishDense(call, v);
}

V capture::softmaxOf(Emitter &e, V x, int64_t dim) {
  std::span<const int64_t> dims(&dim, 1);
  V shifted = e.sub(x, e.reduce("max", x, dims, true));
  V exponential = e.unary("exp", shifted);
  V sum = e.reduce("sum", exponential, dims, true);
  return e.mul(exponential, e.div(e.like(sum, 1), sum));
}

V capture::logSoftmaxOf(Emitter &e, V x, int64_t dim) {
  std::span<const int64_t> dims(&dim, 1);
  V shifted = e.sub(x, e.reduce("max", x, dims, true));
  V sum = e.reduce("sum", e.unary("exp", shifted), dims, true);
  return e.sub(shifted, e.unary("log", sum));
}

/// softmax, log_softmax: (input, dim, dtype)
std::optional<Value> capture::torchSoftmax(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  if (!call.has(1))
    return call.unsupported("an implicit dim");
  int64_t dim = call.integer(1);
  if (!wrapDim(call, dim, e.rank(x)))
    return std::nullopt;
  // The dtype comes last.
  unsigned last = static_cast<unsigned>(call.bound.overloads[0].size()) - 1;
  DType result = call.dtype(last, e.dtype(x));
  if (!isFloat(result))
    return call.unsupported("integers");
  if (e.rank(x) == 0)
    return call.unsupported("a scalar");
  std::span<const int64_t> dims(&dim, 1);
  if (isAnyEmpty(call, x, dims))
    return call.unsupported("an empty dimension");
  x = e.cast(x, computeType(result));
  V v = call.detail() == "log" ? logSoftmaxOf(e, x, dim) : softmaxOf(e, x, dim);
  return torchFinishDense(call, e.cast(v, result));
}

/// logsumexp(input, dim, keepdim)
std::optional<Value> capture::torchLogSumExp(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  std::vector<int64_t> dims;
  if (e.rank(input) == 0)
    return call.unsupported("a scalar");
  dtype = torchFloatType(call.capture, dtype);
  input = e.cast(input, dtype);
  if (!reductionDims(call, 1, e.rank(input), dims))
    return std::nullopt;
  if (isAnyEmpty(call, input, dims))
    return call.unsupported("an empty dimension");
  bool keep = call.boolean(2);
  // An infinite maximum is taken as 0, so that its own exp is what decides.
  V greatest = e.reduce("max", input, dims, true);
  V isInfinite =
      e.compare("eq", e.unary("abs", greatest), e.like(greatest, INFINITY));
  V safe = e.select(isInfinite, e.like(greatest, 0), greatest);
  V sum = e.reduce("sum", e.unary("exp", e.sub(input, safe)), dims, true);
  V v = e.add(e.unary("log", sum), safe);
  if (!keep) {
    Emitter::Extents kept;
    for (size_t i = 0; i < e.rank(input); ++i)
      if (std::ranges::find(dims, static_cast<int64_t>(i)) == dims.end())
        kept.push_back(e.extent(input, static_cast<int64_t>(i)));
    v = e.reshape(v, kept);
  }
  return torchFinishDense(call, v);
}

/// norm(input, p, dim, keepdim), vector_norm: 1, 2 and infinity.
std::optional<Value> capture::torchNorm(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  std::vector<int64_t> dims;
  if (!isFloat(dtype))
    return call.unsupported("integers");
  if (!reductionDims(call, 2, e.rank(input), dims))
    return std::nullopt;
  double order = call.real(1, 2);
  bool keep = call.boolean(3);
  V x = e.cast(input, computeType(dtype));
  V v = Emitter::bad;
  if (order == 2)
    v = e.unary("sqrt", e.reduce("sum", e.mul(x, x), dims, keep));
  else if (order == 1)
    v = e.reduce("sum", e.unary("abs", x), dims, keep);
  else if (std::isinf(order) && !isAnyEmpty(call, x, dims))
    v = e.reduce(order > 0 ? "max" : "min", e.unary("abs", x), dims, keep);
  else
    return call.unsupported("the order of the norm");
  return torchFinishDense(call, e.cast(v, dtype));
}

/// count_nonzero(input, dim)
std::optional<Value> capture::torchCountNonzero(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!reductionDims(call, 1, e.rank(x), dims))
    return std::nullopt;
  return torchFinishDense(
      call, e.reduce("sum", e.cast(e.truth(x), DType::I64), dims));
}
