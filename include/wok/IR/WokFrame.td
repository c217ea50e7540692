//===- WokFrame.td - Programs with breaks ------------------*- tablegen -*-===//

#ifndef WOK_IR_WOKFRAME_TD
#define WOK_IR_WOKFRAME_TD

include "wok/IR/WokBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Wok_FrameOp : Wok_Op<"frame", [
    FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "A program with breaks";
  let description = [{
    What an interpreter runs, as text: straight tensor computation, and breaks that only the
    interpreter can execute. The host of `wok-run` captures the computation between breaks into
    subgraphs while it runs the frame; the pass `wok-split-at-breaks` does so beforehand.

    A frame that is `external` is only ever interpreted: no subgraph is captured in it.

    Constraints:
    - (C1) Arguments and results are tensors of elements that wok computes with.
    - (C2) It has a body: a frame is never only declared.
    - (C3) The body holds computation of `wok` on tensors, `arith` on `index`, and `wok.run`,
      `wok.guard`, `wok.break`.

    Example:
    ```mlir
    wok.frame @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = wok.exp %x : tensor<4xf32>
      wok.break "print" by "print"(%0) : (tensor<4xf32>) -> ()
      %1 = wok.neg %0 : tensor<4xf32>
      wok.return %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       UnitAttr:$external,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Wok_BreakOp : Wok_Op<"break", [
    ParentOneOf<["FrameOp", "BreakOp"]>]> {
  let summary = "What is left to the interpreter";
  let description = [{
    Ends the subgraph before it. `reason` says why, for people; `handler` names the function of the
    host that executes it, on the values of `inputs`. What else the handler wants to know stands in
    `config`. The host of `wok-run` has the handlers

    - `print`: prints its inputs;
    - `append`: appends its input to the list `config {list = "name"}`, which lives outside the frame;
    - `branch`: executes the first of two arms if its input is true, else the second;
    - `call`: calls `config {callee = @name}`, a function that the host knows or an external frame.

    An arm is executed by the interpreter as a part of the break; it sees the values of the frame. What
    follows a branch is captured under a guard on the arm that was taken.

    Constraints:
    - (C1) `reason` and `handler` are not empty.
    - (C2) There are no arms, or two; then the only input is a truth value of rank 0, which chooses.
    - (C3) Each arm is a block without arguments that yields the types of `results`.

    Example:
    ```mlir
    wok.frame @f(%flag: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
      %0 = wok.break "branch on data" by "branch"(%flag) : (tensor<i1>) -> tensor<f32> {
        %1 = wok.add %x, %x : tensor<f32>
        wok.yield %1 : tensor<f32>
      }, {
        wok.yield %x : tensor<f32>
      }
      wok.return %0 : tensor<f32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$reason, StrAttr:$handler, Variadic<Wok_Tensor>:$inputs,
                       OptionalAttr<DictionaryAttr>:$config);
  let results = (outs Variadic<Wok_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$arms);
  let assemblyFormat = [{
    $reason `by` $handler `(` $inputs `)` (`config` $config^)? attr-dict
    `:` functional-type($inputs, $results) $arms
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it chooses between two arms.
    bool isBranch() { return !getArms().empty(); }
  }];
}

def Wok_GuardOp : Wok_Op<"guard", [AllTypesMatch<["input", "value"]>, HasParent<"FrameOp">]> {
  let summary = "An assumption under which the subgraphs that follow were captured";
  let description = [{
    Where `input` is not `value`, the subgraphs between here and the next break may not be run: the
    host executes their operations itself, or captures anew.

    Floats are compared as bits: `-0.0` is not `0.0`, and a NaN is itself.

    Constraints:
    - (C1) `input` is a tensor of rank 0.
    - (C2) `value` is a constant of its type.

    Example:
    ```mlir
    wok.frame @f(%flag: tensor<i1>) -> tensor<i1> {
      wok.guard %flag is dense<true> : tensor<i1>
      wok.return %flag : tensor<i1>
    }
    ```
  }];
  let arguments = (ins Wok_ScalarTensor:$input, ElementsAttr:$value);
  let assemblyFormat = "$input `is` $value attr-dict";
}

def Wok_RunOp : Wok_Op<"run", [
    HasParent<"FrameOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a subgraph";
  let description = [{
    Constraints:
    - (C1) `callee` is a `wok.subgraph` on tensors.
    - (C2) `inputs` and results have the types of its signature.

    Example:
    ```mlir
    wok.subgraph @double(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = wok.add %x, %x : tensor<4xf32>
      wok.return %0 : tensor<4xf32>
    }
    wok.frame @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = wok.run @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
      wok.return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Wok_Tensor>:$inputs);
  let results = (outs Variadic<Wok_Tensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif // WOK_IR_WOKFRAME_TD
