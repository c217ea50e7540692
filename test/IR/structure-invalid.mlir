// RUN: wok-opt %s --split-input-file --verify-diagnostics

// subgraph, C1
// expected-error @+1 {{arguments must be tensors or buffers, not 'index'}}
wok.subgraph @f(%x: index) {
  wok.return
}

// -----

// subgraph, C1
// expected-error @+1 {{arguments must be tensors or buffers, not 'tensor<4xf128>'}}
wok.subgraph @f(%x: tensor<4xf128>) {
  wok.return
}

// -----

// subgraph, C2
// expected-error @+1 {{results must be tensors, not 'memref<4xf32>'}}
"wok.subgraph"() ({
^bb0(%x: memref<4xf32>):
  "wok.return"() : () -> ()
}) {sym_name = "f", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()

// -----

// subgraph, C3
// expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
wok.subgraph @f(tensor<4xf32>)

// -----

// subgraph, C4
// expected-error @+1 {{type of entry block argument #0('tensor<5xf32>') must match the type of the corresponding argument in function signature('tensor<4xf32>')}}
"wok.subgraph"() ({
^bb0(%x: tensor<5xf32>):
  "wok.return"() : () -> ()
}) {sym_name = "f", function_type = (tensor<4xf32>) -> ()} : () -> ()

// -----

// subgraph, C5
// expected-error @+1 {{only arguments of subgraphs, and only 'wok.strided' without a value}}
wok.subgraph @f(%x: tensor<4xf32> {wok.strided = 1 : i64}) {
  wok.return
}

// -----

// subgraph, C5
// expected-error @+1 {{only arguments of subgraphs, and only 'wok.strided' without a value}}
func.func @f(%x: tensor<4xf32> {wok.strided}) {
  return
}

// -----

// return, C1
wok.subgraph @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{operands must have the types of}}
  wok.return %x : tensor<4xf32>
}

// -----

// fusion, C1
func.func @f(%x: f32) {
  // expected-error @+1 {{operand #0 must be variadic of}}
  "wok.fusion"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%y: f32):
    wok.yield
  }) : (f32) -> ()
  return
}

// -----

// fusion, C2
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{body arguments must have the types of the inputs}}
  %0 = wok.fusion(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%y: tensor<5xf32>):
    wok.yield %y : tensor<5xf32>
  }
  wok.return
}

// -----

// fusion, C3
wok.subgraph @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{body may not hold 'wok.contract'}}
  %0 = wok.fusion(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%y: tensor<4x4xf32>):
    %z = wok.contract %y, %y : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    wok.yield %z : tensor<4x4xf32>
  }
  wok.return
}

// -----

// fusion, C3: arithmetic, but not on `index`.
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{body may not hold 'arith.addf'}}
  %0 = wok.fusion(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = arith.addf %y, %y : tensor<4xf32>
    wok.yield %z : tensor<4xf32>
  }
  wok.return
}

// -----

// fusion, C4
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must yield the types of its results}}
  %0 = wok.fusion(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%y: tensor<4xf32>):
    wok.yield %y : tensor<4xf32>
  }
  wok.return
}

// -----

// fusion, C4
wok.subgraph @f(%x: memref<4xf32>, %out: memref<5xf32>) {
  // expected-error @+1 {{must yield the types of its outputs}}
  wok.fusion(%x) outs(%out : memref<5xf32>) : (memref<4xf32>) -> () {
  ^bb0(%y: tensor<4xf32>):
    wok.yield %y : tensor<4xf32>
  }
  wok.return
}

// -----

// fusion, C5
wok.subgraph @f(%x: memref<4xf32>) {
  // expected-error @+1 {{must have either results and no buffers, or buffers and no results}}
  %0 = wok.fusion(%x) : (memref<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    wok.yield %y : tensor<4xf32>
  }
  wok.return
}

// -----

// call_library, C1
wok.subgraph @f(%x: memref<4xf32>) {
  // expected-error @+1 {{must have an output}}
  "wok.call_library"(%x) <{callee = @wok_contract, operandSegmentSizes = array<i32: 1, 0>}> : (memref<4xf32>) -> ()
  wok.return
}

// -----

// arena, C1
wok.subgraph @f() {
  // expected-error @+1 {{must be contiguous}}
  %0 = wok.arena : memref<16xi8, strided<[2]>>
  wok.return
}

// -----

// arena, C1
wok.subgraph @f() {
  // expected-error @+1 {{result #0 must be 1D memref of 8-bit signless integer values}}
  %0 = wok.arena : memref<16xf32>
  wok.return
}

// -----

// arena_offset, C1
wok.subgraph @f() {
  // expected-error @+1 {{transient must not be negative}}
  %0 = wok.arena_offset -1
  wok.return
}

// -----

// No other attributes of the dialect.
// expected-error @+1 {{may not have the attribute 'wok.unknown'}}
module attributes {wok.unknown} {
}

// -----

wok.frame @demand_in_frame(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{expects parent op 'wok.subgraph'}}
  wok.demand %x : tensor<8xi32>
  wok.return %x : tensor<8xi32>
}

// -----

// expected-error@+1 {{arguments must be tensors or buffers, not 'memref<4294967296x4294967296xf32>'}}
wok.subgraph @uncountable(%x: memref<4294967296x4294967296xf32>) {
  wok.return
}
