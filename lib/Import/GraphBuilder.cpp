//===- GraphBuilder.cpp - Appends typed operations to a graph ---*- C++ -*-===//

#include "wok/Import/GraphBuilder.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace wok;
using namespace wok::importer;
using Kind = ExtentExpr::Kind;

namespace {

/// The element types that an elementwise operation takes.
enum Accepts : uint8_t {
  Bools = 1,
  Integers = 2,
  Floats = 4,
  Numbers = Integers | Floats
};

struct Elementwise {
  std::string_view name;
  uint8_t accepts;
};

constexpr Elementwise unaries[] = {
    {"neg", Numbers},  {"abs", Numbers},          {"exp", Floats},
    {"exp2", Floats},  {"log", Floats},           {"log2", Floats},
    {"log10", Floats}, {"log1p", Floats},         {"expm1", Floats},
    {"sqrt", Floats},  {"rsqrt", Floats},         {"sin", Floats},
    {"cos", Floats},   {"tan", Floats},           {"tanh", Floats},
    {"erf", Floats},   {"sigmoid", Floats},       {"floor", Floats},
    {"ceil", Floats},  {"round", Floats},         {"trunc", Floats},
    {"sign", Numbers}, {"not", Bools | Integers}, {"is_nan", Floats},
};

constexpr Elementwise binaries[] = {
    {"add", Numbers},          {"sub", Numbers},
    {"mul", Numbers},          {"div", Numbers},
    {"floor_div", Numbers},    {"remainder", Numbers},
    {"fmod", Numbers},         {"pow", Numbers},
    {"min", Numbers},          {"max", Numbers},
    {"and", Bools | Integers}, {"or", Bools | Integers},
    {"xor", Bools | Integers}, {"shl", Integers},
    {"shr", Integers},
};

bool accepted(std::span<const Elementwise> table, std::string_view name,
              DType dtype) {
  uint8_t need = dtype == DType::I1 ? Bools
                 : isFloat(dtype)   ? Floats
                                    : Integers;
  for (const Elementwise &entry : table)
    if (entry.name == name)
      return entry.accepts & need;
  return false;
}

/// An extent as a product: a constant times factors that are no products.
struct Product {
  int64_t constant = 1;
  std::vector<ExtentId> factors;

  void multiply(const Graph &graph, ExtentId id) {
    const ExtentExpr &expr = graph.extent(id);
    if (expr.kind == Kind::Constant) {
      // Wraps for shapes that no tensor has.
      constant = static_cast<int64_t>(static_cast<uint64_t>(constant) *
                                      static_cast<uint64_t>(expr.constant));
      return;
    }
    if (expr.kind != Kind::Mul) {
      factors.insert(std::upper_bound(factors.begin(), factors.end(), id), id);
      return;
    }
    multiply(graph, expr.lhs);
    multiply(graph, expr.rhs);
  }
};

Product productOf(const Graph &graph, std::span<const ExtentId> extents) {
  Product product;
  for (ExtentId id : extents)
    product.multiply(graph, id);
  return product;
}

bool isDistinctWithin(std::span<const int64_t> dims, size_t rank) {
  std::vector<bool> seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

std::string qualified(std::string_view name) {
  return "wok." + std::string(name);
}

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::nullopt_t GraphBuilder::fail(Failure why, std::string_view text) {
  lastFailure = why;
  lastText = text;
  return std::nullopt;
}

std::nullopt_t GraphBuilder::failUnequal(ExtentId a, ExtentId b,
                                         std::string_view text) {
  bool bothKnown = graph.extent(a).kind == Kind::Constant &&
                   graph.extent(b).kind == Kind::Constant;
  return fail(bothKnown ? Failure::Invalid : Failure::DynamicExtent, text);
}

bool GraphBuilder::sameExtents(std::span<const ExtentId> a,
                               std::span<const ExtentId> b,
                               std::string_view text) {
  if (a.size() != b.size()) {
    fail(Failure::Invalid, text);
    return false;
  }
  // A pair that cannot be equal decides over one that is not known.
  bool equal = true;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i])
      continue;
    failUnequal(a[i], b[i], text);
    if (lastFailure == Failure::Invalid)
      return false;
    equal = false;
  }
  return equal;
}

