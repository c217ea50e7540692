//===- Passes.h - Passes on wok operations ----------------------*- C++ -*-===//

#ifndef WOK_TRANSFORMS_PASSES_H
#define WOK_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace wok {

#define GEN_PASS_DECL
#include "wok/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "wok/Transforms/Passes.h.inc"

} // namespace wok

#endif // WOK_TRANSFORMS_PASSES_H
