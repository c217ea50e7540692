//===- Index.cpp - Subscripts of tensors and arrays -------------*- C++ -*-===//

#include "Numpy.h"
#include "Torch.h"
#include "Views.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;
using wok::importer::ExtentId;
using V = Emitter::V;
using Extents = Emitter::Extents;

namespace {

/// One item of a subscript.
struct Item {
  enum class Kind : uint8_t { Index, Slice, NewAxis, Ellipsis, Tensor } kind;
  Value value;
};

} // namespace

static std::nullopt_t unsupported(Capture &capture, std::string_view why) {
  if (capture.pendingBreak())
    return std::nullopt;
  return capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                           "a subscript: " + std::string(why));
}

static std::optional<Item> itemOf(Capture &capture, Value value) {
  if (value.kind == Kind::Sequence &&
      capture.sequenceRow(value).type == SequenceRow::Type::Slice)
    return Item{Item::Kind::Slice, value};
  if (value.kind == Kind::Scalar &&
      capture.scalarRow(value).type == ScalarRow::Type::Int)
    return Item{Item::Kind::Index, value};
  if (isTensorLike(capture, value)) {
    std::optional<Value> tensor = asTensorLike(capture, value);
    if (!tensor)
      return std::nullopt;
    return Item{Item::Kind::Tensor, *tensor};
  }
  PyObject *object = capture.object(value);
  if (object && PySlice_Check(object))
    return Item{Item::Kind::Slice, value};
  if (object && PyLong_CheckExact(object))
    return Item{Item::Kind::Index, value};
  if (object == Py_None || object == Py_Ellipsis) {
    capture.guardIdentity(value);
    return Item{object == Py_None ? Item::Kind::NewAxis : Item::Kind::Ellipsis,
                value};
  }
  return unsupported(capture, "an item that is no int, slice or tensor");
}

/// The items of a subscript on `rank` dimensions, with the ellipsis written out
/// and one slice for each dimension that is not named.
static std::optional<std::vector<Item>> itemsOf(Capture &capture, Value index,
                                                size_t rank, bool &ellipsis) {
  std::vector<Value> values = {index};
  PyObject *object = capture.object(index);
  bool isTuple = (object && PyTuple_CheckExact(object)) ||
                 (index.kind == Kind::Sequence &&
                  capture.sequenceRow(index).type == SequenceRow::Type::Tuple);
  if (isTuple) {
    std::optional<std::vector<Value>> parts = capture.asItems(index);
    if (!parts)
      return unsupported(capture, "a tuple");
    values = std::move(*parts);
  }
  std::vector<Item> items;
  size_t named = 0;
  std::optional<size_t> gap;
  for (Value value : values) {
    std::optional<Item> item = itemOf(capture, value);
    if (!item)
      return std::nullopt;
    if (item->kind == Item::Kind::Ellipsis) {
      if (gap)
        return capture.breakHere(BreakInfo::Reason::WouldRaise, "a subscript");
      gap = items.size();
      continue;
    }
    if (item->kind == Item::Kind::Tensor) {
      const importer::TensorType &type =
          capture.graph.type(capture.tensorRow(item->value).value);
      // A mask stands for as many dimensions as it has.
      named += type.dtype == DType::I1 ? type.extents.size() : 1;
    } else if (item->kind != Item::Kind::NewAxis) {
      ++named;
    }
    items.push_back(*item);
  }
  if (named > rank)
    return capture.breakHere(BreakInfo::Reason::WouldRaise, "a subscript");
  ellipsis = gap.has_value();
  Item whole{
      Item::Kind::Slice,
      capture.sequence(SequenceRow::Type::Slice,
                       {capture.none(), capture.none(), capture.none()})};
  items.insert(items.begin() + gap.value_or(items.size()), rank - named, whole);
  return items;
}

/// Indices with the negative ones counted from the end.
static V wrapIndices(Emitter &e, V indices, ExtentId extent) {
  V length = e.extentNumber(e.dtype(indices), extent);
  V negative = e.compare("lt", indices, e.like(indices, 0));
  return e.select(negative, e.add(indices, length), indices);
}

