// RUN: wok-run --help | FileCheck %s

// CHECK: Runs wok programs
// CHECK: --args=
// CHECK: --compile-to=
// CHECK: --counts
// CHECK: --entry=
// CHECK: --events
// CHECK-NOT: --amdgpu
