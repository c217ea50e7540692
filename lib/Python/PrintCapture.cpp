//===- PrintCapture.cpp - Captured subgraphs as text ----------------------===//

#include "GuardText.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <charconv>
#include <sstream>

namespace wok::python {

using namespace capture;

static std::string text(const importer::Graph &graph,
                        const std::vector<importer::ExtentId> &extents) {
  std::string result = "[";
  for (size_t i = 0; i < extents.size(); ++i)
    result += (i ? ", " : "") + extentText(graph, extents[i]);
  return result + "]";
}

static std::string text(const importer::Graph &graph,
                        const importer::TensorType &type) {
  return std::string(toString(type.dtype)) + text(graph, type.extents);
}

/// An object in a guard, without running code of the program.
static std::string text(PyObject *object) {
  if (!object)
    return "null";
  if (PyType_Check(object))
    return reinterpret_cast<PyTypeObject *>(object)->tp_name;
  PyTypeObject *type = Py_TYPE(object);
  bool isPlain = type == &PyUnicode_Type || type == &PyLong_Type ||
                 type == &PyFloat_Type || type == &PyBool_Type ||
                 type == &PyBytes_Type || object == Py_None;
  if (isPlain) {
    auto repr = Ref<>::steal(PyObject_Repr(object));
    const char *utf8 = repr ? PyUnicode_AsUTF8(repr) : nullptr;
    if (utf8)
      return utf8;
    PyErr_Clear();
  }
  if (PyCode_Check(object))
    if (const char *utf8 =
            PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject *>(object)->co_name))
      return std::string("<code ") + utf8 + ">";
  PyErr_Clear();
  return std::string("<") + type->tp_name + ">";
}

namespace {
class Printer {
public:
  Printer(const CapturedSubgraph &subgraph, PyCodeObject *code)
      : subgraph(subgraph), code(code) {}

  std::string print() {
    inputs();
    guards();
    nodes();
    exit();
    return out.str();
  }

private:
  void inputs();
  void guards();
  void nodes();
  void exit();
  std::string source(SourceId id) {
    return subgraph.sources.toString(id, code);
  }
  std::string recipe(RecipeId id);

  const CapturedSubgraph &subgraph;
  PyCodeObject *code;
  std::ostringstream out;
};
} // namespace

void Printer::inputs() {
  for (const SubgraphInput &input : subgraph.inputs) {
    const char *kind = input.kind == SubgraphInput::Kind::Tensor ? ""
                       : input.kind == SubgraphInput::Kind::Int  ? "int "
                                                                 : "float ";
    out << "input %" << input.value << " = " << kind << source(input.source)
        << " : " << text(subgraph.graph, subgraph.graph.type(input.value))
        << "\n";
  }
}

void Printer::guards() {
  static const char *const names[] = {
#define X(name, text, cost) #name,
      WOK_PREDICATES(X)
#undef X
  };
  static const char *const states[] = {
#define X(name, text) #name,
      WOK_AMBIENT(X)
#undef X
  };
  for (const Guard &guard : subgraph.guards.guards) {
    out << "guard ";
    if (guard.source != noSource)
      out << source(guard.source) << " ";
    out << names[static_cast<size_t>(guard.predicate)];
    switch (guard.predicate) {
    case Predicate::Ambient:
      out << " " << states[guard.upper] << " = " << guard.number;
      break;
    case Predicate::IntRange:
      out << " " << guard.number << ".." << guard.upper;
      break;
    case Predicate::LengthIs:
    case Predicate::DictVersion:
    case Predicate::TypeVersion:
    case Predicate::RefCountAbove:
      out << " " << guard.number;
      break;
    case Predicate::SameObject:
    case Predicate::NotSameObject:
    case Predicate::NoOverlap:
      out << " " << source(static_cast<SourceId>(guard.number));
      break;
    case Predicate::Tensor: {
      const TensorGuard &tensor =
          subgraph.guards.tensors[static_cast<size_t>(guard.number)];
      out << " " << text(reinterpret_cast<PyObject *>(tensor.type)) << " "
          << toString(tensor.dtype) << " [";
      for (size_t i = 0; i < tensor.extents.size(); ++i) {
        out << (i ? ", " : "");
        if (tensor.symbols[i] >= 0)
          out << "s" << tensor.symbols[i];
        else if (tensor.extents[i] == runtime::dynamicExtent)
          out << "?";
        else
          out << tensor.extents[i];
      }
      out << "]";
      if (!tensor.dense) {
        out << " strides [";
        for (size_t i = 0; i < tensor.strides.size(); ++i)
          out << (i ? ", " : "")
              << (tensor.strides[i] == runtime::dynamicExtent
                      ? "?"
                      : std::to_string(tensor.strides[i]));
        out << "]";
      } else if (!tensor.strideOrder.empty()) {
        out << " order [";
        for (size_t i = 0; i < tensor.strideOrder.size(); ++i)
          out << (i ? ", " : "") << int(tensor.strideOrder[i]);
        out << "]";
      }
      if (tensor.requiresGrad)
        out << " requires grad";
      break;
    }
    case Predicate::ExtentRelation:
      out << " "
          << relationText(
                 subgraph.graph,
                 subgraph.guards.relations[static_cast<size_t>(guard.number)]);
      break;
    case Predicate::DictOrder: {
      out << " [";
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guard.object); ++i)
        out << (i ? ", " : "") << text(PyTuple_GET_ITEM(guard.object, i));
      out << "]";
      break;
    }
    default:
      if (guard.object)
        out << " " << text(guard.object);
    }
    out << "\n";
  }
}

