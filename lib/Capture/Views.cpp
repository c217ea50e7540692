//===- Views.cpp - Tensors that share storage -------------------*- C++ -*-===//

#include "Views.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentExpr;
using wok::importer::ExtentId;
using V = Emitter::V;

ViewBuilder::ViewBuilder(Emitter &emitter, Value parent)
    : emitter(emitter), capture(emitter.capture), parent(parent),
      v(capture.read(parent)), geometry(geometryOf(capture, parent)) {}

ExtentId ViewBuilder::times(ExtentId a, ExtentId b) {
  return capture.graph.binary(ExtentExpr::Kind::Mul, a, b);
}

void ViewBuilder::permute(std::span<const int64_t> permutation) {
  v = emitter.transpose(v, permutation);
  Geometry from = geometry;
  for (size_t i = 0; i < permutation.size(); ++i) {
    geometry.extents[i] = from.extents[permutation[i]];
    geometry.strides[i] = from.strides[permutation[i]];
  }
}

void ViewBuilder::slice(size_t dim, ExtentId start, ExtentId size,
                        int64_t step) {
  importer::Graph &graph = capture.graph;
  if (v != Emitter::bad) {
    Emitter::Extents offsets(rank(), graph.constant(0)),
        sizes = geometry.extents;
    std::vector<int64_t> steps(rank(), 1);
    offsets[dim] = start;
    sizes[dim] = size;
    steps[dim] = step;
    v = emitter.slice(v, offsets, sizes, steps);
  }
  geometry.offset = graph.binary(ExtentExpr::Kind::Add, geometry.offset,
                                 times(start, geometry.strides[dim]));
  geometry.extents[dim] = size;
  geometry.strides[dim] = times(geometry.strides[dim], graph.constant(step));
}

void ViewBuilder::select(size_t dim, ExtentId index) {
  slice(dim, index, capture.graph.constant(1));
  dropUnit(dim);
}

void ViewBuilder::insertUnit(size_t dim) {
  // PyTorch's stride is as if the dimension held the next one whole; NumPy's is
  // 0.
  ExtentId stride = capture.graph.constant(0);
  if (capture.tensorRow(parent).library == Library::Torch)
    stride = dim < rank() ? times(geometry.extents[dim], geometry.strides[dim])
                          : capture.graph.constant(1);
  geometry.extents.insert(geometry.extents.begin() + dim,
                          capture.graph.constant(1));
  geometry.strides.insert(geometry.strides.begin() + dim, stride);
  v = emitter.reshape(v, geometry.extents);
}

void ViewBuilder::dropUnit(size_t dim) {
  geometry.extents.erase(geometry.extents.begin() + dim);
  geometry.strides.erase(geometry.strides.begin() + dim);
  v = emitter.reshape(v, geometry.extents);
}

void ViewBuilder::expand(std::span<const ExtentId> extents) {
  v = emitter.broadcastTo(v, extents);
  if (emitter.failed())
    return;
  size_t added = extents.size() - rank();
  Geometry to;
  to.offset = geometry.offset;
  to.extents.assign(extents.begin(), extents.end());
  to.strides.assign(extents.size(), capture.graph.constant(0));
  for (size_t i = 0; i < rank(); ++i)
    if (geometry.extents[i] == extents[added + i])
      to.strides[added + i] = geometry.strides[i];
  geometry = std::move(to);
}

bool ViewBuilder::reshape(std::span<const ExtentId> extents) {
  importer::Graph &graph = capture.graph;
  auto hint = [&](ExtentId id) { return hintOf(graph, id); };
  size_t from = rank(), to = extents.size();
  std::vector<ExtentId> strides(to, graph.constant(1));
  bool empty = std::ranges::any_of(geometry.extents,
                                   [&](ExtentId id) { return hint(id) == 0; });
  if (empty) {
    int64_t stride = 1;
    for (size_t i = to; i-- > 0;) {
      strides[i] = graph.constant(stride);
      stride *= std::max<int64_t>(hint(extents[i]), 1);
    }
  } else if (from > 0) {
    // Runs of dimensions that lie one after the other can be cut anew.
    size_t next = to;
    ExtentId base = geometry.strides[from - 1];
    int64_t run = 1, covered = 1;
    ExtentId coveredId = graph.constant(1);
    for (size_t i = from; i-- > 0;) {
      run *= hint(geometry.extents[i]);
      bool ends = i == 0 || (hint(geometry.extents[i - 1]) != 1 &&
                             hint(geometry.strides[i - 1]) != run * hint(base));
      if (!ends)
        continue;
      while (next > 0 && (covered < run || hint(extents[next - 1]) == 1)) {
        --next;
        strides[next] = times(coveredId, base);
        covered *= hint(extents[next]);
        coveredId = times(coveredId, extents[next]);
      }
      if (covered != run)
        return false;
      if (i > 0) {
        base = geometry.strides[i - 1];
        run = covered = 1;
        coveredId = graph.constant(1);
      }
    }
    if (next != 0)
      return false;
  }
  v = emitter.reshape(v, extents);
  geometry.extents.assign(extents.begin(), extents.end());
  geometry.strides = std::move(strides);
  return true;
}

