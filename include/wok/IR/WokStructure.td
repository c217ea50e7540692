//===- WokStructure.td - Subgraphs, fusions, arenas --------*- tablegen -*-===//

#ifndef WOK_IR_WOKSTRUCTURE_TD
#define WOK_IR_WOKSTRUCTURE_TD

include "wok/IR/WokBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Wok_SubgraphOp : Wok_Op<"subgraph", [
    AffineScope, AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "A piece of tensor computation that becomes native code";
  let description = [{
    A pure function on tensors. From the phase `plan` on it works on buffers: inputs come first among
    the arguments, then outputs, which it fills, and it has no results.

    An input is dense and row-major, unless its argument carries the unit attribute `wok.strided`: then
    its strides are read at run time. Results are dense and row-major.

    Constraints:
    - (C1) Arguments are tensors or buffers of elements that wok computes with.
    - (C2) Results are tensors of elements that wok computes with.
    - (C3) It has a body: a subgraph is never only declared.
    - (C4) The arguments of the body have the types of the signature.
    - (C5) `wok.strided` is a unit attribute of an argument of a subgraph.

    Example:
    ```mlir
    wok.subgraph @scale(%x: tensor<?x8xf32> {wok.strided}, %s: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = wok.mul %x, %s : tensor<?x8xf32>
      wok.return %y : tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// Whether the strides of argument `index` are read at run time.
    bool isStrided(unsigned index);
    static ::llvm::StringRef getStridedAttrName() { return "wok.strided"; }

    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Wok_ReturnOp : Wok_Op<"return", [
    Pure, ParentOneOf<["SubgraphOp", "FrameOp"]>, ReturnLike, Terminator]> {
  let summary = "Ends a subgraph or a frame";
  let description = [{
    Constraints:
    - (C1) The operands have the types of the results of the subgraph or frame.

    Example:
    ```mlir
    wok.subgraph @identity(%x: tensor<8xf32>) -> tensor<8xf32> {
      wok.return %x : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Wok_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

def Wok_DemandOp : Wok_Op<"demand", [HasParent<"SubgraphOp">, MemoryEffects<[MemWrite]>]> {
  let summary = "Has a tensor computed for its faults";
  let description = [{
    Every element of the operand is computed, and a run faults if one of them does, whether anything
    else reads it or not: a division of integers by zero is an error of the program also where the
    quotient is not used.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<4xi32> {
      %q = wok.floor_div %x, %y : tensor<8xi32>
      wok.demand %q : tensor<8xi32>
      %s = wok.slice %q offsets [0] sizes [4] strides [1] : tensor<8xi32> -> tensor<4xi32>
      wok.return %s : tensor<4xi32>
    }
    ```
  }];
  let arguments = (ins Wok_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Wok_FusionOp : Wok_Op<"fusion", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    IsolatedFromAbove, RecursivelySpeculatable,
    SingleBlock]> {
  let summary = "Operations compiled as one kernel";
  let description = [{
    Computes its results from `inputs`; no value defined in `body` has a buffer. Fusion decides what
    becomes one kernel; it does not decide tiling, vector width or placement.

    One walk over one *space* of elements must compute all of it (`getFusionWalk` finds it, or refuses):

    - Without reductions the space has the shape of the results, which all have the same shape.
    - Otherwise every `wok.reduce` and `wok.arg_reduce` reduces the same dimensions of an operand of the
      same shape, the space. A result has the shape of the space or that of its kept dimensions, where
      extents of 1 do not count.
    - A value that depends on no reduction may be read at any place: sliced, transposed, broadcast,
      padded, joined, gathered. One that does is read at its own place only: elementwise, reduced, with
      unit dimensions more or less, or broadcast back along the dimensions that were reduced.
    - If all dimensions are reduced, nothing that depends on a reduction has the shape of the space.

    Until the phase `plan` a fusion yields tensors and has no `outputs`. From then on `inputs` are
    buffers, it has no results, and what it yields is written to `outputs`. The body is the same in
    both forms: a buffer among `inputs` is a tensor of its shape in the body. No output may share
    memory with an input, unless every element of the output is computed from the element at the same
    place of that input and from no other of it.

    Constraints:
    - (C1) `inputs` are tensors, or buffers, or `index` values.
    - (C2) The arguments of `body` have the types of `inputs`, tensors in place of buffers.
    - (C3) Every operation of `body` but the terminator may be fused, or is an operation of `arith` on
      `index`.
    - (C4) The terminator yields the types of the results, or tensors in place of the buffers `outputs`.
    - (C5) It has either results and no buffers, or buffers and no results.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %y = wok.fusion(%x, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%x0: tensor<8xf32>, %b0: tensor<8xf32>):
        %s = wok.add %x0, %b0 : tensor<8xf32>
        wok.yield %s : tensor<8xf32>
      }
      wok.return %y : tensor<8xf32>
    }

    wok.subgraph @planned(%x: memref<8xf32>, %out: memref<8xf32>) {
      wok.fusion(%x) outs(%out : memref<8xf32>) : (memref<8xf32>) -> () {
      ^bb0(%x0: tensor<8xf32>):
        %s = wok.neg %x0 : tensor<8xf32>
        wok.yield %s : tensor<8xf32>
      }
      wok.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Wok_Tensor, Wok_MemRef, Index]>>:$inputs,
                       Variadic<Wok_MemRef>:$outputs);
  let results = (outs Variadic<Wok_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` (`outs` `(` $outputs^ `:` type($outputs) `)`)? attr-dict
    `:` functional-type($inputs, $results) $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
    /// Whether it works on buffers: the form from the phase `plan` on.
    bool isPlanned() { return !getOutputs().empty(); }
  }];
}

def Wok_YieldOp : Wok_Op<"yield", [
    Pure, ParentOneOf<["FusionOp", "BreakOp"]>, ReturnLike, Terminator]> {
  let summary = "Ends the body of a fusion or an arm of a break";
  let description = [{
    Constraints: those of `wok.fusion` and `wok.break`.

    Example:
    ```mlir
    wok.subgraph @example(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = wok.fusion(%x) : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%x0: tensor<8xf32>):
        %s = wok.exp %x0 : tensor<8xf32>
        wok.yield %s : tensor<8xf32>
      }
      wok.return %y : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Wok_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Wok_CallLibraryOp : Wok_Op<"call_library", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls a library on buffers";
  let description = [{
    What `wok.contract` becomes in the phase `plan`. Reads `inputs`, fills `outputs`. `callee` is a
    function of the runtime's table of library functions, which says what `config` holds; `wok_contract`
    takes the unit attributes `transpose_lhs` and `transpose_rhs`.

    Constraints:
    - (C1) It has at least one output.

    Example:
    ```mlir
    wok.subgraph @example(%a: memref<4x8xf32>, %b: memref<2x8xf32>, %c: memref<4x2xf32>) {
      wok.call_library @wok_contract(%a, %b : memref<4x8xf32>, memref<2x8xf32>)
        outs(%c : memref<4x2xf32>) config {transpose_rhs}
      wok.return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Wok_MemRef>:$inputs,
                       Variadic<Wok_MemRef>:$outputs, OptionalAttr<DictionaryAttr>:$config);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $outputs `:` type($outputs) `)`
    (`config` $config^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Wok_ArenaOp : Wok_Op<"arena", [HasParent<"SubgraphOp">, MemoryEffects<[MemAlloc]>]> {
  let summary = "The scratch memory of a run";
  let description = [{
    The runtime provides it; it lives as long as one run of the subgraph and is aligned to 64 bytes. A
    transient buffer is a `memref.view` of it. Its size is `?` where the sizes of transients depend on
    symbolic extents: the runtime then lays it out once per shape.

    Constraints:
    - (C1) The result is a 1-D buffer of bytes, contiguous.

    Example:
    ```mlir
    wok.subgraph @example() {
      %arena = wok.arena : memref<4096xi8>
      wok.return
    }
    ```
  }];
  let results = (outs MemRefRankOf<[I8], [1]>:$arena);
  let assemblyFormat = "attr-dict `:` type($arena)";
  let hasVerifier = 1;
}

def Wok_ArenaOffsetOp : Wok_Op<"arena_offset", [Pure]> {
  let summary = "The place of a transient in an arena of symbolic size";
  let description = [{
    The offset in bytes of transient number `transient`, which the runtime has laid out.

    Constraints:
    - (C1) `transient` is not negative.

    Example:
    ```mlir
    wok.subgraph @example(%x: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %arena = wok.arena : memref<?xi8>
      %at = wok.arena_offset 0
      %t = memref.view %arena[%at][%n] : memref<?xi8> to memref<?xf32>
      wok.return
    }
    ```
  }];
  let arguments = (ins I64Attr:$transient);
  let results = (outs Index:$offset);
  let assemblyFormat = "$transient attr-dict";
  let hasVerifier = 1;
}

#endif // WOK_IR_WOKSTRUCTURE_TD