/// x[..., indices, ...]: one tensor of integers among whole slices.
static std::optional<Value> gatherAt(Capture &capture, Value tensor,
                                     ViewBuilder &view, size_t dim,
                                     Value index) {
  Emitter e(capture);
  Library library = capture.tensorRow(tensor).library;
  V indices = emit(e, index);
  DType dtype = e.dtype(indices);
  if (dtype == DType::I1)
    return unsupported(capture, "a mask: what it holds decides the shape");
  if (!isInteger(dtype) || dtype == DType::U8)
    return unsupported(capture, "the dtype of the indices");
  if (e.rank(indices) == 0)
    return unsupported(capture, "a 0-d index");
  if (dtype != DType::I64)
    indices = e.cast(indices, DType::I64);
  size_t added = e.rank(indices);
  V v = e.gather(view.value(), wrapIndices(e, indices, view.extent(dim)),
                 static_cast<int64_t>(dim));
  if (e.failed())
    return e.giveUp("a subscript");
  if (library == Library::Torch) {
    if (!isContiguous(capture, geometryOf(capture, tensor)))
      return unsupported(capture,
                         "indices into a tensor that is not row-major");
    return newTensor(capture, library, v);
  }
  // NumPy puts what was gathered outermost, the rest in its order in memory.
  std::vector<uint8_t> order =
      numpyLayout(capture, std::span(&tensor, 1),
                  e.extents(capture.tensorRow(tensor).value));
  if (!order.empty() && view.rank() != order.size())
    return unsupported(capture, "indices among other items");
  std::vector<uint8_t> layout;
  for (size_t i = 0; i < added; ++i)
    layout.push_back(static_cast<uint8_t>(dim + i));
  for (size_t i = 0; i < view.rank(); ++i) {
    size_t from = order.empty() ? i : order[i];
    if (from != dim)
      layout.push_back(
          static_cast<uint8_t>(from < dim ? from : from + added - 1));
  }
  if (std::ranges::is_sorted(layout))
    layout.clear();
  return newTensor(capture, library, v, std::move(layout));
}

namespace {

/// What a subscript of ints, slices and new axes stands for.
struct Region {
  /// Per dimension of the tensor: a range; `dropped` for an int.
  std::vector<SliceRange> ranges;
  std::vector<bool> dropped;
};

} // namespace

