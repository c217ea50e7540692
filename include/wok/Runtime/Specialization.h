//===- Specialization.h - One entry of a site -------------------*- C++ -*-===//

#ifndef WOK_RUNTIME_SPECIALIZATION_H
#define WOK_RUNTIME_SPECIALIZATION_H

#include "wok/Runtime/ArenaLayouts.h"
#include "wok/Runtime/CompiledSubgraph.h"
#include "wok/Runtime/GuardProgram.h"

#include <atomic>
#include <concepts>
#include <memory>
#include <utility>

namespace wok::runtime {

/// The memory that one run of a subgraph works on. The stitcher owns the
/// arrays; the host fills them.
struct RunBuffers {
  const CompiledSubgraph *code = nullptr;
  /// A pointer for each input, then for each output.
  void **data = nullptr;
  /// Extents and strides of each input, then extents of each output; null if
  /// `code` reads none.
  int64_t *dims = nullptr;
  /// In `dims`: where the outputs' extents begin. Symbolic ones are known when
  /// outputs are prepared.
  int64_t *outputExtents = nullptr;

  void *&output(size_t index) const {
    return data[code->inputs.size() + index];
  }
};

/// A host: how guards see its values, and how a subgraph gets its inputs and
/// leaves its outputs.
///
/// A model is made for one arrival of a frame at a site. `Exit` is what a
/// capture says about leaving; it is immutable and shared by all runs.
/// `Outputs` holds what a run has made and not yet committed; its destructor
/// drops that.
template <class M>
concept ObjectModel =
    GuardModel<M> && std::default_initializable<typename M::Outputs> &&
    requires(M &model, const typename M::Exit &exit,
             typename M::Register *registers, const RunBuffers &buffers,
             typename M::Outputs &outputs, int32_t (*kernels)(void *),
             void *ctx) {
      /// Writes `data`, and `dims` if not null, of the inputs. False: go on in
      /// the interpreter.
      { model.bindInputs(exit, registers, buffers) } -> std::same_as<bool>;
      /// Allocates the outputs and writes their `data`; makes whatever else can
      /// fail. False: as above.
      {
        model.prepare(exit, registers, buffers, outputs)
      } -> std::same_as<bool>;
      /// Calls `kernels(ctx)` once, inputs held, perhaps with the interpreter's
      /// lock released, and returns its status, or another that is not 0 to
      /// have the outputs dropped.
      { model.runKernels(exit, kernels, ctx) } -> std::same_as<int32_t>;
      /// Writes the exit into the frame. Happens last; false if the host met an
      /// error of its own.
      { model.commit(exit, registers, outputs) } -> std::same_as<bool>;
    };

/// How many pointers and numbers a run needs. Follows from the code.
struct RunSizes {
  uint32_t pointers = 0;
  uint32_t dims = 0;          ///< 0 if the code reads no extents and strides.
  uint32_t outputExtents = 0; ///< Where they begin in `dims`.
  uint32_t outputDims = 0;

  static RunSizes of(const CompiledSubgraph &code);
};

uint32_t nextSpecializationNumber() noexcept;

/// Guards, code and exit. Immutable but for its counters; shared by readers.
template <class M>
struct Specialization {
  Specialization(GuardProgram guards,
                 std::shared_ptr<const CompiledSubgraph> code,
                 typename M::Exit exit)
      : guards(std::move(guards)), code(std::move(code)),
        exit(std::move(exit)) {
    if (this->code)
      sizes = RunSizes::of(*this->code);
  }

  GuardProgram guards;
  /// Null if the exit needs no computation.
  std::shared_ptr<const CompiledSubgraph> code;
  typename M::Exit exit;
  RunSizes sizes;
  /// Distinguishes the specializations of the process in reports.
  const uint32_t number = nextSpecializationNumber();

  /// Lookups that it answered. Increments of threads that meet may be lost: it
  /// orders entries.
  mutable std::atomic<uint64_t> hits{0};
  /// Where transients of symbolic size lie.
  mutable ArenaLayouts layouts;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_SPECIALIZATION_H
