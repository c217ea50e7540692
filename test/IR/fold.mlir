// RUN: wok-opt %s --canonicalize | FileCheck %s

// What folds is exact for every value: -0.0, NaN and infinities included.

// CHECK-LABEL: wok.subgraph @exact
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: wok.return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
wok.subgraph @exact(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = wok.constant dense<0.0> : tensor<4xf32>
  %minus_zero = wok.constant dense<-0.0> : tensor<4xf32>
  %one = wok.constant dense<1.0> : tensor<4xf32>
  %0 = wok.add %minus_zero, %x : tensor<4xf32>
  %1 = wok.sub %x, %zero : tensor<4xf32>
  %2 = wok.mul %one, %x : tensor<4xf32>
  %3 = wok.div %x, %one : tensor<4xf32>
  %4 = wok.neg %x : tensor<4xf32>
  %5 = wok.neg %4 : tensor<4xf32>
  wok.return %0, %1, %2, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// x + 0.0, x - -0.0, x * 0.0, x - x and x / x are not what they seem.
// CHECK-LABEL: wok.subgraph @inexact
// CHECK: wok.add
// CHECK: wok.sub
// CHECK: wok.mul
// CHECK: wok.sub
// CHECK: wok.div
// CHECK: wok.return
wok.subgraph @inexact(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = wok.constant dense<0.0> : tensor<4xf32>
  %minus_zero = wok.constant dense<-0.0> : tensor<4xf32>
  %0 = wok.add %x, %zero : tensor<4xf32>
  %1 = wok.sub %x, %minus_zero : tensor<4xf32>
  %2 = wok.mul %x, %zero : tensor<4xf32>
  %3 = wok.sub %x, %x : tensor<4xf32>
  %4 = wok.div %x, %x : tensor<4xf32>
  wok.return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Neutral constants are seen through broadcasts, so with dynamic extents too.
// CHECK-LABEL: wok.subgraph @broadcast_constant
// CHECK-SAME: (%[[X:.+]]: tensor<?xi32>
// CHECK-NEXT: wok.return %[[X]]
wok.subgraph @broadcast_constant(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c = wok.constant dense<0> : tensor<i32>
  %n = wok.dim %x, 0 : tensor<?xi32>
  %b = wok.broadcast %c extents [%n] dims [] : tensor<i32> -> tensor<?xi32>
  %0 = wok.add %x, %b : tensor<?xi32>
  %1 = wok.or %0, %b : tensor<?xi32>
  wok.return %1 : tensor<?xi32>
}

// CHECK-LABEL: wok.subgraph @integers
// CHECK-SAME: (%[[X:.+]]: tensor<4xi32>, %[[P:.+]]: tensor<4xi1>
// CHECK-NEXT: %[[ZERO:.+]] = wok.constant dense<0> : tensor<4xi32>
// CHECK-NEXT: wok.return %[[ZERO]], %[[X]], %[[P]], %[[X]]
wok.subgraph @integers(%x: tensor<4xi32>, %p: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>) {
  %zero = wok.constant dense<0> : tensor<4xi32>
  %ones = wok.constant dense<-1> : tensor<4xi32>
  %true = wok.constant dense<true> : tensor<4xi1>
  %0 = wok.mul %x, %zero : tensor<4xi32>
  %1 = wok.and %x, %ones : tensor<4xi32>
  %2 = wok.and %p, %true : tensor<4xi1>
  %3 = wok.not %2 : tensor<4xi1>
  %4 = wok.not %3 : tensor<4xi1>
  %5 = wok.select %true, %1, %zero : tensor<4xi32>
  wok.return %0, %1, %4, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>
}

// A cast to a wider type and back changes nothing; one to a narrower type and back does.
// CHECK-LABEL: wok.subgraph @casts
// CHECK-SAME: (%[[X:.+]]: tensor<4xbf16>, %[[I:.+]]: tensor<4xi64>, %[[U:.+]]: tensor<4xui8>
// CHECK-NEXT: %[[F:.+]] = wok.cast %[[I]] : tensor<4xi64> to tensor<4xf64>
// CHECK-NEXT: %[[J:.+]] = wok.cast %[[F]] : tensor<4xf64> to tensor<4xi64>
// CHECK-NEXT: wok.return %[[X]], %[[J]], %[[U]]
wok.subgraph @casts(%x: tensor<4xbf16>, %i: tensor<4xi64>, %u: tensor<4xui8>) -> (tensor<4xbf16>, tensor<4xi64>, tensor<4xui8>) {
  %0 = wok.cast %x : tensor<4xbf16> to tensor<4xbf16>
  %1 = wok.cast %0 : tensor<4xbf16> to tensor<4xf32>
  %2 = wok.cast %1 : tensor<4xf32> to tensor<4xbf16>
  %3 = wok.cast %i : tensor<4xi64> to tensor<4xf64>
  %4 = wok.cast %3 : tensor<4xf64> to tensor<4xi64>
  %5 = wok.cast %u : tensor<4xui8> to tensor<4xi16>
  %6 = wok.cast %5 : tensor<4xi16> to tensor<4xui8>
  wok.return %2, %4, %6 : tensor<4xbf16>, tensor<4xi64>, tensor<4xui8>
}

// ui8 and i8 have different values.
// CHECK-LABEL: wok.subgraph @signs
// CHECK-COUNT-2: wok.cast
wok.subgraph @signs(%u: tensor<4xi16>) -> tensor<4xi16> {
  %0 = wok.cast %u : tensor<4xi16> to tensor<4xui8>
  %1 = wok.cast %0 : tensor<4xui8> to tensor<4xi16>
  wok.return %1 : tensor<4xi16>
}

// Movement that moves nothing, and movement of movement.
// CHECK-LABEL: wok.subgraph @identities
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[V:.+]]: tensor<f32>
// CHECK-NEXT: wok.return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
wok.subgraph @identities(%x: tensor<4x8xf32>, %v: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = wok.transpose %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = wok.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = wok.broadcast %x dims [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = wok.slice %x offsets [0, 0] sizes [4, 8] strides [1, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = wok.pad %x, %v low [0, 0] high [0, 0] : tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
  %5 = wok.concat %x dim 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = wok.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %7 = wok.transpose %6 [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  wok.return %0, %1, %2, %3, %4, %5, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: wok.subgraph @composed
// CHECK-SAME: (%[[X:.+]]: tensor<4x8x2xf32>
// CHECK-NEXT: wok.transpose %[[X]] [2, 0, 1]
// CHECK-NEXT: wok.slice %[[X]] offsets [3, 6, 0] sizes [2, 2, 2] strides [-2, -4, 1]
// CHECK-NEXT: wok.reshape %[[X]] : tensor<4x8x2xf32> -> tensor<64xf32>
// CHECK-NEXT: wok.return
wok.subgraph @composed(%x: tensor<4x8x2xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x2xf32>, tensor<64xf32>) {
  %0 = wok.transpose %x [1, 2, 0] : tensor<4x8x2xf32> -> tensor<8x2x4xf32>
  %1 = wok.transpose %0 [1, 2, 0] : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  %2 = wok.slice %x offsets [3, 6, 0] sizes [4, 4, 2] strides [-1, -2, 1] : tensor<4x8x2xf32> -> tensor<4x4x2xf32>
  %3 = wok.slice %2 offsets [0, 0, 0] sizes [2, 2, 2] strides [2, 2, 1] : tensor<4x4x2xf32> -> tensor<2x2x2xf32>
  %4 = wok.reshape %x : tensor<4x8x2xf32> -> tensor<32x2xf32>
  %5 = wok.reshape %4 : tensor<32x2xf32> -> tensor<64xf32>
  wok.return %1, %3, %5 : tensor<2x4x8xf32>, tensor<2x2x2xf32>, tensor<64xf32>
}

// CHECK-LABEL: wok.subgraph @broadcasts
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>
// CHECK-NEXT: wok.broadcast %[[X]] dims [1] : tensor<8xf32> -> tensor<4x8x2xf32>
// CHECK-NEXT: wok.broadcast %[[X]] dims [0] : tensor<8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: wok.broadcast %[[X]] dims [0] : tensor<8xf32> -> tensor<8x4xf32>
wok.subgraph @broadcasts(%x: tensor<8xf32>) -> (tensor<4x8x2xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = wok.broadcast %x dims [0] : tensor<8xf32> -> tensor<8x1xf32>
  %1 = wok.broadcast %0 dims [1, 2] : tensor<8x1xf32> -> tensor<4x8x2xf32>
  %2 = wok.reshape %x : tensor<8xf32> -> tensor<8x1xf32>
  %3 = wok.broadcast %2 dims [0, 1] : tensor<8x1xf32> -> tensor<8x4xf32>
  %4 = wok.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %5 = wok.transpose %4 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  wok.return %1, %3, %5 : tensor<4x8x2xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Two dynamic extents may hide a reshape that moves elements.
// CHECK-LABEL: wok.subgraph @hidden_reshape
// CHECK: wok.reshape
wok.subgraph @hidden_reshape(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = wok.dim %y, 0 : tensor<?x?xf32>
  %c1 = wok.dim %y, 1 : tensor<?x?xf32>
  %0 = wok.reshape %x extents [%c0, %c1] : tensor<?x?xf32> -> tensor<?x?xf32>
  wok.return %0 : tensor<?x?xf32>
}

// Splats move as splats.
// CHECK-LABEL: wok.subgraph @splats
// CHECK-NEXT: %[[C:.+]] = wok.constant dense<2.000000e+00> : tensor<2xf32>
// CHECK-NEXT: wok.return %[[C]]
wok.subgraph @splats() -> tensor<2xf32> {
  %c = wok.constant dense<2.0> : tensor<f32>
  %0 = wok.broadcast %c dims [] : tensor<f32> -> tensor<4x8xf32>
  %1 = wok.transpose %0 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = wok.reshape %1 : tensor<8x4xf32> -> tensor<32xf32>
  %3 = wok.slice %2 offsets [5] sizes [2] strides [3] : tensor<32xf32> -> tensor<2xf32>
  wok.return %3 : tensor<2xf32>
}

// Extents are read from as far up as possible.
// CHECK-LABEL: wok.subgraph @extents
// CHECK-SAME: (%[[X:.+]]: tensor<4x?xf32>
// CHECK-NEXT: %[[N:.+]] = wok.dim %[[X]], 1
// CHECK-NEXT: wok.iota dim 0 extents [%[[N]]]
// CHECK-NEXT: wok.return
wok.subgraph @extents(%x: tensor<4x?xf32>) -> tensor<?xi64> {
  %0 = wok.exp %x : tensor<4x?xf32>
  %1 = wok.transpose %0 [1, 0] : tensor<4x?xf32> -> tensor<?x4xf32>
  %2 = wok.reduce sum %1 dims [1] : tensor<?x4xf32> -> tensor<?xf32>
  %n = wok.dim %2, 0 : tensor<?xf32>
  %3 = wok.iota dim 0 extents [%n] : tensor<?xi64>
  wok.return %3 : tensor<?xi64>
}

// CHECK-LABEL: wok.subgraph @extents_of_joined
// CHECK-SAME: (%[[X:.+]]: tensor<?xf32>, %[[V:.+]]: tensor<f32>
// CHECK-DAG: %[[C:.+]] = arith.constant 3 : index
// CHECK-DAG: %[[N:.+]] = wok.dim %[[X]], 0
// CHECK: %[[M:.+]] = arith.addi %[[N]], %[[C]]
// CHECK: %[[N2:.+]] = wok.dim %[[X]], 0
// CHECK: %[[S:.+]] = arith.addi %[[M]], %[[N2]]
// CHECK: wok.iota dim 0 extents [%[[S]]]
wok.subgraph @extents_of_joined(%x: tensor<?xf32>, %v: tensor<f32>) -> tensor<?xi64> {
  %0 = wok.pad %x, %v low [1] high [2] : tensor<?xf32>, tensor<f32> -> tensor<?xf32>
  %1 = wok.concat %0, %x dim 0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %n = wok.dim %1, 0 : tensor<?xf32>
  %2 = wok.iota dim 0 extents [%n] : tensor<?xi64>
  wok.return %2 : tensor<?xi64>
}

// Nothing to reduce; but the sum of -0.0 alone is 0.0.
// CHECK-LABEL: wok.subgraph @empty_reductions
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[ZERO:.+]] = wok.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[S:.+]] = wok.add %[[X]], %[[ZERO]]
// CHECK-NEXT: wok.return %[[X]], %[[S]]
wok.subgraph @empty_reductions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = wok.reduce max %x dims [] : tensor<4xf32> -> tensor<4xf32>
  %1 = wok.reduce sum %x dims [] : tensor<4xf32> -> tensor<4xf32>
  wok.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
