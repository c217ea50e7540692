//===- FusionPlanner.h - Which operations become one kernel -----*- C++ -*-===//
//
// The decision behind `wok-form-fusions`, as a pure function over a small
// graph. It knows no MLIR.
//
// A kernel walks one *space* of elements. Values in it are of three levels:
//
// - Map: depends on no reduction of the kernel. It is computed at whatever
//   place it is asked for, so slices, transposes, broadcasts and the like are
//   only changes of the index.
// - Row: a result of a reduction of the space, or computed from such results:
//   one value for each index of the dimensions that are kept.
// - Element: computed from a row value, at one place of the space.
//
// Row and element values are asked for at their own place only.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_ANALYSIS_FUSIONPLANNER_H
#define WOK_ANALYSIS_FUSIONPLANNER_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wok {

/// One value. Operands come before their users.
struct FusionNode {
  enum class Kind : uint8_t {
    /// In memory already: an input, or the result of something that is no
    /// kernel, whose operands (all `needed`) are those of the node.
    Source,
    Generator, ///< Costs nothing and reads nothing: a constant, an iota.
    Pointwise, ///< Each element from the elements of the operands at the same
               ///< place.
    Reduce,    ///< Combines along `dims`.
    Broadcast, ///< Dimension i of the operand is dimension `dims[i]`.
    Reshape,   ///< Adds or removes extents of 1 only. Other reshapes are no
               ///< nodes: they are views.
    Index,     ///< Elements of operands at computed places, each about once:
               ///< transpose, slice, pad.
    Concat,    ///< Elements of one of several operands.
    Gather,    ///< Elements of operand 0, at places that operand 1 says.
  };
  Kind kind = Kind::Source;
  std::vector<uint32_t> operands = {};
  /// Extents; a symbolic one is a negative number that stands for the symbol.
  std::vector<int64_t> shape = {};
  /// Reduce, Broadcast: see there. Increasing.
  std::vector<int64_t> dims = {};
  /// What one element costs, in units of an addition.
  uint32_t cost = 1;
  /// Whether something that is no kernel needs it in memory.
  bool needed = false;
};

using FusionGraph = std::vector<FusionNode>;

/// How a kernel walks.
struct FusionShape {
  enum class Kind : uint8_t {
    Pointwise, ///< No reduction.
    Rows,      ///< Reductions along dimensions of which one is the last.
    Columns,   ///< Reductions along dimensions, not the last.
    Full,      ///< Reductions along all dimensions, and no element values.
  };
  enum class Level : uint8_t { Map, Row, Element };

  Kind kind = Kind::Pointwise;
  /// The space: the shape of what is reduced, or of all outputs if nothing is.
  std::vector<int64_t> space;
  /// The dimensions of `space` that all reductions of the kernel reduce.
  /// Increasing.
  std::vector<int64_t> reduced;
  /// Of each member of the kernel.
  std::vector<Level> levels;
};

/// The walk of a kernel of `members` (nodes that are no sources, increasing)
/// that writes `outputs` (some of the members or sources), or nothing if no one
/// walk computes them all:
///
/// - All reductions have operands of one shape, the space, and reduce the same
///   dimensions of it.
/// - Row and element values are not moved: a row value may gain or lose unit
///   dimensions, and be broadcast to the space along the dimensions that were
///   reduced; an element value is read by pointwise nodes and reductions.
/// - Outputs have the shape of the space or, if something is reduced, of its
///   kept dimensions, unit dimensions aside.
/// - If all dimensions are reduced there are no element values.
std::optional<FusionShape> classifyFusion(const FusionGraph &graph,
                                          std::span<const uint32_t> members,
                                          std::span<const uint32_t> outputs);

/// One kernel.
struct FusionGroup {
  /// Increasing. Nodes that only move or generate may be members of several
  /// groups.
  std::vector<uint32_t> members;
  /// What it writes, increasing: members that are needed or that other groups
  /// read.
  std::vector<uint32_t> outputs;
};

/// Divides the graph into kernels such that every node that is needed is a
/// source or an output of one, as is everything a group reads that is not its
/// own. In an order in which groups read only outputs of earlier ones. Nothing
/// that costs much is computed more often than once for each of its elements.
std::vector<FusionGroup> planFusions(const FusionGraph &graph);

} // namespace wok

#endif // WOK_ANALYSIS_FUSIONPLANNER_H
