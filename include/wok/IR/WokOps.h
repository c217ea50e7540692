//===- WokOps.h - The wok dialect and its operations ------------*- C++ -*-===//

#ifndef WOK_IR_WOKOPS_H
#define WOK_IR_WOKOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "wok/IR/WokDialect.h.inc"
#include "wok/IR/WokEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "wok/IR/WokAttributes.h.inc"

#include "wok/IR/WokInterfaces.h.inc"

namespace wok {

/// An operation that may stand in the body of a `wok.fusion`.
template <typename ConcreteOp>
class Fusable : public mlir::OpTrait::TraitBase<ConcreteOp, Fusable> {};

/// Whether the bytes of a tensor or buffer of this type can be counted in a
/// signed integer of 64 bits, as far as its extents are static.
bool isCountable(mlir::ShapedType type);

/// The tensor type of `i1` with the shape of the ranked tensor type `type`.
mlir::Type getI1SameShape(mlir::Type type);

} // namespace wok

#define GET_OP_CLASSES
#include "wok/IR/WokOps.h.inc"

namespace wok {

/// The value that all elements of `tensor` are known to have (an `IntegerAttr`
/// or a `FloatAttr`), or null. Sees constants, also where they are broadcast.
mlir::TypedAttr getSplat(mlir::Value tensor);

/// Whether a run can fault because of `op`: it gathers at indices, or divides
/// integers by numbers, that are not known to be good.
bool canFault(mlir::Operation *op);

} // namespace wok

#endif // WOK_IR_WOKOPS_H
