//===- StructureOps.cpp - Subgraphs, fusions, arenas ----------------------===//

#include "wok/IR/Types.h"
#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace wok;

/// Whether tensors and buffers may have elements of `type`.
static bool isElement(Type type) { return fromMLIR(type).has_value(); }

//===----------------------------------------------------------------------===//
// SubgraphOp
//===----------------------------------------------------------------------===//

void SubgraphOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block &body = state.addRegion()->emplaceBlock();
  for (Type argument : type.getInputs())
    body.addArgument(argument, state.location);
}

ParseResult SubgraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void SubgraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult SubgraphOp::verify() {
  for (Type type : getArgumentTypes())
    if (!isa<RankedTensorType, MemRefType>(type) ||
        !isElement(getElementTypeOrSelf(type)) ||
        !isCountable(cast<ShapedType>(type))) // C1
      return emitOpError("arguments must be tensors or buffers, not ") << type;
  for (Type type : getResultTypes())
    if (!isa<RankedTensorType>(type) ||
        !isElement(getElementTypeOrSelf(type)) ||
        !isCountable(cast<ShapedType>(type))) // C2
      return emitOpError("results must be tensors, not ") << type;
  return success(); // C3, C4: SingleBlock and FunctionOpInterface
}

bool SubgraphOp::isStrided(unsigned index) {
  return static_cast<bool>(getArgAttr(index, getStridedAttrName()));
}

LogicalResult WokDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  // What lowering knows of a subgraph (Analysis/EntryPoint.h).
  if (attr.getName() == "wok.entry" && isa<DictionaryAttr>(attr.getValue()) &&
      isa<FunctionOpInterface>(op))
    return success();
  return op->emitOpError("may not have the attribute '")
         << attr.getName().getValue() << "'";
}

LogicalResult WokDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attr) {
  if (attr.getName() != SubgraphOp::getStridedAttrName() ||
      !isa<UnitAttr>(attr.getValue()) ||
      !isa<SubgraphOp>(op)) // C5 of SubgraphOp
    return op->emitOpError("only arguments of subgraphs, and only "
                           "'wok.strided' without a value, but "
                           "found '")
           << attr.getName().getValue() << "'";
  return success();
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FunctionOpInterface>((*this)->getParentOp());
  if (TypeRange(getOperands()) != TypeRange(function.getResultTypes())) // C1
    return emitOpError("operands must have the types of the ")
           << (isa<FrameOp>(function) ? "frame" : "subgraph") << "'s results";
  return success();
}

//===----------------------------------------------------------------------===//
// FusionOp
//===----------------------------------------------------------------------===//

YieldOp FusionOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// What a value of `type` is in the body of a fusion.
static Type typeInBody(Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  return type;
}

static bool equalInBody(TypeRange outside, TypeRange inside) {
  return outside.size() == inside.size() &&
         llvm::all_of(llvm::zip(outside, inside), [](auto pair) {
           return typeInBody(std::get<0>(pair)) == std::get<1>(pair);
         });
}

/// Extents are computed by `arith` on `index`.
static bool isExtentArithmetic(Operation &op) {
  return isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         op.getResult(0).getType().isIndex();
}

LogicalResult FusionOp::verifyRegions() {
  Block &block = getBody().front();
  if (!equalInBody(getInputs().getTypes(), block.getArgumentTypes())) // C2
    return emitOpError("body arguments must have the types of the inputs");
  for (Operation &op : block.without_terminator())
    if (!op.hasTrait<Fusable>() && !isExtentArithmetic(op)) // C3
      return emitOpError("body may not hold '") << op.getName() << "'";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError("body must end with 'wok.yield'");
  bool hasBuffers = llvm::any_of(getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (hasBuffers != getResults().empty()) // C5
    return emitOpError(
        "must have either results and no buffers, or buffers and no results");
  TypeRange expected =
      isPlanned() ? TypeRange(getOutputs()) : TypeRange(getResults());
  if (!equalInBody(expected, yield.getOperandTypes())) // C4
    return emitOpError("must yield the types of its ")
           << (isPlanned() ? "outputs" : "results");
  return success();
}

/// Reads each operand of `inputs` that is a buffer, and writes each of
/// `outputs`.
static void bufferEffects(
    MutableOperandRange inputs, MutableOperandRange outputs,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : inputs)
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &output : outputs)
    effects.emplace_back(MemoryEffects::Write::get(), &output);
}

void FusionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  bufferEffects(getInputsMutable(), getOutputsMutable(), effects);
}

//===----------------------------------------------------------------------===//
// CallLibraryOp, ArenaOp, ArenaOffsetOp
//===----------------------------------------------------------------------===//

LogicalResult CallLibraryOp::verify() {
  if (getOutputs().empty()) // C1
    return emitOpError("must have an output");
  return success();
}

void CallLibraryOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  bufferEffects(getInputsMutable(), getOutputsMutable(), effects);
}

LogicalResult ArenaOp::verify() {
  if (!getType().getLayout().isIdentity()) // C1
    return emitOpError("must be contiguous");
  return success();
}

LogicalResult ArenaOffsetOp::verify() {
  if (static_cast<int64_t>(getTransient()) < 0) // C1
    return emitOpError("transient must not be negative");
  return success();
}
