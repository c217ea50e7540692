// RUN: wok-opt %s --wok-plan-memory --split-input-file | FileCheck %s

// Results that are returned become arguments; nothing else is needed.
// CHECK-LABEL: wok.subgraph @output
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>)
// CHECK-SAME: wok.entry = {{.*}}arena = 0
// CHECK-NEXT: wok.fusion(%[[X]]) outs(%[[OUT]] : memref<8xf32>) : (memref<8xf32>) -> ()
// CHECK: wok.return
wok.subgraph @output(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = wok.fusion(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = wok.neg %a : tensor<8xf32>
    wok.yield %b : tensor<8xf32>
  }
  wok.return %y : tensor<8xf32>
}

// -----

// Two transients that are not live together share bytes.
// CHECK-LABEL: wok.subgraph @transients
// CHECK-SAME: (%[[X:.*]]: memref<16x16xf32>, %[[OUT:.*]]: memref<16x16xf32>)
// CHECK-SAME: arena = 2048
// CHECK-SAME: transients = array<i64: 1024, 0, 1, 1024, 1, 2, 1024, 2, 3>
// CHECK: %[[ARENA:.*]] = wok.arena : memref<2048xi8>
// CHECK: %[[A:.*]] = memref.view %[[ARENA]]
// CHECK: wok.call_library @wok_contract(%[[X]], %[[X]] : {{.*}}) outs(%[[A]] : memref<16x16xf32>)
// CHECK: %[[B:.*]] = memref.view %[[ARENA]]
// CHECK: wok.call_library @wok_contract(%[[A]], %[[X]] : {{.*}}) outs(%[[B]] : memref<16x16xf32>) config {transpose_rhs}
// CHECK: wok.call_library {{.*}} outs(%[[OUT]] : memref<16x16xf32>)
wok.subgraph @transients(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %a = wok.contract %x, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %b = wok.contract %a, %x {transpose_rhs} : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %c = wok.contract %b, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %d = wok.contract %c, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  wok.return %d : tensor<16x16xf32>
}

// -----

// What is returned without a computation of its own is copied; a reshape is a view.
// CHECK-LABEL: wok.subgraph @copies
// CHECK-SAME: (%[[X:.*]]: memref<4x2xf32, strided<[?, ?]>> {wok.strided}, %[[A:.*]]: memref<4x2xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK: wok.fusion(%[[X]]) outs(%[[A]]
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[A]]
// CHECK: wok.fusion({{.*}}) outs(%[[B]]
wok.subgraph @copies(%x: tensor<4x2xf32> {wok.strided}) -> (tensor<4x2xf32>, tensor<8xf32>) {
  %y = wok.fusion(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %b = wok.neg %a : tensor<4x2xf32>
    wok.yield %b : tensor<4x2xf32>
  }
  %z = wok.reshape %y : tensor<4x2xf32> -> tensor<8xf32>
  wok.return %y, %z : tensor<4x2xf32>, tensor<8xf32>
}

// -----

// Symbolic extents: the runtime lays out the arena, and a function computes sizes.
// CHECK-LABEL: func.func @symbolic_shape
// CHECK-SAME: (%[[DIMS:.*]]: !llvm.ptr, %[[EXTENTS:.*]]: !llvm.ptr, %[[BYTES:.*]]: !llvm.ptr)
// CHECK: llvm.load %[[DIMS]]
// CHECK: llvm.store %{{.*}}, %[[EXTENTS]]
// CHECK: llvm.store %{{.*}}, %[[BYTES]]
// CHECK-LABEL: wok.subgraph @symbolic
// CHECK-SAME: shape = true
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[ARENA:.*]] = wok.arena : memref<?xi8>
// CHECK: %[[AT:.*]] = wok.arena_offset 0
// CHECK: memref.view %[[ARENA]][%[[AT]]][%[[N]]{{.*}}] : memref<?xi8> to memref<?x?xf32>
wok.subgraph @symbolic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = wok.contract %x, %x {transpose_rhs} : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
  %b = wok.contract %a, %x : tensor<?x?xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  wok.return %b : tensor<?x4xf32>
}
