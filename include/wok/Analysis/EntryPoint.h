//===- EntryPoint.h - What lowering tells the compiler ----------*- C++ -*-===//
//
// From the phase `loops` on a subgraph @NAME is a function @NAME with the type
// of `runtime::EntryFn` and, if anything in it is symbolic, a function
// @NAME_shape with the type of `runtime::ShapeFn`. What else
// `runtime::CompiledSubgraph` says hangs on @NAME as one attribute, which
// survives until the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_ANALYSIS_ENTRYPOINT_H
#define WOK_ANALYSIS_ENTRYPOINT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir {
class Operation;
} // namespace mlir

namespace wok {

/// A scratch buffer; live on [first, last], both inclusive.
struct EntryTransient {
  /// `ShapedType::kDynamic` where symbolic.
  int64_t bytes;
  uint32_t first, last;
};

/// The signature and the memory of a lowered subgraph.
struct EntryPoint {
  static constexpr llvm::StringLiteral attrName = "wok.entry";

  /// Inputs, then outputs, as the tensors they were.
  llvm::SmallVector<mlir::RankedTensorType> inputs, outputs;
  /// One for each input.
  llvm::SmallVector<bool> strided;
  /// Whether @NAME_shape exists.
  bool hasShape = false;
  llvm::SmallVector<EntryTransient> transients;
  /// 0 if the layout is made at run time.
  int64_t arenaBytes = 0;
  /// Loop nests; library calls do not count.
  int64_t kernels = 0;

  /// Symbol of the shape function of a subgraph.
  static std::string shapeName(llvm::StringRef subgraph) {
    return (subgraph + "_shape").str();
  }

  /// Reads the attribute of `op`; nothing if it has none.
  static std::optional<EntryPoint> get(mlir::Operation *op);
  /// Writes it.
  void set(mlir::Operation *op) const;
};

} // namespace wok

#endif // WOK_ANALYSIS_ENTRYPOINT_H
