// RUN: wok-run %s --entry=f --counts --args='true; false' --args='true; true' | FileCheck %s

// Arms may hold breaks; constants and extents of the frame are seen in them.
// CHECK:      both
// CHECK-NEXT: @f(true; false) = [1, 1]
// CHECK:      both
// CHECK-NEXT: inner
// CHECK-NEXT: @f(true; true) = [2, 2]
wok.frame @f(%a: tensor<i1>, %b: tensor<i1>) -> tensor<2xi32> {
  %one = wok.constant dense<1> : tensor<2xi32>
  %0 = wok.break "branch" by "branch"(%a) : (tensor<i1>) -> tensor<2xi32> {
    wok.break "print" by "print"() config {text = "both"} : () -> ()
    %1 = wok.break "branch" by "branch"(%b) : (tensor<i1>) -> tensor<2xi32> {
      wok.break "print" by "print"() config {text = "inner"} : () -> ()
      %2 = wok.add %one, %one : tensor<2xi32>
      wok.yield %2 : tensor<2xi32>
    }, {
      wok.yield %one : tensor<2xi32>
    }
    wok.yield %1 : tensor<2xi32>
  }, {
    wok.yield %one : tensor<2xi32>
  }
  wok.return %0 : tensor<2xi32>
}
