// RUN: wok-opt %s --wok-plan-memory --wok-lower-fusions="features=+avx,+avx2,+fma" --split-input-file | FileCheck %s
// RUN: wok-opt %s --wok-plan-memory --wok-lower-fusions="features=+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx" --split-input-file | FileCheck %s --check-prefix=WIDE

// Dense dimensions are walked as one; vectors in flight; no tail where none is left.
// CHECK-LABEL: func.func private @dense_kernel0
// CHECK-SAME: (%[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %c32
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<8xf32>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<8xf32>
// The tail of a chunk is masked.
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]]
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
// CHECK-LABEL: func.func @dense(
// CHECK: call @wok_parallel_for(%c0{{.*}}, %c512000{{.*}},
// WIDE-LABEL: func.func private @dense_kernel0
// WIDE: vector<16xf32>
wok.subgraph @dense(%x: tensor<512x1000xf32>) -> tensor<512x1000xf32> {
  %y = wok.fusion(%x) : (tensor<512x1000xf32>) -> tensor<512x1000xf32> {
  ^bb0(%a: tensor<512x1000xf32>):
    %b = wok.neg %a : tensor<512x1000xf32>
    wok.yield %b : tensor<512x1000xf32>
  }
  wok.return %y : tensor<512x1000xf32>
}

// -----

// A small kernel is called; nothing is shared out.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: wok_parallel_for
// CHECK: call @small_kernel0(%c0, %c16, %{{.*}})
wok.subgraph @small(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = wok.fusion(%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %b = wok.neg %a : tensor<16xf32>
    wok.yield %b : tensor<16xf32>
  }
  wok.return %y : tensor<16xf32>
}

// -----

// What is the same for a whole row is a scalar in front of the row's loop.
// CHECK-LABEL: func.func private @rows_kernel0
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[S:.*]] = llvm.load %{{.*}} -> f32
// CHECK: %[[E:.*]] = math.exp %[[S]] : f32
// CHECK: %[[V:.*]] = vector.broadcast %[[E]] : f32 to vector<8xf32>
// CHECK: scf.for
// CHECK: arith.mulf %{{.*}}, %[[V]]
wok.subgraph @rows(%x: tensor<4x64xf32>, %s: tensor<4xf32>) -> tensor<4x64xf32> {
  %y = wok.fusion(%x, %s) : (tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x64xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4xf32>):
    %e = wok.exp %b : tensor<4xf32>
    %c = wok.broadcast %e dims [0] : tensor<4xf32> -> tensor<4x64xf32>
    %d = wok.mul %a, %c : tensor<4x64xf32>
    wok.yield %d : tensor<4x64xf32>
  }
  wok.return %y : tensor<4x64xf32>
}

// -----

// Strides that are known at run time only are tested for 1.
// CHECK-LABEL: func.func private @strided_kernel0
// CHECK: %[[DENSE:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[DENSE]] -> (vector<8xf32>)
// CHECK: llvm.load
// CHECK: else
// CHECK: llvm.intr.masked.gather
wok.subgraph @strided(%x: tensor<4x64xf32> {wok.strided}) -> tensor<4x64xf32> {
  %y = wok.fusion(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32> {
  ^bb0(%a: tensor<4x64xf32>):
    %b = wok.neg %a : tensor<4x64xf32>
    wok.yield %b : tensor<4x64xf32>
  }
  wok.return %y : tensor<4x64xf32>
}

// -----

// A zero divisor is reported, and only where a lane is wanted.
// CHECK-LABEL: func.func private @faults_kernel0
// CHECK: %[[STATUS:.*]] = llvm.alloca
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: scf.if %[[ANY]]
// CHECK: llvm.store %{{.*}}, %[[STATUS]]
// CHECK: return %{{[0-9]+}} : i32
wok.subgraph @faults(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  %z = wok.fusion(%x, %y) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32> {
  ^bb0(%a: tensor<64xi32>, %b: tensor<64xi32>):
    %c = wok.floor_div %a, %b : tensor<64xi32>
    wok.yield %c : tensor<64xi32>
  }
  wok.return %z : tensor<64xi32>
}

// -----

// Half floats are loaded as bits and computed in f32, rounded after each operation.
// CHECK-LABEL: func.func private @half_kernel0
// CHECK: llvm.load %{{.*}} -> vector<8xi16>
// CHECK: arith.extf
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: arith.truncf
// CHECK: arith.addf %{{.*}} : vector<8xf32>
wok.subgraph @half(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %y = wok.fusion(%x) : (tensor<64xbf16>) -> tensor<64xbf16> {
  ^bb0(%a: tensor<64xbf16>):
    %b = wok.mul %a, %a : tensor<64xbf16>
    %c = wok.add %b, %a : tensor<64xbf16>
    wok.yield %c : tensor<64xbf16>
  }
  wok.return %y : tensor<64xbf16>
}

// -----

// Padding reads nothing outside of its operand.
// CHECK-LABEL: func.func private @pad_kernel0
// CHECK: arith.cmpi ult
// CHECK: llvm.intr.masked.load
// CHECK: arith.select
wok.subgraph @pad(%x: tensor<60xf32>, %v: tensor<f32>) -> tensor<64xf32> {
  %y = wok.fusion(%x, %v) : (tensor<60xf32>, tensor<f32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<60xf32>, %b: tensor<f32>):
    %c = wok.pad %a, %b low [3] high [1] : tensor<60xf32>, tensor<f32> -> tensor<64xf32>
    wok.yield %c : tensor<64xf32>
  }
  wok.return %y : tensor<64xf32>
}

