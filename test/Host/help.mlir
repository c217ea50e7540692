// RUN: wok-run --help | FileCheck %s --implicit-check-not=amdgpu

// CHECK: Runs wok programs
// CHECK: --args=
// CHECK: --compile-to=
// CHECK: --counts
// CHECK: --entry=
// CHECK: --events
