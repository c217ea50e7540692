// RUN: wok-opt %s --wok-simplify | FileCheck %s

// A transposed operand is read transposed; also where computation stands between.
// CHECK-LABEL: wok.subgraph @transposed_operand(
// CHECK-SAME: %[[Q:.+]]: tensor<2x8x16xf32>, %[[K:.+]]: tensor<2x8x16xf32>)
// CHECK: %[[S:.+]] = wok.mul %[[K]], %{{.*}} : tensor<2x8x16xf32>
// CHECK-NEXT: wok.contract %[[Q]], %[[S]] {transpose_rhs}
wok.subgraph @transposed_operand(%q: tensor<2x8x16xf32>, %k: tensor<2x8x16xf32>) -> tensor<2x8x8xf32> {
  %c = wok.constant dense<0.25> : tensor<f32>
  %0 = wok.transpose %k [0, 2, 1] : tensor<2x8x16xf32> -> tensor<2x16x8xf32>
  %1 = wok.broadcast %c dims [] : tensor<f32> -> tensor<2x16x8xf32>
  %2 = wok.mul %0, %1 : tensor<2x16x8xf32>
  %3 = wok.contract %q, %2 : tensor<2x8x16xf32>, tensor<2x16x8xf32> -> tensor<2x8x8xf32>
  wok.return %3 : tensor<2x8x8xf32>
}

// The transpose of a product is a product.
// CHECK-LABEL: wok.subgraph @transposed_product(
// CHECK-SAME: %[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<2x8xf32>)
// CHECK-NEXT: %[[P:.+]] = wok.contract %[[B]], %[[A]] {transpose_rhs}
// CHECK-NEXT: wok.return %[[P]]
wok.subgraph @transposed_product(%a: tensor<4x8xf32>, %b: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %0 = wok.contract %a, %b {transpose_rhs} : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<4x2xf32>
  %1 = wok.transpose %0 [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  wok.return %1 : tensor<2x4xf32>
}

// Row values lose their unit dimension: the kept shape is the canonical one.
// CHECK-LABEL: wok.subgraph @keepdim
// CHECK: %[[S:.+]] = wok.reduce sum
// CHECK: %[[R:.+]] = wok.rsqrt %[[S]] : tensor<?xf32>
// CHECK: wok.broadcast %[[R]] extents [%{{.*}}] dims [0] : tensor<?xf32> -> tensor<?x64xf32>
wok.subgraph @keepdim(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %n = wok.dim %x, 0 : tensor<?x64xf32>
  %0 = wok.reduce sum %x dims [1] : tensor<?x64xf32> -> tensor<?xf32>
  %1 = wok.reshape %0 extents [%n] : tensor<?xf32> -> tensor<?x1xf32>
  %2 = wok.rsqrt %1 : tensor<?x1xf32>
  %3 = wok.broadcast %2 extents [%n] dims [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  wok.return %3 : tensor<?x64xf32>
}

// What is broadcast is computed before.
// CHECK-LABEL: wok.subgraph @broadcast_last
// CHECK: %[[E:.+]] = wok.exp %{{.*}} : tensor<8xf32>
// CHECK-NEXT: wok.broadcast %[[E]] dims [1] : tensor<8xf32> -> tensor<4x8xf32>
wok.subgraph @broadcast_last(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = wok.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %1 = wok.exp %0 : tensor<4x8xf32>
  wok.return %1 : tensor<4x8xf32>
}

// An integer division by zero where there is nothing to divide would be wrong.
// CHECK-LABEL: wok.subgraph @faults_stay
// CHECK: wok.broadcast
// CHECK: wok.div %{{.*}} : tensor<?xi32>
wok.subgraph @faults_stay(%x: tensor<i32>, %t: tensor<?xf32>) -> tensor<?xi32> {
  %n = wok.dim %t, 0 : tensor<?xf32>
  %0 = wok.broadcast %x extents [%n] dims [] : tensor<i32> -> tensor<?xi32>
  %1 = wok.div %0, %0 : tensor<?xi32>
  wok.return %1 : tensor<?xi32>
}

// A view of a computed value goes behind what computes on; one of an argument stays.
// CHECK-LABEL: wok.subgraph @reshape_last
// CHECK: %[[E:.+]] = wok.exp
// CHECK-NEXT: %[[N:.+]] = wok.neg %[[E]] : tensor<4x8xf32>
// CHECK-NEXT: wok.reshape %[[N]]
wok.subgraph @reshape_last(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = wok.exp %x : tensor<4x8xf32>
  %1 = wok.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
  %2 = wok.neg %1 : tensor<32xf32>
  wok.return %2 : tensor<32xf32>
}

// CHECK-LABEL: wok.subgraph @reshape_first
// CHECK: %[[R:.+]] = wok.reshape
// CHECK-NEXT: wok.neg %[[R]] : tensor<32xf32>
wok.subgraph @reshape_first(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %1 = wok.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %2 = wok.neg %1 : tensor<32xf32>
  wok.return %2 : tensor<32xf32>
}

// Operands that move differently stay where they are.
// CHECK-LABEL: wok.subgraph @mixed
// CHECK: wok.transpose
// CHECK-NEXT: wok.add
wok.subgraph @mixed(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = wok.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = wok.add %0, %y : tensor<8x8xf32>
  wok.return %1 : tensor<8x8xf32>
}
