// RUN: not wok-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not wok-run %s --entry=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not wok-run %s --entry=divide --args=1 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not wok-run %s --entry=divide --args='1; x' 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not wok-run %s --entry=divide --args='1; [1, 2]' 2>&1 | FileCheck %s --check-prefix=EXTENTS
// RUN: not wok-run %s --entry=divide --args='1; 0' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not wok-run %s --entry=fetch --args='[1, 2, 3]; 3' 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not wok-run %s --entry=handler 2>&1 | FileCheck %s --check-prefix=HANDLER
// RUN: not wok-run %s --entry=list --args=1 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not wok-run %s --entry=missing --args=1 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not wok-run %s --entry=forever --args=1 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not wok-run %s --entry=wrong --args=1 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not wok-run %s --compile-to=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not wok-run %t.does-not-exist 2>&1 | FileCheck %s --check-prefix=FILE

// SEVERAL: wok-run: several things to run or none: say --entry=NAME
// NONE:    wok-run: no frame and no subgraph @none
// COUNT:   wok-run: 2 arguments needed, not 1: '1'
// NUMBER:  wok-run: argument 1: 'x' is no i32
// EXTENTS: wok-run: argument 1: '[1, 2]' does not have the wanted extents
// PHASE:   wok-run: no phase 'nowhere' that ends in MLIR
// FILE:    could not open input file

// The subgraph is given up, and the operation that fails says so.
// ZERO: errors.mlir:[[#@LINE+3]]: 'wok.div' failed: integer division by zero
wok.frame @divide(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = wok.add %x, %x : tensor<i32>
  %1 = wok.div %0, %y : tensor<i32>
  wok.return %1 : tensor<i32>
}

// INDEX: errors.mlir:[[#@LINE+2]]: 'wok.gather' failed: an index is out of range
wok.frame @fetch(%x: tensor<3xf32>, %i: tensor<i64>) -> tensor<f32> {
  %0 = wok.gather %x, %i dim 0 : tensor<3xf32>, tensor<i64> -> tensor<f32>
  wok.return %0 : tensor<f32>
}

// HANDLER: errors.mlir:[[#@LINE+2]]: 'wok.break' no handler 'dance'
wok.frame @handler() {
  wok.break "something else" by "dance"() : () -> ()
  wok.return
}

// LIST:      needs the name of a list
// LIST-NEXT: in the break "a store" at {{.*}}errors.mlir:[[#@LINE+2]]
wok.frame @list(%x: tensor<f32>) {
  wok.break "a store" by "append"(%x) : (tensor<f32>) -> ()
  wok.return
}

// MISSING: no frame and no subgraph @nobody
wok.frame @missing(%x: tensor<f32>) {
  wok.break "call" by "call"(%x) config {callee = @nobody} : (tensor<f32>) -> ()
  wok.return
}

// DEEP: calls go too deep
wok.frame @forever(%x: tensor<f32>) {
  wok.break "call" by "call"(%x) config {callee = @forever} : (tensor<f32>) -> ()
  wok.return
}

// RESULTS: 'wok.break' the handler 'print' gave other results than the types say
wok.frame @wrong(%x: tensor<f32>) -> tensor<f32> {
  %0 = wok.break "print" by "print"(%x) : (tensor<f32>) -> tensor<f32>
  wok.return %0 : tensor<f32>
}
