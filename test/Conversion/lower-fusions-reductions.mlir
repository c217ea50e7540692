// RUN: wok-opt %s --wok-plan-memory --wok-lower-fusions="features=+avx,+avx2,+fma" --split-input-file | FileCheck %s

// A softmax is one pass over each row: the maximum, then exponentials that are
// kept in the output's row while they are summed, then the quotients.
// CHECK-LABEL: func.func private @softmax_kernel0
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: math.exp
// CHECK: scf.yield
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[E:.*]] = math.exp
// CHECK: llvm.store %[[E]]
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.divf
// CHECK-LABEL: func.func @softmax(
// CHECK: kernels = 1
wok.subgraph @softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = wok.fusion(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  ^bb0(%a: tensor<64x1024xf32>):
    %m = wok.reduce max %a dims [1] : tensor<64x1024xf32> -> tensor<64xf32>
    %mb = wok.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x1024xf32>
    %d = wok.sub %a, %mb : tensor<64x1024xf32>
    %e = wok.exp %d : tensor<64x1024xf32>
    %s = wok.reduce sum %e dims [1] : tensor<64x1024xf32> -> tensor<64xf32>
    %sb = wok.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x1024xf32>
    %y = wok.div %e, %sb : tensor<64x1024xf32>
    wok.yield %y : tensor<64x1024xf32>
  }
  wok.return %0 : tensor<64x1024xf32>
}

// -----

// A long sum of floats is made of runs of 64 vectors in flight each.
// CHECK-LABEL: func.func private @runs_kernel0
// CHECK: scf.for %{{.*}} step %c1
// CHECK: scf.for %{{.*}} step %c2048 iter_args
// CHECK: scf.for %{{.*}} step %c32 iter_args
// CHECK-COUNT-4: arith.addf
wok.subgraph @runs(%x: tensor<4x65536xf32>) -> tensor<4xf32> {
  %0 = wok.fusion(%x) : (tensor<4x65536xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x65536xf32>):
    %s = wok.reduce sum %a dims [1] : tensor<4x65536xf32> -> tensor<4xf32>
    wok.yield %s : tensor<4xf32>
  }
  wok.return %0 : tensor<4xf32>
}

// -----

// Columns: lanes run along what is kept.
// CHECK-LABEL: func.func private @columns_kernel0
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @columns(
wok.subgraph @columns(%x: tensor<100x256xf32>) -> tensor<256xf32> {
  %0 = wok.fusion(%x) : (tensor<100x256xf32>) -> tensor<256xf32> {
  ^bb0(%a: tensor<100x256xf32>):
    %s = wok.reduce sum %a dims [0] : tensor<100x256xf32> -> tensor<256xf32>
    wok.yield %s : tensor<256xf32>
  }
  wok.return %0 : tensor<256xf32>
}

// -----

// Everything reduced: a fixed number of blocks in parallel, then their combination.
// CHECK-LABEL: func.func private @everything_kernel0
// CHECK-LABEL: func.func private @everything_kernel1
// CHECK: llvm.load %{{.*}} -> vector<64xf32>
// CHECK-COUNT-6: vector.shuffle
// CHECK-LABEL: func.func @everything(
// CHECK: call @wok_parallel_for(%c0{{.*}}, %c64{{.*}}, %c1{{.*}},
// CHECK: call @everything_kernel1
wok.subgraph @everything(%x: tensor<1000x1000xf32>) -> tensor<f32> {
  %0 = wok.fusion(%x) : (tensor<1000x1000xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %b = wok.mul %a, %a : tensor<1000x1000xf32>
    %s = wok.reduce sum %b dims [0, 1] : tensor<1000x1000xf32> -> tensor<f32>
    wok.yield %s : tensor<f32>
  }
  wok.return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func private @argmax_kernel0
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf uno
// CHECK: arith.cmpi slt
wok.subgraph @argmax(%x: tensor<4x64xf32>) -> tensor<4xi64> {
  %0 = wok.fusion(%x) : (tensor<4x64xf32>) -> tensor<4xi64> {
  ^bb0(%a: tensor<4x64xf32>):
    %s = wok.arg_reduce max %a dim 1 : tensor<4x64xf32> -> tensor<4xi64>
    wok.yield %s : tensor<4xi64>
  }
  wok.return %0 : tensor<4xi64>
}
