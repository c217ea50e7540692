// RUN: wok-opt %s --split-input-file --verify-diagnostics

// reduce, C1
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dims must be increasing}}
  %0 = "wok.reduce"(%x) {kind = #wok<reduce_kind sum>, dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  wok.return
}

// -----

// reduce, C2
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dims must be dimensions of the operand, but 2 is not one of 2}}
  %0 = "wok.reduce"(%x) {kind = #wok<reduce_kind sum>, dims = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  wok.return
}

// -----

// reduce, C3
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{'any' cannot reduce 'f32'}}
  %0 = "wok.reduce"(%x) {kind = #wok<reduce_kind any>, dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  wok.return
}

// -----

// reduce, C3
wok.subgraph @f(%x: tensor<4x8xi1>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{'sum' cannot reduce 'i1'}}
  %0 = "wok.reduce"(%x) {kind = #wok<reduce_kind sum>, dims = array<i64: 1>} : (tensor<4x8xi1>) -> tensor<4xi1>
  wok.return
}

// -----

// reduce, C4
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = wok.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  wok.return
}

// -----

// arg_reduce, C1
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dim must be a dimension of the operand, but 2 is not one of 2}}
  %0 = "wok.arg_reduce"(%x) {kind = #wok<arg_reduce_kind max>, dim = 2 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  wok.return
}

// -----

// arg_reduce, C2
wok.subgraph @f(%x: tensor<4x8xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integers or floats}}
  %0 = "wok.arg_reduce"(%x) {kind = #wok<arg_reduce_kind max>, dim = 1 : i64} : (tensor<4x8xi1>) -> tensor<4xi64>
  wok.return
}

// -----

// arg_reduce, C3
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = "wok.arg_reduce"(%x) {kind = #wok<arg_reduce_kind max>, dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<8xi64>
  wok.return
}

// -----

// contract, C1
wok.subgraph @f(%x: tensor<4x8xf32>, %y: tensor<8x4xf64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{operands must have one element type}}
  %0 = "wok.contract"(%x, %y) : (tensor<4x8xf32>, tensor<8x4xf64>) -> tensor<4x4xf32>
  wok.return
}

// -----

// contract, C2
wok.subgraph @f(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{operands must have one rank, of at least 2}}
  %0 = "wok.contract"(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  wok.return
}

// -----

// contract, C3
wok.subgraph @f(%x: tensor<2x4x8xf32>, %y: tensor<3x8x4xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{batch extents must be equal, but are 2 and 3}}
  %0 = "wok.contract"(%x, %y) : (tensor<2x4x8xf32>, tensor<3x8x4xf32>) -> tensor<2x4x4xf32>
  wok.return
}

// -----

// contract, C4
wok.subgraph @f(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{contracted extents must be equal, but are 8 and 4}}
  %0 = "wok.contract"(%x, %y) {transpose_rhs} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  wok.return
}

// -----

// contract, C5
wok.subgraph @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = "wok.contract"(%x, %y) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<2x4xf32>
  wok.return
}
