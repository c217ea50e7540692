//===- ExportGraph.cpp - A captured graph as a wok.subgraph -----*- C++ -*-===//

#include "wok/Import/ExportGraph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "wok/IR/Types.h"
#include "wok/IR/WokOps.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace wok;
using namespace wok::importer;

namespace {

class Exporter {
public:
  Exporter(const Graph &graph, MLIRContext &context)
      : graph(graph), builder(&context) {}

  OwningOpRef<ModuleOp> run(StringRef name);

private:
  RankedTensorType convert(const importer::TensorType &type);
  Location convertLocation(uint32_t index);
  /// An extent as an `index` value, at the insertion point.
  Value materialize(ExtentId id);
  LogicalResult createNode(ValueId id, const Node &node);
  FailureOr<mlir::Attribute> convert(const Node &node, StringRef name,
                                     const importer::Attribute &attribute,
                                     Location location);
  FailureOr<mlir::Attribute> constantValue(const Node &node,
                                           const importer::Attribute &attribute,
                                           Location location);

  const Graph &graph;
  OpBuilder builder;
  SmallVector<Value> values;
  DenseMap<ExtentId, Value> extents;
};

} // namespace

RankedTensorType Exporter::convert(const importer::TensorType &type) {
  SmallVector<int64_t> shape;
  for (ExtentId id : type.extents) {
    int64_t value = graph.constantValue(id);
    shape.push_back(value == runtime::dynamicExtent ? ShapedType::kDynamic
                                                    : value);
  }
  return RankedTensorType::get(shape, toMLIR(type.dtype, builder.getContext()));
}

Location Exporter::convertLocation(uint32_t index) {
  auto [file, line] = graph.location(index);
  if (file.empty())
    return builder.getUnknownLoc();
  return FileLineColLoc::get(builder.getContext(),
                             StringRef(file.data(), file.size()), line, 0);
}

Value Exporter::materialize(ExtentId id) {
  if (Value known = extents.lookup(id))
    return known;
  const ExtentExpr &expr = graph.extent(id);
  Location location = builder.getUnknownLoc();
  Value value;
  switch (expr.kind) {
  case ExtentExpr::Kind::Constant:
    value = arith::ConstantIndexOp::create(builder, location, expr.constant);
    break;
  case ExtentExpr::Kind::Symbol: {
    Graph::Symbol symbol = graph.allSymbols()[expr.constant];
    value = DimOp::create(builder, location, builder.getIndexType(),
                          values[symbol.input],
                          builder.getI64IntegerAttr(symbol.dim));
    break;
  }
  default: {
    Value lhs = materialize(expr.lhs), rhs = materialize(expr.rhs);
    switch (expr.kind) {
    case ExtentExpr::Kind::Add:
      value = arith::AddIOp::create(builder, location, lhs, rhs);
      break;
    case ExtentExpr::Kind::Sub:
      value = arith::SubIOp::create(builder, location, lhs, rhs);
      break;
    case ExtentExpr::Kind::Mul:
      value = arith::MulIOp::create(builder, location, lhs, rhs);
      break;
    case ExtentExpr::Kind::FloorDiv:
      value = arith::FloorDivSIOp::create(builder, location, lhs, rhs);
      break;
    default:
      value = arith::CeilDivSIOp::create(builder, location, lhs, rhs);
      break;
    }
  }
  }
  // The body is one block that is written in order: what is written once may be
  // used from there on.
  return extents[id] = value;
}

/// `value` as an element; the conversions that `wok.cast` does.
static mlir::Attribute makeElement(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return FloatAttr::get(type, number);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return IntegerAttr::get(type, APInt(1, value != 0));
  APSInt number(64, /*isUnsigned=*/false);
  bool isExact;
  APFloat(value).convertToInteger(number, APFloat::rmTowardZero, &isExact);
  return IntegerAttr::get(type, number.trunc(width));
}

