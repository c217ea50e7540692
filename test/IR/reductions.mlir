// RUN: wok-opt %s --verify-roundtrip | FileCheck %s
// RUN: wok-opt %s --mlir-print-op-generic | wok-opt | FileCheck %s

// CHECK-LABEL: wok.subgraph @reduce
wok.subgraph @reduce(%x: tensor<4x?x8xf32>, %b: tensor<4x8xi1>) -> (tensor<?xf32>, tensor<4x8xi64>, tensor<i1>) {
  // CHECK: wok.reduce sum %{{.*}} dims [0, 2] : tensor<4x?x8xf32> -> tensor<?xf32>
  %0 = wok.reduce sum %x dims [0, 2] : tensor<4x?x8xf32> -> tensor<?xf32>
  // CHECK: wok.arg_reduce max %{{.*}} dim 1 : tensor<4x?x8xf32> -> tensor<4x8xi64>
  %1 = wok.arg_reduce max %x dim 1 : tensor<4x?x8xf32> -> tensor<4x8xi64>
  // CHECK: wok.reduce any %{{.*}} dims [0, 1] : tensor<4x8xi1> -> tensor<i1>
  %2 = wok.reduce any %b dims [0, 1] : tensor<4x8xi1> -> tensor<i1>
  wok.return %0, %1, %2 : tensor<?xf32>, tensor<4x8xi64>, tensor<i1>
}

// CHECK-LABEL: wok.subgraph @contract
wok.subgraph @contract(%a: tensor<2x?x8xbf16>, %b: tensor<2x8x3xbf16>) -> tensor<2x?x?xbf16> {
  // CHECK: wok.contract %{{.*}}, %{{.*}} : tensor<2x?x8xbf16>, tensor<2x8x3xbf16> -> tensor<2x?x3xbf16>
  %0 = wok.contract %a, %b : tensor<2x?x8xbf16>, tensor<2x8x3xbf16> -> tensor<2x?x3xbf16>
  // CHECK: wok.contract %{{.*}}, %{{.*}} {transpose_lhs, transpose_rhs}
  %1 = wok.contract %b, %a {transpose_lhs, transpose_rhs} : tensor<2x8x3xbf16>, tensor<2x?x8xbf16> -> tensor<2x3x?xbf16>
  // CHECK: wok.contract %{{.*}}, %{{.*}} : tensor<2x?x3xbf16>, tensor<2x3x?xbf16> -> tensor<2x?x?xbf16>
  %2 = wok.contract %0, %1 : tensor<2x?x3xbf16>, tensor<2x3x?xbf16> -> tensor<2x?x?xbf16>
  wok.return %2 : tensor<2x?x?xbf16>
}
