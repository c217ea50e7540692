// RUN: wok-run %s --entry=f --counts --args='1; true' --args='1; true' --args='1; false' \
// RUN:   --args='1; false' --args='1; true' | FileCheck %s
// RUN: wok-run %s --entry=f --events --args='1; true' --args='1; false' \
// RUN:   | FileCheck %s --check-prefix=EVENTS

// Three subgraphs, two breaks; ((1 * 2 + 1) + 1) * 3 = 12, 2 * 12 + 1 = 25, 25 + 5 = 30.
// CHECK:      @f(1; true) = 30
// CHECK-NEXT:   subgraphs=3 kernels=3 misses=3 runs=3 breaks=2 captures=3 ops_compiled=4 ops_eager=3
// Again: every site hits.
// CHECK-NEXT: @f(1; true) = 30
// CHECK-NEXT:   hits=3 runs=3 breaks=2 ops_compiled=4 ops_eager=3
// The other arm: the guard behind the branch misses, and its subgraph is captured again. The code is
// the same as before and is not compiled again.
// CHECK-NEXT: @f(1; false) = 18
// CHECK-NEXT:   subgraphs=1 hits=2 misses=1 runs=3 breaks=2 captures=1 ops_compiled=4 ops_eager=3
// Either way hits from now on.
// CHECK-NEXT: @f(1; false) = 18
// CHECK-NEXT:   hits=3 runs=3 breaks=2 ops_compiled=4 ops_eager=3
// CHECK-NEXT: @f(1; true) = 30
// CHECK-NEXT:   hits=3 runs=3 breaks=2 ops_compiled=4 ops_eager=3

// EVENTS:      missed at worked-example.mlir:[[#ENTRY:]]: nothing captured yet
// EVENTS-NEXT: captured at worked-example.mlir:[[#ENTRY+4]]: [mul 2, add 1]
// EVENTS:      {{^}}  ran
// EVENTS-NEXT: broke at worked-example.mlir:[[#ENTRY+6]]: branch on data
// EVENTS-NEXT: missed at worked-example.mlir:[[#ENTRY+13]]: nothing captured yet
// EVENTS-NEXT: captured at worked-example.mlir:[[#ENTRY+13]]: [mul 3]
// EVENTS:      {{^}}  ran
// EVENTS-NEXT: broke at worked-example.mlir:[[#ENTRY+14]]: call of an unknown function
// EVENTS-NEXT: missed at worked-example.mlir:[[#ENTRY+16]]: nothing captured yet
// EVENTS-NEXT: captured at worked-example.mlir:[[#ENTRY+16]]: [add 5]
// EVENTS:      {{^}}  ran
// EVENTS-NEXT: @f(1; true) = 30
// EVENTS-NEXT: hit at worked-example.mlir:[[#ENTRY]]
// EVENTS-NEXT: {{^}}  ran
// EVENTS-NEXT: broke
// EVENTS-NEXT: missed at worked-example.mlir:[[#ENTRY+13]]: not so: the branch goes the way it went (true)
// EVENTS-NEXT: captured at worked-example.mlir:[[#ENTRY+13]]: [mul 3]
// EVENTS:      {{^}}  ran
// EVENTS-NEXT: broke
// EVENTS-NEXT: hit at worked-example.mlir:[[#ENTRY+16]]
// EVENTS-NEXT: {{^}}  ran
// EVENTS-NEXT: @f(1; false) = 18

wok.frame @f(%v: tensor<f32>, %flag: tensor<i1>) -> tensor<f32> {
  %one = wok.constant dense<1.0> : tensor<f32>
  %two = wok.constant dense<2.0> : tensor<f32>
  %three = wok.constant dense<3.0> : tensor<f32>
  %five = wok.constant dense<5.0> : tensor<f32>
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
  %4 = wok.break "call of an unknown function" by "call"(%3) config {callee = @call_external}
    : (tensor<f32>) -> tensor<f32>
  %5 = wok.add %4, %five : tensor<f32>
  wok.return %5 : tensor<f32>
}

wok.frame @call_external(%v: tensor<f32>) -> tensor<f32> attributes {external} {
  %one = wok.constant dense<1.0> : tensor<f32>
  %two = wok.constant dense<2.0> : tensor<f32>
  %0 = wok.mul %v, %two : tensor<f32>
  %1 = wok.add %0, %one : tensor<f32>
  wok.return %1 : tensor<f32>
}
