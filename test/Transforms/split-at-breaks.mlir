// RUN: wok-opt %s --wok-split-at-breaks --split-input-file | FileCheck %s

// The worked example: mul 2, add 1, if_flag, mul 3, call_external, add 5. Two breaks, three
// subgraphs, and a guard that the flag is true.

// CHECK-LABEL: wok.subgraph @f_0(
// CHECK-SAME:      %[[X:.+]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %[[TWO:.+]] = wok.constant dense<2.0
// CHECK-NEXT:    %[[MUL:.+]] = wok.mul %[[X]], %[[TWO]]
// CHECK-NEXT:    %[[ONE:.+]] = wok.constant dense<1.0
// CHECK-NEXT:    %[[ADD:.+]] = wok.add %[[MUL]], %[[ONE]]
// CHECK-NEXT:    wok.return %[[ADD]]

// CHECK-LABEL: wok.subgraph @f_1(
// CHECK-SAME:      %[[X:.+]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %[[THREE:.+]] = wok.constant dense<3.0
// CHECK-NEXT:    %[[MUL:.+]] = wok.mul %[[X]], %[[THREE]]
// CHECK-NEXT:    wok.return %[[MUL]]

// CHECK-LABEL: wok.subgraph @f_2(
// CHECK-SAME:      %[[X:.+]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %[[FIVE:.+]] = wok.constant dense<5.0
// CHECK-NEXT:    %[[ADD:.+]] = wok.add %[[X]], %[[FIVE]]
// CHECK-NEXT:    wok.return %[[ADD]]

// CHECK-LABEL: wok.frame @f(
// CHECK-SAME:      %[[V:.+]]: tensor<f32>, %[[FLAG:.+]]: tensor<i1>) -> tensor<f32>
// CHECK-NEXT:    %[[ONE:.+]] = wok.constant dense<1.0
// CHECK-NEXT:    %[[A:.+]] = wok.run @f_0(%[[V]])
// CHECK-NEXT:    %[[B:.+]] = wok.break "branch on data" by "branch"(%[[FLAG]])
// CHECK-NEXT:      wok.add %[[A]], %[[ONE]]
// CHECK:         }, {
// CHECK-NEXT:      wok.sub %[[A]], %[[ONE]]
// CHECK:         }
// CHECK-NEXT:    wok.guard %[[FLAG]] is dense<true>
// CHECK-NEXT:    %[[C:.+]] = wok.run @f_1(%[[B]])
// CHECK-NEXT:    %[[D:.+]] = wok.break "call of an unknown function" by "call"(%[[C]])
// CHECK-NEXT:    %[[E:.+]] = wok.run @f_2(%[[D]])
// CHECK-NEXT:    wok.return %[[E]]
// CHECK-NEXT:  }
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

// An external frame is only interpreted.
// CHECK-LABEL: wok.frame @call_external
// CHECK:         wok.mul
wok.frame @call_external(%v: tensor<f32>) -> tensor<f32> attributes {external} {
  %two = wok.constant dense<2.0> : tensor<f32>
  %0 = wok.mul %v, %two : tensor<f32>
  wok.return %0 : tensor<f32>
}

// -----

// What only a later piece uses is an output; what nothing uses goes.
// CHECK-LABEL: wok.subgraph @live_0(
// CHECK-SAME:      %[[X:.+]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    %[[EXP:.+]] = wok.exp %[[X]]
// CHECK-NEXT:    %[[NEG:.+]] = wok.neg %[[EXP]]
// CHECK-NEXT:    wok.return %[[EXP]], %[[NEG]]
// CHECK-LABEL: wok.subgraph @live_1(
// CHECK-SAME:      %[[EXP:.+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: wok.frame @live
// CHECK-NEXT:    %[[R:.+]]:2 = wok.run @live_0
// CHECK-NEXT:    wok.break "print" by "print"(%[[R]]#1)
// CHECK-NEXT:    %[[S:.+]] = wok.run @live_1(%[[R]]#0)
// CHECK-NEXT:    wok.return %[[S]]
wok.frame @live(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = wok.exp %x : tensor<4xf32>
  %dead = wok.log %0 : tensor<4xf32>
  %1 = wok.neg %0 : tensor<4xf32>
  wok.break "print" by "print"(%1) : (tensor<4xf32>) -> ()
  %2 = wok.abs %0 : tensor<4xf32>
  wok.return %2 : tensor<4xf32>
}

// -----

// Extents are made anew in each subgraph, from tensors.
// CHECK-LABEL: wok.subgraph @extents_0(
// CHECK-SAME:      %[[X:.+]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    wok.exp
// CHECK-NEXT:    wok.return
// CHECK-LABEL: wok.subgraph @extents_1(
// CHECK-SAME:      %[[E:.+]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK-DAG:     %[[ONE:.+]] = wok.constant
// CHECK-DAG:     %[[N:.+]] = wok.dim %[[E]], 0
// CHECK:         wok.broadcast %[[ONE]] extents [%[[N]]]
// CHECK-NEXT:    wok.return
// CHECK-LABEL: wok.frame @extents
// CHECK:         %[[E:.+]] = wok.run @extents_0
// CHECK-NEXT:    wok.break "print"
// CHECK-NEXT:    %[[B:.+]] = wok.run @extents_1(%[[E]])
// CHECK-NEXT:    wok.return %[[B]]
wok.frame @extents(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = wok.constant dense<1.0> : tensor<f32>
  %0 = wok.exp %x : tensor<?xf32>
  %n = wok.dim %0, 0 : tensor<?xf32>
  wok.break "print" by "print"(%one) : (tensor<f32>) -> ()
  %1 = wok.broadcast %one extents [%n] dims [] : tensor<f32> -> tensor<?xf32>
  wok.return %1 : tensor<?xf32>
}

// -----

// Nothing between two breaks, nothing to guard; names that are taken are avoided.
// CHECK-LABEL: wok.subgraph @empty_0
// CHECK-LABEL: wok.subgraph @empty_0_0
// CHECK-LABEL: wok.frame @empty
// CHECK-NEXT:    wok.break "branch"
// CHECK-NOT:     wok.guard
// CHECK:         wok.break "print"
// CHECK-NEXT:    wok.run @empty_0_0
// CHECK-NEXT:    wok.return
wok.subgraph @empty_0() {
  wok.return
}
wok.frame @empty(%flag: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  wok.break "branch" by "branch"(%flag) : (tensor<i1>) -> () {
    wok.yield
  }, {
    wok.yield
  }
  wok.break "print" by "print"(%x) : (tensor<f32>) -> ()
  %0 = wok.exp %x : tensor<f32>
  wok.return %0 : tensor<f32>
}

// -----

// What can fault is computed, though nothing uses it.
// CHECK-LABEL: wok.subgraph @faulty_0(
// CHECK:         wok.div
// CHECK-NOT:     wok.exp
// CHECK:         wok.return
wok.frame @faulty(%x: tensor<4xi32>, %y: tensor<4xi32>, %z: tensor<f32>) -> tensor<4xi32> {
  %0 = wok.div %x, %y : tensor<4xi32>
  %1 = wok.exp %z : tensor<f32>
  %2 = wok.add %x, %y : tensor<4xi32>
  wok.return %2 : tensor<4xi32>
}
