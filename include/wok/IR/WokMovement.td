//===- WokMovement.td - Data movement and shapes -----------*- tablegen -*-===//

#ifndef WOK_IR_WOKMOVEMENT_TD
#define WOK_IR_WOKMOVEMENT_TD

include "wok/IR/WokBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Wok_MovementOp<string mnemonic, list<Trait> traits = []> :
    Wok_Op<mnemonic, !listconcat([Pure, Wok_Fusable], traits)>;

def Wok_ReshapeOp : Wok_MovementOp<"reshape"> {
  let summary = "The same elements in the same row-major order, in another shape";
  let description = [{
    `extents` has one operand for each `?` of the result, in order. The number of elements is assumed
    to stay the same where `?` extents hide it.

    Constraints:
    - (C1) Operand and result have the same element type.
    - (C2) There are as many `extents` as the result has `?` extents.
    - (C3) Operand and result have the same number of elements, if both are static.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %n = wok.dim %y, 0 : tensor<?xf32>
      %z = wok.reshape %x extents [%n] : tensor<?x4xf32> -> tensor<?xf32>
      wok.return %z : tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, Variadic<Index>:$extents);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat =
      "$operand (`extents` ` ` `[` $extents^ `]`)? attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Wok_TransposeOp : Wok_MovementOp<"transpose", [
    InferTypeOpAdaptor]> {
  let summary = "Reorders dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Constraints:
    - (C1) `permutation` is a permutation of the operand's dimensions.
    - (C2) The result is as above.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<4x?x2xf32>) -> tensor<?x2x4xf32> {
      %y = wok.transpose %x [1, 2, 0] : tensor<4x?x2xf32> -> tensor<?x2x4xf32>
      wok.return %y : tensor<?x2x4xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat =
      "$operand $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Wok_BroadcastOp : Wok_MovementOp<"broadcast"> {
  let summary = "Repeats elements along new and unit dimensions";
  let description = [{
    Dimension i of the operand becomes dimension `dims[i]` of the result; where its extent is 1 and the
    result's is not, its elements are repeated. They are also repeated along every dimension of the
    result that is not in `dims`. `extents` has one operand for each `?` of the result, in order. A `?`
    extent of the operand is assumed to be equal to the result's, never 1 where the result's is not.

    Constraints:
    - (C1) Operand and result have the same element type.
    - (C2) There are as many `extents` as the result has `?` extents.
    - (C3) `dims` has one entry for each dimension of the operand.
    - (C4) `dims` is increasing, and each entry is a dimension of the result.
    - (C5) A static extent of the operand is 1 or the result's, if that is static too; a static extent
      that meets a `?` of the result is 1.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8xf32>, %t: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %n = wok.dim %t, 0 : tensor<?x8xf32>
      %y = wok.broadcast %x extents [%n] dims [1] : tensor<8xf32> -> tensor<?x8xf32>
      wok.return %y : tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, Variadic<Index>:$extents, DenseI64ArrayAttr:$dims);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = [{
    $operand (`extents` ` ` `[` $extents^ `]`)? `dims` $dims attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Wok_SliceOp : Wok_MovementOp<"slice"> {
  let summary = "Regularly spaced elements of each dimension";
  let description = [{
    Element j of dimension i of the result is element `offsets[i] + j * strides[i]` of the operand. A
    stride may be negative (the offset is then the last element that is read) or, with any extent of the
    operand, such that only one element is read.

    An entry of `offsets` or `sizes` that is `?` in the attribute (`ShapedType::kDynamic`) is taken from
    `dynamic`: first one operand for each such offset, then one for each such size. What is read is
    assumed to lie in the operand.

    Constraints:
    - (C1) Operand and result have the same element type and rank.
    - (C2) `offsets`, `sizes` and `strides` have one entry for each dimension.
    - (C3) There are as many operands in `dynamic` as entries that need one.
    - (C4) No stride is 0.
    - (C5) The extents of the result are `sizes`.
    - (C6) Where offset, size and extent of a dimension are static, what is read lies in the operand.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8x?xf32>) -> tensor<4x?xf32> {
      %n = wok.dim %x, 1 : tensor<8x?xf32>
      %y = wok.slice %x offsets [7, 0] sizes [4, %n] strides [-2, 1] : tensor<8x?xf32> -> tensor<4x?xf32>
      wok.return %y : tensor<4x?xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, Variadic<Index>:$dynamic, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceBounds>($dynamic, $offsets, $sizes) `strides` $strides attr-dict
    `:` type($operand) `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Wok_PadOp : Wok_MovementOp<"pad", [InferTypeOpAdaptor]> {
  let summary = "Surrounds a tensor with a value";
  let description = [{
    Dimension i of the result has `low[i]` elements `value`, the elements of the operand, and `high[i]`
    elements `value`.

    Constraints:
    - (C1) `value` has rank 0 and the operand's element type.
    - (C2) `low` and `high` have one entry for each dimension, not negative.
    - (C3) The result has the operand's element type, and extents as above.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8x?xf32>, %v: tensor<f32>) -> tensor<11x?xf32> {
      %y = wok.pad %x, %v low [1, 0] high [2, 1] : tensor<8x?xf32>, tensor<f32> -> tensor<11x?xf32>
      wok.return %y : tensor<11x?xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, Wok_ScalarTensor:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $value `low` $low `high` $high attr-dict
    `:` type($operand) `,` type($value) `->` type($result)
  }];
  let hasFolder = 1;
}

def Wok_ConcatOp : Wok_MovementOp<"concat", [InferTypeOpAdaptor]> {
  let summary = "Tensors one after the other along a dimension";
  let description = [{
    Constraints:
    - (C1) There is at least one operand.
    - (C2) The operands have the same element type and rank.
    - (C3) `dim` is a dimension of the operands.
    - (C4) In every other dimension the operands' static extents are equal.
    - (C5) The result's extent of `dim` is the sum of the operands'; its other extents are theirs.

    Example:
    ```mlir
    wok.subgraph @example(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) -> tensor<5x4xf32> {
      %c = wok.concat %a, %b dim 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
      wok.return %c : tensor<5x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Wok_Tensor>:$operands, I64Attr:$dim);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat =
      "$operands `dim` $dim attr-dict `:` type($operands) `->` type($result)";
  let hasFolder = 1;
}

def Wok_GatherOp : Wok_MovementOp<"gather", [InferTypeOpAdaptor]> {
  let summary = "Elements, rows or planes at given places of a dimension";
  let description = [{
    The shape of the result is that of the operand in which extent `dim` is replaced by the extents of
    `indices`; result[p.., i.., q..] = operand[p.., indices[i..], q..]. An index that is negative or not
    below the extent is a fault (IndexOutOfRange): the result of the run is dropped.

    Constraints:
    - (C1) `indices` is a tensor of `i32` or `i64`.
    - (C2) `dim` is a dimension of the operand.
    - (C3) The result has the operand's element type, and the shape above.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<10x4xf32>, %i: tensor<?xi64>) -> tensor<?x4xf32> {
      %y = wok.gather %x, %i dim 0 : tensor<10x4xf32>, tensor<?xi64> -> tensor<?x4xf32>
      wok.return %y : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, Wok_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $indices `dim` $dim attr-dict
    `:` type($operand) `,` type($indices) `->` type($result)
  }];
}

def Wok_IotaOp : Wok_MovementOp<"iota"> {
  let summary = "The index along a dimension";
  let description = [{
    Each element is its own index in `dim`, converted to the element type as `wok.cast` does from `i64`.
    `extents` has one operand for each `?` of the result, in order.

    Constraints:
    - (C1) The elements of the result are integers or floats.
    - (C2) There are as many `extents` as the result has `?` extents.
    - (C3) `dim` is a dimension of the result.

    Example:
    ```mlir
    wok.subgraph @example() -> tensor<2x8xi64> {
      %i = wok.iota dim 1 : tensor<2x8xi64>
      wok.return %i : tensor<2x8xi64>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, I64Attr:$dim);
  let results = (outs Wok_NumberTensor:$result);
  let assemblyFormat = "`dim` $dim (`extents` ` ` `[` $extents^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Wok_ConstantOp : Wok_MovementOp<"constant", [
    ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known when the subgraph is compiled";
  let description = [{
    Contents of the program's tensors are never constants: the program may change them without a trace.

    Constraints:
    - (C1) `value` is dense.
    - (C2) The result has the type of `value`.

    Example:
    ```mlir
    wok.subgraph @example() -> tensor<3xf32> {
      %c = wok.constant dense<[1.0, 2.0, 0x7fc00000]> : tensor<3xf32>
      wok.return %c : tensor<3xf32>
    }
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Wok_DimOp : Wok_MovementOp<"dim"> {
  let summary = "An extent of a tensor";
  let description = [{
    Constraints:
    - (C1) `dim` is a dimension of the operand.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<?xf32>, %v: tensor<f32>) -> tensor<?xf32> {
      %n = wok.dim %x, 0 : tensor<?xf32>
      %y = wok.broadcast %v extents [%n] dims [] : tensor<f32> -> tensor<?xf32>
      wok.return %y : tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand `,` $dim attr-dict `:` type($operand)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // WOK_IR_WOKMOVEMENT_TD
