//===- State.h - Tables, journal and checkpoints of a capture ---*- C++ -*-===//
//
// What stands behind `Capture`. For the evaluator and the exit builder;
// importers of calls go through `Capture`.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_STATE_H
#define WOK_CAPTURE_STATE_H

#include "wok/Capture/Capture.h"

#include <map>
#include <unordered_map>

namespace wok::capture {

/// An operation on a live object that waits for the exit. In program order.
struct JournalEntry {
  EffectKind kind;
  Value target, key, value;
};

struct Capture::State {
  RowTable<KnownRow> known;
  RowTable<TensorRow> tensors;
  RowTable<ScalarRow> scalars;
  RowTable<SequenceRow> sequences;
  RowTable<TableRow> tables;
  RowTable<IteratorRow> iterators;
  RowTable<InstanceRow> instances;
  RowTable<CallableRow> callables;
  RowTable<CellRow> cells;

  /// Sources and objects that have a value already; an entry whose row was
  /// truncated is stale.
  std::unordered_map<SourceId, Value> bySource;
  std::unordered_map<PyObject *, Value> constants;
  /// The input that a Known tensor became.
  std::unordered_map<uint32_t, Value> asTensor;

  std::vector<SubgraphInput> inputs;
  std::vector<JournalEntry> journal;
  std::vector<std::string> operations;
  /// What the symbols of the graph stand for in the capturing frame.
  std::vector<int64_t> symbolValues;
  std::vector<importer::ExtentId> symbolExtents;
  /// Which number of `history` a symbol is.
  std::vector<std::pair<SourceId, int32_t>> symbolSources;
  /// Every object that was looked at, held until the capture ends.
  std::vector<Ref<>> objects;
  /// A symbol was asked for its value: capture again, with that number static.
  bool restart = false;
  /// Names locals in sources.
  PyCodeObject *code = nullptr;

  struct Checkpoint {
    importer::Graph::Checkpoint graph;
    size_t guards, tensorGuards, relations, inputs, journal, operations,
        symbols;
    RowTable<KnownRow>::Checkpoint known;
    RowTable<TensorRow>::Checkpoint tensors;
    RowTable<ScalarRow>::Checkpoint scalars;
    RowTable<SequenceRow>::Checkpoint sequences;
    RowTable<TableRow>::Checkpoint tables;
    RowTable<IteratorRow>::Checkpoint iterators;
    RowTable<InstanceRow>::Checkpoint instances;
    RowTable<CallableRow>::Checkpoint callables;
    RowTable<CellRow>::Checkpoint cells;
  };
  Checkpoint checkpoint(Capture &capture);
  void truncate(Capture &capture, const Checkpoint &checkpoint);

  /// Whether the row that `value` names still exists.
  bool alive(Value value) const;
  /// The value of an extent in the capturing frame.
  int64_t evaluate(const importer::Graph &graph,
                   importer::ExtentId extent) const;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_STATE_H
