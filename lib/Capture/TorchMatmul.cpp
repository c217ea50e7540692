//===- TorchMatmul.cpp - Matrix products of PyTorch -------------*- C++ -*-===//

#include "Compositions.h"
#include "Importers.h"
#include "Torch.h"

#include <algorithm>
#include <cmath>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

static bool autocast(Call &call) {
  if (!call.capture.ambient(Ambient::Autocast))
    return false;
  call.capture.breakHere(BreakInfo::Reason::Ambient, "autocast");
  return true;
}

/// matmul, mm, bmm, mv, dot: (input, other, *, out). The detail is the ranks
/// that the operands must have; empty for any.
std::optional<Value> capture::torchMatmulCall(Call &call) {
  Emitter &e = call.emitter;
  if (autocast(call))
    return std::nullopt;
  V a = emit(e, call.arg(0)), b = emit(e, call.arg(1));
  std::string_view ranks = call.detail();
  if (!ranks.empty() && (e.rank(a) != static_cast<size_t>(ranks[0] - '0') ||
                         e.rank(b) != static_cast<size_t>(ranks[1] - '0')))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  if (ranks == "33" && e.extent(a, 0) != e.extent(b, 0))
    return call.unsupported("batches");
  return torchFinishDense(call, matmul(e, a, b), 2);
}

/// beta * input + alpha * product.
static V combined(Emitter &e, V input, V product, double beta, double alpha) {
  if (alpha != 1)
    product = e.mul(product, e.like(product, alpha));
  if (beta == 0)
    return product;
  if (beta != 1)
    input = e.mul(input, e.like(input, beta));
  return e.add(input, product);
}

/// addmm, addmv, addbmm, baddbmm: (input, a, b, *, beta, alpha, out)
std::optional<Value> capture::torchAddMatmul(Call &call) {
  Emitter &e = call.emitter;
  if (autocast(call))
    return std::nullopt;
  V input = emit(e, call.arg(0));
  V a = emit(e, call.arg(1)), b = emit(e, call.arg(2));
  std::string_view ranks = call.detail();
  if (e.rank(a) != static_cast<size_t>(ranks[0] - '0') ||
      e.rank(b) != static_cast<size_t>(ranks[1] - '0') ||
      e.dtype(input) != e.dtype(a))
    return call.unsupported("ranks or dtypes");
  DType dtype = e.dtype(input);
  if (!isFloat(dtype))
    return call.unsupported("integers");
  double beta = call.real(3, 1), alpha = call.real(4, 1);
  if (ranks == "33" && e.extent(a, 0) != e.extent(b, 0))
    return call.unsupported("batches");
  V product = matmul(e, a, b);
  if (e.failed() || product == Emitter::bad)
    return call.giveUp();
  // The input broadcasts to the product, never the other way.
  input = e.broadcastTo(input, e.extents(product));
  return torchFinishDense(call, combined(e, input, product, beta, alpha), 5);
}

/// linear(input, weight, bias): input @ weight.T + bias
std::optional<Value> capture::torchLinear(Call &call) {
  Emitter &e = call.emitter;
  if (autocast(call))
    return std::nullopt;
  V x = emit(e, call.arg(0)), weight = emit(e, call.arg(1));
  if (e.rank(weight) != 2 || e.rank(x) < 1 || e.dtype(x) != e.dtype(weight) ||
      !isFloat(e.dtype(x)))
    return call.unsupported("ranks or dtypes");
  Extents from = e.extents(x), matrix = e.extents(weight);
  Extents rows(from.begin(), from.end() - 1);
  Extents flat = {e.build.elementCount(rows), from.back()};
  V product = e.contract(e.reshape(x, flat), weight, false, true);
  if (call.has(2)) {
    V bias = emit(e, call.arg(2));
    if (e.dtype(bias) != e.dtype(x))
      return call.unsupported("dtypes");
    product = e.add(product, e.broadcastTo(bias, e.extents(product)));
  }
  rows.push_back(matrix[0]);
  return torchFinishDense(call, e.reshape(product, rows));
}

/// outer(input, vec2)
std::optional<Value> capture::torchOuter(Call &call) {
  Emitter &e = call.emitter;
  Operand operands[] = {operandOf(call.capture, call.arg(0)),
                        operandOf(call.capture, call.arg(1))};
  if (operands[0].rank != 1 || operands[1].rank != 1)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  DType dtype = torchResultType(call.capture, operands);
  if (dtype == DType::I1)
    return call.unsupported("bools");
  V a = emit(e, operands[0], dtype), b = emit(e, operands[1], dtype);
  return torchFinishDense(call, e.mul(e.unsqueeze(a, 1), b), 2);
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p,
/// is_causal, *, scale, enable_gqa), by its definition.
std::optional<Value> capture::torchAttention(Call &call) {
  Emitter &e = call.emitter;
  Capture &capture = call.capture;
  if (autocast(call))
    return std::nullopt;
  V q = emit(e, call.arg(0)), k = emit(e, call.arg(1)),
    v = emit(e, call.arg(2));
  size_t rank = e.rank(q);
  if (rank < 3 || e.rank(k) != rank || e.rank(v) != rank ||
      e.dtype(q) != DType::F32 || e.dtype(k) != DType::F32 ||
      e.dtype(v) != DType::F32)
    return call.unsupported("ranks or dtypes");
  if (call.real(4) != 0)
    return capture.breakHere(BreakInfo::Reason::RandomNumbers, "dropout");
  if (call.boolean(7))
    return call.unsupported("enable_gqa");
  int64_t last = static_cast<int64_t>(rank) - 1;
  ExtentId width = e.extent(q, last), queries = e.extent(q, last - 1);
  ExtentId keys = e.extent(k, last - 1);
  V scale = Emitter::bad;
  if (call.has(6)) {
    scale = e.number(DType::F32, call.real(6));
  } else {
    V extent = e.extentNumber(DType::F32, width);
    scale = e.div(e.number(DType::F32, 1), e.unary("sqrt", extent));
  }
  std::vector<int64_t> swap = allDims(rank);
  std::swap(swap[rank - 1], swap[rank - 2]);
  V scores = matmul(e, e.mul(q, scale), e.transpose(k, swap));
  if (call.boolean(5)) {
    if (call.has(3))
      return call.unsupported("a mask that is causal too");
    Extents square = {queries, keys};
    V rows = e.iota(DType::I64, square, 0),
      columns = e.iota(DType::I64, square, 1);
    scores = e.select(e.compare("le", columns, rows), scores,
                      e.number(DType::F32, -INFINITY));
  } else if (call.has(3)) {
    V mask = emit(e, call.arg(3));
    if (e.dtype(mask) == DType::I1)
      scores = e.select(mask, scores, e.number(DType::F32, -INFINITY));
    else if (e.dtype(mask) == DType::F32)
      scores = e.add(scores, mask);
    else
      return call.unsupported("the mask");
  }
  if (e.failed())
    return call.giveUp();
  V weights = softmaxOf(e, scores, last);
  if (call.boolean(5) || call.has(3)) {
    // A row that is masked whole gives zeros.
    V greatest = e.reduce("max", scores, std::span(&last, 1), true);
    V masked = e.compare("eq", greatest, e.number(DType::F32, -INFINITY));
    weights = e.select(masked, e.number(DType::F32, 0), weights);
  }
  V result = matmul(e, weights, v);
  return torchFinishDense(call, result);
}
