//===- WokElementwise.td - Elementwise operations ----------*- tablegen -*-===//

#ifndef WOK_IR_WOKELEMENTWISE_TD
#define WOK_IR_WOKELEMENTWISE_TD

include "wok/IR/WokBase.td"
include "wok/IR/WokInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Wok_ElementwiseOp<string mnemonic, list<string> methods, list<Trait> traits> :
    Wok_Op<mnemonic, !listconcat([
      Pure, Wok_Fusable, DeclareOpInterfaceMethods<ElementwiseOpInterface, methods>], traits)>;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Wok_UnaryOp<string mnemonic, Type tensor, string element, string what, string numbers> :
    Wok_ElementwiseOp<mnemonic, ["buildScalar"], [AllTypesMatch<["operand", "result"]>]> {
  let summary = what;
  let description = "\n    " # numbers # [{

    Constraints:
    - (C1) The operand is a }] # tensor.summary # [{.
    - (C2) Operand and result have the same type.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<4x?x}] # element # ">) -> tensor<4x?x" # element # [{> {
      %y = wok.}] # mnemonic # " %x : tensor<4x?x" # element # [{>
      wok.return %y : tensor<4x?x}] # element # [{>
    }
    ```
  }];
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Wok_FloatUnaryOp<string mnemonic, string what, string numbers> :
    Wok_UnaryOp<mnemonic, Wok_FloatTensor, "f32", what, numbers>;

def Wok_NegOp : Wok_UnaryOp<"neg", Wok_NumberTensor, "f32", "Negation",
    "Flips the sign, of zeros and NaNs too. Integers wrap."> { let hasFolder = 1; }
def Wok_AbsOp : Wok_UnaryOp<"abs", Wok_NumberTensor, "f32", "Absolute value",
    "Clears the sign, of zeros and NaNs too. The least signed integer stays itself."> {
  let hasFolder = 1;
}
def Wok_SignOp : Wok_UnaryOp<"sign", Wok_NumberTensor, "f32", "Sign",
    "-1, 0 or 1. Zeros of both signs and NaN give +0.">;
def Wok_NotOp : Wok_UnaryOp<"not", Wok_BitsTensor, "i1", "Complement",
    "Logical on `i1`, bitwise on integers."> { let hasFolder = 1; }

def Wok_ExpOp : Wok_FloatUnaryOp<"exp", "e to the power of x", "At most 1 ulp.">;
def Wok_Exp2Op : Wok_FloatUnaryOp<"exp2", "2 to the power of x", "At most 1 ulp.">;
def Wok_Expm1Op : Wok_FloatUnaryOp<"expm1", "exp(x) - 1 without cancellation",
    "At most 1 ulp. Keeps the sign of zero.">;
def Wok_LogOp : Wok_FloatUnaryOp<"log", "Natural logarithm",
    "At most 1 ulp. log(±0) = -inf; NaN below zero.">;
def Wok_Log2Op : Wok_FloatUnaryOp<"log2", "Logarithm to base 2", "As `wok.log`.">;
def Wok_Log10Op : Wok_FloatUnaryOp<"log10", "Logarithm to base 10", "As `wok.log`.">;
def Wok_Log1pOp : Wok_FloatUnaryOp<"log1p", "log(1 + x) without cancellation",
    "At most 1 ulp. log1p(-1) = -inf; NaN below -1. Keeps the sign of zero.">;
def Wok_SqrtOp : Wok_FloatUnaryOp<"sqrt", "Square root",
    "Correctly rounded. sqrt(-0) = -0; NaN below zero.">;
def Wok_RsqrtOp : Wok_FloatUnaryOp<"rsqrt", "Reciprocal square root",
    "1/sqrt(x), each of the two correctly rounded. rsqrt(±0) = ±inf.">;
def Wok_SinOp : Wok_FloatUnaryOp<"sin", "Sine", "At most 1 ulp, for every finite x.">;
def Wok_CosOp : Wok_FloatUnaryOp<"cos", "Cosine", "At most 1 ulp, for every finite x.">;
def Wok_TanOp : Wok_FloatUnaryOp<"tan", "Tangent", "At most 1 ulp, for every finite x.">;
def Wok_TanhOp : Wok_FloatUnaryOp<"tanh", "Hyperbolic tangent",
    "At most 1 ulp. Keeps the sign of zero.">;
def Wok_ErfOp : Wok_FloatUnaryOp<"erf", "Error function",
    "At most 1 ulp. Keeps the sign of zero.">;
def Wok_SigmoidOp : Wok_FloatUnaryOp<"sigmoid", "Logistic function",
    "1/(1 + exp(-x)), each step rounded: 0 where exp(-x) overflows.">;
def Wok_FloorOp : Wok_FloatUnaryOp<"floor", "Largest whole number not above x",
    "Exact. Keeps the sign of zero.">;
def Wok_CeilOp : Wok_FloatUnaryOp<"ceil", "Least whole number not below x",
    "Exact. Values in (-1, 0) give -0.">;
def Wok_RoundOp : Wok_FloatUnaryOp<"round", "Nearest whole number, halves to even",
    "Exact. Keeps the sign.">;
def Wok_TruncOp : Wok_FloatUnaryOp<"trunc", "Whole number towards zero",
    "Exact. Keeps the sign.">;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class Wok_BinaryOp<string mnemonic, Type tensor, string element, string what, string numbers,
                   list<Trait> traits = [], list<string> methods = ["buildScalar"]> :
    Wok_ElementwiseOp<mnemonic, methods,
                      !listconcat([AllTypesMatch<["lhs", "rhs", "result"]>], traits)> {
  let summary = what;
  let description = "\n    " # numbers # [{

    Constraints:
    - (C1) The operands are each a }] # tensor.summary # [{.
    - (C2) Operands and result have the same type.

    Example:
    ```mlir
    wok.subgraph @example(%a: tensor<4x?x}] # element # ">, %b: tensor<4x?x" # element # [{>)
        -> tensor<4x?x}] # element # [{> {
      %c = wok.}] # mnemonic # " %a, %b : tensor<4x?x" # element # [{>
      wok.return %c : tensor<4x?x}] # element # [{>
    }
    ```
  }];
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

/// Divides: integers fault on a zero divisor.
class Wok_DivisionOp<string mnemonic, string what, string numbers> :
    Wok_BinaryOp<mnemonic, Wok_NumberTensor, "f32", what, numbers # [{
    An integer divisor of zero is a fault (DivisionByZero): the result of the run is dropped.}],
    [], ["buildScalar", "canFault", "buildFault"]>;

def Wok_AddOp : Wok_BinaryOp<"add", Wok_NumberTensor, "f32", "Sum",
    "Correctly rounded; integers wrap.", [Commutative]> { let hasFolder = 1; }
def Wok_SubOp : Wok_BinaryOp<"sub", Wok_NumberTensor, "f32", "Difference",
    "Correctly rounded; integers wrap."> { let hasFolder = 1; }
def Wok_MulOp : Wok_BinaryOp<"mul", Wok_NumberTensor, "f32", "Product",
    "Correctly rounded; integers wrap.", [Commutative]> { let hasFolder = 1; }
def Wok_DivOp : Wok_DivisionOp<"div", "Quotient",
    "Floats: correctly rounded. Integers: towards zero; the least integer by -1 wraps."> {
  let hasFolder = 1;
}
def Wok_FloorDivOp : Wok_DivisionOp<"floor_div", "Quotient rounded down", [{
    With m = fmod(a, b): floats give (a - m)/b, less 1 if m is not zero and its sign is not b's;
    that is rounded to the nearest whole number, a zero has the sign of a/b, and b = 0 gives a/b.
    This is Python's algorithm; it differs from floor(a/b) where a/b rounds up to a whole number.
    Integers are rounded towards minus infinity.}]>;
def Wok_RemainderOp : Wok_DivisionOp<"remainder", "Remainder with the sign of the divisor", [{
    fmod(a, b), to which b is added if it is not zero and its sign is not b's. x mod 0 = NaN.}]>;
def Wok_FmodOp : Wok_DivisionOp<"fmod", "Remainder with the sign of the dividend",
    "Exact: a - trunc(a/b)·b without rounding. fmod(x, 0) = NaN.">;
def Wok_PowOp : Wok_BinaryOp<"pow", Wok_NumberTensor, "f32", "Power", [{
    Floats: at most 1 ulp; special values as C's `pow`. Integers: wraps; 0 to the power of 0 is 1; a
    negative exponent gives 0, but 1 for a base of 1 and ±1 for a base of -1.}]>;
def Wok_MinOp : Wok_BinaryOp<"min", Wok_NumberTensor, "f32", "Minimum",
    "Exact. NaN if either is NaN; of equal values the first.">;
def Wok_MaxOp : Wok_BinaryOp<"max", Wok_NumberTensor, "f32", "Maximum",
    "Exact. NaN if either is NaN; of equal values the first.">;
def Wok_AndOp : Wok_BinaryOp<"and", Wok_BitsTensor, "i1", "Conjunction",
    "Logical on `i1`, bitwise on integers.", [Commutative]> { let hasFolder = 1; }
def Wok_OrOp : Wok_BinaryOp<"or", Wok_BitsTensor, "i1", "Disjunction",
    "Logical on `i1`, bitwise on integers.", [Commutative]> { let hasFolder = 1; }
def Wok_XorOp : Wok_BinaryOp<"xor", Wok_BitsTensor, "i1", "Exclusive disjunction",
    "Logical on `i1`, bitwise on integers.", [Commutative]> { let hasFolder = 1; }
def Wok_ShlOp : Wok_BinaryOp<"shl", Wok_IntegerTensor, "i32", "Shift left",
    "A distance that is negative, or not below the width, gives 0.">;
def Wok_ShrOp : Wok_BinaryOp<"shr", Wok_IntegerTensor, "i32", "Shift right",
    "Arithmetic for signed integers. A distance that is negative, or not below the width, gives 0, "
    "or -1 for a negative value.">;

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def Wok_FmaOp : Wok_ElementwiseOp<"fma", ["buildScalar"],
    [AllTypesMatch<["a", "b", "c", "result"]>]> {
  let summary = "a·b + c, rounded once";
  let description = [{
    Correctly rounded. `f16` and `bf16` are rounded to `f32` and then to their type.

    Constraints:
    - (C1) The operands are ranked tensors of floats.
    - (C2) Operands and result have the same type.

    Example:
    ```mlir
    wok.subgraph @example(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
      %d = wok.fma %a, %b, %c : tensor<8xf32>
      wok.return %d : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Wok_FloatTensor:$a, Wok_FloatTensor:$b, Wok_FloatTensor:$c);
  let results = (outs Wok_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

def Wok_SelectOp : Wok_ElementwiseOp<"select", ["buildScalar"], [
    AllTypesMatch<["on_true", "on_false", "result"]>,
    TypesMatchWith<"condition is a tensor of i1 of the result's shape", "result", "condition",
                   "::wok::getI1SameShape($_self)">]> {
  let summary = "Chooses by a condition, element by element";
  let description = [{
    Exact. Both operands are computed.

    Constraints:
    - (C1) `condition` is a tensor of `i1` that has the shape of the result.
    - (C2) `on_true`, `on_false` and the result have the same type.

    Example:
    ```mlir
    wok.subgraph @example(%c: tensor<8xi1>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %d = wok.select %c, %a, %b : tensor<8xf32>
      wok.return %d : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Wok_BoolTensor:$condition, Wok_Tensor:$on_true, Wok_Tensor:$on_false);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Wok_CompareOp : Wok_ElementwiseOp<"compare", ["buildScalar"], [
    AllTypesMatch<["lhs", "rhs"]>,
    TypesMatchWith<"result is a tensor of i1 of the operands' shape", "lhs", "result",
                   "::wok::getI1SameShape($_self)">]> {
  let summary = "Comparison";
  let description = [{
    Exact. A comparison with NaN is false, but `ne` is true. Zeros of both signs are equal. On `i1`,
    false is less than true.

    Constraints:
    - (C1) The operands have the same type.
    - (C2) The result is a tensor of `i1` that has the shape of the operands.

    Example:
    ```mlir
    wok.subgraph @example(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xi1> {
      %c = wok.compare lt, %a, %b : tensor<8xf32>
      wok.return %c : tensor<8xi1>
    }
    ```
  }];
  let arguments = (ins Wok_ComparePredicateAttr:$predicate, Wok_Tensor:$lhs, Wok_Tensor:$rhs);
  let results = (outs Wok_BoolTensor:$result);
  let assemblyFormat = "`` $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Wok_IsNanOp : Wok_ElementwiseOp<"is_nan", ["buildScalar"], [
    TypesMatchWith<"result is a tensor of i1 of the operand's shape", "operand", "result",
                   "::wok::getI1SameShape($_self)">]> {
  let summary = "Whether an element is NaN";
  let description = [{
    Exact.

    Constraints:
    - (C1) The operand is a ranked tensor of floats.
    - (C2) The result is a tensor of `i1` that has the shape of the operand.

    Example:
    ```mlir
    wok.subgraph @example(%a: tensor<8xf32>) -> tensor<8xi1> {
      %c = wok.is_nan %a : tensor<8xf32>
      wok.return %c : tensor<8xi1>
    }
    ```
  }];
  let arguments = (ins Wok_FloatTensor:$operand);
  let results = (outs Wok_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Wok_CastOp : Wok_ElementwiseOp<"cast", ["buildScalar"], [SameOperandsAndResultShape]> {
  let summary = "Conversion of the element type";
  let description = [{
    - Anything to `i1`: whether it is not zero (NaN is not zero).
    - `i1` to a number: 0 or 1.
    - Integer to integer: extended by its sign (`ui8`: by zeros), or cut off.
    - Integer to float: to nearest, ties to even; by way of `f32` for `f16` and `bf16`.
    - Float to float: to nearest, ties to even; overflow is infinity; `f64` to `f16` or `bf16` goes by
      way of `f32`.
    - Float to integer: towards zero. Out of range, infinite or NaN: the least `i64` or `i32`;
      narrower integers are converted to `i32` first and then cut off.

    Constraints:
    - (C1) The operand and the result have the same shape.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8xf32>) -> tensor<8xbf16> {
      %y = wok.cast %x : tensor<8xf32> to tensor<8xbf16>
      wok.return %y : tensor<8xbf16>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand);
  let results = (outs Wok_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // WOK_IR_WOKELEMENTWISE_TD
