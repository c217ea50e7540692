//===- WokInterfaces.td - Interfaces of operations ---------*- tablegen -*-===//

#ifndef WOK_IR_WOKINTERFACES_TD
#define WOK_IR_WOKINTERFACES_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let description = [{
    Each element of the one result depends on the elements of the operands at the same place, and
    on nothing else. All operands and the result have the same shape.

    Scalar values have the *compute type* of a tensor's element type (`computeType` in `Types.h`):
    `f32` for `f16` and `bf16`, signless `i8` for `ui8`, itself for every other type.
  }];
  let cppNamespace = "::wok";
  let methods = [
    InterfaceMethod<[{
        Builds the operation on one element, or on a 1-D vector of elements: each of `operands` is
        a scalar or a vector of the operand's compute type, all of one length. The result has
        `resultElementType` (the compute type of the result) as its element type, and is not yet
        rounded to `f16` or `bf16`: `buildRound` in `Scalar.h` does that. Uses `arith` and `math`
        only, and never traps or yields poison.
      }],
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands, "::mlir::Type":$resultElementType)>,
    InterfaceMethod<[{
        Whether an element can fault: an integer division or remainder by zero.
      }],
      "bool", "canFault", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Builds the condition (`i1`, or a vector of `i1`) under which the operation faults with
        `DivisionByZero` on `operands`, which are as for `buildScalar`. Only if `canFault()`.
      }],
      "::mlir::Value", "buildFault",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands), "", [{ return {}; }]>,
  ];
}

#endif // WOK_IR_WOKINTERFACES_TD
