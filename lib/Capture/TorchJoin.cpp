//===- TorchJoin.cpp - Tensors put together and rearranged ------*- C++ -*-===//

#include "Dims.h"
#include "Importers.h"
#include "Torch.h"

#include <algorithm>
#include <numeric>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

static constexpr uint8_t channelsLast[] = {0, 2, 3, 1};

static bool isChannelsLast(std::span<const uint8_t> layout) {
  return std::ranges::equal(layout, channelsLast);
}

/// The tensors of argument 0 in their common dtype.
static std::vector<V> promoted(Call &call) {
  std::vector<Operand> operands;
  for (Value tensor : call.items(0))
    operands.push_back(operandOf(call.capture, tensor));
  DType dtype = torchResultType(call.capture, operands);
  std::vector<V> values;
  for (const Operand &operand : operands)
    values.push_back(emit(call.emitter, operand, dtype));
  return values;
}

/// cat(tensors, dim, *, out)
std::optional<Value> capture::torchCat(Call &call) {
  Emitter &e = call.emitter;
  if (call.items(0).empty())
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  std::vector<V> values = promoted(call);
  size_t rank = e.rank(values[0]);
  int64_t dim = call.integer(1, 0);
  if (!wrapDim(call, dim, rank))
    return std::nullopt;
  bool last = true;
  for (size_t i = 0; i < values.size(); ++i) {
    // An empty 1-d tensor is skipped by eager, whatever the others are.
    if (rank == 0 || e.rank(values[i]) != rank)
      return call.unsupported("ranks");
    last &= rank == 4 &&
            isChannelsLast(preservedLayout(call.capture, call.items(0)[i]));
  }
  V v = e.concat(values, dim);
  if (e.failed() || !last || call.has(2))
    return torchFinishDense(call, v, 2);
  return newTensor(call.capture, Library::Torch, v, {0, 2, 3, 1});
}

/// stack(tensors, dim, *, out)
std::optional<Value> capture::torchStack(Call &call) {
  Emitter &e = call.emitter;
  if (call.items(0).empty())
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  std::vector<V> values = promoted(call);
  Extents extents = e.extents(values[0]);
  int64_t dim = call.integer(1, 0);
  if (!wrapDim(call, dim, extents.size() + 1))
    return std::nullopt;
  bool allDense = true;
  for (size_t i = 0; i < values.size(); ++i) {
    if (e.extents(values[i]) != extents)
      return call.unsupported("shapes");
    allDense &= preservedLayout(call.capture, call.items(0)[i]).empty();
    values[i] = e.unsqueeze(values[i], dim);
  }
  // Eager may keep another order of dimensions.
  if (!allDense && !call.has(2))
    return call.unsupported("tensors that are not row-major");
  return torchFinishDense(call, e.concat(values, dim), 2);
}

/// hstack, vstack: (tensors, *, out)
std::optional<Value> capture::torchHVStack(Call &call) {
  Emitter &e = call.emitter;
  if (call.items(0).empty())
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  std::vector<V> values = promoted(call);
  bool rows = call.detail() == "v";
  for (V &v : values) {
    while (e.rank(v) < (rows ? 2u : 1u) && !e.failed())
      v = e.unsqueeze(v, 0);
    if (e.rank(v) != e.rank(values[0]))
      return call.unsupported("ranks");
  }
  int64_t dim = rows || e.rank(values[0]) == 1 ? 0 : 1;
  for (Value tensor : call.items(0))
    if (!preservedLayout(call.capture, tensor).empty())
      return call.unsupported("tensors that are not row-major");
  return torchFinishDense(call, e.concat(values, dim), 1);
}

/// repeat(self, *sizes), tile(input, dims)
std::optional<Value> capture::torchRepeat(Call &call) {
  Emitter &e = call.emitter;
  importer::Graph &graph = call.capture.graph;
  Extents times;
  if (!call.extentItems(1, times))
    return std::nullopt;
  V v = emit(e, call.arg(0));
  if (call.detail() == "tile")
    while (times.size() < e.rank(v))
      times.insert(times.begin(), graph.constant(1));
  if (times.size() < e.rank(v))
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  // [a, b] repeated (n, m): [1, a, 1, b] -> [n, a, m, b] -> [n * a, m * b].
  Extents from(times.size() - e.rank(v), graph.constant(1));
  Extents own = e.extents(v);
  from.insert(from.end(), own.begin(), own.end());
  Extents units, spread, result;
  for (size_t i = 0; i < times.size(); ++i) {
    units.insert(units.end(), {graph.constant(1), from[i]});
    spread.insert(spread.end(), {times[i], from[i]});
    result.push_back(graph.binary(ExtentExpr::Kind::Mul, times[i], from[i]));
  }
  V repeated = e.broadcastTo(e.reshape(v, units), spread);
  return torchFinishDense(call, e.reshape(repeated, result));
}

/// repeat_interleave(input, repeats, dim)
std::optional<Value> capture::torchRepeatInterleave(Call &call) {
  Emitter &e = call.emitter;
  importer::Graph &graph = call.capture.graph;
  V v = emit(e, call.arg(0));
  int64_t repeats = call.integer(1), dim = call.integer(2, 0);
  if (repeats < 0)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  if (!call.has(2)) {
    Extents flat = {e.build.elementCount(e.extents(v))};
    v = e.reshape(v, flat);
  }
  if (!wrapDim(call, dim, e.rank(v)) || e.rank(v) == 0)
    return call.unsupported("dim");
  Extents spread = e.extents(v), result = spread;
  spread.insert(spread.begin() + dim + 1, graph.constant(repeats));
  result[dim] =
      graph.binary(ExtentExpr::Kind::Mul, result[dim], graph.constant(repeats));
  V units = e.unsqueeze(v, dim + 1);
  return torchFinishDense(call,
                          e.reshape(e.broadcastTo(units, spread), result));
}

