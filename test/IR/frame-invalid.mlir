// RUN: wok-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{arguments must be tensors, not 'i32'}}
wok.frame @argument(%x: i32) {
  wok.return
}

// -----

// expected-error @below {{results must be tensors, not 'index'}}
wok.frame @result(%x: tensor<f32>) -> index {
  wok.return %x : tensor<f32>
}

// -----

// expected-error @below {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
wok.frame @declaration(%x: tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{body may not hold 'arith.constant'}}
wok.frame @body(%x: tensor<f32>) -> tensor<f32> {
  %c = arith.constant 1.0 : f32
  %0 = arith.addf %c, %c : f32
  wok.return %x : tensor<f32>
}

// -----

wok.frame @types(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{operands must have the types of the frame's results}}
  wok.return
}

// -----

wok.frame @names(%x: tensor<f32>) {
  // expected-error @below {{needs a reason and a handler}}
  wok.break "" by "print"(%x) : (tensor<f32>) -> ()
  wok.return
}

// -----

wok.frame @handler(%x: tensor<f32>) {
  // expected-error @below {{needs a reason and a handler}}
  wok.break "print" by ""(%x) : (tensor<f32>) -> ()
  wok.return
}

// -----

wok.frame @one_arm(%flag: tensor<i1>) {
  // expected-error @below {{has two arms or none, not 1}}
  wok.break "branch" by "branch"(%flag) : (tensor<i1>) -> () {
    wok.yield
  }
  wok.return
}

// -----

wok.frame @condition(%flag: tensor<2xi1>) {
  // expected-error @below {{with arms has one input, of type tensor<i1>}}
  wok.break "branch" by "branch"(%flag) : (tensor<2xi1>) -> () {
    wok.yield
  }, {
    wok.yield
  }
  wok.return
}

// -----

wok.frame @yields(%flag: tensor<i1>, %x: tensor<f32>) {
  // expected-error @below {{arms have no arguments and yield the types of the results}}
  %0 = wok.break "branch" by "branch"(%flag) : (tensor<i1>) -> tensor<f32> {
    wok.yield %x : tensor<f32>
  }, {
    wok.yield
  }
  wok.return
}

// -----

wok.frame @rank(%x: tensor<2xi1>) {
  // expected-error @below {{operand #0 must be tensor of rank 0}}
  wok.guard %x is dense<true> : tensor<2xi1>
  wok.return
}

// -----

wok.frame @value(%x: tensor<i1>) {
  // expected-error @below {{failed to verify that all of {input, value} have same type}}
  "wok.guard"(%x) {value = dense<1.0> : tensor<f32>} : (tensor<i1>) -> ()
  wok.return
}

// -----

wok.frame @nowhere(%x: tensor<f32>) {
  // expected-error @below {{needs a subgraph @g}}
  wok.run @g(%x) : (tensor<f32>) -> ()
  wok.return
}

// -----

wok.subgraph @g(%x: tensor<f32>) -> tensor<f32> {
  wok.return %x : tensor<f32>
}
wok.frame @signature(%x: tensor<f32>) {
  // expected-error @below {{does not have the signature of @g}}
  wok.run @g(%x) : (tensor<f32>) -> ()
  wok.return
}

// -----

// expected-error@+1 {{arguments must be tensors, not 'tensor<4294967296x4294967296xf32>'}}
wok.frame @uncountable(%x: tensor<4294967296x4294967296xf32>) {
  wok.return
}
