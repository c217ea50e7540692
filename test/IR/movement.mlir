// RUN: wok-opt %s --verify-roundtrip | FileCheck %s
// RUN: wok-opt %s --mlir-print-op-generic | wok-opt | FileCheck %s

// CHECK-LABEL: wok.subgraph @movement
wok.subgraph @movement(%x: tensor<4x?xf32>, %v: tensor<f32>, %i: tensor<3x?xi64>) -> tensor<3x?x?xf32> {
  // CHECK: %[[N:.+]] = wok.dim %{{.*}}, 1 : tensor<4x?xf32>
  %n = wok.dim %x, 1 : tensor<4x?xf32>
  // CHECK: wok.reshape %{{.*}} extents [%[[N]]] : tensor<4x?xf32> -> tensor<2x2x?xf32>
  %0 = wok.reshape %x extents [%n] : tensor<4x?xf32> -> tensor<2x2x?xf32>
  // CHECK: wok.transpose %{{.*}} [2, 0, 1] : tensor<2x2x?xf32> -> tensor<?x2x2xf32>
  %1 = wok.transpose %0 [2, 0, 1] : tensor<2x2x?xf32> -> tensor<?x2x2xf32>
  // CHECK: wok.reshape %{{.*}} extents [%[[N]]] : tensor<?x2x2xf32> -> tensor<?x4xf32>
  %2 = wok.reshape %1 extents [%n] : tensor<?x2x2xf32> -> tensor<?x4xf32>
  // CHECK: wok.slice %{{.*}} offsets [%[[N]], 3] sizes [%[[N]], 2] strides [-1, -2] : tensor<?x4xf32> -> tensor<?x2xf32>
  %3 = wok.slice %2 offsets [%n, 3] sizes [%n, 2] strides [-1, -2] : tensor<?x4xf32> -> tensor<?x2xf32>
  // CHECK: wok.broadcast %{{.*}} extents [%[[N]]] dims [] : tensor<f32> -> tensor<?x1xf32>
  %4 = wok.broadcast %v extents [%n] dims [] : tensor<f32> -> tensor<?x1xf32>
  // CHECK: wok.concat %{{.*}}, %{{.*}} dim 1 : tensor<?x2xf32>, tensor<?x1xf32> -> tensor<?x3xf32>
  %5 = wok.concat %3, %4 dim 1 : tensor<?x2xf32>, tensor<?x1xf32> -> tensor<?x3xf32>
  // CHECK: wok.pad %{{.*}}, %{{.*}} low [0, 1] high [2, 0] : tensor<?x3xf32>, tensor<f32> -> tensor<?x4xf32>
  %6 = wok.pad %5, %v low [0, 1] high [2, 0] : tensor<?x3xf32>, tensor<f32> -> tensor<?x4xf32>
  // CHECK: wok.transpose
  %7 = wok.transpose %6 [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  // CHECK: wok.gather %{{.*}}, %{{.*}} dim 0 : tensor<4x?xf32>, tensor<3x?xi64> -> tensor<3x?x?xf32>
  %8 = wok.gather %7, %i dim 0 : tensor<4x?xf32>, tensor<3x?xi64> -> tensor<3x?x?xf32>
  wok.return %8 : tensor<3x?x?xf32>
}

// CHECK-LABEL: wok.subgraph @sources
wok.subgraph @sources(%x: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<2xui8>) {
  %n = wok.dim %x, 0 : tensor<?xf32>
  // CHECK: wok.iota dim 1 extents [%{{.*}}] : tensor<?x4xf32>
  %0 = wok.iota dim 1 extents [%n] : tensor<?x4xf32>
  // CHECK: wok.iota dim 0 : tensor<2xui8>
  %1 = wok.iota dim 0 : tensor<2xui8>
  // CHECK: wok.constant dense<[0, 255]> : tensor<2xui8>
  %2 = wok.constant dense<[0, 255]> : tensor<2xui8>
  %3 = wok.add %1, %2 : tensor<2xui8>
  wok.return %0, %3 : tensor<?x4xf32>, tensor<2xui8>
}
