//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//

#ifndef WOK_CONVERSION_PASSES_H
#define WOK_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace wok {

#define GEN_PASS_DECL
#include "wok/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "wok/Conversion/Passes.h.inc"

} // namespace wok

#endif // WOK_CONVERSION_PASSES_H
