// RUN: wok-opt %s --verify-roundtrip | FileCheck %s
// RUN: wok-opt %s --mlir-print-op-generic | wok-opt | FileCheck %s

// A fusion on tensors; `index` values may go in, and extents are computed in it.
// CHECK-LABEL: wok.subgraph @fusion(
// CHECK-SAME: %{{.*}}: tensor<?xf32> {wok.strided}
wok.subgraph @fusion(%x: tensor<?xf32> {wok.strided}, %v: tensor<f32>) -> tensor<?xf32> {
  %n = wok.dim %x, 0 : tensor<?xf32>
  // CHECK: wok.fusion(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?xf32>, tensor<f32>, index) -> tensor<?xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>, %{{.*}}: index):
  %y = wok.fusion(%x, %v, %n) : (tensor<?xf32>, tensor<f32>, index) -> tensor<?xf32> {
  ^bb0(%x0: tensor<?xf32>, %v0: tensor<f32>, %n0: index):
    %c1 = arith.constant 1 : index
    %n1 = arith.muli %n0, %c1 : index
    %b = wok.broadcast %v0 extents [%n1] dims [] : tensor<f32> -> tensor<?xf32>
    %s = wok.add %x0, %b : tensor<?xf32>
    // CHECK: wok.yield %{{.*}} : tensor<?xf32>
    wok.yield %s : tensor<?xf32>
  }
  wok.return %y : tensor<?xf32>
}

// After planning: buffers, and the same body.
// CHECK-LABEL: wok.subgraph @planned
wok.subgraph @planned(%x: memref<4x8xf32, strided<[?, ?]>> {wok.strided}, %w: memref<2x8xf32>, %out: memref<4x2xf32>) {
  // CHECK: wok.arena : memref<128xi8>
  %arena = wok.arena : memref<128xi8>
  %c0 = arith.constant 0 : index
  %t = memref.view %arena[%c0][] : memref<128xi8> to memref<4x8xf32>
  // CHECK: wok.fusion(%{{.*}}) outs(%{{.*}} : memref<4x8xf32>) : (memref<4x8xf32, strided<[?, ?]>>) -> () {
  wok.fusion(%x) outs(%t : memref<4x8xf32>) : (memref<4x8xf32, strided<[?, ?]>>) -> () {
  ^bb0(%x0: tensor<4x8xf32>):
    %s = wok.exp %x0 : tensor<4x8xf32>
    wok.yield %s : tensor<4x8xf32>
  }
  // CHECK: wok.call_library @wok_contract(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<2x8xf32>) outs(%{{.*}} : memref<4x2xf32>) config {transpose_rhs}
  wok.call_library @wok_contract(%t, %w : memref<4x8xf32>, memref<2x8xf32>) outs(%out : memref<4x2xf32>) config {transpose_rhs}
  wok.return
}

// CHECK-LABEL: wok.subgraph @symbolic
wok.subgraph @symbolic(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %arena = wok.arena : memref<?xi8>
  // CHECK: wok.arena_offset 3
  %at = wok.arena_offset 3
  %t = memref.view %arena[%at][%n] : memref<?xi8> to memref<?xf32>
  wok.return
}

// CHECK-LABEL: wok.subgraph @demand
// CHECK: wok.demand %{{.*}} : tensor<8xi32>
wok.subgraph @demand(%x: tensor<8xi32>) -> tensor<8xi32> {
  %q = wok.floor_div %x, %x : tensor<8xi32>
  wok.demand %q : tensor<8xi32>
  wok.return %x : tensor<8xi32>
}
