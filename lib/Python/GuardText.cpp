//===- GuardText.cpp - Guards as reports show them ------------------------===//

#include "GuardText.h"

#include "wok/Runtime/CompiledSubgraph.h"

namespace wok::python {

using namespace capture;

std::string extentText(const importer::Graph &graph,
                       importer::ExtentId extent) {
  using Kind = importer::ExtentExpr::Kind;
  const importer::ExtentExpr &expr = graph.extent(extent);
  if (expr.kind == Kind::Constant)
    return std::to_string(expr.constant);
  if (expr.kind == Kind::Symbol)
    return "s" + std::to_string(expr.constant);
  const char *op = expr.kind == Kind::Add        ? " + "
                   : expr.kind == Kind::Sub      ? " - "
                   : expr.kind == Kind::Mul      ? " * "
                   : expr.kind == Kind::FloorDiv ? " // "
                                                 : " ceildiv ";
  return "(" + extentText(graph, expr.lhs) + op + extentText(graph, expr.rhs) +
         ")";
}

static std::string objectText(PyObject *object) {
  if (!object)
    return {};
  if (PyType_Check(object))
    return reinterpret_cast<PyTypeObject *>(object)->tp_name;
  bool isPlain = PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
                 PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
                 PyBool_Check(object) || object == Py_None;
  if (!isPlain)
    return std::string("a ") + Py_TYPE(object)->tp_name;
  Ref<> repr = Ref<>::steal(PyObject_Repr(object));
  const char *utf8 = repr ? PyUnicode_AsUTF8(repr) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : "?";
}

static std::string keysText(PyObject *keys) {
  std::string result;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i)
    result += (i ? ", " : "") + objectText(PyTuple_GET_ITEM(keys, i));
  return "[" + result + "]";
}

static std::string tensorText(const TensorGuard &tensor) {
  std::string text = "tensor<";
  for (size_t d = 0; d < tensor.extents.size(); ++d)
    text += (tensor.extents[d] != runtime::dynamicExtent
                 ? std::to_string(tensor.extents[d])
             : d < tensor.symbols.size() && tensor.symbols[d] >= 0
                 ? "s" + std::to_string(tensor.symbols[d])
                 : "?") +
            "x";
  text += std::string(toString(tensor.dtype)) + ">";
  text += tensor.dense ? "" : ", strided";
  text += tensor.requiresGrad ? ", requires grad" : "";
  return text;
}

static std::string ambientText(Ambient which, int64_t value) {
  static constexpr const char *names[] = {
#define X(name, text) text,
      WOK_AMBIENT(X)
#undef X
  };
  std::string text = names[static_cast<size_t>(which)];
  switch (which) {
  case Ambient::DefaultDtype:
    return text + ": " +
           (value < 0 ? std::string("another")
                      : std::string(toString(static_cast<DType>(value))));
  case Ambient::Errstate:
  case Ambient::RecursionRoom:
    return text + ": " + std::to_string(value);
  default:
    return text + ": " + (value ? "True" : "False");
  }
}

std::string relationText(const importer::Graph &graph,
                         const ExtentRelation &relation) {
  static constexpr const char *signs[] = {" == ", " != ", " < ", " <= "};
  return extentText(graph, relation.lhs) +
         signs[static_cast<size_t>(relation.kind)] +
         extentText(graph, relation.rhs);
}

/// What is said of the source, or of the state of the process.
static std::string claim(const CapturedSubgraph &subgraph, const Guard &guard,
                         PyCodeObject *code) {
  auto other = [&] {
    return subgraph.sources.toString(static_cast<SourceId>(guard.number), code);
  };
  switch (guard.predicate) {
  case Predicate::TypeIs:
    return "type is " + objectText(guard.object);
  case Predicate::Is:
    return "is " + objectText(guard.object);
  case Predicate::IsNot:
    return "is not " + objectText(guard.object);
  case Predicate::Equals:
    return (PyBool_Check(guard.object) || guard.object == Py_None ? "is "
                                                                  : "== ") +
           objectText(guard.object);
  case Predicate::IntRange:
    return "int in [" + std::to_string(guard.number) + ", " +
           std::to_string(guard.upper) + "]";
  case Predicate::FloatType:
    return "a float";
  case Predicate::LengthIs:
    return "len == " + std::to_string(guard.number);
  case Predicate::KeyAbsent:
  case Predicate::AttributeAbsent:
    return "has no " + objectText(guard.object);
  case Predicate::SlotNull:
    return "holds nothing";
  case Predicate::SameObject:
    return "is " + other();
  case Predicate::NotSameObject:
    return "is not " + other();
  case Predicate::NoOverlap:
    return "does not overlap " + other();
  case Predicate::Present:
    return "is there";
  case Predicate::DictVersion:
  case Predicate::TypeVersion:
    return "is unchanged";
  case Predicate::DictOrder:
    return "has the keys " + keysText(guard.object);
  case Predicate::RefCountAbove:
    return "has more than " + std::to_string(guard.number) + " references";
  case Predicate::DiesQuietly:
    return "a tensor whose release runs no code of the program";
  case Predicate::Tensor:
    return tensorText(subgraph.guards.tensors[guard.number]);
  case Predicate::Ambient:
    return ambientText(static_cast<Ambient>(guard.upper), guard.number);
  case Predicate::ExtentRelation:
    return relationText(subgraph.graph,
                        subgraph.guards.relations[guard.number]);
  }
  Py_UNREACHABLE();
}

std::string describeGuard(const CapturedSubgraph &subgraph, const Guard &guard,
                          PyCodeObject *code) {
  std::string text;
  if (guard.source != noSource)
    text = subgraph.sources.toString(guard.source, code) + ": ";
  text += claim(subgraph, guard, code);
  if (guard.line)
    text += " (line " + std::to_string(guard.line) + ")";
  return text;
}

} // namespace wok::python
