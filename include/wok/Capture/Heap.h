//===- Heap.h - The state behind the values of a capture --------*- C++ -*-===//
//
// A `Value` says which object; what is in it stands in a row here. Rows change
// only through `change`, which logs what was there, so that a capture can go
// back to a checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_HEAP_H
#define WOK_CAPTURE_HEAP_H

#include "wok/Capture/Value.h"

#include <cassert>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wok::capture {

/// A fresh container that capture made; `tuple`, `slice` and `range` are
/// immutable.
struct SequenceRow {
  enum class Type : uint8_t { Tuple, List, Slice, Range } type = Type::Tuple;
  std::vector<Value> items;
  /// Tuple: the subclass of tuple that is called with the items (torch.Size,
  /// torch.return_types.max); null for a plain tuple. Held by its library.
  PyObject *structure = nullptr;
};

/// A fresh dict or set, in insertion order. Keys are Knowns that are exact str,
/// int, bool, float, None or hash by identity, or values with an identity of
/// their own (tensors). A set has null values.
struct TableRow {
  enum class Type : uint8_t { Dict, Set } type = Type::Dict;
  std::vector<std::pair<Value, Value>> entries;
};

/// A fresh iterator: `position` items have been taken.
struct IteratorRow {
  enum class Type : uint8_t {
    Items, ///< iter(iterable): all items are known.
    List,  ///< iter of a fresh list, which may grow: reads `iterable`.
    Zip,
    Enumerate, ///< `position` counts from `start`.
    Generator, ///< A suspended frame: `generator` of the evaluator's table.
  } type = Type::Items;
  /// What `iter` was called on; Null if this iterator cannot be made at an
  /// exit.
  Value iterable;
  std::vector<Value> items;
  std::vector<Value> inner; ///< Iterators that Zip and Enumerate draw from.
  int64_t start = 0;
  uint32_t position = 0;
  uint32_t generator = 0;
};

/// A fresh object of a user class whose allocation is plain `object`.
struct InstanceRow {
  Value type;
  /// In order of their first store.
  std::vector<std::pair<PyObject *, Value>> attributes;
};

/// A fresh bound method, function or `super` object.
struct CallableRow {
  enum class Type : uint8_t { BoundMethod, Function, Super };
  Type type = Type::BoundMethod;
  Value function, self; ///< BoundMethod; Super: class, self.
  Value code, globals;  ///< Function: Knowns.
  /// Function: Null if it has none.
  Value defaults, kwdefaults, closure, annotations, qualname;
};

/// A fresh cell.
struct CellRow {
  Value contents;
};

/// One table of rows with an undo log.
template <class Row>
class RowTable {
public:
  uint32_t size() const { return static_cast<uint32_t>(rows.size()); }
  const Row &operator[](uint32_t index) const {
    assert(index < rows.size());
    return rows[index].row;
  }
  uint32_t add(Row row) {
    rows.push_back({std::move(row), epoch});
    return size() - 1;
  }
  /// The row to be changed. Logs its state once between two checkpoints.
  Row &change(uint32_t index) {
    Entry &entry = rows[index];
    if (entry.epoch != epoch) {
      log.push_back({index, entry});
      entry.epoch = epoch;
    }
    return entry.row;
  }

  struct Checkpoint {
    uint32_t rows, log;
  };
  Checkpoint checkpoint() {
    ++epoch;
    return {size(), static_cast<uint32_t>(log.size())};
  }
  void truncate(Checkpoint checkpoint) {
    while (log.size() > checkpoint.log) {
      rows[log.back().first] = std::move(log.back().second);
      log.pop_back();
    }
    while (rows.size() > checkpoint.rows)
      rows.pop_back();
  }

private:
  struct Entry {
    Row row;
    uint32_t epoch;
  };
  std::deque<Entry> rows;
  std::vector<std::pair<uint32_t, Entry>> log;
  uint32_t epoch = 0;
};

} // namespace wok::capture

#endif // WOK_CAPTURE_HEAP_H
