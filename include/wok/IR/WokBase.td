//===- WokBase.td - Dialect, element types, base classes ---*- tablegen -*-===//

#ifndef WOK_IR_WOKBASE_TD
#define WOK_IR_WOKBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Wok_Dialect : Dialect {
  let name = "wok";
  let summary = "Tensor computations captured from a running program";
  let description = [{
    The `wok` dialect works on ranked tensors with static or `?` extents. It has three groups of
    operations: computation (elementwise, reductions, contractions, data movement), structure
    (`wok.subgraph`, `wok.fusion`, `wok.arena`) and the frame (programs with breaks).

    Element types are `i1`, `i8`, `ui8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32` and `f64`. `i1`
    is a truth value; the other signless integers are signed. There is no implicit broadcasting and
    no implicit promotion: `wok.broadcast` and `wok.cast` write both out.

    Numbers are strict. Each operation rounds once, to its result type; `f16` and `bf16` are
    computed in `f32` and rounded once. No operation is contracted with, or reassociated across,
    another. Integers wrap. NaN, infinities, the sign of zero and denormals are as IEEE 754 has
    them. Where an operation says "at most 1 ulp", that holds for `f32`.

    Where two operands must have equal types and an extent of both is `?`, the operation assumes
    that these extents are equal at run time.
  }];
  let cppNamespace = "::wok";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Element types and tensors
//===----------------------------------------------------------------------===//

defvar wokFloats = [F16, BF16, F32, F64];
defvar wokIntegers = [I8, UI8, I16, I32, I64];
defvar wokElements = !listconcat([I1], wokIntegers, wokFloats);

def Wok_NoEncoding : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">;

/// Elements are counted, and offsets of bytes computed, in 64 bits.
def Wok_Countable : CPred<"::wok::isCountable(::llvm::cast<::mlir::ShapedType>($_self))">;

class Wok_TensorOf<list<Type> elements, string elementSummary> :
    RankedTensorOf<elements, [Wok_NoEncoding, Wok_Countable]> {
  let summary = "ranked tensor of " # elementSummary # ", not more than 64 bits can count";
}

def Wok_Tensor : Wok_TensorOf<wokElements, "elements that wok computes with">;
def Wok_FloatTensor : Wok_TensorOf<wokFloats, "floats">;
def Wok_NumberTensor : Wok_TensorOf<!listconcat(wokIntegers, wokFloats), "integers or floats">;
def Wok_IntegerTensor : Wok_TensorOf<wokIntegers, "integers">;
def Wok_BitsTensor : Wok_TensorOf<!listconcat([I1], wokIntegers), "i1 or integers">;
def Wok_BoolTensor : Wok_TensorOf<[I1], "i1">;
def Wok_I64Tensor : Wok_TensorOf<[I64], "i64">;
def Wok_IndexTensor : Wok_TensorOf<[I32, I64], "i32 or i64">;

def Wok_IsScalar : CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 0">;
def Wok_ScalarTensor :
    RankedTensorOf<wokElements, [Wok_NoEncoding, Wok_IsScalar]> {
  let summary = "tensor of rank 0";
}

/// A buffer: what a tensor becomes in the phase `plan`.
def Wok_MemRef : MemRefOf<wokElements>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Wok_Enum<string name, string summary, list<I32EnumAttrCase> cases> :
    I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::wok";
  let genSpecializedAttr = 0;
}

// Prints a space before its value: formats of operations put `` before it.
class Wok_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Wok_Dialect, info, mnemonic>;

def Wok_ReduceKind : Wok_Enum<"ReduceKind", "how a reduction combines elements", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"Any", 4, "any">, I32EnumAttrCase<"All", 5, "all">]>;
def Wok_ReduceKindAttr : Wok_EnumAttr<Wok_ReduceKind, "reduce_kind">;

def Wok_ArgReduceKind : Wok_Enum<"ArgReduceKind", "which element's place is wanted", [
  I32EnumAttrCase<"Min", 0, "min">, I32EnumAttrCase<"Max", 1, "max">]>;
def Wok_ArgReduceKindAttr : Wok_EnumAttr<Wok_ArgReduceKind, "arg_reduce_kind">;

def Wok_ComparePredicate : Wok_Enum<"ComparePredicate", "a comparison", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">, I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def Wok_ComparePredicateAttr : Wok_EnumAttr<Wok_ComparePredicate, "compare_predicate">;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Wok_Op<string mnemonic, list<Trait> traits = []> : Op<Wok_Dialect, mnemonic, traits>;

/// May stand in the body of a `wok.fusion`.
def Wok_Fusable : NativeOpTrait<"Fusable"> { let cppNamespace = "::wok"; }

#endif // WOK_IR_WOKBASE_TD
