// RUN: wok-run %s --args='[[1, 2], [3, 4]]; 10' | FileCheck %s
// RUN: wok-run %s > %t.1
// RUN: wok-run %s --args='random; random' > %t.2
// RUN: FileCheck %s --check-prefix=RANDOM < %t.1
// RUN: wok-run %s --args='random:0; random:1' | FileCheck %s --check-prefix=SEED
// RUN: wok-run %s --compile-to=fuse | FileCheck %s --check-prefix=FUSE

// CHECK: @scale({{.*}}) = {{\[}}[10, 20], [30, 40]]
// RANDOM: @scale() = {{\[}}[{{-?0\.[0-9]+}}, {{.*}}]]
// SEED: @scale(random:0; random:1) = {{\[}}[{{-?0\.[0-9]+}}, {{.*}}]]
// FUSE: wok.subgraph @scale
// FUSE: wok.fusion
wok.subgraph @scale(%x: tensor<2x2xf32>, %s: tensor<f32>) -> tensor<2x2xf32> {
  %0 = wok.broadcast %s dims [] : tensor<f32> -> tensor<2x2xf32>
  %1 = wok.mul %x, %0 : tensor<2x2xf32>
  wok.return %1 : tensor<2x2xf32>
}