std::optional<Value> wok::capture::importSubscript(Capture &capture,
                                                   Value tensor, Value index) {
  std::optional<Value> input = asTensorLike(capture, tensor);
  if (!input)
    return std::nullopt;
  Library library = capture.tensorRow(*input).library;
  Emitter e(capture);
  ViewBuilder view(e, *input);
  bool ellipsis = false;
  std::optional<std::vector<Item>> items =
      itemsOf(capture, index, view.rank(), ellipsis);
  if (!items)
    return std::nullopt;
  size_t at = 0, gathered = 0;
  bool indexed = false, allIndexed = !ellipsis;
  std::optional<Value> indices;
  for (const Item &item : *items) {
    switch (item.kind) {
    case Item::Kind::Index: {
      std::optional<ExtentId> position =
          wrapIndex(capture, item.value, view.extent(at));
      if (!position)
        return std::nullopt;
      view.select(at, *position);
      indexed = true;
      break;
    }
    case Item::Kind::Slice: {
      std::optional<SliceRange> range =
          sliceRange(capture, item.value, view.extent(at));
      if (!range)
        return std::nullopt;
      if (range->step < 0 && library == Library::Torch)
        return capture.breakHere(BreakInfo::Reason::WouldRaise, "a subscript");
      if (range->size != view.extent(at) || range->step != 1)
        view.slice(at, range->start, range->size, range->step);
      allIndexed = false;
      ++at;
      break;
    }
    case Item::Kind::NewAxis:
      view.insertUnit(at++);
      allIndexed = false;
      break;
    case Item::Kind::Tensor:
      if (indices)
        return unsupported(capture, "more than one tensor");
      indices = item.value;
      gathered = at++;
      break;
    case Item::Kind::Ellipsis:
      break;
    }
  }
  if (e.failed())
    return e.giveUp("a subscript");
  if (indices) {
    // An int beside indices is one of them for NumPy.
    if (indexed && library == Library::NumPy)
      return unsupported(capture, "ints beside indices");
    return gatherAt(capture, *input, view, gathered, *indices);
  }
  // An element of an array is a scalar, not a view.
  if (library == Library::NumPy && allIndexed && view.rank() == 0)
    return newArray(capture, view.value());
  return view.finish();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// `x` with the region replaced by `v`, which has the region's extents.
static V inserted(Emitter &e, V x, std::span<const SliceRange> ranges, V v,
                  size_t dim = 0) {
  importer::Graph &graph = e.capture.graph;
  Extents extents = e.extents(x);
  while (dim < extents.size() && ranges[dim].size == extents[dim])
    ++dim;
  if (e.failed() || dim >= extents.size())
    return v;
  int64_t at = static_cast<int64_t>(dim);
  int64_t start = graph.constantValue(ranges[dim].start);
  int64_t size = graph.constantValue(ranges[dim].size);
  int64_t extent = graph.constantValue(extents[dim]);
  V block = e.sliceDim(x, at, start, ranges[dim].size);
  std::vector<V> parts;
  if (start > 0)
    parts.push_back(e.sliceDim(x, at, 0, graph.constant(start)));
  parts.push_back(inserted(e, block, ranges, v, dim + 1));
  if (start + size < extent)
    parts.push_back(
        e.sliceDim(x, at, start + size, graph.constant(extent - start - size)));
  return e.concat(parts, at);
}

/// x[mask] = number: a mask over the first dimensions.
static bool storeMasked(Capture &capture, Value tensor, Value maskTensor,
                        const Operand &value) {
  Emitter e(capture);
  V x = emit(e, tensor), mask = emit(e, maskTensor);
  if (value.isTensor && value.rank != 0) {
    unsupported(capture, "a mask and a tensor");
    return false;
  }
  Extents shape = e.extents(mask), whole = e.extents(x);
  if (!std::equal(shape.begin(), shape.end(), whole.begin())) {
    unsupported(capture, "the shape of a mask");
    return false;
  }
  shape.resize(whole.size(), capture.graph.constant(1));
  bool isFloatValue =
      value.isTensor ? isFloat(value.dtype) : value.number == NumberType::Float;
  if (isFloatValue && !isFloat(e.dtype(x))) {
    unsupported(capture, "a float for integers");
    return false;
  }
  V v = e.select(e.reshape(mask, shape), emit(e, value, e.dtype(x)), x);
  return storeInto(e, tensor, v, "a store to a subscript").has_value();
}

bool wok::capture::importStoreSubscript(Capture &capture, Value tensor,
                                        Value index, Value value) {
  std::optional<Value> input = asTensorLike(capture, tensor);
  if (!input)
    return false;
  Library library = capture.tensorRow(*input).library;
  if (capture.tensorRow(*input).numpyScalar) {
    capture.breakHere(BreakInfo::Reason::WouldRaise, "a store to a scalar");
    return false;
  }
  Value source = value;
  if (isTensorLike(capture, value)) {
    std::optional<Value> made = asTensorLike(capture, value);
    if (!made)
      return false;
    source = *made;
    if (capture.tensorRow(source).library != library) {
      unsupported(capture, "a tensor and an array");
      return false;
    }
  } else if (!isNumber(capture, value)) {
    unsupported(capture, "a value that is no tensor and no number");
    return false;
  }
  Operand operand = operandOf(capture, source);
  Emitter e(capture);
  V x = emit(e, *input);
  bool ellipsis = false;
  std::optional<std::vector<Item>> items =
      itemsOf(capture, index, e.rank(x), ellipsis);
  if (!items)
    return false;
  if (!items->empty() && items->front().kind == Item::Kind::Tensor &&
      std::all_of(items->begin() + 1, items->end(), [&](const Item &item) {
        return item.kind == Item::Kind::Slice &&
               item.value.kind == Kind::Sequence;
      })) {
    Value mask = items->front().value;
    if (e.dtype(capture.tensorRow(mask).value) == DType::I1)
      return storeMasked(capture, *input, mask, operand);
  }

  Region region;
  Extents shape; // Of the value, before ints dropped dimensions.
  for (const Item &item : *items) {
    size_t dim = region.ranges.size();
    if (item.kind == Item::Kind::Index) {
      std::optional<ExtentId> position =
          wrapIndex(capture, item.value, e.extent(x, dim));
      if (!position)
        return false;
      region.ranges.push_back({*position, capture.graph.constant(1), 1});
      region.dropped.push_back(true);
    } else if (item.kind == Item::Kind::Slice) {
      std::optional<SliceRange> range =
          sliceRange(capture, item.value, e.extent(x, dim));
      if (!range)
        return false;
      if (range->step != 1) {
        unsupported(capture, "a store with a step");
        return false;
      }
      region.ranges.push_back(*range);
      region.dropped.push_back(false);
      shape.push_back(range->size);
    } else {
      unsupported(capture, "a store by indices");
      return false;
    }
  }
  DType dtype = e.dtype(x);
  bool isFloatValue = operand.isTensor ? isFloat(operand.dtype)
                                       : operand.number == NumberType::Float;
  if (!operand.isTensor && isFloatValue && !isFloat(dtype)) {
    unsupported(capture, "a float for integers");
    return false;
  }
  V v = emit(e, operand, dtype);
  // Leading units of the value are dropped, as assignment does.
  while (e.rank(v) > shape.size() && !e.failed() &&
         capture.graph.constantValue(e.extent(v, 0)) == 1) {
    Extents less = e.extents(v);
    less.erase(less.begin());
    v = e.reshape(v, less);
  }
  v = e.broadcastTo(v, shape);
  Extents block;
  for (const SliceRange &range : region.ranges)
    block.push_back(range.size);
  v = e.reshape(v, block);
  for (size_t i = 0; i < block.size(); ++i) {
    // Where a dimension is cut, its extent is known.
    if (block[i] != e.extent(x, i) &&
        capture.graph.extent(e.extent(x, i)).kind !=
            importer::ExtentExpr::Kind::Constant)
      capture.asConstant(e.extent(x, i));
    if (capture.graph.constantValue(block[i]) == 0) {
      unsupported(capture, "a store of nothing");
      return false;
    }
  }
  V whole = inserted(e, x, region.ranges, v);
  return storeInto(e, *input, whole, "a store to a subscript").has_value();
}
