//===- Types.h - Element types in MLIR --------------------------*- C++ -*-===//

#ifndef WOK_IR_TYPES_H
#define WOK_IR_TYPES_H

#include "wok/Support/DType.h"

#include <optional>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace wok {

/// The element type of tensors of `dtype`.
mlir::Type toMLIR(DType dtype, mlir::MLIRContext *context);

/// The inverse of `toMLIR`; nothing for a type that is no element type of
/// tensors.
std::optional<DType> fromMLIR(mlir::Type elementType);

/// The type in which single elements are computed: `f32` for `f16` and `bf16`,
/// signless `i8` for `ui8`, the type itself otherwise. In memory, `i1` takes a
/// byte.
mlir::Type computeType(mlir::Type elementType);

} // namespace wok

#endif // WOK_IR_TYPES_H
