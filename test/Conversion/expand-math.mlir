// RUN: wok-opt %s --wok-expand-math="features=+avx,+avx2,+fma" --split-input-file | FileCheck %s
// RUN: wok-opt %s --wok-expand-math="features=+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl" --split-input-file | FileCheck %s --check-prefix=WIDE
// RUN: wok-opt %s --wok-expand-math --split-input-file | FileCheck %s --check-prefix=PORTABLE

// The function is gone, and no call takes its place.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK-NOT: call
// CHECK: math.fma
// CHECK: arith.shli
// CHECK: return
// WIDE-LABEL: func.func @exp
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// PORTABLE-LABEL: func.func @exp
// PORTABLE-NOT: intrinsic
// PORTABLE: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Scalars take the portable form on every target.
// CHECK-LABEL: func.func @scalar
// CHECK-NOT: math.{{tanh|log}}
// WIDE-LABEL: func.func @scalar
// WIDE-NOT: intrinsic
// WIDE: return
func.func @scalar(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  %z = math.log %y : f32
  return %z : f32
}

// -----

// The reciprocal estimate of AVX; a table of 32 intervals with AVX-512.
// CHECK-LABEL: func.func @tanh
// CHECK: llvm.call_intrinsic "llvm.x86.avx.rcp.ps.256"
// WIDE-LABEL: func.func @wide_tanh
// WIDE-COUNT-8: llvm.x86.avx512.vpermi2var.ps.512
// PORTABLE-LABEL: func.func @tanh
// PORTABLE: arith.divf
func.func @tanh(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.tanh %x : vector<8xf32>
  return %y : vector<8xf32>
}
func.func @wide_tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.tanh %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Large arguments are reduced out of line, once for the module.
// CHECK-LABEL: func.func @trigonometric
// CHECK-COUNT-2: scf.if
// CHECK: func.func private @wok_reduce_by_half_pi_8xf32(%{{.*}}: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xi32>)
// CHECK-NOT: func.func private @wok_reduce
func.func @trigonometric(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  %z = math.cos %y : vector<8xf32>
  return %z : vector<8xf32>
}

// -----

// CHECK-LABEL: func.func @pow
// CHECK: call @wok_pow_8xf32
// CHECK: func.func private @wok_pow_8xf32(%{{.*}}: vector<8xf32>, %{{.*}}: vector<8xf32>) -> vector<8xf32>
func.func @pow(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %z = math.powf %x, %y : vector<8xf32>
  return %z : vector<8xf32>
}

// -----

// f64 as f32; large arguments are the C library's, one call for each lane.
// CHECK-LABEL: func.func @doubles
// CHECK-NOT: math.{{exp|erf|sin|log}}
// CHECK: scf.if
// CHECK: call @wok_sin_4xf64
// CHECK-NOT: math.{{exp|erf|sin|log}}
// CHECK: func.func private @wok_sin_4xf64
// CHECK-COUNT-4: call @sin(%{{.*}}) : (f64) -> f64
// CHECK: vector.from_elements
func.func @doubles(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x : vector<4xf64>
  %z = math.erf %y : vector<4xf64>
  %u = math.sin %z : vector<4xf64>
  %v = math.log1p %u : vector<4xf64>
  return %v : vector<4xf64>
}

// -----

// 1/sqrt, both correctly rounded.
// CHECK-LABEL: func.func @rsqrt
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: arith.divf %{{.*}}, %[[ROOT]]
func.func @rsqrt(%x: f64) -> f64 {
  %y = math.rsqrt %x : f64
  return %y : f64
}

// -----

// Rounding to bf16 is integer arithmetic.
// CHECK-LABEL: func.func @bf16
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci
// CHECK-NOT: arith.extf
// CHECK: arith.shli
func.func @bf16(%x: vector<8xf32>) -> vector<8xf32> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %z = arith.extf %y : vector<8xbf16> to vector<8xf32>
  return %z : vector<8xf32>
}

// -----

// f16 has instructions, on most targets.
// CHECK-LABEL: func.func @f16
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci
func.func @f16(%x: vector<8xf32>) -> vector<8xf16> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xf16>
  return %y : vector<8xf16>
}

// -----

// What no table knows stays.
// CHECK-LABEL: func.func @other
// CHECK: math.sqrt
// CHECK: math.floor
func.func @other(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sqrt %x : vector<8xf32>
  %z = math.floor %y : vector<8xf32>
  return %z : vector<8xf32>
}
