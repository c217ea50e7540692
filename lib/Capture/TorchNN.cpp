//===- TorchNN.cpp - Layers of torch.nn.functional --------------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Torch.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

/// The last dimensions, if they are those of `normalized_shape`.
static bool normalizedDims(Call &call, unsigned i, V x,
                           std::vector<int64_t> &dims) {
  Extents shape, from = call.emitter.extents(x);
  if (!call.extentItems(i, shape))
    return false;
  bool fits = !shape.empty() && shape.size() <= from.size() &&
              std::equal(shape.rbegin(), shape.rend(), from.rbegin());
  if (!fits) {
    call.unsupported("normalized_shape");
    return false;
  }
  for (size_t i = from.size() - shape.size(); i < from.size(); ++i)
    dims.push_back(static_cast<int64_t>(i));
  return true;
}

/// layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)
std::optional<Value> capture::torchLayerNorm(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  std::vector<int64_t> dims;
  if (!isFloat(dtype))
    return call.unsupported("integers");
  if (!normalizedDims(call, 1, input, dims))
    return std::nullopt;
  DType wide = computeType(dtype);
  auto parameter = [&](unsigned i) {
    V v = call.has(i) ? emit(e, call.arg(i)) : Emitter::bad;
    return v == Emitter::bad ? v : e.cast(v, wide);
  };
  for (unsigned i : {2u, 3u})
    if (call.has(i) && (e.rank(emit(e, call.arg(i))) != dims.size() ||
                        e.dtype(emit(e, call.arg(i))) != dtype))
      return call.unsupported("weight or bias");
  V x = e.cast(input, wide);
  V count = e.countOf(x, dims, wide);
  V mean = e.div(e.reduce("sum", x, dims, true), count);
  V distance = e.sub(x, mean);
  V variance =
      e.div(e.reduce("sum", e.mul(distance, distance), dims, true), count);
  V scale = e.div(
      e.like(variance, 1),
      e.unary("sqrt", e.add(variance, e.like(variance, call.real(4, 1e-5)))));
  V y = e.mul(distance, scale);
  V weight = parameter(2), bias = parameter(3);
  if (weight != Emitter::bad && bias != Emitter::bad)
    y = e.fma(y, weight, bias);
  else if (weight != Emitter::bad)
    y = e.mul(y, weight);
  else if (bias != Emitter::bad)
    y = e.add(y, bias);
  return torchFinishDense(call, e.cast(y, dtype));
}

/// rms_norm(input, normalized_shape, weight, eps)
std::optional<Value> capture::torchRmsNorm(Call &call) {
  Emitter &e = call.emitter;
  V input = emit(e, call.arg(0));
  DType dtype = e.dtype(input);
  std::vector<int64_t> dims;
  if (dtype != DType::F32 && dtype != DType::F64)
    return call.unsupported("dtype");
  if (!normalizedDims(call, 1, input, dims))
    return std::nullopt;
  double epsilon = call.real(3, dtype == DType::F32 ? 0x1p-23 : 0x1p-52);
  V mean = e.div(e.reduce("sum", e.mul(input, input), dims, true),
                 e.countOf(input, dims, dtype));
  V y = e.mul(input, e.unary("rsqrt", e.add(mean, e.like(mean, epsilon))));
  if (call.has(2)) {
    V weight = emit(e, call.arg(2));
    if (e.dtype(weight) != dtype || e.rank(weight) != dims.size())
      return call.unsupported("weight");
    y = e.mul(y, weight);
  }
  return torchFinishDense(call, y);
}

/// dropout(input, p, training, inplace): nothing where it is off.
std::optional<Value> capture::torchDropout(Call &call) {
  bool training = call.boolean(2, call.detail() == "functional");
  double p = call.real(1, 0.5);
  if (training && p != 0)
    return call.capture.breakHere(BreakInfo::Reason::RandomNumbers,
                                  call.bound.name);
  return call.arg(0);
}

/// An index tensor as i64 that gather takes.
static V indexOf(Emitter &e, V index) {
  if (e.failed() || !isInteger(e.dtype(index)) || e.dtype(index) < DType::I32)
    return Emitter::bad;
  return index;
}

