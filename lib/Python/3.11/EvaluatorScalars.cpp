//===- EvaluatorScalars.cpp - Arithmetic on numbers that vary -------------===//

#include "Evaluator.h"

#include "wok/Import/GraphBuilder.h"

#include <opcode.h>

#include <limits>

namespace wok::python {

using Reason = BreakInfo::Reason;
using capture::ScalarRow;
using importer::ExtentExpr;
using importer::ExtentId;

namespace {

/// An operand: an extent expression, or a value of the graph.
struct Number {
  ScalarRow::Type type = ScalarRow::Type::Int;
  std::optional<ExtentId> extent;
  std::optional<importer::ValueId> value;
  __int128 lower = 0, upper = 0;
};

/// Extents are far from the limits of i64: products of two still fit.
constexpr int64_t extentBound = int64_t{1} << 40;

} // namespace

static std::optional<Number> numberOf(Capture &capture, Value operand) {
  Number number;
  if (operand.kind == Kind::Scalar) {
    const ScalarRow &row = capture.scalarRow(operand);
    if (row.type == ScalarRow::Type::Bool)
      return std::nullopt;
    number.type = row.type;
    number.extent = row.extent;
    number.value = row.value;
    number.lower = row.extent ? -extentBound : row.lower;
    number.upper = row.extent ? extentBound : row.upper;
    return number;
  }
  PyObject *object = capture.object(operand);
  if (object && PyFloat_CheckExact(object)) {
    number.type = ScalarRow::Type::Float;
    capture.guardValue(operand);
    number.value = importer::GraphBuilder(capture.graph)
                       .constant(DType::F64, PyFloat_AS_DOUBLE(object));
    return number;
  }
  if (object && PyLong_CheckExact(object)) {
    std::optional<long long> integer = capture.asInt(operand);
    if (!integer)
      return std::nullopt;
    number.extent = capture.graph.constant(*integer);
    number.lower = number.upper = *integer;
    return number;
  }
  return std::nullopt;
}

/// Both operands as known numbers: makes those that vary static.
static bool askBoth(Capture &capture, Value &lhs, Value &rhs) {
  for (Value *operand : {&lhs, &rhs}) {
    if (operand->kind != Kind::Scalar)
      continue;
    const ScalarRow row = capture.scalarRow(*operand);
    if (row.type == ScalarRow::Type::Float) {
      std::optional<double> number = capture.asFloat(*operand);
      if (!number)
        return false;
      *operand = capture.constant(
          capture::Ref<>::steal(PyFloat_FromDouble(*number)).get());
    } else {
      std::optional<long long> number = capture.asInt(*operand);
      if (!number)
        return false;
      *operand = capture.constant(*number);
    }
  }
  return true;
}

std::optional<Value> Evaluator::scalarBinary(int op, Value lhs, Value rhs) {
  op %= NB_INPLACE_ADD;
  importer::GraphBuilder builder(capture.graph);
  std::optional<Number> a = numberOf(capture, lhs), b = numberOf(capture, rhs);
  auto ask = [&]() -> std::optional<Value> {
    if (!askBoth(capture, lhs, rhs))
      return capture.breakHere(Reason::DataToPython, "an operator");
    return binary(op, lhs, rhs);
  };
  if (!a || !b)
    return ask();

  // Extents: expressions.
  if (a->extent && b->extent) {
    std::optional<ExtentExpr::Kind> kind;
    if (op == NB_ADD)
      kind = ExtentExpr::Kind::Add;
    else if (op == NB_SUBTRACT)
      kind = ExtentExpr::Kind::Sub;
    else if (op == NB_MULTIPLY)
      kind = ExtentExpr::Kind::Mul;
    else if ((op == NB_FLOOR_DIVIDE || op == NB_REMAINDER) && b->lower > 0)
      kind = ExtentExpr::Kind::FloorDiv;
    if (!kind)
      return ask();
    ExtentId result = capture.graph.binary(*kind, *a->extent, *b->extent);
    if (op == NB_REMAINDER)
      result = capture.graph.binary(
          ExtentExpr::Kind::Sub, *a->extent,
          capture.graph.binary(ExtentExpr::Kind::Mul, result, *b->extent));
    return capture.extentValue(result);
  }

  // Values: operations of the graph on rank 0.
  const char *name = op == NB_ADD           ? "add"
                     : op == NB_SUBTRACT    ? "sub"
                     : op == NB_MULTIPLY    ? "mul"
                     : op == NB_TRUE_DIVIDE ? "div"
                                            : nullptr;
  bool isFloat =
      a->type == ScalarRow::Type::Float || b->type == ScalarRow::Type::Float;
  if (!name || (op == NB_TRUE_DIVIDE && !isFloat))
    return ask();
  ScalarRow row{};
  row.type = isFloat ? ScalarRow::Type::Float : ScalarRow::Type::Int;
  if (op == NB_TRUE_DIVIDE) {
    // Division by zero raises.
    PyObject *divisor = capture.object(rhs);
    if (!divisor || PyObject_IsTrue(divisor) != 1)
      return ask();
  }
  if (!isFloat) {
    // The bounds prove that i64 is exact.
    __int128 lower, upper;
    if (op == NB_MULTIPLY) {
      __int128 corners[] = {a->lower * b->lower, a->lower * b->upper,
                            a->upper * b->lower, a->upper * b->upper};
      lower = *std::min_element(corners, corners + 4);
      upper = *std::max_element(corners, corners + 4);
    } else if (op == NB_ADD) {
      lower = a->lower + b->lower;
      upper = a->upper + b->upper;
    } else {
      lower = a->lower - b->upper;
      upper = a->upper - b->lower;
    }
    constexpr __int128 limit = std::numeric_limits<int64_t>::max() / 2;
    if (lower < -limit || upper > limit)
      return ask();
    row.lower = static_cast<int64_t>(lower);
    row.upper = static_cast<int64_t>(upper);
  }
  DType dtype = isFloat ? DType::F64 : DType::I64;
  auto emit = [&](const Number &number) -> importer::GraphBuilder::Result {
    if (!number.value)
      return builder.extentValue(dtype, *number.extent);
    return builder.cast(*number.value, dtype);
  };
  // An int that a float does not hold exactly is rounded by Python as by the
  // cast.
  auto x = emit(*a), y = emit(*b);
  if (!x || !y)
    return ask();
  auto result = builder.binary(name, *x, *y);
  if (!result)
    return ask();
  row.value = *result;
  return capture.scalar(row);
}

std::optional<bool> Evaluator::scalarCompare(int op, Value lhs, Value rhs) {
  std::optional<Number> a = numberOf(capture, lhs), b = numberOf(capture, rhs);
  if (a && b && a->extent && b->extent) {
    using Relation = capture::ExtentRelation::Kind;
    int64_t x = state.evaluate(capture.graph, *a->extent),
            y = state.evaluate(capture.graph, *b->extent);
    auto relate = [&](Relation kind, ExtentId left, ExtentId right) {
      capture.guards.relations.push_back({kind, left, right});
      capture.guards.add(
          {capture::noSource, capture::Predicate::ExtentRelation,
           static_cast<int64_t>(capture.guards.relations.size() - 1), 0,
           nullptr, capture.line});
    };
    switch (op) {
    case Py_EQ:
    case Py_NE:
      relate(x == y ? Relation::Equal : Relation::NotEqual, *a->extent,
             *b->extent);
      return (x == y) == (op == Py_EQ);
    case Py_LT:
    case Py_GE:
      if (x < y)
        relate(Relation::Less, *a->extent, *b->extent);
      else
        relate(Relation::LessEqual, *b->extent, *a->extent);
      return (x < y) == (op == Py_LT);
    default:
      if (y < x)
        relate(Relation::Less, *b->extent, *a->extent);
      else
        relate(Relation::LessEqual, *a->extent, *b->extent);
      return (y < x) == (op == Py_GT);
    }
  }
  // A number that varies against what it is not: never equal.
  for (Value other : {lhs, rhs})
    if (PyObject *object = capture.object(other))
      if ((op == Py_EQ || op == Py_NE) &&
          (object == Py_None || PyUnicode_CheckExact(object))) {
        capture.guardType(other);
        return op == Py_NE;
      }
  if (!askBoth(capture, lhs, rhs))
    return capture.breakHere(Reason::DataBranch, "a comparison");
  std::optional<Value> result = compare(op, lhs, rhs);
  if (!result)
    return std::nullopt;
  return capture.object(*result) == Py_True;
}

} // namespace wok::python
