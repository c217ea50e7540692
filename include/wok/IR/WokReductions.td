//===- WokReductions.td - Reductions and contractions ------*- tablegen -*-===//

#ifndef WOK_IR_WOKREDUCTIONS_TD
#define WOK_IR_WOKREDUCTIONS_TD

include "wok/IR/WokBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Wok_ReduceOp : Wok_Op<"reduce", [
    Pure, Wok_Fusable, InferTypeOpAdaptor]> {
  let summary = "Combines all elements along some dimensions";
  let description = [{
    The result has the dimensions of the operand that are not in `dims`, in their order. Nothing
    reduced gives 0 for `sum`, 1 for `prod`, false for `any`, true for `all`, and the greatest or
    least value of the type for `min` and `max`.

    `sum` and `prod` of `f16` and `bf16` accumulate in `f32` and round once. Sums of floats are
    made of short sequential sums that are combined pairwise, in an order that depends on the
    extents alone: the same bits on any number of threads. `min` and `max` are exact; NaN wins.
    Integers wrap.

    Constraints:
    - (C1) `dims` is increasing.
    - (C2) Each of `dims` is a dimension of the operand.
    - (C3) `any` and `all` reduce `i1`; the other kinds reduce integers or floats.
    - (C4) The result has the operand's element type and its extents without `dims`.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<4x?xf32>) -> tensor<4xf32> {
      %s = wok.reduce sum %x dims [1] : tensor<4x?xf32> -> tensor<4xf32>
      wok.return %s : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Wok_ReduceKindAttr:$kind, Wok_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat =
      "`` $kind $operand `dims` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Wok_ArgReduceOp : Wok_Op<"arg_reduce", [
    Pure, Wok_Fusable, InferTypeOpAdaptor]> {
  let summary = "Place of the least or greatest element along a dimension";
  let description = [{
    Exact. The first NaN wins; of equal elements the first. Along an extent of 0 the result is 0.

    Constraints:
    - (C1) `dim` is a dimension of the operand.
    - (C2) The operand's elements are integers or floats.
    - (C3) The result is a tensor of `i64` that has the operand's extents without `dim`.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<4x?xf32>) -> tensor<4xi64> {
      %i = wok.arg_reduce max %x dim 1 : tensor<4x?xf32> -> tensor<4xi64>
      wok.return %i : tensor<4xi64>
    }
    ```
  }];
  let arguments = (ins Wok_ArgReduceKindAttr:$kind, Wok_NumberTensor:$operand, I64Attr:$dim);
  let results = (outs Wok_I64Tensor:$result);
  let assemblyFormat =
      "`` $kind $operand `dim` $dim attr-dict `:` type($operand) `->` type($result)";
}

def Wok_ContractOp : Wok_Op<"contract", [Pure, InferTypeOpAdaptor]> {
  let summary = "Matrix product";
  let description = [{
    The product of the matrices in the last two dimensions, for each index of the leading, equal
    batch dimensions: `lhs` is [B.., M, K], or [B.., K, M] with `transpose_lhs`; `rhs` is
    [B.., K, N], or [B.., N, K] with `transpose_rhs`; the result is [B.., M, N].

    `f16` and `bf16` accumulate in `f32` and round once. The order of the sum is the library's, as
    in eager execution. Integers wrap.

    Constraints:
    - (C1) The operands' elements are integers or floats of one type.
    - (C2) The operands have one rank, of at least 2.
    - (C3) The batch extents are equal.
    - (C4) The extents of K are equal.
    - (C5) The result is as above.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<?x64xf32>, %w: tensor<32x64xf32>) -> tensor<?x32xf32> {
      %y = wok.contract %x, %w {transpose_rhs} : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
      wok.return %y : tensor<?x32xf32>
    }
    ```
  }];
  let arguments = (ins Wok_NumberTensor:$lhs, Wok_NumberTensor:$rhs, UnitAttr:$transpose_lhs,
                       UnitAttr:$transpose_rhs);
  let results = (outs Wok_NumberTensor:$result);
  let hasCanonicalizer = 1;
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

#endif // WOK_IR_WOKREDUCTIONS_TD
