// Whatever is asked for: a diagnostic, never a crash.
// RUN: not wok-run %s --entry=huge_input 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not wok-run %s --entry=huge_input --args=1 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not wok-run %s --entry=huge_output --args=1 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not wok-run %s --entry=huge_constant 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not wok-run %s --entry=product --args='[1, 2, 3, 4]' 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: not wok-run %s --entry=negative --args='[1, 2]' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: wok-run %s --entry=unread --args='[1, 2]; [2, 1]' | FileCheck %s --check-prefix=READ
// RUN: not wok-run %s --entry=unread --args='[1, 2]; [2, 0]' 2>&1 | FileCheck %s --check-prefix=UNREAD
// RUN: not wok-run %s --entry=run_unread --args='[1, 2]; [2, 0]' 2>&1 | FileCheck %s --check-prefix=UNREAD
// RUN: wok-run %s --entry=frame_unread --args='[1, 2]; [2, 1]' | FileCheck %s --check-prefix=READ
// RUN: not wok-run %s --entry=frame_unread --args='[1, 2]; [2, 1]' --args='[1, 2]; [2, 0]' 2>&1 | FileCheck %s --check-prefix=FRAME
// RUN: wok-run %s --entry=only_a_fault --args='[1, 2]; [2, 1]'
// RUN: not wok-run %s --entry=only_a_fault --args='[1, 2]; [2, 1]' --args='[1, 2]; [2, 0]' 2>&1 | FileCheck %s --check-prefix=FRAME-ONLY
// RUN: not wok-run %S 2>&1 | FileCheck %s --check-prefix=FOLDER

// FOLDER: could not open input file

// INPUT: wok-run: argument 0: '{{.*}}': out of memory
wok.frame @huge_input(%x: tensor<1000000000000000xf32>) {
  wok.return
}

// OUTPUT: 'wok.broadcast' failed: out of memory
wok.frame @huge_output(%x: tensor<f32>) -> tensor<1000000000000000xf32> {
  %0 = wok.broadcast %x dims [] : tensor<f32> -> tensor<1000000000000000xf32>
  wok.return %0 : tensor<1000000000000000xf32>
}

// CONSTANT: 'wok.break' out of memory
wok.frame @huge_constant() -> tensor<1000000000000000xf32> {
  %0 = wok.constant dense<1.0> : tensor<1000000000000000xf32>
  wok.break "shown" by "print"(%0) : (tensor<1000000000000000xf32>) -> ()
  %1 = wok.neg %0 : tensor<1000000000000000xf32>
  wok.return %1 : tensor<1000000000000000xf32>
}

// Extents that are known at run time only.
// PRODUCT: 'wok.broadcast' cannot be done: wok.broadcast: {{.*}}
wok.subgraph @product(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %n = wok.dim %x, 0 : tensor<?xf32>
  %c = arith.constant 2305843009213693952 : index
  %m = arith.addi %n, %c : index
  %y = wok.broadcast %x extents [%m, %n] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
  wok.return %y : tensor<?x?xf32>
}

// NEGATIVE: 'wok.slice' cannot be done: wok.slice: reads outside of its operand
wok.subgraph @negative(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = wok.dim %x, 0 : tensor<?xf32>
  %c = arith.constant 5 : index
  %m = arith.subi %n, %c : index
  %y = wok.slice %x offsets [5] sizes [%m] strides [1] : tensor<?xf32> -> tensor<?xf32>
  wok.return %y : tensor<?xf32>
}

// READ: = [3, 3]
// UNREAD: failed: integer division by zero
wok.subgraph @unread(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = wok.floor_div %x, %y : tensor<2xi32>
  wok.demand %0 : tensor<2xi32>
  %1 = wok.add %x, %y : tensor<2xi32>
  wok.return %1 : tensor<2xi32>
}

wok.frame @run_unread(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = wok.run @unread(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  wok.return %0 : tensor<2xi32>
}

// FRAME: hostile.mlir:[[#@LINE+2]]: 'wok.div' failed: integer division by zero
wok.frame @frame_unread(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = wok.div %x, %y : tensor<2xi32>
  %1 = wok.add %x, %y : tensor<2xi32>
  wok.return %1 : tensor<2xi32>
}

// FRAME-ONLY: hostile.mlir:[[#@LINE+2]]: 'wok.div' failed: integer division by zero
wok.frame @only_a_fault(%x: tensor<2xi32>, %y: tensor<2xi32>) {
  %0 = wok.div %x, %y : tensor<2xi32>
  wok.return
}