// -----

// A contraction fills the arguments of the runtime's function.
// CHECK-LABEL: func.func @contract(
// CHECK: %[[ARGS:.*]] = llvm.alloca %c16_i64 x i64
// CHECK: call @wok_contract(%[[ARGS]]) : (!llvm.ptr) -> i32
wok.subgraph @contract(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> tensor<4x2xf32> {
  %z = wok.contract %x, %y {transpose_rhs} : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<4x2xf32>
  wok.return %z : tensor<4x2xf32>
}

// -----

// Symbolic extents come from `dims`.
// CHECK-LABEL: func.func @symbolic(
// CHECK-SAME: %[[DATA:.*]]: !llvm.ptr, %[[DIMS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: llvm.load %[[DIMS]] : !llvm.ptr -> i64
// CHECK: call @wok_parallel_for
wok.subgraph @symbolic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = wok.fusion(%x) : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %b = wok.neg %a : tensor<?xf32>
    wok.yield %b : tensor<?xf32>
  }
  wok.return %y : tensor<?xf32>
}

// -----

// What runs backwards is loaded forwards and turned, masks too.
// CHECK-LABEL: func.func private @backwards_kernel0
// CHECK: %[[V:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: vector.shuffle %[[V]], %[[V]] [7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[TURNED:.*]] = vector.shuffle %[[MASK]], %[[MASK]] [7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: llvm.intr.masked.load %{{.*}}, %[[TURNED]]
// CHECK-NOT: llvm.intr.masked.gather
wok.subgraph @backwards(%x: tensor<100xf32>) -> tensor<100xf32> {
  %y = wok.fusion(%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %b = wok.slice %a offsets [99] sizes [100] strides [-1] : tensor<100xf32> -> tensor<100xf32>
    %c = wok.neg %b : tensor<100xf32>
    wok.yield %c : tensor<100xf32>
  }
  wok.return %y : tensor<100xf32>
}

// -----

// Numbers of places fit 32 bits, which convert to floats as vectors.
// CHECK-LABEL: func.func private @places_kernel0
// CHECK: %[[NARROW:.*]] = arith.trunci %{{.*}} : vector<8xi64> to vector<8xi32>
// CHECK: %[[LONG:.*]] = arith.extsi %[[NARROW]]
// CHECK: arith.sitofp %[[LONG]]
wok.subgraph @places() -> tensor<100xf32> {
  %y = wok.fusion() : () -> tensor<100xf32> {
    %i = wok.iota dim 0 : tensor<100xi64>
    %f = wok.cast %i : tensor<100xi64> to tensor<100xf32>
    wok.yield %f : tensor<100xf32>
  }
  wok.return %y : tensor<100xf32>
}

// -----

// Lanes of a tail that are not wanted hold ones, also where floats are stored as
// integers: 0x3C00 is 1.0 in f16.
// CHECK-LABEL: func.func private @half_tail_kernel0
// CHECK: %[[ONES:.*]] = arith.constant dense<15360> : vector<8xi16>
// CHECK: llvm.intr.masked.load %{{.*}}, %{{.*}}, %[[ONES]]
wok.subgraph @half_tail(%x: tensor<13xf16>, %y: tensor<13xf16>) -> tensor<13xf16> {
  %0 = wok.fusion(%x, %y) : (tensor<13xf16>, tensor<13xf16>) -> tensor<13xf16> {
  ^bb0(%a: tensor<13xf16>, %b: tensor<13xf16>):
    %q = wok.div %a, %b : tensor<13xf16>
    wok.yield %q : tensor<13xf16>
  }
  wok.return %0 : tensor<13xf16>
}

// -----

// Where lanes read across memory, a few rows are walked together: for each
// vector of the inner dimension, all of them.
// CHECK-LABEL: func.func private @across_kernel0(
// CHECK-SAME: %[[BEGIN:.*]]: index, %[[END:.*]]: index
// CHECK: scf.for %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step %c16
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c512{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %[[FIRST]] to
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.store {{.*}} : vector<8xf32>
wok.subgraph @across(%x: tensor<512x64xf32>) -> tensor<64x512xf32> {
  %y = wok.fusion(%x) : (tensor<512x64xf32>) -> tensor<64x512xf32> {
  ^bb0(%a: tensor<512x64xf32>):
    %t = wok.transpose %a [1, 0] : tensor<512x64xf32> -> tensor<64x512xf32>
    %b = wok.neg %t : tensor<64x512xf32>
    wok.yield %b : tensor<64x512xf32>
  }
  wok.return %y : tensor<64x512xf32>
}
