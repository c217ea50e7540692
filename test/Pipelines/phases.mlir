// RUN: wok-opt %s --wok-pipeline=to=simplify | FileCheck %s --check-prefix=SIMPLIFY
// RUN: wok-opt %s --wok-pipeline=to=fuse | FileCheck %s --check-prefix=FUSE
// RUN: wok-opt %s --wok-pipeline=to=plan | FileCheck %s --check-prefix=PLAN
// RUN: wok-opt %s --wok-pipeline=to=loops | FileCheck %s --check-prefix=LOOPS
// RUN: wok-opt %s --wok-pipeline="to=llvm features=+avx,+avx2,+fma" | FileCheck %s --check-prefix=LLVM
// RUN: wok-opt %s --wok-phase-simplify --wok-phase-fuse --wok-phase-plan --wok-phase-loops --wok-phase-llvm | FileCheck %s --check-prefix=LLVM
// RUN: not wok-opt %s --wok-pipeline=to=nowhere 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SIMPLIFY: wok.subgraph @f(%{{.*}}: tensor<?x32xf32>) -> tensor<?x32xf32>
// SIMPLIFY-COUNT-2: wok.exp
// SIMPLIFY-NOT: wok.exp
// FUSE: wok.fusion
// PLAN: wok.subgraph @f(%{{.*}}: memref<?x32xf32>, %{{.*}}: memref<?x32xf32>)
// LOOPS: func.func @f_shape(
// LOOPS: func.func private @f_kernel0(
// LOOPS: scf.for
// LOOPS: func.func @f(
// LLVM: llvm.func @f_shape(
// LLVM-NOT: math.
// LLVM-NOT: scf.
// LLVM-NOT: builtin.unrealized_conversion_cast
// LLVM: llvm.func @f(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32 attributes {{.*}}wok.entry
// UNKNOWN: unknown phase 'nowhere'
wok.subgraph @f(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = wok.exp %x : tensor<?x32xf32>
  %1 = wok.exp %x : tensor<?x32xf32>
  %2 = wok.add %0, %1 : tensor<?x32xf32>
  %3 = wok.exp %2 : tensor<?x32xf32>
  wok.return %3 : tensor<?x32xf32>
}
