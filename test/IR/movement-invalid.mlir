// RUN: wok-opt %s --split-input-file --verify-diagnostics

// reshape, C1
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{operand and result must have the same element type}}
  %0 = wok.reshape %x : tensor<4x8xf32> -> tensor<32xf64>
  wok.return
}

// -----

// reshape, C2
wok.subgraph @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{has 0 extents, but its result has 1 dynamic ones}}
  %0 = wok.reshape %x : tensor<?xf32> -> tensor<?x1xf32>
  wok.return
}

// -----

// reshape, C3
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cannot make 33 elements of 32}}
  %0 = wok.reshape %x : tensor<4x8xf32> -> tensor<33xf32>
  wok.return
}

// -----

// transpose, C1
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{permutation must permute the operand's dimensions}}
  %0 = "wok.transpose"(%x) {permutation = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  wok.return
}

// -----

// transpose, C1
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{permutation must permute the operand's dimensions}}
  %0 = "wok.transpose"(%x) {permutation = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  wok.return
}

// -----

// transpose, C2
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = wok.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  wok.return
}

// -----

// broadcast, C1
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{operand and result must have the same element type}}
  %0 = wok.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xf64>
  wok.return
}

// -----

// broadcast, C2
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 0 extents, but its result has 1 dynamic ones}}
  %0 = wok.broadcast %x dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  wok.return
}

// -----

// broadcast, C3
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{dims must have one entry for each of the operand's 1 dimensions}}
  %0 = wok.broadcast %x dims [] : tensor<8xf32> -> tensor<4x8xf32>
  wok.return
}

// -----

// broadcast, C4
wok.subgraph @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dims must be increasing dimensions of the result}}
  %0 = wok.broadcast %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  wok.return
}

// -----

// broadcast, C4
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{dims must be increasing dimensions of the result}}
  %0 = wok.broadcast %x dims [2] : tensor<8xf32> -> tensor<4x8xf32>
  wok.return
}

// -----

// broadcast, C5
wok.subgraph @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{cannot broadcast an extent of 3 along dimension 1 of 'tensor<4x8xf32>'}}
  %0 = wok.broadcast %x dims [1] : tensor<3xf32> -> tensor<4x8xf32>
  wok.return
}

// -----

// broadcast, C5
wok.subgraph @f(%x: tensor<3xf32>, %y: tensor<?xf32>) {
  %n = wok.dim %y, 0 : tensor<?xf32>
  // expected-error @+1 {{cannot broadcast an extent of 3 along dimension 0 of 'tensor<?xf32>'}}
  %0 = wok.broadcast %x extents [%n] dims [0] : tensor<3xf32> -> tensor<?xf32>
  wok.return
}

// -----

// slice, C1
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{operand and result must have the same element type and rank}}
  %0 = wok.slice %x offsets [0] sizes [4] strides [1] : tensor<8xf32> -> tensor<4x1xf32>
  wok.return
}

// -----

// slice, C2
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{offsets, sizes and strides must have one entry for each of 1 dimensions}}
  %0 = wok.slice %x offsets [0, 0] sizes [4] strides [1] : tensor<8xf32> -> tensor<4xf32>
  wok.return
}

// -----

// slice, C3
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 0 dynamic entries, but needs 1}}
  %0 = "wok.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: -9223372036854775808>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<?xf32>
  wok.return
}

// -----

// slice, C4
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{strides must not be 0}}
  %0 = wok.slice %x offsets [0] sizes [4] strides [0] : tensor<8xf32> -> tensor<4xf32>
  wok.return
}

// -----

// slice, C5
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{sizes must be the extents of the result}}
  %0 = wok.slice %x offsets [0] sizes [4] strides [1] : tensor<8xf32> -> tensor<5xf32>
  wok.return
}

// -----

// slice, C6
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{reads outside dimension 0 of the operand}}
  %0 = wok.slice %x offsets [2] sizes [4] strides [2] : tensor<8xf32> -> tensor<4xf32>
  wok.return
}

// -----

// slice, C6
wok.subgraph @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{reads outside dimension 0 of the operand}}
  %0 = wok.slice %x offsets [2] sizes [4] strides [-1] : tensor<?xf32> -> tensor<4xf32>
  wok.return
}

// -----

// pad, C1
wok.subgraph @f(%x: tensor<8xf32>, %v: tensor<f64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{value must have rank 0 and the operand's element type}}
  %0 = "wok.pad"(%x, %v) {low = array<i64: 1>, high = array<i64: 0>} : (tensor<8xf32>, tensor<f64>) -> tensor<9xf32>
  wok.return
}

// -----

// pad, C1
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 must be tensor of rank 0}}
  %0 = "wok.pad"(%x, %x) {low = array<i64: 1>, high = array<i64: 0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<9xf32>
  wok.return
}