static mlir::Attribute makeElement(Type type, int64_t value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat number(floatType.getFloatSemantics());
    number.convertFromAPInt(APInt(64, value, /*isSigned=*/true),
                            /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
    return FloatAttr::get(type, number);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return IntegerAttr::get(type, APInt(1, value != 0));
  return IntegerAttr::get(type,
                          APInt(64, value, /*isSigned=*/true).trunc(width));
}

FailureOr<mlir::Attribute>
Exporter::constantValue(const Node &node, const importer::Attribute &attribute,
                        Location location) {
  RankedTensorType type = convert(node.type);
  Type element = type.getElementType();
  if (!type.hasStaticShape())
    return emitError(location) << "a constant of symbolic extent";
  if (auto *value = std::get_if<double>(&attribute))
    return mlir::Attribute(
        DenseElementsAttr::get(type, makeElement(element, *value)));
  if (auto *value = std::get_if<int64_t>(&attribute))
    return mlir::Attribute(
        DenseElementsAttr::get(type, makeElement(element, *value)));
  if (auto *value = std::get_if<bool>(&attribute))
    return mlir::Attribute(
        DenseElementsAttr::get(type, makeElement(element, int64_t{*value})));
  if (auto *list = std::get_if<std::vector<int64_t>>(&attribute)) {
    if (static_cast<int64_t>(list->size()) != type.getNumElements())
      return emitError(location)
             << "a constant of " << type.getNumElements() << " elements with "
             << list->size() << " values";
    SmallVector<mlir::Attribute> elements;
    for (int64_t value : *list)
      elements.push_back(makeElement(element, value));
    return mlir::Attribute(DenseElementsAttr::get(type, elements));
  }
  return emitError(location) << "a constant that is no number";
}

/// The enum attribute of `text`; null if it is no case of the enum.
template <class AttrT, class SymbolizeT>
static mlir::Attribute enumAttr(MLIRContext *context, StringRef text,
                                SymbolizeT symbolize) {
  auto value = symbolize(text);
  return value ? AttrT::get(context, *value) : AttrT();
}

FailureOr<mlir::Attribute>
Exporter::convert(const Node &node, StringRef name,
                  const importer::Attribute &attribute, Location location) {
  MLIRContext *context = builder.getContext();
  if (node.op == "wok.constant" && name == "value")
    return constantValue(node, attribute, location);
  if (auto *value = std::get_if<bool>(&attribute))
    return mlir::Attribute(builder.getBoolAttr(*value));
  if (auto *value = std::get_if<int64_t>(&attribute))
    return mlir::Attribute(builder.getI64IntegerAttr(*value));
  if (auto *value = std::get_if<double>(&attribute))
    return mlir::Attribute(builder.getF64FloatAttr(*value));
  if (auto *value = std::get_if<DType>(&attribute))
    return mlir::Attribute(TypeAttr::get(toMLIR(*value, context)));
  if (auto *list = std::get_if<std::vector<int64_t>>(&attribute)) {
    SmallVector<int64_t> entries;
    for (int64_t value : *list)
      entries.push_back(value == runtime::dynamicExtent ? ShapedType::kDynamic
                                                        : value);
    return mlir::Attribute(builder.getDenseI64ArrayAttr(entries));
  }
  const std::string &text = std::get<std::string>(attribute);
  mlir::Attribute result;
  if (name == "predicate")
    result = enumAttr<ComparePredicateAttr>(context, text, [](StringRef s) {
      return symbolizeComparePredicate(s);
    });
  else if (name == "kind" && node.op == "wok.reduce")
    result = enumAttr<ReduceKindAttr>(
        context, text, [](StringRef s) { return symbolizeReduceKind(s); });
  else if (name == "kind" && node.op == "wok.arg_reduce")
    result = enumAttr<ArgReduceKindAttr>(
        context, text, [](StringRef s) { return symbolizeArgReduceKind(s); });
  else
    result = builder.getStringAttr(text);
  if (!result)
    return emitError(location)
           << "'" << text << "' is no " << name << " of " << node.op;
  return result;
}

LogicalResult Exporter::createNode(ValueId id, const Node &node) {
  Location location = convertLocation(node.location);
  OperationState state(location, node.op);
  if (!state.name.isRegistered())
    return emitError(location) << "unknown operation '" << node.op << "'";
  for (ValueId operand : node.operands) {
    if (operand >= id)
      return emitError(location) << node.op << " reads a later value";
    state.addOperands(values[operand]);
  }
  for (ExtentId extent : node.extentOperands)
    state.addOperands(materialize(extent));
  for (const auto &[name, attribute] : node.attributes) {
    // A flag is present or not.
    if (const bool *flag = std::get_if<bool>(&attribute);
        flag && node.op != "wok.constant") {
      if (*flag)
        state.addAttribute(name, builder.getUnitAttr());
      continue;
    }
    FailureOr<mlir::Attribute> converted =
        convert(node, name, attribute, location);
    if (failed(converted))
      return failure();
    state.addAttribute(name, *converted);
  }
  state.addTypes(convert(node.type));
  values.push_back(builder.create(state)->getResult(0));
  return success();
}

OwningOpRef<ModuleOp> Exporter::run(StringRef name) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());

  SmallVector<Type> inputs, results;
  SmallVector<bool> strided;
  for (const Node &node : graph.allNodes()) {
    if (node.op != "input")
      continue;
    inputs.push_back(convert(node.type));
    strided.push_back(node.strided);
  }
  for (ValueId output : graph.outputs) {
    if (output >= graph.allNodes().size()) {
      emitError(builder.getUnknownLoc()) << "an output that is no value";
      return nullptr;
    }
    results.push_back(convert(graph.type(output)));
  }

  auto subgraph = SubgraphOp::create(builder, builder.getUnknownLoc(), name,
                                     builder.getFunctionType(inputs, results));
  for (auto [index, isStrided] : llvm::enumerate(strided))
    if (isStrided)
      subgraph.setArgAttr(index, SubgraphOp::getStridedAttrName(),
                          builder.getUnitAttr());
  builder.setInsertionPointToEnd(&subgraph.getBody().front());

  unsigned input = 0;
  for (auto [id, node] : llvm::enumerate(graph.allNodes())) {
    if (node.op == "input")
      values.push_back(subgraph.getBody().getArgument(input++));
    else if (failed(createNode(id, node)))
      return nullptr;
  }
  SmallVector<Value> outputs;
  for (ValueId output : graph.outputs)
    outputs.push_back(values[output]);
  ReturnOp::create(builder, builder.getUnknownLoc(), outputs);

  if (failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> wok::exportGraph(const Graph &graph, StringRef name,
                                       MLIRContext &context) {
  context.loadDialect<WokDialect, arith::ArithDialect>();
  return Exporter(graph, context).run(name);
}
