// RUN: wok-opt %s --verify-roundtrip | FileCheck %s
// RUN: wok-opt %s --mlir-print-op-generic | wok-opt | FileCheck %s

// Every elementwise operation prints and parses, on static and dynamic extents.

// CHECK-LABEL: wok.subgraph @floats
wok.subgraph @floats(%x: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: wok.neg %{{.*}} : tensor<4x?xf32>
  %0 = wok.neg %x : tensor<4x?xf32>
  %1 = wok.abs %0 : tensor<4x?xf32>
  %2 = wok.sign %1 : tensor<4x?xf32>
  %3 = wok.exp %2 : tensor<4x?xf32>
  %4 = wok.exp2 %3 : tensor<4x?xf32>
  %5 = wok.expm1 %4 : tensor<4x?xf32>
  %6 = wok.log %5 : tensor<4x?xf32>
  %7 = wok.log2 %6 : tensor<4x?xf32>
  %8 = wok.log10 %7 : tensor<4x?xf32>
  %9 = wok.log1p %8 : tensor<4x?xf32>
  %10 = wok.sqrt %9 : tensor<4x?xf32>
  %11 = wok.rsqrt %10 : tensor<4x?xf32>
  %12 = wok.sin %11 : tensor<4x?xf32>
  %13 = wok.cos %12 : tensor<4x?xf32>
  %14 = wok.tan %13 : tensor<4x?xf32>
  %15 = wok.tanh %14 : tensor<4x?xf32>
  %16 = wok.erf %15 : tensor<4x?xf32>
  %17 = wok.sigmoid %16 : tensor<4x?xf32>
  %18 = wok.floor %17 : tensor<4x?xf32>
  %19 = wok.ceil %18 : tensor<4x?xf32>
  %20 = wok.round %19 : tensor<4x?xf32>
  // CHECK: wok.trunc
  %21 = wok.trunc %20 : tensor<4x?xf32>
  // CHECK: wok.add %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %22 = wok.add %21, %y : tensor<4x?xf32>
  %23 = wok.sub %22, %y : tensor<4x?xf32>
  %24 = wok.mul %23, %y : tensor<4x?xf32>
  %25 = wok.div %24, %y : tensor<4x?xf32>
  %26 = wok.floor_div %25, %y : tensor<4x?xf32>
  %27 = wok.remainder %26, %y : tensor<4x?xf32>
  %28 = wok.fmod %27, %y : tensor<4x?xf32>
  %29 = wok.pow %28, %y : tensor<4x?xf32>
  %30 = wok.min %29, %y : tensor<4x?xf32>
  %31 = wok.max %30, %y : tensor<4x?xf32>
  // CHECK: wok.fma %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %32 = wok.fma %31, %y, %x : tensor<4x?xf32>
  // CHECK: wok.compare le, %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %33 = wok.compare le, %32, %y : tensor<4x?xf32>
  // CHECK: wok.is_nan %{{.*}} : tensor<4x?xf32>
  %34 = wok.is_nan %32 : tensor<4x?xf32>
  // CHECK: wok.and %{{.*}}, %{{.*}} : tensor<4x?xi1>
  %35 = wok.and %33, %34 : tensor<4x?xi1>
  // CHECK: wok.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %36 = wok.select %35, %32, %y : tensor<4x?xf32>
  wok.return %36 : tensor<4x?xf32>
}

// CHECK-LABEL: wok.subgraph @integers
wok.subgraph @integers(%x: tensor<8xui8>, %y: tensor<8xi64>) -> (tensor<8xui8>, tensor<8xi64>) {
  // CHECK: wok.or %{{.*}} : tensor<8xui8>
  %0 = wok.or %x, %x : tensor<8xui8>
  %1 = wok.xor %0, %x : tensor<8xui8>
  %2 = wok.not %1 : tensor<8xui8>
  %3 = wok.shl %2, %x : tensor<8xui8>
  %4 = wok.shr %3, %x : tensor<8xui8>
  // CHECK: wok.cast %{{.*}} : tensor<8xui8> to tensor<8xi64>
  %5 = wok.cast %4 : tensor<8xui8> to tensor<8xi64>
  %6 = wok.floor_div %y, %5 : tensor<8xi64>
  wok.return %4, %6 : tensor<8xui8>, tensor<8xi64>
}
