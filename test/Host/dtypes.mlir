// RUN: wok-run %s --args='[true, false]; [-128, 127]; [0, 255]; [-32768, 5]; [2147483647, -1]; [9223372036854775807, 0]; [0.1, 65504]; [0.1, 1]; [0.1, nan]; [0.1, -inf]' | FileCheck %s
// RUN: not wok-run %s --args='true; 128; 0; 0; 0; 0; 0; 0; 0; 0' 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not wok-run %s --args='true; 0; -1; 0; 0; 0; 0; 0; 0; 0' 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// Elements of every type survive being read, copied and printed.
// CHECK: = [true, false], [-128, 127], [0, 255], [-32768, 5], [2147483647, -1], [9223372036854775807, 0], [0.099975586, 65504], [0.100097656, 1], [0.1, nan], [0.1, -inf]
// WIDE: argument 1: '128' is no i8
// NEGATIVE: argument 2: '-1' is no ui8
wok.frame @f(%a: tensor<2xi1>, %b: tensor<2xi8>, %c: tensor<2xui8>, %d: tensor<2xi16>,
             %e: tensor<2xi32>, %f: tensor<2xi64>, %g: tensor<2xf16>, %h: tensor<2xbf16>,
             %i: tensor<2xf32>, %j: tensor<2xf64>)
    -> (tensor<2xi1>, tensor<2xi8>, tensor<2xui8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>,
        tensor<2xf16>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>) {
  wok.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j : tensor<2xi1>, tensor<2xi8>, tensor<2xui8>,
    tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xf16>, tensor<2xbf16>, tensor<2xf32>,
    tensor<2xf64>
}
