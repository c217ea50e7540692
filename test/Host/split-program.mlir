// RUN: wok-opt %s --wok-split-at-breaks -o %t.mlir
// RUN: wok-run %t.mlir --counts --args='1; true' --args='1; true' --args='1; false' | FileCheck %s

// A program that was split beforehand: its guard says when its subgraphs may run.
// CHECK:      @f(1; true) = 12
// CHECK-NEXT:   subgraphs=2 {{.*}}misses=2 runs=2 breaks=1 captures=2
// CHECK-NEXT: @f(1; true) = 12
// CHECK-NEXT:   hits=2 runs=2 breaks=1
// Where the guard fails, the operations behind it are executed one by one.
// CHECK-NEXT: @f(1; false) = 6
// CHECK-NEXT:   hits=1 misses=1 runs=1 breaks=1 ops_compiled=2 ops_eager=2
wok.frame @f(%v: tensor<f32>, %flag: tensor<i1>) -> tensor<f32> {
  %one = wok.constant dense<1.0> : tensor<f32>
  %two = wok.constant dense<2.0> : tensor<f32>
  %three = wok.constant dense<3.0> : tensor<f32>
  %0 = wok.mul %v, %two : tensor<f32>
  %1 = wok.add %0, %one : tensor<f32>
  %2 = wok.break "branch on data" by "branch"(%flag) : (tensor<i1>) -> tensor<f32> {
    %6 = wok.add %1, %one : tensor<f32>
    wok.yield %6 : tensor<f32>
  }, {
    %6 = wok.sub %1, %one : tensor<f32>
    wok.yield %6 : tensor<f32>
  }
  %3 = wok.mul %2, %three : tensor<f32>
  wok.return %3 : tensor<f32>
}
