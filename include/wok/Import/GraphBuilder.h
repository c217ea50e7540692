//===- GraphBuilder.h - Appends typed operations to a graph -----*- C++ -*-===//
//
// What the importers of PyTorch and NumPy calls write through: one function per
// operation, with the checks and the shape inference of that operation. It
// knows no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_IMPORT_GRAPHBUILDER_H
#define WOK_IMPORT_GRAPHBUILDER_H

#include "wok/Import/Graph.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wok::importer {

/// Appends operations to a graph and infers the types of their results.
///
/// A function that cannot append its operation returns `std::nullopt`, leaves
/// the graph's nodes as they were and sets `failure()`. `DynamicExtent` means
/// that a decision depends on symbolic extents (are these two equal? is this
/// one 1?): a caller that knows their values may replace them by constants and
/// try again. `Invalid` means that no extents would make the operation right;
/// the eager operation would raise.
///
/// Nothing is implicit but what a name says: operands of one elementwise
/// operation have one type (`broadcastTo` and `cast` bring them there). An
/// operation that would change nothing (a cast to the same type, a reshape to
/// the same extents, ...) is not appended: its operand is the result.
class GraphBuilder {
public:
  using Result = std::optional<ValueId>;
  using Extents = std::vector<ExtentId>;
  enum class Failure : uint8_t { None, DynamicExtent, Invalid };

  explicit GraphBuilder(Graph &graph) : graph(graph) {}

  Graph &graph;

  /// Why the last function that returned `std::nullopt` did so, and in words.
  Failure failure() const { return lastFailure; }
  std::string_view failureText() const { return lastText; }

  // Types.
  const TensorType &type(ValueId value) const { return graph.type(value); }
  DType dtype(ValueId value) const { return type(value).dtype; }
  size_t rank(ValueId value) const { return type(value).extents.size(); }
  /// Constants for `values`.
  Extents extents(std::span<const int64_t> values);
  Extents extents(std::initializer_list<int64_t> values) {
    return extents(std::span<const int64_t>(values.begin(), values.size()));
  }
  /// The extents as numbers if all are constants.
  std::optional<std::vector<int64_t>> staticExtents(ValueId value) const;
  /// The product of the extents.
  ExtentId elementCount(std::span<const ExtentId> extents);
  /// The common extents of `shapes` by NumPy's broadcasting rules.
  std::optional<Extents> broadcastExtents(std::span<const Extents> shapes);

  // Values. Constants are 0-d; `filled` broadcasts one.
  ValueId constant(DType dtype, double value);
  ValueId constant(DType dtype, int64_t value);
  ValueId constant(DType dtype, int value) {
    return constant(dtype, int64_t{value});
  }
  /// A constant 1-d tensor of integers.
  Result constantList(DType dtype, std::span<const int64_t> values);
  Result filled(DType dtype, double value, std::span<const ExtentId> extents);
  Result filled(DType dtype, int64_t value, std::span<const ExtentId> extents);
  /// 0, 1, 2, ... along `dim`.
  Result iota(DType dtype, std::span<const ExtentId> extents, int64_t dim);
  /// An extent as a 0-d tensor of `dtype`.
  Result extentValue(DType dtype, ExtentId extent);

  // Elementwise. `name` is the mnemonic without the dialect: "exp", "add".
  Result unary(std::string_view name, ValueId a);
  Result binary(std::string_view name, ValueId a, ValueId b);
  /// `predicate`: eq ne lt le gt ge. The result is i1.
  Result compare(std::string_view predicate, ValueId a, ValueId b);
  /// `condition` is i1 and has the extents of `a` and `b`.
  Result select(ValueId condition, ValueId a, ValueId b);
  Result fma(ValueId a, ValueId b, ValueId c);
  Result cast(ValueId a, DType dtype);

  // Reductions drop `dims`, which are in [0, rank), distinct, in any order.
  /// `kind`: sum prod min max any all (the last two on i1).
  Result reduce(std::string_view kind, ValueId a,
                std::span<const int64_t> dims);
  /// `kind`: min max. The result is i64.
  Result argReduce(std::string_view kind, ValueId a, int64_t dim);

  /// lhs [B.., M, K] ([B.., K, M] if `transposeLhs`), rhs [B.., K, N] ([B.., N,
  /// K] if `transposeRhs`) give [B.., M, N].
  Result contract(ValueId lhs, ValueId rhs, bool transposeLhs = false,
                  bool transposeRhs = false);

  // Data movement.
  /// Row-major. The element counts are equal: known equal as constants, or by
  /// cancelling equal symbolic extents; otherwise `DynamicExtent`.
  Result reshape(ValueId a, std::span<const ExtentId> extents);
  /// Dimension i of the result is dimension `permutation[i]` of `a`.
  Result transpose(ValueId a, std::span<const int64_t> permutation);
  /// Dimension i of `a` becomes dimension `dims[i]` (increasing) of the result,
  /// whose other dimensions repeat; extents of `a` are the result's or the
  /// constant 1.
  Result broadcast(ValueId a, std::span<const ExtentId> extents,
                   std::span<const int64_t> dims);
  /// NumPy's rules: dimensions aligned at the right.
  Result broadcastTo(ValueId a, std::span<const ExtentId> extents);
  /// Element (i, ...) of the result is element (offsets + i * strides, ...) of
  /// `a`. Strides are not 0; with a negative one the offset is the first
  /// element read. Constant sizes and extents are checked; symbolic ones are
  /// the caller's promise.
  Result slice(ValueId a, std::span<const int64_t> offsets,
               std::span<const ExtentId> sizes,
               std::span<const int64_t> strides);
  /// The same with symbolic offsets.
  Result slice(ValueId a, std::span<const ExtentId> offsets,
               std::span<const ExtentId> sizes,
               std::span<const int64_t> strides);
  /// Adds `low` and `high` (not negative) elements of the 0-d `value` before
  /// and after.
  Result pad(ValueId a, ValueId value, std::span<const int64_t> low,
             std::span<const int64_t> high);
  Result concat(std::span<const ValueId> values, int64_t dim);
  /// Result extents: those of `a` before `dim`, of `indices` (i32 or i64), of
  /// `a` after `dim`.
  Result gather(ValueId a, ValueId indices, int64_t dim);

private:
  ValueId append(std::string op, std::vector<ValueId> operands, TensorType type,
                 std::vector<std::pair<std::string, Attribute>> attributes = {},
                 std::vector<ExtentId> extentOperands = {});
  /// The symbolic ones of `extents`: what is passed as extent operands.
  std::vector<ExtentId> dynamicOnes(std::span<const ExtentId> extents) const;
  std::nullopt_t fail(Failure why, std::string_view text);
  /// Extents that must be equal but have different ids.
  std::nullopt_t failUnequal(ExtentId a, ExtentId b, std::string_view text);
  bool sameExtents(std::span<const ExtentId> a, std::span<const ExtentId> b,
                   std::string_view text);
  bool sameTypes(ValueId a, ValueId b, std::string_view text);

  Failure lastFailure = Failure::None;
  std::string_view lastText;
};

} // namespace wok::importer

#endif // WOK_IMPORT_GRAPHBUILDER_H
