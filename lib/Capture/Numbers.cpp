//===- Numbers.cpp - Python numbers and extents that vary -----------------===//
//
// A number that had another value at an earlier capture of the site becomes
// symbolic: an int or float is an input of the subgraph, an extent a symbol.
// What asks for the value of a symbol makes it static for good, and the capture
// starts again.
//
//===----------------------------------------------------------------------===//

#include "wok/Capture/Capture.h"
#include "wok/Capture/State.h"

#include <bit>

namespace wok::capture {

/// Symbolic ints are guarded to lie within: sums and products of two stay exact
/// in i64.
static constexpr int64_t intBound = int64_t{1} << 31;

bool Capture::meetNumber(SourceId source, int32_t dim, int64_t bits) {
  std::string text = sources.toString(source, state->code);
  for (SiteHistory::Number &number : history.numbers) {
    if (number.dim != dim || number.source != text)
      continue;
    if (number.bits != bits) {
      number.varied = true;
      number.bits = bits;
    }
    return number.varied && !number.keepStatic && history.dynamic != 0;
  }
  bool atOnce = history.dynamic == 1;
  history.numbers.push_back({std::move(text), dim, bits, atOnce});
  return atOnce;
}

void Capture::keepStatic(SourceId source, int32_t dim) {
  std::string text = sources.toString(source, state->code);
  for (SiteHistory::Number &number : history.numbers)
    if (number.dim == dim && number.source == text)
      number.keepStatic = true;
  state->restart = true;
}

std::optional<Value> Capture::symbolicNumber(PyObject *object,
                                             SourceId source) {
  ScalarRow row{};
  row.source = source;
  row.object = object;
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow || number < -intBound || number > intBound ||
        !meetNumber(source, 0, number))
      return std::nullopt;
    row.type = ScalarRow::Type::Int;
    row.lower = -intBound;
    row.upper = intBound;
    guards.add(
        {source, Predicate::IntRange, row.lower, row.upper, nullptr, line});
    row.value = graph.addInput({DType::I64, {}}, /*strided=*/false);
    state->inputs.push_back({SubgraphInput::Kind::Int, source, *row.value});
    return scalar(row);
  }
  if (PyFloat_CheckExact(object)) {
    if (!meetNumber(source, 0,
                    std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(object))))
      return std::nullopt;
    row.type = ScalarRow::Type::Float;
    guards.add({source, Predicate::FloatType, 0, 0, nullptr, line});
    row.value = graph.addInput({DType::F64, {}}, /*strided=*/false);
    state->inputs.push_back({SubgraphInput::Kind::Float, source, *row.value});
    return scalar(row);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

int64_t Capture::State::evaluate(const importer::Graph &graph,
                                 importer::ExtentId id) const {
  using ExprKind = importer::ExtentExpr::Kind;
  const importer::ExtentExpr &expr = graph.extent(id);
  if (expr.kind == ExprKind::Constant)
    return expr.constant;
  if (expr.kind == ExprKind::Symbol)
    return symbolValues[static_cast<size_t>(expr.constant)];
  int64_t lhs = evaluate(graph, expr.lhs), rhs = evaluate(graph, expr.rhs);
  switch (expr.kind) {
  case ExprKind::Add:
    return lhs + rhs;
  case ExprKind::Sub:
    return lhs - rhs;
  case ExprKind::Mul:
    return lhs * rhs;
  case ExprKind::FloorDiv:
  case ExprKind::CeilDiv: {
    if (rhs == 0)
      return 0;
    int64_t quotient = lhs / rhs, rest = lhs % rhs;
    bool inexactDown = rest != 0 && ((rest < 0) != (rhs < 0));
    if (expr.kind == ExprKind::FloorDiv)
      return quotient - (inexactDown ? 1 : 0);
    return quotient + (rest != 0 && !inexactDown ? 1 : 0);
  }
  default:
    return 0;
  }
}

Value Capture::extentValue(importer::ExtentId extent) {
  int64_t number = graph.constantValue(extent);
  if (graph.extent(extent).kind == importer::ExtentExpr::Kind::Constant)
    return constant(static_cast<long long>(number));
  ScalarRow row{};
  row.type = ScalarRow::Type::Int;
  row.extent = extent;
  return scalar(row);
}

void Capture::keepSymbolsStatic(importer::ExtentId id) {
  using ExprKind = importer::ExtentExpr::Kind;
  const importer::ExtentExpr expr = graph.extent(id);
  if (expr.kind == ExprKind::Constant)
    return;
  if (expr.kind == ExprKind::Symbol) {
    auto [source, dim] =
        state->symbolSources[static_cast<size_t>(expr.constant)];
    return keepStatic(source, dim);
  }
  keepSymbolsStatic(expr.lhs);
  keepSymbolsStatic(expr.rhs);
}

int64_t Capture::asConstant(importer::ExtentId extent) {
  keepSymbolsStatic(extent);
  return state->evaluate(graph, extent);
}

//===----------------------------------------------------------------------===//
// Asking for values
//===----------------------------------------------------------------------===//

/// Makes what a Scalar depends on static. False if the graph computes it: only
/// eager knows.
static bool askScalar(Capture &capture, const ScalarRow &row) {
  if (row.extent) {
    capture.asConstant(*row.extent);
    return true;
  }
  if (row.source == noSource)
    return false;
  capture.keepStatic(row.source, 0);
  return true;
}

std::optional<long long> Capture::asInt(Value value) {
  if (value.kind == Kind::Scalar) {
    const ScalarRow &row = scalarRow(value);
    if (row.type != ScalarRow::Type::Int || !askScalar(*this, row))
      return std::nullopt;
    if (row.extent)
      return state->evaluate(graph, *row.extent);
    return PyLong_AsLongLong(row.object);
  }
  PyObject *number = object(value);
  if (!number || !(PyLong_CheckExact(number) || PyBool_Check(number)))
    return std::nullopt;
  int overflow = 0;
  long long result = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow)
    return std::nullopt;
  guardValue(value);
  return result;
}

std::optional<double> Capture::asFloat(Value value) {
  if (value.kind == Kind::Scalar) {
    const ScalarRow row = scalarRow(value);
    if (row.type == ScalarRow::Type::Float && askScalar(*this, row))
      return PyFloat_AS_DOUBLE(row.object);
    if (std::optional<long long> number = asInt(value))
      return static_cast<double>(*number);
    return std::nullopt;
  }
  PyObject *number = object(value);
  if (!number)
    return std::nullopt;
  if (PyFloat_CheckExact(number)) {
    guardValue(value);
    return PyFloat_AS_DOUBLE(number);
  }
  if (!PyLong_CheckExact(number) && !PyBool_Check(number))
    return std::nullopt;
  double result = PyLong_AsDouble(number);
  if (result == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  guardValue(value);
  return result;
}

std::optional<bool> Capture::asBool(Value value) {
  PyObject *flag = object(value);
  if (!flag || !PyBool_Check(flag))
    return std::nullopt;
  guardValue(value);
  return flag == Py_True;
}

std::optional<std::string_view> Capture::asString(Value value) {
  PyObject *text = object(value);
  if (!text || !PyUnicode_CheckExact(text))
    return std::nullopt;
  guardValue(value);
  Py_ssize_t length = 0;
  const char *data = PyUnicode_AsUTF8AndSize(text, &length);
  if (!data) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::string_view(data, static_cast<size_t>(length));
}

} // namespace wok::capture