/// embedding(input, weight, ...): rows of the weight. F.embedding has the
/// operands the other way than torch.embedding.
std::optional<Value> capture::torchEmbedding(Call &call) {
  Emitter &e = call.emitter;
  bool functional = call.detail() == "functional";
  V index = indexOf(e, emit(e, call.arg(functional ? 0 : 1)));
  V weight = emit(e, call.arg(functional ? 1 : 0));
  if (index == Emitter::bad || e.rank(weight) != 2)
    return call.unsupported("dtype of the indices");
  return torchFinishDense(call, e.gather(weight, index, 0));
}

/// index_select(input, dim, index)
std::optional<Value> capture::torchIndexSelect(Call &call) {
  Emitter &e = call.emitter;
  V x = emit(e, call.arg(0));
  V index = indexOf(e, emit(e, call.arg(2)));
  int64_t dim = call.integer(1);
  if (!wrapDim(call, dim, e.rank(x)))
    return std::nullopt;
  if (index == Emitter::bad || e.rank(index) != 1 || e.rank(x) == 0)
    return call.unsupported("index");
  return torchFinishDense(call, e.gather(x, index, dim));
}

/// mse_loss, l1_loss: (input, target, size_average, reduce, reduction, weight)
std::optional<Value> capture::torchLoss(Call &call) {
  Emitter &e = call.emitter;
  V a = emit(e, call.arg(0)), b = emit(e, call.arg(1));
  if (!isFloat(e.dtype(a)) || e.dtype(a) != e.dtype(b) ||
      computeType(e.dtype(a)) != e.dtype(a) || e.extents(a) != e.extents(b))
    return call.unsupported("dtypes or shapes");
  V distance = e.sub(a, b);
  V loss = call.detail() == "mse" ? e.mul(distance, distance)
                                  : e.unary("abs", distance);
  std::string_view reduction = call.string(4, "mean");
  std::vector<int64_t> dims = allDims(e.rank(loss));
  if (reduction == "none") {
    Value operands[] = {call.arg(0), call.arg(1)};
    return torchFinish(call, loss, operands);
  }
  V sum = e.reduce("sum", loss, dims);
  if (reduction == "mean")
    sum = e.div(sum, e.countOf(loss, dims, e.dtype(loss)));
  else if (reduction != "sum")
    return call.unsupported("reduction");
  return torchFinishDense(call, sum);
}

/// batch_norm(input, running_mean, running_var, weight, bias, training,
/// momentum, eps) with the running moments. torch.batch_norm has weight and
/// bias first.
std::optional<Value> capture::torchBatchNorm(Call &call) {
  Emitter &e = call.emitter;
  bool functional = call.detail() == "functional";
  unsigned mean = functional ? 1 : 3, weight = functional ? 3 : 1;
  V x = emit(e, call.arg(0));
  if (e.dtype(x) != DType::F32 && e.dtype(x) != DType::F64)
    return call.unsupported("dtype");
  if (call.boolean(5))
    return call.unsupported("training: the running moments change");
  if (e.rank(x) < 2 || !call.has(mean) || !call.has(mean + 1))
    return call.unsupported("no running moments");
  // One number for each channel, which is dimension 1.
  Extents shape(e.rank(x), call.capture.graph.constant(1));
  shape[1] = e.extent(x, 1);
  auto perChannel = [&](unsigned i) {
    V v = emit(e, call.arg(i));
    return e.dtype(v) == e.dtype(x) ? e.reshape(v, shape) : Emitter::bad;
  };
  V variance = perChannel(mean + 1);
  V spread =
      e.unary("sqrt", e.add(variance, e.like(variance, call.real(7, 1e-5))));
  V scale = e.div(e.like(variance, 1), spread);
  if (call.has(weight))
    scale = e.mul(scale, perChannel(weight));
  V shift = e.unary("neg", e.mul(perChannel(mean), scale));
  if (call.has(weight + 1))
    shift = e.sub(perChannel(weight + 1), e.mul(perChannel(mean), scale));
  V y = e.add(e.mul(x, scale), shift);
  if (e.failed() || y == Emitter::bad)
    return call.unsupported("dtypes or shapes");
  std::vector<uint8_t> layout = preservedLayout(call.capture, call.arg(0));
  if (layout != std::vector<uint8_t>{0, 2, 3, 1})
    layout.clear();
  return newTensor(call.capture, Library::Torch, y, std::move(layout));
}
