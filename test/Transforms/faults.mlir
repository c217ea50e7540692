// RUN: wok-opt %s --wok-pipeline=to=simplify --split-input-file | FileCheck %s
// RUN: wok-opt %s --wok-pipeline=to=fuse --split-input-file | FileCheck %s --check-prefix=FUSE
// RUN: wok-opt %s --wok-pipeline=to=plan --split-input-file | FileCheck %s --check-prefix=PLAN

// What nothing reads still faults: it is computed into a transient.
// CHECK-LABEL: wok.subgraph @unread(
// CHECK: %[[Q:.+]] = wok.floor_div
// CHECK: wok.demand %[[Q]] : tensor<8xi32>
// FUSE-LABEL: wok.subgraph @unread(
// FUSE: %[[F:.+]]:2 = wok.fusion
// FUSE: wok.floor_div
// FUSE: wok.demand %[[F]]#0
// PLAN-LABEL: wok.subgraph @unread(
// PLAN: wok.arena : memref<64xi8>
// PLAN: wok.floor_div
// PLAN-NOT: wok.demand
wok.subgraph @unread(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %q = wok.floor_div %x, %y : tensor<8xi32>
  %s = wok.add %x, %y : tensor<8xi32>
  wok.return %s : tensor<8xi32>
}

// -----

// What is read in part is computed whole; what it reads is then, too.
// CHECK-LABEL: wok.subgraph @part(
// CHECK: %[[Q:.+]] = wok.div
// CHECK-NEXT: %[[R:.+]] = wok.remainder %[[Q]]
// CHECK-NEXT: wok.demand %[[R]]
// CHECK-NOT: wok.demand
wok.subgraph @part(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<2xi32> {
  %q = wok.div %x, %y : tensor<8xi32>
  %r = wok.remainder %q, %y : tensor<8xi32>
  %s = wok.slice %r offsets [1] sizes [2] strides [3] : tensor<8xi32> -> tensor<2xi32>
  wok.return %s : tensor<2xi32>
}

// -----

// So is a gather that is read in part, and what is gathered from.
// CHECK-LABEL: wok.subgraph @gathered(
// CHECK: %[[Q:.+]] = wok.fmod
// CHECK-NEXT: wok.demand %[[Q]]
// CHECK: %[[G:.+]] = wok.gather %[[Q]]
// CHECK-NEXT: wok.demand %[[G]]
wok.subgraph @gathered(%x: tensor<8x4xi32>, %i: tensor<3xi64>) -> tensor<3x2xi32> {
  %q = wok.fmod %x, %x : tensor<8x4xi32>
  %g = wok.gather %q, %i dim 0 : tensor<8x4xi32>, tensor<3xi64> -> tensor<3x4xi32>
  %s = wok.slice %g offsets [0, 0] sizes [3, 2] strides [1, 1] : tensor<3x4xi32> -> tensor<3x2xi32>
  wok.return %s : tensor<3x2xi32>
}

// -----

// Nothing is demanded that is computed anyway, by whatever way it is read.
// CHECK-LABEL: wok.subgraph @whole(
// CHECK: wok.div
// CHECK-NOT: wok.demand
wok.subgraph @whole(%x: tensor<4x2xi32>, %y: tensor<4x2xi32>, %t: tensor<8xf32>) -> (tensor<2xi64>, tensor<4xi32>, tensor<8xf32>) {
  %q = wok.div %x, %y : tensor<4x2xi32>
  %q1 = wok.transpose %q [1, 0] : tensor<4x2xi32> -> tensor<2x4xi32>
  %q2 = wok.concat %q1, %q1 dim 1 : tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x8xi32>
  %q3 = wok.cast %q2 : tensor<2x8xi32> to tensor<2x8xi64>
  %q4 = wok.reduce max %q3 dims [1] : tensor<2x8xi64> -> tensor<2xi64>
  %r = wok.remainder %x, %y : tensor<4x2xi32>
  %r1 = wok.reduce sum %r dims [1] : tensor<4x2xi32> -> tensor<4xi32>
  %i = wok.floor_div %x, %y : tensor<4x2xi32>
  %i1 = wok.reshape %i : tensor<4x2xi32> -> tensor<8xi32>
  %g = wok.gather %t, %i1 dim 0 : tensor<8xf32>, tensor<8xi32> -> tensor<8xf32>
  wok.return %q4, %r1, %g : tensor<2xi64>, tensor<4xi32>, tensor<8xf32>
}

// -----

// A broadcast to extents that may be 0 may compute nothing.
// CHECK-LABEL: wok.subgraph @perhaps_empty(
// CHECK: %[[Q:.+]] = wok.div
// CHECK-NEXT: wok.demand %[[Q]]
// CHECK: %[[R:.+]] = wok.div
// CHECK-NOT: wok.demand
wok.subgraph @perhaps_empty(%x: tensor<8xi32>, %t: tensor<?xf32>) -> (tensor<?x8xi32>, tensor<4x8xi32>) {
  %n = wok.dim %t, 0 : tensor<?xf32>
  %q = wok.div %x, %x : tensor<8xi32>
  %b = wok.broadcast %q extents [%n] dims [1] : tensor<8xi32> -> tensor<?x8xi32>
  %y = wok.neg %x : tensor<8xi32>
  %r = wok.div %x, %y : tensor<8xi32>
  %c = wok.broadcast %r dims [1] : tensor<8xi32> -> tensor<4x8xi32>
  wok.return %b, %c : tensor<?x8xi32>, tensor<4x8xi32>
}

// -----

// Good divisors and indices are known.
// CHECK-LABEL: wok.subgraph @constants(
// CHECK-NOT: wok.demand
wok.subgraph @constants(%x: tensor<8xi32>, %f: tensor<8xf32>) -> tensor<8xi32> {
  %two = wok.constant dense<2> : tensor<i32>
  %twos = wok.broadcast %two dims [] : tensor<i32> -> tensor<8xi32>
  %q = wok.div %x, %twos : tensor<8xi32>
  %i = wok.constant dense<[0, 7]> : tensor<2xi64>
  %g = wok.gather %x, %i dim 0 : tensor<8xi32>, tensor<2xi64> -> tensor<2xi32>
  %d = wok.div %f, %f : tensor<8xf32>
  wok.return %x : tensor<8xi32>
}

// -----

// Bad ones are, too.
// CHECK-LABEL: wok.subgraph @bad_constants(
// CHECK-COUNT-2: wok.demand
wok.subgraph @bad_constants(%x: tensor<8xi32>) -> tensor<8xi32> {
  %c = wok.constant dense<[1, 2, 3, 4, 5, 6, 7, 0]> : tensor<8xi32>
  %q = wok.div %x, %c : tensor<8xi32>
  %i = wok.constant dense<[0, 8]> : tensor<2xi64>
  %g = wok.gather %x, %i dim 0 : tensor<8xi32>, tensor<2xi64> -> tensor<2xi32>
  wok.return %x : tensor<8xi32>
}
