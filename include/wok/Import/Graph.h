//===- Graph.h - A subgraph while it is captured ----------------*- C++ -*-===//
//
// A flat list of `wok` operations that a capture appends to and truncates. It
// knows no MLIR, so that what includes it compiles fast; `exportGraph`
// (ExportGraph.h) turns it into a `wok.subgraph`.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_IMPORT_GRAPH_H
#define WOK_IMPORT_GRAPH_H

#include "wok/Support/DType.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wok::importer {

/// A tensor value of the graph: the index of the node that defines it. Every
/// node has one result.
using ValueId = uint32_t;

/// An extent: the index of an expression in the graph's table. Equal
/// expressions have one id, so equal ids are equal extents.
using ExtentId = uint32_t;

/// An expression over extents of inputs.
struct ExtentExpr {
  enum class Kind : uint8_t {
    Constant,
    Symbol,
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv
  } kind;
  int64_t constant = 0; ///< Constant: the value. Symbol: its number.
  ExtentId lhs = 0, rhs = 0;

  bool operator==(const ExtentExpr &) const = default;
};

struct TensorType {
  DType dtype;
  std::vector<ExtentId> extents;
};

/// An attribute of an operation, by its name in ODS. `DType` becomes a type
/// attribute; a vector of integers a dense i64 array; a string is parsed as an
/// enum attribute where ODS has one.
using Attribute = std::variant<bool, int64_t, double, std::string,
                               std::vector<int64_t>, DType>;

struct Node {
  std::string op; ///< "wok.add"; "input" for an input.
  std::vector<ValueId> operands;
  std::vector<ExtentId>
      extentOperands; ///< Passed as `index` operands after `operands`.
  std::vector<std::pair<std::string, Attribute>> attributes;
  TensorType type;
  bool strided = false;  ///< Inputs: strides are read at run time.
  uint32_t location = 0; ///< Index into the graph's table of locations.
};

class Graph {
public:
  /// What `truncate` goes back to.
  struct Checkpoint {
    uint32_t nodes, extents, symbols;
  };

  /// A symbol stands for dimension `dim` of input `input`, the first place it
  /// was seen.
  struct Symbol {
    ValueId input;
    uint32_t dim;
  };

  ExtentId constant(int64_t value);
  /// A new symbol, for dimension `dim` of the input that is added next (whose
  /// id will be `input`: the number of nodes so far).
  ExtentId symbol(ValueId input, uint32_t dim);
  /// Folds constants, neutral elements and what cancels.
  ExtentId binary(ExtentExpr::Kind kind, ExtentId lhs, ExtentId rhs);
  const ExtentExpr &extent(ExtentId id) const { return extentTable[id]; }
  uint32_t extentCount() const {
    return static_cast<uint32_t>(extentTable.size());
  }
  /// The value of an extent that is a constant; `runtime::dynamicExtent`
  /// otherwise.
  int64_t constantValue(ExtentId id) const;

  ValueId addInput(TensorType type, bool strided);
  ValueId add(Node node);

  const TensorType &type(ValueId value) const { return nodes[value].type; }
  std::span<const Node> allNodes() const { return nodes; }
  std::span<const Symbol> allSymbols() const { return symbols; }

  /// What the subgraph returns. A capture sets it once, at its end.
  std::vector<ValueId> outputs;

  /// The source line that following nodes come from.
  void setLocation(std::string_view file, uint32_t line);
  /// The file and line behind a node's `location`; ("", 0) where none was set.
  std::pair<std::string_view, uint32_t> location(uint32_t index) const;

  Checkpoint checkpoint() const;
  void truncate(Checkpoint checkpoint);

private:
  /// The id of `expr`, which is new or known.
  ExtentId intern(const ExtentExpr &expr);

  std::vector<Node> nodes;
  std::vector<ExtentExpr> extentTable;
  std::vector<Symbol> symbols;
  std::vector<std::string> files;
  std::vector<std::pair<uint32_t, uint32_t>> locations; // (file, line)
  uint32_t currentLocation = 0;
};

} // namespace wok::importer

#endif // WOK_IMPORT_GRAPH_H
