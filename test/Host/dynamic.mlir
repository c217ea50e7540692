// RUN: wok-run %s --entry=f --counts --args='[1, 2]; [3, 4]' --args='[1, 2, 3]; [4, 5, 6]' | FileCheck %s
// RUN: not wok-run %s --entry=f --args='[1, 2]; [3]' 2>&1 | FileCheck %s --check-prefix=UNEQUAL
// RUN: wok-run %s --entry=row --args='[[1, 2], [3, 4], [5, 6]]' | FileCheck %s --check-prefix=ROW
// RUN: not wok-run %s --entry=row --args='[[1, 2]]' 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// One subgraph for all extents.
// CHECK:      @f([1, 2]; [3, 4]) = [4, 6], 10
// CHECK-NEXT:   subgraphs=1 {{.*}}captures=1
// CHECK-NEXT: @f([1, 2, 3]; [4, 5, 6]) = [5, 7, 9], 21
// CHECK-NEXT:   hits=1

// Extents that the program does not allow are refused before any code runs on them.
// UNEQUAL: dynamic.mlir:[[#@LINE+2]]: 'wok.add' cannot be done: wok.add: operands have different extents
wok.frame @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %0 = wok.add %x, %y : tensor<?xf32>
  %1 = wok.reduce sum %0 dims [0] : tensor<?xf32> -> tensor<f32>
  wok.return %0, %1 : tensor<?xf32>, tensor<f32>
}

// ROW: @row({{.*}}) = {{\[}}[3, 4]]
// OUTSIDE: 'wok.slice' cannot be done: wok.slice: reads outside of its operand
wok.frame @row(%x: tensor<?x?xf32>) -> tensor<1x?xf32> {
  %n = wok.dim %x, 1 : tensor<?x?xf32>
  %0 = wok.slice %x offsets [1, 0] sizes [1, %n] strides [1, 1] : tensor<?x?xf32> -> tensor<1x?xf32>
  %1 = wok.abs %0 : tensor<1x?xf32>
  wok.return %1 : tensor<1x?xf32>
}