// -----

// pad, C2
wok.subgraph @f(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{low and high must have one entry for each dimension, not negative}}
  %0 = "wok.pad"(%x, %v) {low = array<i64: -1>, high = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
  wok.return
}

// -----

// pad, C3
wok.subgraph @f(%x: tensor<8xf32>, %v: tensor<f32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = wok.pad %x, %v low [1] high [1] : tensor<8xf32>, tensor<f32> -> tensor<9xf32>
  wok.return
}

// -----

// concat, C1
wok.subgraph @f() {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{needs at least one operand}}
  %0 = "wok.concat"() {dim = 0 : i64} : () -> tensor<8xf32>
  wok.return
}

// -----

// concat, C2
wok.subgraph @f(%x: tensor<8xf32>, %y: tensor<8x1xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{operands must have the same element type and rank}}
  %0 = "wok.concat"(%x, %y) {dim = 0 : i64} : (tensor<8xf32>, tensor<8x1xf32>) -> tensor<16xf32>
  wok.return
}

// -----

// concat, C3
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dim must be a dimension of the operands, but -1 is not one of 1}}
  %0 = "wok.concat"(%x, %x) {dim = -1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  wok.return
}

// -----

// concat, C4
wok.subgraph @f(%x: tensor<8x4xf32>, %y: tensor<8x5xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{operands differ in dimension 1: 4 and 5}}
  %0 = "wok.concat"(%x, %y) {dim = 0 : i64} : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<16x4xf32>
  wok.return
}

// -----

// concat, C5
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = wok.concat %x, %x dim 0 : tensor<8xf32>, tensor<8xf32> -> tensor<17xf32>
  wok.return
}

// -----

// gather, C1
wok.subgraph @f(%x: tensor<8xf32>, %i: tensor<3xi8>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of i32 or i64}}
  %0 = "wok.gather"(%x, %i) {dim = 0 : i64} : (tensor<8xf32>, tensor<3xi8>) -> tensor<3xf32>
  wok.return
}

// -----

// gather, C2
wok.subgraph @f(%x: tensor<8xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dim must be a dimension of the operand, but 1 is not one of 1}}
  %0 = "wok.gather"(%x, %i) {dim = 1 : i64} : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  wok.return
}

// -----

// gather, C3
wok.subgraph @f(%x: tensor<8x4xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = wok.gather %x, %i dim 0 : tensor<8x4xf32>, tensor<3xi64> -> tensor<3xf32>
  wok.return
}

// -----

// iota, C1
wok.subgraph @f() {
  // expected-error @+1 {{result #0 must be ranked tensor of integers or floats}}
  %0 = wok.iota dim 0 : tensor<4xi1>
  wok.return
}

// -----

// iota, C2
wok.subgraph @f() {
  // expected-error @+1 {{has 0 extents, but its result has 1 dynamic ones}}
  %0 = wok.iota dim 0 : tensor<?xi64>
  wok.return
}

// -----

// iota, C3
wok.subgraph @f() {
  // expected-error @+1 {{dim must be a dimension of 'tensor<i64>', but is 0}}
  %0 = wok.iota dim 0 : tensor<i64>
  wok.return
}

// -----

// constant, C1
wok.subgraph @f() {
  // expected-error @+1 {{value must be dense}}
  %0 = wok.constant dense_resource<blob> : tensor<4xf32>
  wok.return
}

// -----

// constant, C2
wok.subgraph @f() {
  // expected-error @+1 {{all of {value, result} have same type}}
  %0 = "wok.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<5xf32>
  wok.return
}

// -----

// dim, C1
wok.subgraph @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{dim must be a dimension of 'tensor<8xf32>', but is 1}}
  %0 = wok.dim %x, 1 : tensor<8xf32>
  wok.return
}

// -----

// Tensors have no more bytes than 64 bits count, also where an extent is 0.
wok.subgraph @f(%x: tensor<f32>) {
  // expected-error @+1 {{not more than 64 bits can count}}
  %0 = wok.broadcast %x dims [] : tensor<f32> -> tensor<4294967296x4294967296xf32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<f32>) {
  // expected-error @+1 {{not more than 64 bits can count}}
  %0 = wok.broadcast %x dims [] : tensor<f32> -> tensor<4611686018427387904x0xf32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @+1 {{dimension 0 becomes too large}}
  %0 = wok.pad %x, %v low [9223372036854775807] high [1] : tensor<2xf32>, tensor<f32> -> tensor<3xf32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<576460752303423488xi8>) {
  // expected-error @+1 {{not more than 64 bits can count}}
  %0 = wok.concat %x, %x, %x dim 0 : tensor<576460752303423488xi8>, tensor<576460752303423488xi8>, tensor<576460752303423488xi8> -> tensor<1729382256910270464xi8>
  wok.return
}