Value ViewBuilder::finish() {
  assert(v != Emitter::bad && "the caller asks `failed` first");
  const TensorRow &from = capture.tensorRow(parent);
  TensorRow row;
  row.library = from.library;
  row.value = v;
  row.type = tensorTypeOf(from.library);
  row.base = from.base ? *from.base : parent.index;
  row.geometry = geometry;
  return capture.tensor(std::move(row));
}

std::optional<Value> capture::finishView(Call &call, ViewBuilder &view) {
  if (call.emitter.failed())
    return call.giveUp();
  return view.finish();
}

std::optional<Value> capture::permuted(Call &call,
                                       std::span<const int64_t> permutation) {
  ViewBuilder view(call.emitter, call.arg(0));
  view.permute(permutation);
  return finishView(call, view);
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

namespace {

/// A product of extents: a constant and symbolic factors, sorted.
struct Factors {
  int64_t constant = 1;
  std::vector<ExtentId> symbolic;

  void add(const importer::Graph &graph, ExtentId id) {
    const ExtentExpr &expr = graph.extent(id);
    if (expr.kind == ExtentExpr::Kind::Constant) {
      constant *= expr.constant;
    } else if (expr.kind == ExtentExpr::Kind::Mul) {
      add(graph, expr.lhs);
      add(graph, expr.rhs);
    } else {
      symbolic.insert(std::ranges::upper_bound(symbolic, id), id);
    }
  }
};

} // namespace

bool capture::inferExtent(Emitter &emitter, std::span<const ExtentId> from,
                          std::vector<ExtentId> &to, int64_t inferred) {
  if (inferred < 0)
    return true;
  importer::Graph &graph = emitter.capture.graph;
  Factors whole, part;
  for (ExtentId id : from)
    whole.add(graph, id);
  for (size_t i = 0; i < to.size(); ++i)
    if (static_cast<int64_t>(i) != inferred)
      part.add(graph, to[i]);
  std::vector<ExtentId> left;
  std::ranges::set_difference(whole.symbolic, part.symbolic,
                              std::back_inserter(left));
  bool cancels = left.size() + part.symbolic.size() == whole.symbolic.size();
  if (!cancels) {
    for (ExtentId id : whole.symbolic)
      emitter.capture.asConstant(id);
    return false;
  }
  if (part.constant == 0 || whole.constant % part.constant != 0)
    return false;
  ExtentId extent = graph.constant(whole.constant / part.constant);
  for (ExtentId id : left)
    extent = graph.binary(ExtentExpr::Kind::Mul, extent, id);
  to[inferred] = extent;
  return true;
}

/// The extent as a number; a symbolic one is asked for.
static int64_t numberOf(Capture &capture, ExtentId extent) {
  int64_t number = capture.graph.constantValue(extent);
  return number == runtime::dynamicExtent ? capture.asConstant(extent) : number;
}

std::optional<SliceRange> capture::sliceRange(Capture &capture, Value slice,
                                              ExtentId extent) {
  Value parts[3] = {capture.none(), capture.none(), capture.none()};
  if (slice.kind == Kind::Sequence) {
    const SequenceRow &row = capture.sequenceRow(slice);
    for (size_t i = 0; i < row.items.size() && i < 3; ++i)
      parts[i] = row.items[i];
  } else if (PyObject *object = capture.object(slice);
             object && PySlice_Check(object)) {
    capture.guardValue(slice);
    auto *known = reinterpret_cast<PySliceObject *>(object);
    parts[0] = capture.constant(known->start);
    parts[1] = capture.constant(known->stop);
    parts[2] = capture.constant(known->step);
  }
  std::optional<long long> numbers[3];
  for (int i = 0; i < 3; ++i) {
    if (parts[i].isNull() || capture.object(parts[i]) == Py_None)
      continue;
    numbers[i] = capture.asInt(parts[i]);
    if (!numbers[i])
      return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                               "a slice that is not made of ints");
  }
  Py_ssize_t step = numbers[2].value_or(1);
  if (step == 0)
    return capture.breakHere(BreakInfo::Reason::WouldRaise, "a step of 0");
  if (!numbers[0] && !numbers[1] && step == 1)
    return SliceRange{capture.graph.constant(0), extent, 1};
  int64_t length = numberOf(capture, extent);
  Py_ssize_t start = numbers[0].value_or(step > 0 ? 0 : PY_SSIZE_T_MAX);
  Py_ssize_t stop =
      numbers[1].value_or(step > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN);
  Py_ssize_t size = PySlice_AdjustIndices(length, &start, &stop, step);
  if (size == 0)
    start = std::clamp<Py_ssize_t>(start, 0, length);
  return SliceRange{capture.graph.constant(start), capture.graph.constant(size),
                    step};
}

std::optional<ExtentId> capture::wrapIndex(Capture &capture, Value index,
                                           ExtentId extent) {
  std::optional<long long> number = capture.asInt(index);
  if (!number)
    return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                             "an index that is no int");
  int64_t length = numberOf(capture, extent);
  if (*number < -length || *number >= length)
    return capture.breakHere(BreakInfo::Reason::WouldRaise,
                             "an index out of range");
  return capture.graph.constant(*number < 0 ? *number + length : *number);
}
