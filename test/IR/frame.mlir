// RUN: wok-opt %s | wok-opt | FileCheck %s
// RUN: wok-opt %s --mlir-print-op-generic | wok-opt | FileCheck %s

// CHECK-LABEL: wok.frame @f(%{{.+}}: tensor<f32>, %{{.+}}: tensor<i1>) -> tensor<f32>
wok.frame @f(%v: tensor<f32>, %flag: tensor<i1>) -> tensor<f32> {
  // CHECK: %[[A:.+]] = wok.run @double(%{{.+}}) : (tensor<f32>) -> tensor<f32>
  %0 = wok.run @double(%v) : (tensor<f32>) -> tensor<f32>
  // CHECK: wok.break "print" by "print"(%[[A]]) : (tensor<f32>) -> ()
  wok.break "print" by "print"(%0) : (tensor<f32>) -> ()
  // CHECK: wok.break "a store outside" by "append"(%[[A]]) config {list = "log"} : (tensor<f32>) -> ()
  wok.break "a store outside" by "append"(%0) config {list = "log"} : (tensor<f32>) -> ()
  // CHECK: wok.break "branch on data" by "branch"(%{{.+}}) : (tensor<i1>) -> tensor<f32> {
  %1 = wok.break "branch on data" by "branch"(%flag) : (tensor<i1>) -> tensor<f32> {
    // CHECK-NEXT: wok.neg %[[A]]
    %2 = wok.neg %0 : tensor<f32>
    wok.yield %2 : tensor<f32>
  // CHECK: }, {
  }, {
    // CHECK-NEXT: wok.yield %[[A]]
    wok.yield %0 : tensor<f32>
  }
  // CHECK: wok.guard %{{.+}} is dense<true> : tensor<i1>
  wok.guard %flag is dense<true> : tensor<i1>
  // CHECK: wok.break "call" by "call"(%{{.+}}) config {callee = @g}
  %3 = wok.break "call" by "call"(%1) config {callee = @g} : (tensor<f32>) -> tensor<f32>
  wok.return %3 : tensor<f32>
}

// CHECK-LABEL: wok.subgraph @double
wok.subgraph @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = wok.add %x, %x : tensor<f32>
  wok.return %0 : tensor<f32>
}

// CHECK-LABEL: wok.frame @g
// CHECK-SAME: attributes {external}
wok.frame @g(%x: tensor<f32>) -> tensor<f32> attributes {external} {
  wok.return %x : tensor<f32>
}

// CHECK-LABEL: wok.frame @extents
wok.frame @extents(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = wok.dim %x, 0 : tensor<?x4xf32>
  %one = wok.constant dense<1.0> : tensor<f32>
  %ones = wok.broadcast %one extents [%n] dims [] : tensor<f32> -> tensor<?x4xf32>
  %0 = wok.add %x, %ones : tensor<?x4xf32>
  wok.return %0 : tensor<?x4xf32>
}
