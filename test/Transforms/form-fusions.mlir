// RUN: wok-opt %s --wok-form-fusions | FileCheck %s
// RUN: wok-opt %s --wok-form-fusions --wok-form-fusions | FileCheck %s

// An elementwise chain with a broadcast read is one fusion.
// CHECK-LABEL: wok.subgraph @chain(
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8xf32>)
// CHECK-NEXT: %[[F:.+]] = wok.fusion(%[[B]], %[[X]]) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: ^bb0(%[[B0:.+]]: tensor<8xf32>, %[[X0:.+]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[BB:.+]] = wok.broadcast %[[B0]] dims [1]
// CHECK-NEXT: %[[S:.+]] = wok.add %[[X0]], %[[BB]]
// CHECK-NEXT: %[[T:.+]] = wok.tanh %[[S]]
// CHECK-NEXT: wok.yield %[[T]]
// CHECK: wok.return %[[F]]
wok.subgraph @chain(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = wok.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %1 = wok.add %x, %0 : tensor<4x8xf32>
  %2 = wok.tanh %1 : tensor<4x8xf32>
  wok.return %2 : tensor<4x8xf32>
}

// A softmax is one fusion, also where `?` extents must be seen to be equal. Extents that are not
// constants go in as operands.
// CHECK-LABEL: wok.subgraph @softmax
// CHECK: wok.fusion(%{{.*}}, %{{.*}}) : (tensor<?x64xf32>, index) -> tensor<?x64xf32>
// CHECK-COUNT-2: wok.reduce
// CHECK: wok.div
// CHECK-NEXT: wok.yield
// CHECK-NEXT: }
// CHECK-NEXT: wok.return
wok.subgraph @softmax(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %n = wok.dim %x, 0 : tensor<?x64xf32>
  %m = wok.reduce max %x dims [1] : tensor<?x64xf32> -> tensor<?xf32>
  %mr = wok.reshape %m extents [%n] : tensor<?xf32> -> tensor<?x1xf32>
  %mb = wok.broadcast %mr extents [%n] dims [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %d = wok.sub %x, %mb : tensor<?x64xf32>
  %e = wok.exp %d : tensor<?x64xf32>
  %s = wok.reduce sum %e dims [1] : tensor<?x64xf32> -> tensor<?xf32>
  %n2 = wok.dim %e, 0 : tensor<?x64xf32>
  %sb = wok.broadcast %s extents [%n2] dims [0] : tensor<?xf32> -> tensor<?x64xf32>
  %y = wok.div %e, %sb : tensor<?x64xf32>
  wok.return %y : tensor<?x64xf32>
}

// Sibling outputs; a constant is copied into each fusion that reads it.
// CHECK-LABEL: wok.subgraph @siblings
// CHECK: %[[F:.+]]:2 = wok.fusion(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: wok.constant dense<2.000000e+00>
// CHECK: %[[G:.+]] = wok.fusion(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: wok.constant dense<2.000000e+00>
// CHECK: wok.return %[[F]]#0, %[[F]]#1, %[[G]]
wok.subgraph @siblings(%x: tensor<8xf32>, %z: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %c = wok.constant dense<2.0> : tensor<f32>
  %c8 = wok.broadcast %c dims [] : tensor<f32> -> tensor<8xf32>
  %c4 = wok.broadcast %c dims [] : tensor<f32> -> tensor<4xf32>
  %0 = wok.pow %x, %c8 : tensor<8xf32>
  %1 = wok.sin %x : tensor<8xf32>
  %2 = wok.mul %z, %c4 : tensor<4xf32>
  wok.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}

// Contractions stay outside, and so do reshapes that are views.
// CHECK-LABEL: wok.subgraph @around_contraction
// CHECK-NEXT: %[[A:.+]] = wok.fusion
// CHECK: %[[V:.+]] = wok.reshape %[[A]] : tensor<2x4x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[P:.+]] = wok.contract %[[V]], %{{.*}}
// CHECK-NEXT: %[[F:.+]] = wok.fusion(%[[P]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: wok.neg
// CHECK-NEXT: wok.transpose
// CHECK-NEXT: wok.yield
// CHECK: %[[R:.+]] = wok.reshape %[[F]]
// CHECK-NEXT: wok.return %[[R]]
wok.subgraph @around_contraction(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<64xf32> {
  %0 = wok.exp %x : tensor<2x4x8xf32>
  %1 = wok.reshape %0 : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %2 = wok.contract %1, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = wok.neg %2 : tensor<8x8xf32>
  %4 = wok.transpose %3 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %5 = wok.reshape %4 : tensor<8x8xf32> -> tensor<64xf32>
  wok.return %5 : tensor<64xf32>
}

// A view needs dense elements: what may be strided is copied first.
// CHECK-LABEL: wok.subgraph @view_of_strided
// CHECK: %[[C:.+]] = wok.fusion(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<4x8xf32>):
// CHECK-NEXT: wok.yield %[[E]]
// CHECK: wok.reshape %[[C]]
wok.subgraph @view_of_strided(%x: tensor<4x8xf32> {wok.strided}) -> tensor<32xf32> {
  %0 = wok.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  wok.return %0 : tensor<32xf32>
}

// An argument that is returned, and a value that is returned twice, need no copies.
// CHECK-LABEL: wok.subgraph @returned
// CHECK: %[[F:.+]] = wok.fusion
// CHECK-NOT: wok.fusion
// CHECK: wok.return %{{.*}}, %[[F]], %[[F]]
wok.subgraph @returned(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = wok.neg %x : tensor<8xf32>
  wok.return %x, %0, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Rows along different dimensions are different walks; moved rows are another kernel's.
// CHECK-LABEL: wok.subgraph @two_walks
// CHECK-COUNT-2: wok.fusion
// CHECK-NOT: wok.fusion
wok.subgraph @two_walks(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = wok.reduce sum %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %1 = wok.reduce sum %x dims [0] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = wok.add %0, %1 : tensor<8xf32>
  wok.return %2 : tensor<8xf32>
}

// Joined, padded, gathered and generated reads go into the kernel that reads them. Dead code goes.
// CHECK-LABEL: wok.subgraph @movement
// CHECK: wok.fusion
// CHECK-NOT: wok.exp
// CHECK: wok.gather
// CHECK: wok.concat
// CHECK: wok.pad
// CHECK: wok.iota
// CHECK-NOT: wok.fusion
// CHECK: wok.return
wok.subgraph @movement(%x: tensor<5x4xf32>, %i: tensor<3xi64>, %v: tensor<f32>) -> tensor<8x4xf32> {
  %dead = wok.exp %x : tensor<5x4xf32>
  %0 = wok.gather %x, %i dim 0 : tensor<5x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %1 = wok.concat %0, %x dim 0 : tensor<3x4xf32>, tensor<5x4xf32> -> tensor<8x4xf32>
  %2 = wok.pad %x, %v low [1, 0] high [2, 0] : tensor<5x4xf32>, tensor<f32> -> tensor<8x4xf32>
  %3 = wok.iota dim 1 : tensor<8x4xf32>
  %4 = wok.add %1, %2 : tensor<8x4xf32>
  %5 = wok.add %4, %3 : tensor<8x4xf32>
  wok.return %5 : tensor<8x4xf32>
}

// Extents of computed tensors are read from arguments, not from what is in a fusion.
// CHECK-LABEL: wok.subgraph @extents
// CHECK: %[[M:.+]] = wok.dim %[[X:.+]], 0
// CHECK: %[[N:.+]] = wok.dim %[[Y:.+]], 0
// CHECK: %[[E:.+]] = arith.addi
// CHECK: wok.fusion
wok.subgraph @extents(%x: tensor<?xf32>, %y: tensor<?xf32>, %v: tensor<f32>) -> tensor<?xf32> {
  %0 = wok.exp %x : tensor<?xf32>
  %1 = wok.concat %0, %y dim 0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %n = wok.dim %1, 0 : tensor<?xf32>
  %2 = wok.broadcast %v extents [%n] dims [] : tensor<f32> -> tensor<?xf32>
  %3 = wok.add %1, %2 : tensor<?xf32>
  wok.return %3 : tensor<?xf32>
}

// A sum along no dimension is x + 0.0: the kernel has no reduction.
// CHECK-LABEL: wok.subgraph @empty_reduction
// CHECK: wok.fusion
// CHECK: wok.constant dense<0.000000e+00>
// CHECK: wok.add
wok.subgraph @empty_reduction(%x: tensor<f32>) -> tensor<f32> {
  %0 = wok.reduce sum %x dims [] : tensor<f32> -> tensor<f32>
  wok.return %0 : tensor<f32>
}

// What is planned already is left alone.
// CHECK-LABEL: wok.subgraph @planned
// CHECK: wok.fusion(%{{.*}}) outs(
wok.subgraph @planned(%x: memref<8xf32>, %out: memref<8xf32>) {
  wok.fusion(%x) outs(%out : memref<8xf32>) : (memref<8xf32>) -> () {
  ^bb0(%x0: tensor<8xf32>):
    %s = wok.neg %x0 : tensor<8xf32>
    wok.yield %s : tensor<8xf32>
  }
  wok.return
}

// What is moved is written for the contraction; the other kernel moves it for itself.
// CHECK-LABEL: wok.subgraph @moved_twice(
// CHECK-SAME: %[[X:.+]]: tensor<8x8xf32>, %[[W:.+]]: tensor<8x8xf32>)
// CHECK: %[[T:.+]] = wok.fusion(%[[X]]) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[P:.+]] = wok.contract %[[T]], %[[W]]
// CHECK: %[[S:.+]] = wok.fusion(%[[X]], %[[P]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: wok.transpose
// CHECK-NEXT: wok.add
// CHECK: wok.return %[[S]]
wok.subgraph @moved_twice(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = wok.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = wok.contract %0, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = wok.add %0, %1 : tensor<8x8xf32>
  wok.return %2 : tensor<8x8xf32>
}