bool GraphBuilder::sameTypes(ValueId a, ValueId b, std::string_view text) {
  if (dtype(a) != dtype(b)) {
    fail(Failure::Invalid, text);
    return false;
  }
  return sameExtents(type(a).extents, type(b).extents, text);
}

ValueId
GraphBuilder::append(std::string op, std::vector<ValueId> operands,
                     TensorType type,
                     std::vector<std::pair<std::string, Attribute>> attributes,
                     std::vector<ExtentId> extentOperands) {
  Node node;
  node.op = std::move(op);
  node.operands = std::move(operands);
  node.extentOperands = std::move(extentOperands);
  node.attributes = std::move(attributes);
  node.type = std::move(type);
  return graph.add(std::move(node));
}

std::vector<ExtentId>
GraphBuilder::dynamicOnes(std::span<const ExtentId> extents) const {
  std::vector<ExtentId> result;
  for (ExtentId id : extents)
    if (graph.extent(id).kind != Kind::Constant)
      result.push_back(id);
  return result;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

GraphBuilder::Extents GraphBuilder::extents(std::span<const int64_t> values) {
  Extents result;
  for (int64_t value : values)
    result.push_back(graph.constant(value));
  return result;
}

std::optional<std::vector<int64_t>>
GraphBuilder::staticExtents(ValueId value) const {
  std::vector<int64_t> result;
  for (ExtentId id : type(value).extents) {
    if (graph.extent(id).kind != Kind::Constant)
      return std::nullopt;
    result.push_back(graph.extent(id).constant);
  }
  return result;
}

ExtentId GraphBuilder::elementCount(std::span<const ExtentId> extents) {
  // Products of equal factors get one expression, in whatever order they were
  // written.
  Product product = productOf(graph, extents);
  ExtentId count = graph.constant(1);
  for (ExtentId factor : product.factors)
    count = graph.binary(Kind::Mul, count, factor);
  return graph.binary(Kind::Mul, count, graph.constant(product.constant));
}

std::optional<GraphBuilder::Extents>
GraphBuilder::broadcastExtents(std::span<const Extents> shapes) {
  size_t rank = 0;
  for (const Extents &shape : shapes)
    rank = std::max(rank, shape.size());
  ExtentId one = graph.constant(1);
  Extents result(rank, one);
  for (const Extents &shape : shapes) {
    for (size_t i = 0; i < shape.size(); ++i) {
      ExtentId &extent = result[rank - shape.size() + i];
      if (extent == shape[i] || shape[i] == one)
        continue;
      if (extent != one)
        return failUnequal(extent, shape[i], "extents do not broadcast");
      extent = shape[i];
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ValueId GraphBuilder::constant(DType dtype, double value) {
  return append("wok.constant", {}, {dtype, {}}, {{"value", value}});
}

ValueId GraphBuilder::constant(DType dtype, int64_t value) {
  return append("wok.constant", {}, {dtype, {}}, {{"value", value}});
}

GraphBuilder::Result
GraphBuilder::constantList(DType dtype, std::span<const int64_t> values) {
  if (isFloat(dtype))
    return fail(Failure::Invalid, "a list constant holds integers");
  return append(
      "wok.constant", {},
      {dtype, {graph.constant(static_cast<int64_t>(values.size()))}},
      {{"value", std::vector<int64_t>(values.begin(), values.end())}});
}

GraphBuilder::Result GraphBuilder::filled(DType dtype, double value,
                                          std::span<const ExtentId> extents) {
  return broadcastTo(constant(dtype, value), extents);
}

GraphBuilder::Result GraphBuilder::filled(DType dtype, int64_t value,
                                          std::span<const ExtentId> extents) {
  return broadcastTo(constant(dtype, value), extents);
}

GraphBuilder::Result GraphBuilder::iota(DType dtype,
                                        std::span<const ExtentId> extents,
                                        int64_t dim) {
  if (dim < 0 || dim >= static_cast<int64_t>(extents.size()) ||
      dtype == DType::I1)
    return fail(Failure::Invalid,
                "iota needs a dimension of its result, and numbers");
  return append("wok.iota", {},
                {dtype, Extents(extents.begin(), extents.end())},
                {{"dim", dim}}, dynamicOnes(extents));
}

GraphBuilder::Result GraphBuilder::extentValue(DType dtype, ExtentId extent) {
  if (dtype == DType::I1)
    return fail(Failure::Invalid, "an extent is a number");
  if (const ExtentExpr &expr = graph.extent(extent);
      expr.kind == Kind::Constant) {
    int64_t value = expr.constant;
    return isFloat(dtype) ? constant(dtype, static_cast<double>(value))
                          : constant(dtype, value);
  }
  // Counts: the dialect has no way from an index to a tensor element.
  Result ones = filled(DType::I64, int64_t{1}, std::span(&extent, 1));
  int64_t dim = 0;
  Result count = ones ? reduce("sum", *ones, std::span(&dim, 1)) : ones;
  return count ? cast(*count, dtype) : count;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

GraphBuilder::Result GraphBuilder::unary(std::string_view name, ValueId a) {
  bool rounds =
      name == "floor" || name == "ceil" || name == "round" || name == "trunc";
  if (rounds && isInteger(dtype(a)))
    return a;
  if (!accepted(unaries, name, dtype(a)))
    return fail(Failure::Invalid,
                "no such unary operation on this element type");
  TensorType result = type(a);
  if (name == "is_nan")
    result.dtype = DType::I1;
  return append(qualified(name), {a}, std::move(result));
}

GraphBuilder::Result GraphBuilder::binary(std::string_view name, ValueId a,
                                          ValueId b) {
  if (!accepted(binaries, name, dtype(a)))
    return fail(Failure::Invalid,
                "no such binary operation on this element type");
  if (!sameTypes(a, b, "operands of an elementwise operation differ in type"))
    return std::nullopt;
  return append(qualified(name), {a, b}, type(a));
}

GraphBuilder::Result GraphBuilder::compare(std::string_view predicate,
                                           ValueId a, ValueId b) {
  constexpr std::string_view predicates[] = {"eq", "ne", "lt",
                                             "le", "gt", "ge"};
  if (std::ranges::find(predicates, predicate) == std::end(predicates))
    return fail(Failure::Invalid, "no such predicate");
  if (!sameTypes(a, b, "operands of a comparison differ in type"))
    return std::nullopt;
  return append("wok.compare", {a, b}, {DType::I1, type(a).extents},
                {{"predicate", std::string(predicate)}});
}

GraphBuilder::Result GraphBuilder::select(ValueId condition, ValueId a,
                                          ValueId b) {
  if (dtype(condition) != DType::I1)
    return fail(Failure::Invalid, "the condition of a select is not i1");
  if (!sameTypes(a, b, "arms of a select differ in type") ||
      !sameExtents(type(condition).extents, type(a).extents,
                   "condition and arms of a select differ in extents"))
    return std::nullopt;
  return append("wok.select", {condition, a, b}, type(a));
}

GraphBuilder::Result GraphBuilder::fma(ValueId a, ValueId b, ValueId c) {
  if (!isFloat(dtype(a)))
    return fail(Failure::Invalid, "fma is for floats");
  if (!sameTypes(a, b, "operands of fma differ in type") ||
      !sameTypes(a, c, "operands of fma differ in type"))
    return std::nullopt;
  return append("wok.fma", {a, b, c}, type(a));
}

GraphBuilder::Result GraphBuilder::cast(ValueId a, DType dtype) {
  if (dtype == type(a).dtype)
    return a;
  return append("wok.cast", {a}, {dtype, type(a).extents});
}

//===----------------------------------------------------------------------===//
// Reductions and contractions
//===----------------------------------------------------------------------===//

GraphBuilder::Result GraphBuilder::reduce(std::string_view kind, ValueId a,
                                          std::span<const int64_t> dims) {
  bool logical = kind == "any" || kind == "all";
  if (!logical && kind != "sum" && kind != "prod" && kind != "min" &&
      kind != "max")
    return fail(Failure::Invalid, "no such reduction");
  if (logical != (dtype(a) == DType::I1))
    return fail(Failure::Invalid,
                "any and all are for i1, the other reductions for numbers");
  if (!isDistinctWithin(dims, rank(a)))
    return fail(Failure::Invalid, "dimensions of a reduction");
  if (dims.empty())
    return a;

  std::vector<int64_t> sorted(dims.begin(), dims.end());
  std::ranges::sort(sorted);
  Extents kept;
  for (size_t i = 0; i < rank(a); ++i) {
    ExtentId extent = type(a).extents[i];
    if (!std::ranges::binary_search(sorted, static_cast<int64_t>(i)))
      kept.push_back(extent);
    else if ((kind == "min" || kind == "max") &&
             graph.constantValue(extent) == 0)
      return fail(Failure::Invalid, "min and max of nothing");
  }
  return append("wok.reduce", {a}, {dtype(a), std::move(kept)},
                {{"kind", std::string(kind)}, {"dims", std::move(sorted)}});
}

GraphBuilder::Result GraphBuilder::argReduce(std::string_view kind, ValueId a,
                                             int64_t dim) {
  if ((kind != "min" && kind != "max") ||
      !isDistinctWithin(std::span(&dim, 1), rank(a)))
    return fail(Failure::Invalid, "no such arg-reduction");
  if (graph.constantValue(type(a).extents[dim]) == 0)
    return fail(Failure::Invalid, "arg-reduction of nothing");
  Extents kept = type(a).extents;
  kept.erase(kept.begin() + dim);
  return append("wok.arg_reduce", {a}, {DType::I64, std::move(kept)},
                {{"kind", std::string(kind)}, {"dim", dim}});
}

GraphBuilder::Result GraphBuilder::contract(ValueId lhs, ValueId rhs,
                                            bool transposeLhs,
                                            bool transposeRhs) {
  size_t rank = this->rank(lhs);
  if (dtype(lhs) != dtype(rhs) || dtype(lhs) == DType::I1 || rank < 2 ||
      this->rank(rhs) != rank)
    return fail(Failure::Invalid, "operands of a contraction");
  std::span<const ExtentId> left = type(lhs).extents, right = type(rhs).extents;
  size_t batch = rank - 2;
  if (!sameExtents(left.first(batch), right.first(batch),
                   "batch extents of a contraction differ"))
    return std::nullopt;
  ExtentId m = left[batch + transposeLhs], k = left[batch + !transposeLhs];
  ExtentId rightK = right[batch + transposeRhs],
           n = right[batch + !transposeRhs];
  if (k != rightK)
    return failUnequal(k, rightK, "contracted extents differ");

  Extents extents(left.begin(), left.begin() + batch);
  extents.insert(extents.end(), {m, n});
  std::vector<std::pair<std::string, Attribute>> attributes;
  if (transposeLhs)
    attributes.emplace_back("transpose_lhs", true);
  if (transposeRhs)
    attributes.emplace_back("transpose_rhs", true);
  return append("wok.contract", {lhs, rhs}, {dtype(lhs), std::move(extents)},
                std::move(attributes));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

GraphBuilder::Result GraphBuilder::reshape(ValueId a,
                                           std::span<const ExtentId> extents) {
  if (std::ranges::equal(type(a).extents, extents))
    return a;
  Product from = productOf(graph, type(a).extents),
          to = productOf(graph, extents);
  if (from.constant != to.constant || from.factors != to.factors)
    return fail(from.factors.empty() && to.factors.empty()
                    ? Failure::Invalid
                    : Failure::DynamicExtent,
                "element counts of a reshape differ");
  return append("wok.reshape", {a},
                {dtype(a), Extents(extents.begin(), extents.end())}, {},
                dynamicOnes(extents));
}

GraphBuilder::Result
GraphBuilder::transpose(ValueId a, std::span<const int64_t> permutation) {
  if (permutation.size() != rank(a) || !isDistinctWithin(permutation, rank(a)))
    return fail(Failure::Invalid, "not a permutation");
  if (std::ranges::is_sorted(permutation))
    return a;
  Extents extents;
  for (int64_t dim : permutation)
    extents.push_back(type(a).extents[dim]);
  return append("wok.transpose", {a}, {dtype(a), std::move(extents)},
                {{"permutation", std::vector<int64_t>(permutation.begin(),
                                                      permutation.end())}});
}

GraphBuilder::Result GraphBuilder::broadcast(ValueId a,
                                             std::span<const ExtentId> extents,
                                             std::span<const int64_t> dims) {
  const Extents &from = type(a).extents;
  if (dims.size() != from.size() || !isDistinctWithin(dims, extents.size()) ||
      !std::ranges::is_sorted(dims))
    return fail(Failure::Invalid, "dimensions of a broadcast");
  bool dynamic = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    ExtentId to = extents[dims[i]];
    if (from[i] == to || graph.constantValue(from[i]) == 1)
      continue;
    failUnequal(from[i], to, "extents of a broadcast");
    if (lastFailure == Failure::Invalid)
      return std::nullopt;
    dynamic = true;
  }
  if (dynamic)
    return std::nullopt;
  if (std::ranges::equal(from, extents))
    return a;
  return append("wok.broadcast", {a},
                {dtype(a), Extents(extents.begin(), extents.end())},
                {{"dims", std::vector<int64_t>(dims.begin(), dims.end())}},
                dynamicOnes(extents));
}

GraphBuilder::Result
GraphBuilder::broadcastTo(ValueId a, std::span<const ExtentId> extents) {
  if (rank(a) > extents.size())
    return fail(Failure::Invalid, "a broadcast keeps every dimension");
  std::vector<int64_t> dims(rank(a));
  std::iota(dims.begin(), dims.end(),
            static_cast<int64_t>(extents.size() - rank(a)));
  return broadcast(a, extents, dims);
}

GraphBuilder::Result GraphBuilder::slice(ValueId a,
                                         std::span<const int64_t> offsets,
                                         std::span<const ExtentId> sizes,
                                         std::span<const int64_t> strides) {
  return slice(a, extents(offsets), sizes, strides);
}

GraphBuilder::Result GraphBuilder::slice(ValueId a,
                                         std::span<const ExtentId> offsets,
                                         std::span<const ExtentId> sizes,
                                         std::span<const int64_t> strides) {
  constexpr int64_t dynamic = runtime::dynamicExtent;
  const Extents &from = type(a).extents;
  if (offsets.size() != from.size() || sizes.size() != from.size() ||
      strides.size() != from.size())
    return fail(Failure::Invalid, "a slice has one range a dimension");
  bool whole = true;
  std::vector<int64_t> staticOffsets, staticSizes;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t extent = graph.constantValue(from[i]);
    int64_t offset = graph.constantValue(offsets[i]);
    int64_t size = graph.constantValue(sizes[i]);
    staticOffsets.push_back(offset);
    staticSizes.push_back(size);
    whole &= offset == 0 && strides[i] == 1 && sizes[i] == from[i];
    if (strides[i] == 0 || (offset != dynamic && offset < 0) ||
        (size != dynamic && size < 0))
      return fail(Failure::Invalid, "a slice outside its operand");
    if (extent == dynamic || offset == dynamic || size == dynamic || size == 0)
      continue;
    int64_t span, last;
    if (__builtin_mul_overflow(size - 1, strides[i], &span) ||
        __builtin_add_overflow(offset, span, &last) || offset >= extent ||
        last < 0 || last >= extent)
      return fail(Failure::Invalid, "a slice outside its operand");
  }
  if (whole)
    return a;
  std::vector<ExtentId> operands = dynamicOnes(offsets);
  for (ExtentId size : dynamicOnes(sizes))
    operands.push_back(size);
  return append(
      "wok.slice", {a}, {dtype(a), Extents(sizes.begin(), sizes.end())},
      {{"offsets", std::move(staticOffsets)},
       {"sizes", std::move(staticSizes)},
       {"strides", std::vector<int64_t>(strides.begin(), strides.end())}},
      std::move(operands));
}

GraphBuilder::Result GraphBuilder::pad(ValueId a, ValueId value,
                                       std::span<const int64_t> low,
                                       std::span<const int64_t> high) {
  if (low.size() != rank(a) || high.size() != rank(a) || rank(value) != 0 ||
      dtype(value) != dtype(a))
    return fail(Failure::Invalid, "operands of a pad");
  Extents extents;
  bool nothing = true;
  for (size_t i = 0; i < low.size(); ++i) {
    if (low[i] < 0 || high[i] < 0)
      return fail(Failure::Invalid, "a pad adds elements");
    nothing &= low[i] == 0 && high[i] == 0;
    extents.push_back(graph.binary(Kind::Add, type(a).extents[i],
                                   graph.constant(low[i] + high[i])));
  }
  if (nothing)
    return a;
  return append("wok.pad", {a, value}, {dtype(a), std::move(extents)},
                {{"low", std::vector<int64_t>(low.begin(), low.end())},
                 {"high", std::vector<int64_t>(high.begin(), high.end())}});
}

GraphBuilder::Result GraphBuilder::concat(std::span<const ValueId> values,
                                          int64_t dim) {
  if (values.empty() || !isDistinctWithin(std::span(&dim, 1), rank(values[0])))
    return fail(Failure::Invalid, "operands of a concat");
  if (values.size() == 1)
    return values[0];
  Extents extents = type(values[0]).extents;
  for (ValueId value : values.subspan(1)) {
    Extents other = type(value).extents;
    if (dtype(value) != dtype(values[0]) || other.size() != extents.size())
      return fail(Failure::Invalid, "operands of a concat differ in type");
    ExtentId total = graph.binary(Kind::Add, extents[dim], other[dim]);
    other[dim] = extents[dim];
    if (!sameExtents(extents, other, "operands of a concat differ in extents"))
      return std::nullopt;
    extents[dim] = total;
  }
  return append("wok.concat", {values.begin(), values.end()},
                {dtype(values[0]), std::move(extents)}, {{"dim", dim}});
}

GraphBuilder::Result GraphBuilder::gather(ValueId a, ValueId indices,
                                          int64_t dim) {
  if (!isDistinctWithin(std::span(&dim, 1), rank(a)) ||
      (dtype(indices) != DType::I32 && dtype(indices) != DType::I64))
    return fail(Failure::Invalid, "operands of a gather");
  const Extents &from = type(a).extents;
  Extents extents(from.begin(), from.begin() + dim);
  extents.insert(extents.end(), type(indices).extents.begin(),
                 type(indices).extents.end());
  extents.insert(extents.end(), from.begin() + dim + 1, from.end());
  return append("wok.gather", {a, indices}, {dtype(a), std::move(extents)},
                {{"dim", dim}});
}
