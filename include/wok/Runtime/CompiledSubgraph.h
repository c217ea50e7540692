//===- CompiledSubgraph.h - Contract of generated code ----------*- C++ -*-===//
//
// What the compiler returns and the runtime runs. Generated code and runtime
// share this header and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_RUNTIME_COMPILEDSUBGRAPH_H
#define WOK_RUNTIME_COMPILEDSUBGRAPH_H

#include "wok/Support/ArenaPacker.h"
#include "wok/Support/DType.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wok::runtime {

/// An extent, or a size in bytes, that is known only when the subgraph runs.
inline constexpr int64_t dynamicExtent = std::numeric_limits<int64_t>::min();

/// Alignment of the arena and of every buffer in it, in bytes.
inline constexpr int64_t arenaAlignment = 64;

/// An input or output of a subgraph. Outputs are dense and row-major. An input
/// is dense and row-major unless `strided`: then its strides, in elements, are
/// read from `dims`.
struct TensorSpec {
  DType dtype;
  bool strided = false;
  std::vector<int64_t> extents; ///< `dynamicExtent` where symbolic.
};

/// Why a run gave no result. Its outputs are garbage then, and no input was
/// changed.
enum class Status : int32_t {
  Ok = 0,
  IndexOutOfRange = 1, ///< A gather met an index outside its operand.
  DivisionByZero = 2,  ///< An integer division or remainder met a zero divisor.
};

/// Runs the whole subgraph.
///
/// `data`: one pointer per input, then one per output, in the order of the
/// signature. `dims`: for each input its extents, then its strides in elements
/// (both `rank` long); then for each output its extents. May be null if no
/// input is strided and no extent is dynamic. `arena`: `arenaBytes` bytes,
/// aligned to `arenaAlignment`; null if that is 0. `offsets`: the place in the
/// arena of each transient, in order; null if all sizes are static (the code
/// then holds the offsets itself).
using EntryFn = int32_t (*)(void *const *data, const int64_t *dims,
                            std::byte *arena, const int64_t *offsets);

/// Computes what depends on symbolic extents. Reads the inputs' part of `dims`;
/// writes the extents of all outputs, one after the other, to `extents`, and
/// the bytes of each transient to `bytes`: the greatest number where 64 bits
/// cannot count them.
using ShapeFn = void (*)(const int64_t *dims, int64_t *extents, int64_t *bytes);

/// Time spent in one phase of compilation, in nanoseconds.
struct PhaseTime {
  std::string phase;
  int64_t nanoseconds;
};

/// A subgraph as native code. Immutable; shared by all specializations that
/// need this code.
struct CompiledSubgraph {
  std::string name;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;

  EntryFn entry = nullptr;
  /// Null if every extent and every transient is static.
  ShapeFn shape = nullptr;

  /// Scratch buffers with their live ranges; `bytes` is `dynamicExtent` where
  /// symbolic.
  std::vector<ArenaRequest> transients;
  /// Size of the arena if `shape` is null.
  int64_t arenaBytes = 0;

  uint32_t operations = 0; ///< `wok` operations before simplification.
  uint32_t kernels = 0;    ///< Loop nests, library calls not counted.
  std::vector<PhaseTime> phases;

  /// Keeps the machine code alive.
  std::shared_ptr<const void> code;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_COMPILEDSUBGRAPH_H