void Printer::nodes() {
  out << "operations [";
  for (size_t i = 0; i < subgraph.operations.size(); ++i)
    out << (i ? ", " : "") << subgraph.operations[i];
  out << "]\n";
  auto nodes = subgraph.graph.allNodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const importer::Node &node = nodes[i];
    if (node.op == "input")
      continue;
    out << "%" << i << " = " << node.op;
    for (size_t k = 0; k < node.operands.size(); ++k)
      out << (k ? ", %" : " %") << node.operands[k];
    for (importer::ExtentId extent : node.extentOperands)
      out << " " << extentText(subgraph.graph, extent);
    if (!node.attributes.empty()) {
      out << " {";
      for (size_t k = 0; k < node.attributes.size(); ++k) {
        const auto &[name, value] = node.attributes[k];
        out << (k ? ", " : "") << name << " = ";
        std::visit(
            [&](const auto &v) {
              using T = std::decay_t<decltype(v)>;
              if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
                out << "[";
                for (size_t n = 0; n < v.size(); ++n)
                  out << (n ? ", " : "") << v[n];
                out << "]";
              } else if constexpr (std::is_same_v<T, DType>) {
                out << toString(v);
              } else if constexpr (std::is_same_v<T, bool>) {
                out << (v ? "true" : "false");
              } else if constexpr (std::is_same_v<T, double>) {
                // The shortest text that reads back as this number.
                char digits[32];
                auto end = std::to_chars(digits, std::end(digits), v).ptr;
                out << std::string_view(digits, end - digits);
              } else {
                out << v;
              }
            },
            value);
      }
      out << "}";
    }
    out << " : " << text(subgraph.graph, node.type) << "\n";
  }
  out << "outputs [";
  for (size_t i = 0; i < subgraph.graph.outputs.size(); ++i)
    out << (i ? ", %" : "%") << subgraph.graph.outputs[i];
  out << "]\n";
}

std::string Printer::recipe(RecipeId id) {
  if (id == noRecipe)
    return "unchanged";
  const Recipe &recipe = subgraph.exit.recipes[id];
  static const char *const names[] = {
#define X(name, text) #name,
      WOK_RECIPES(X)
#undef X
  };
  std::string result = names[static_cast<size_t>(recipe.kind)];
  switch (recipe.kind) {
  case RecipeKind::Source:
    return source(recipe.source);
  case RecipeKind::Constant:
    return text(recipe.object);
  case RecipeKind::Null:
    return "null";
  case RecipeKind::ExtentInt:
    return extentText(subgraph.graph, recipe.number);
  case RecipeKind::Tensor:
  case RecipeKind::NumpyScalar:
  case RecipeKind::PythonScalar:
    result = (recipe.kind == RecipeKind::Tensor        ? "tensor "
              : recipe.kind == RecipeKind::NumpyScalar ? "numpy scalar "
                                                       : "number ") +
             std::to_string(recipe.number);
    if (!recipe.strideOrder.empty()) {
      result += " order [";
      for (size_t i = 0; i < recipe.strideOrder.size(); ++i)
        result += (i ? ", " : "") + std::to_string(recipe.strideOrder[i]);
      result += "]";
    }
    return result;
  default:
    break;
  }
  if (recipe.kind == RecipeKind::Tuple && recipe.object)
    result += "<" + text(recipe.object) + ">";
  result += "(";
  for (size_t i = 0; i < recipe.operands.size(); ++i)
    result += (i ? ", " : "") + this->recipe(recipe.operands[i]);
  if (recipe.kind == RecipeKind::View)
    result += ", extents " + text(subgraph.graph, recipe.geometry.extents) +
              ", strides " + text(subgraph.graph, recipe.geometry.strides) +
              ", offset " + extentText(subgraph.graph, recipe.geometry.offset);
  if (recipe.kind == RecipeKind::Iterator)
    result += ", " + std::to_string(recipe.number);
  return result + ")";
}

void Printer::exit() {
  static const char *const reasons[] = {
#define WOK_BREAK(name, code, text, hint) code,
#include "wok/Capture/BreakReasons.def"
#undef WOK_BREAK
  };
  static const char *const effects[] = {
#define X(name, text) #name,
      WOK_EFFECTS(X)
#undef X
  };
  const Exit &exit = subgraph.exit;
  for (const Effect &effect : exit.effects) {
    out << "effect " << effects[static_cast<size_t>(effect.kind)] << " "
        << recipe(effect.target);
    if (effect.key != noRecipe)
      out << " [" << recipe(effect.key) << "]";
    out << " = " << recipe(effect.value) << "\n";
  }
  for (const SlotWrite &write : exit.locals) {
    out << "local ";
    const char *name = code ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(
                                  code->co_localsplusnames, write.slot))
                            : nullptr;
    PyErr_Clear();
    if (name)
      out << name;
    else
      out << write.slot;
    out << " = " << recipe(write.recipe) << "\n";
  }
  for (RecipeId id : exit.stack)
    out << "stack " << recipe(id) << "\n";
  out << "exit: " << reasons[static_cast<size_t>(exit.why.reason)];
  if (!exit.why.detail.empty())
    out << " (" << exit.why.detail << ")";
  out << (exit.returns ? ", returns" : "") << "\n";
}

std::string toString(const CapturedSubgraph &subgraph, PyCodeObject *code) {
  return Printer(subgraph, code).print();
}

} // namespace wok::python