static V reversed(Emitter &e, V v, int64_t dim) {
  Extents extents = e.extents(v);
  importer::Graph &graph = e.capture.graph;
  Extents offsets(extents.size(), graph.constant(0));
  std::vector<int64_t> strides(extents.size(), 1);
  if (e.failed() || graph.constantValue(extents[dim]) == 0)
    return v;
  offsets[dim] =
      graph.binary(ExtentExpr::Kind::Sub, extents[dim], graph.constant(1));
  strides[dim] = -1;
  return e.slice(v, offsets, extents, strides);
}

/// flip(input, *dims)
std::optional<Value> capture::torchFlip(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  std::vector<int64_t> dims;
  if (!call.integerItems(1, dims))
    return std::nullopt;
  std::vector<bool> seen(e.rank(v));
  for (int64_t dim : dims) {
    if (!wrapDim(call, dim, e.rank(v)))
      return std::nullopt;
    if (seen.empty() || seen[dim])
      return call.unsupported("dims");
    seen[dim] = true;
    v = reversed(e, v, dim);
  }
  if (e.failed())
    return call.giveUp();
  return newTensor(call.capture, Library::Torch, v,
                   preservedLayout(call.capture, call.arg(0)));
}

/// roll(input, shifts, dims)
std::optional<Value> capture::torchRoll(Call &call) {
  Emitter &e = call.emitter;
  importer::Graph &graph = call.capture.graph;
  V v = emit(e, call.arg(0));
  Extents whole = e.extents(v);
  std::vector<int64_t> shifts, dims;
  if (!call.integerItems(1, shifts) || !call.integerItems(2, dims))
    return std::nullopt;
  if (dims.empty()) {
    if (shifts.size() != 1)
      return call.unsupported("shifts");
    Extents flat = {e.build.elementCount(whole)};
    v = e.reshape(v, flat);
    dims = {0};
  }
  if (shifts.size() != dims.size())
    return call.unsupported("shifts");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!wrapDim(call, dims[i], e.rank(v)) || e.rank(v) == 0)
      return call.unsupported("dims");
    ExtentId id = e.extent(v, dims[i]);
    int64_t extent = graph.extent(id).kind == ExtentExpr::Kind::Constant
                         ? graph.constantValue(id)
                         : call.capture.asConstant(id);
    if (extent == 0)
      continue;
    int64_t shift = ((shifts[i] % extent) + extent) % extent;
    if (shift == 0)
      continue;
    V parts[] = {e.sliceDim(v, dims[i], extent - shift, graph.constant(shift)),
                 e.sliceDim(v, dims[i], 0, graph.constant(extent - shift))};
    v = e.concat(parts, dims[i]);
  }
  v = e.reshape(v, whole);
  if (e.failed())
    return call.giveUp();
  std::vector<uint8_t> layout = preservedLayout(call.capture, call.arg(0));
  if (!isChannelsLast(layout) || !call.has(2))
    layout.clear();
  return newTensor(call.capture, Library::Torch, v, std::move(layout));
}

/// tril, triu: (input, diagonal)
std::optional<Value> capture::torchTriangle(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  if (e.rank(v) < 2)
    return call.capture.breakHere(BreakInfo::Reason::WouldRaise,
                                  call.bound.name);
  Extents extents = e.extents(v);
  Extents matrix(extents.end() - 2, extents.end());
  V rows = e.iota(DType::I64, matrix, 0);
  V columns = e.iota(DType::I64, matrix, 1);
  V edge = e.add(rows, e.number(DType::I64, call.integer(1, 0)));
  V keep = e.compare(call.detail() == "lower" ? "le" : "ge", columns, edge);
  return torchFinishDense(call, e.select(keep, v, e.like(v, 0)));
}

/// pad(input, pad, mode, value)
std::optional<Value> capture::torchPad(Call &call) {
  Emitter &e = call.emitter;
  V v = emit(e, call.arg(0));
  std::vector<int64_t> widths;
  if (!call.integerItems(1, widths))
    return std::nullopt;
  if (call.string(2, "constant") != "constant" || widths.size() % 2 != 0 ||
      widths.size() / 2 > e.rank(v))
    return call.unsupported("mode or pad");
  std::vector<int64_t> low(e.rank(v), 0), high(e.rank(v), 0);
  for (size_t i = 0; i < widths.size() / 2; ++i) {
    size_t dim = e.rank(v) - 1 - i;
    low[dim] = widths[2 * i];
    high[dim] = widths[2 * i + 1];
    if (low[dim] < 0 || high[dim] < 0)
      return call.unsupported("a negative pad");
  }
  V value = e.like(v, 0);
  if (call.has(3)) {
    Operand operand = operandOf(call.capture, call.arg(3));
    if (operand.number == NumberType::Float && !isFloat(e.dtype(v)))
      return call.unsupported("a float for integers");
    value = emit(e, operand, e.dtype(v));
  }
  V padded = e.pad(v, value, low, high);
  if (e.failed())
    return call.giveUp();
  std::vector<uint8_t> layout = preservedLayout(call.capture, call.arg(0));
  if (!isChannelsLast(layout))
    layout.clear();
  return newTensor(call.capture, Library::Torch, padded, std::move(layout));
}
