// RUN: wok-opt %s --split-input-file --verify-diagnostics

// Unary operations, C1: one case for each class of elements.
wok.subgraph @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of floats}}
  %0 = "wok.exp"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integers or floats}}
  %0 = "wok.neg"(%x) : (tensor<4xi1>) -> tensor<4xi1>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of i1 or integers}}
  %0 = "wok.not"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  wok.return
}

// -----

// No element type beyond those of the dialect, no encoding, no unknown rank.
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must be ranked tensor of integers or floats}}
  %0 = "wok.neg"(%x) : (tensor<4xf32>) -> tensor<4xf128>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must be ranked tensor of integers or floats}}
  %0 = "wok.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32, "encoding">
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must be ranked tensor of integers or floats}}
  %0 = "wok.neg"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  wok.return
}

// -----

// Unary operations, C2
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{all of {operand, result} have same type}}
  %0 = "wok.exp"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  wok.return
}

// -----

// Binary operations, C1
wok.subgraph @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integers or floats}}
  %0 = "wok.add"(%x, %x) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of i1 or integers}}
  %0 = "wok.and"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integers}}
  %0 = "wok.shl"(%x, %x) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  wok.return
}

// -----

// Binary operations, C2: no implicit broadcasting, no implicit promotion.
wok.subgraph @f(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{all of {lhs, rhs, result} have same type}}
  %0 = "wok.add"(%x, %y) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  wok.return
}

// -----

wok.subgraph @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{all of {lhs, rhs, result} have same type}}
  %0 = "wok.add"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  wok.return
}

// -----

// fma, C1
wok.subgraph @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of floats}}
  %0 = "wok.fma"(%x, %x, %x) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  wok.return
}

// -----

// fma, C2
wok.subgraph @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{all of {a, b, c, result} have same type}}
  %0 = "wok.fma"(%x, %x, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  wok.return
}

// -----

// select, C1
wok.subgraph @f(%c: tensor<5xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{condition is a tensor of i1 of the result's shape}}
  %0 = "wok.select"(%c, %x, %x) : (tensor<5xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  wok.return
}

// -----

// select, C2
wok.subgraph @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{all of {on_true, on_false, result} have same type}}
  %0 = "wok.select"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  wok.return
}

// -----

// compare, C1
wok.subgraph @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{all of {lhs, rhs} have same type}}
  %0 = "wok.compare"(%x, %y) {predicate = #wok<compare_predicate lt>} : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  wok.return
}

// -----

// compare, C2
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result is a tensor of i1 of the operands' shape}}
  %0 = "wok.compare"(%x, %x) {predicate = #wok<compare_predicate lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xi1>
  wok.return
}

// -----

// is_nan, C1
wok.subgraph @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of floats}}
  %0 = "wok.is_nan"(%x) : (tensor<4xi32>) -> tensor<4xi1>
  wok.return
}

// -----

// is_nan, C2
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result is a tensor of i1 of the operand's shape}}
  %0 = "wok.is_nan"(%x) : (tensor<4xf32>) -> tensor<5xi1>
  wok.return
}

// -----

// cast, C1
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{same shape}}
  %0 = wok.cast %x : tensor<4xf32> to tensor<5xf64>
  wok.return
}

// -----

// cast, C1: a `?` is not a static extent.
wok.subgraph @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand and result must have the same shape}}
  %0 = wok.cast %x : tensor<4xf32> to tensor<?xf64>
  wok.return
}
