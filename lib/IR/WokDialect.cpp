//===- WokDialect.cpp - The wok dialect -----------------------------------===//

#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wok;

#include "wok/IR/WokDialect.cpp.inc"
#include "wok/IR/WokEnums.cpp.inc"
#include "wok/IR/WokInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "wok/IR/WokAttributes.cpp.inc"

Type wok::getI1SameShape(Type type) {
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 1));
}

void WokDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "wok/IR/WokAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "wok/IR/WokOps.cpp.inc"
      >();
}

Operation *WokDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  if (type.isIndex())
    return arith::ConstantOp::materialize(builder, value, type, loc);
  if (auto elements = dyn_cast<DenseElementsAttr>(value))
    if (elements.getType() == type)
      return ConstantOp::create(builder, loc, elements);
  return nullptr;
}
