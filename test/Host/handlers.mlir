// RUN: wok-run %s --entry=f --args='[1, 2]' --args='[3, 4]' | FileCheck %s

// What breaks do to the world happens in the order of the program, once in each run.
// CHECK:      begin
// CHECK-NEXT: twice: [2, 4]
// CHECK-NEXT: [2, 4] 7
// CHECK-NEXT: @f([1, 2]) = [-2, -4], 7
// CHECK-NEXT: begin
// CHECK-NEXT: twice: [6, 8]
// CHECK-NEXT: [6, 8] 7
// CHECK-NEXT: @f([3, 4]) = [-6, -8], 7
// CHECK-NEXT: list log = {{\[}}[2, 4], 7, [6, 8], 7]
wok.frame @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i64>) {
  %seven = wok.constant dense<7> : tensor<i64>
  wok.break "print" by "print"() config {text = "begin"} : () -> ()
  %0 = wok.add %x, %x : tensor<2xf32>
  wok.break "print" by "print"(%0) config {text = "twice:"} : (tensor<2xf32>) -> ()
  wok.break "a store outside" by "append"(%0) config {list = "log"} : (tensor<2xf32>) -> ()
  wok.break "print" by "print"(%0, %seven) : (tensor<2xf32>, tensor<i64>) -> ()
  wok.break "a store outside" by "append"(%seven) config {list = "log"} : (tensor<i64>) -> ()
  %1 = wok.break "call" by "call"(%0) config {callee = @g} : (tensor<2xf32>) -> tensor<2xf32>
  wok.return %1, %seven : tensor<2xf32>, tensor<i64>
}

// Not external: it has sites of its own.
wok.frame @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = wok.neg %x : tensor<2xf32>
  wok.return %0 : tensor<2xf32>
}
