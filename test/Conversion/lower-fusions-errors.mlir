// RUN: wok-opt %s --wok-lower-fusions --verify-diagnostics --split-input-file

// expected-error@+1 {{is not planned: it has no attribute 'wok.entry'}}
wok.subgraph @not_planned(%x: tensor<8xf32>) -> tensor<8xf32> {
  wok.return %x : tensor<8xf32>
}
