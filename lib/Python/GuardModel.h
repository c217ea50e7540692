//===- GuardModel.h - Guard programs over CPython's objects -----*- C++ -*-===//
//
// Lowers the guards of a capture to a `runtime::GuardProgram` and evaluates its
// records: no Python runs, nothing is allocated, no exception is set. A pointer
// is dereferenced only if this lookup reached it from a live root.
//
// An identity or type guard never compares a bare address: its record names an
// object that the specialization holds, or a weak reference of the
// specialization's own, which is empty once the object has died, so that an
// equal address proves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_GUARDMODEL_H
#define WOK_LIB_PYTHON_GUARDMODEL_H

#include "wok/Capture/Tensors.h"
#include "wok/Python/Evaluator.h"
#include "wok/Runtime/GuardProgram.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace wok::python {

/// Where the sources of a specialization start. Borrowed; slots may be null.
struct GuardRoots {
  PyObject **localsplus;
  PyObject **stack;
  PyFunctionObject *function;
  PyObject *globals, *builtins;
};

/// A `Predicate::Tensor` guard in the form in which it is tested.
struct TensorCheck {
  PyTypeObject *type;
  uint32_t input; ///< Where in `LookupState::tensors` to put what was found.
  DType dtype;
  bool requiresGrad, dense;
  uint8_t rank;
  struct Dimension {
    int64_t extent; ///< Or `runtime::dynamicExtent`.
    int64_t stride; ///< In elements, if not dense; or `runtime::dynamicExtent`.
    int32_t symbol; ///< -1 for none.
    bool defines;   ///< This is where the symbol gets its value.
    uint8_t order;  ///< Dense: the dimension that is i-th in memory, outermost
                    ///< first.
  };
  std::vector<Dimension> dimensions;
};

struct GuardTable;

/// An extent relation in the form in which it is tested.
struct RelationCheck {
  const GuardTable *table;
  capture::ExtentRelation relation;
};

/// The guards of one specialization, ready to be run, and what they need.
/// Records point into it: it stays where it was made.
struct GuardTable {
  runtime::GuardProgram program;
  std::deque<TensorCheck> tensors;
  std::deque<RelationCheck> relations;
  std::vector<importer::ExtentExpr> extents; ///< All expressions of the graph.
  uint32_t symbols = 0;
  /// The register in which a source is found after the guards held.
  std::vector<std::pair<capture::SourceId, uint16_t>> registers;
  /// Where in `LookupState::tensors` a guarded tensor is described.
  std::vector<std::pair<capture::SourceId, uint32_t>> described;
  /// Objects that records, steps or recipes name, and weak references to
  /// others.
  std::vector<capture::Ref<>> held;
  /// For each record the guard it came from (or UINT32_MAX for a step), for
  /// reports.
  std::vector<uint32_t> guardOf;
  /// The guards as text, by index.
  std::vector<std::string> texts;

  GuardTable() = default;
  GuardTable(const GuardTable &) = delete;
  /// At the end of the interpreter its objects are left alone.
  ~GuardTable();

  uint16_t registerOf(capture::SourceId source) const;
  uint32_t describedAt(capture::SourceId source) const;
  /// Whether an object of a weak reference has died: this can never hold again.
  bool isDead() const;
  /// The value of an extent under `symbols`.
  int64_t extent(importer::ExtentId id, const int64_t *symbolValues) const;
  /// What record `index` of the program tests, as text.
  std::string describe(uint32_t index) const;
};

/// Lowers the guards of `subgraph`. `needed` are sources that inputs and
/// recipes read: they are walked after the guards. Null if a program cannot
/// hold them (more than 65,535 registers).
std::unique_ptr<GuardTable>
lowerGuards(const CapturedSubgraph &subgraph,
            const std::vector<capture::SourceId> &needed, PyCodeObject *code);

/// What one lookup found besides objects.
struct LookupState {
  llvm::SmallVector<capture::TensorInfo, 8> tensors;
  llvm::SmallVector<int64_t, 8> symbols;
};

/// Runs one record. `state` has room for the specialization that the record is
/// of.
bool runRecord(const runtime::GuardRecord &record, PyObject **registers,
               const GuardRoots &roots, LookupState &state) noexcept;

} // namespace wok::python

#endif // WOK_LIB_PYTHON_GUARDMODEL_H
