// RUN: wok-opt %s --wok-plan-memory --verify-diagnostics --split-input-file

wok.subgraph @not_fused(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{stands outside of a fusion: it cannot be planned}}
  %y = wok.neg %x : tensor<8xf32>
  wok.return %y : tensor<8xf32>
}
