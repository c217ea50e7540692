//===- ExportGraph.h - A captured graph as a wok.subgraph -------*- C++ -*-===//

#ifndef WOK_IMPORT_EXPORTGRAPH_H
#define WOK_IMPORT_EXPORTGRAPH_H

#include "wok/Import/Graph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace wok {

/// Writes `graph` as the subgraph @`name` of a new module.
///
/// Each node becomes the operation of its name, each input an argument (with
/// `wok.strided` where it is). Symbolic extents become `?` in types and, where
/// an operation takes them as operands, `wok.dim` and arithmetic on `index`.
/// Operations carry the source line of their node as location.
///
/// The module is verified. On an error (an unknown operation, or one that its
/// verifier refuses) there are diagnostics and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> exportGraph(const importer::Graph &graph,
                                              llvm::StringRef name,
                                              mlir::MLIRContext &context);

} // namespace wok

#endif // WOK_IMPORT_EXPORTGRAPH_H
