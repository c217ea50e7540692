// RUN: wok-opt %s --wok-lower-to-llvm --split-input-file | FileCheck %s

// Vectors stay vectors: no function of `math` becomes a call or is unrolled.
// CHECK-LABEL: llvm.func @vectors
// CHECK-NOT: llvm.call
// CHECK: llvm.intr.fma(%{{.*}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// CHECK: llvm.intr.sqrt(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
// CHECK: llvm.intr.roundeven(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
// CHECK-NOT: fastmath
// CHECK: llvm.return
func.func @vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.fma %x, %x, %x : vector<8xf32>
  %1 = math.sqrt %0 : vector<8xf32>
  %2 = math.roundeven %1 : vector<8xf32>
  return %2 : vector<8xf32>
}

// -----

// A loop with carried vectors, a masked load, and the address of a kernel.
// CHECK-LABEL: llvm.func @loop
// CHECK: llvm.icmp "slt"
// CHECK: llvm.cond_br
// CHECK: llvm.intr.masked.load
// CHECK-LABEL: llvm.func @launch
// CHECK: llvm.mlir.addressof @kernel : !llvm.ptr
// CHECK: llvm.call @run(%{{.*}}) : (!llvm.ptr) -> i32
func.func private @kernel(index) -> i32
func.func private @run((index) -> i32) -> i32
func.func @loop(%p: !llvm.ptr, %n: index, %zero: vector<8xf32>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %0 = scf.for %i = %c0 to %n step %c8 iter_args(%sum = %zero) -> vector<8xf32> {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<8xi1>
    %x = llvm.intr.masked.load %p, %mask, %zero {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    %next = arith.addf %sum, %x : vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  return %0 : vector<8xf32>
}
func.func @launch() -> i32 {
  %f = func.constant @kernel : (index) -> i32
  %0 = func.call @run(%f) : ((index) -> i32) -> i32
  return %0 : i32
}
