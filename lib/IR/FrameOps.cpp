//===- FrameOps.cpp - Programs with breaks --------------------------------===//

#include "wok/IR/Types.h"
#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace wok;

//===----------------------------------------------------------------------===//
// FrameOp
//===----------------------------------------------------------------------===//

ParseResult FrameOp::parse(OpAsmParser &parser, OperationState &result) {
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

void FrameOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult FrameOp::verify() {
  auto isTensor = [](Type type) {
    return isa<RankedTensorType>(type) &&
           fromMLIR(getElementTypeOrSelf(type)).has_value() &&
           isCountable(cast<ShapedType>(type));
  };
  for (Type type : getArgumentTypes())
    if (!isTensor(type)) // C1
      return emitOpError("arguments must be tensors, not ") << type;
  for (Type type : getResultTypes())
    if (!isTensor(type)) // C1
      return emitOpError("results must be tensors, not ") << type;
  return success(); // C2: SizedRegion
}

/// What may stand between breaks.
static bool isComputation(Operation &op) {
  bool onlyValues = llvm::all_of(op.getResultTypes(), [](Type type) {
    return isa<RankedTensorType, IndexType>(type);
  });
  return op.getNumRegions() == 0 && op.getNumResults() > 0 && onlyValues &&
         isPure(&op) && isa<WokDialect, arith::ArithDialect>(op.getDialect());
}

LogicalResult FrameOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || isComputation(*op) ||
        isa<BreakOp, GuardOp, RunOp>(op))
      return WalkResult::advance();
    emitOpError("body may not hold '") << op->getName() << "'"; // C3
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (!isa<ReturnOp>(getBody().front().getTerminator()))
    return emitOpError("body must end with 'wok.return'");
  return success();
}

//===----------------------------------------------------------------------===//
// BreakOp
//===----------------------------------------------------------------------===//

LogicalResult BreakOp::verify() {
  if (getReason().empty() || getHandler().empty()) // C1
    return emitOpError("needs a reason and a handler");
  if (!isBranch())
    return success();
  auto isTruthValue = [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getRank() == 0 && tensor.getElementType().isInteger(1);
  };
  if (getArms().size() != 2) // C2
    return emitOpError("has two arms or none, not ") << getArms().size();
  if (getInputs().size() != 1 ||
      !isTruthValue(getInputs().front().getType())) // C2
    return emitOpError("with arms has one input, of type tensor<i1>");
  return success();
}

LogicalResult BreakOp::verifyRegions() {
  for (Region &arm : getArms()) {
    auto yield = dyn_cast<YieldOp>(arm.front().getTerminator());
    if (arm.front().getNumArguments() != 0 || !yield ||
        yield.getOperandTypes() != getResultTypes()) // C3
      return emitOpError(
          "arms have no arguments and yield the types of the results");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RunOp
//===----------------------------------------------------------------------===//

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee =
      symbols.lookupNearestSymbolFrom<SubgraphOp>(*this, getCalleeAttr());
  if (!callee) // C1
    return emitOpError("needs a subgraph ") << getCalleeAttr();
  if (TypeRange(getInputs()) != TypeRange(callee.getArgumentTypes()) ||
      TypeRange(getResults()) != TypeRange(callee.getResultTypes())) // C2
    return emitOpError("does not have the signature of ") << getCalleeAttr();
  return success();
}
