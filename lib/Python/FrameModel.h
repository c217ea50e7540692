//===- FrameModel.h - CPython as a host of the runtime ----------*- C++ -*-===//
//
// The `runtime::ObjectModel` of CPython: how guards see a frame (or the
// arguments of a call that needs none), how a subgraph gets its inputs and
// leaves its outputs, and how an exit is written.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_FRAMEMODEL_H
#define WOK_LIB_PYTHON_FRAMEMODEL_H

#include "ExitPlan.h"

#include "wok/Python/Host.h"
#include "wok/Runtime/Stitcher.h"

namespace wok::python {

/// One arrival: at a site of a frame, or at the entry of a function without
/// one. All members need the GIL.
class FrameModel {
public:
  using Register = PyObject *;
  using Exit = ExitPlan;

  /// A frame at a site. What an exit leaves is written into it.
  FrameModel(FrameView &frame)
      : frame(&frame), roots{frame.localsplus, frame.stack, frame.function,
                             frame.globals, frame.builtins} {}
  /// A call: `localsplus` has the arguments. Only exits that return are run.
  FrameModel(PyFunctionObject *function, PyObject **localsplus)
      : frame(nullptr), roots{localsplus, nullptr, function,
                              function->func_globals, function->func_builtins} {
  }

  /// Makes room for the guards of a site's specializations.
  void reserve(uint32_t tensors, uint32_t symbols) {
    if (state.tensors.size() < tensors)
      state.tensors.resize_for_overwrite(tensors);
    if (state.symbols.size() < symbols)
      state.symbols.resize_for_overwrite(symbols);
  }

  bool step(const runtime::GuardRecord &record, Register *registers) noexcept {
    return runRecord(record, registers, roots, state);
  }

  /// What a run has made: owned until `commit` hands it on.
  struct Outputs {
    /// By recipe; null for what is not made yet.
    llvm::SmallVector<PyObject *, 8> made;
    /// By output of the subgraph: its memory.
    llvm::SmallVector<void *, 8> memory;
    /// Elements that no tensor holds, and tensors that no recipe names.
    llvm::SmallVector<uint64_t, 4> elements;
    llvm::SmallVector<PyObject *, 2> spare;
    Outputs() = default;
    Outputs(const Outputs &) = delete;
    ~Outputs();
  };

  bool bindInputs(const Exit &plan, Register *registers,
                  const runtime::RunBuffers &buffers);
  bool prepare(const Exit &plan, Register *registers,
               const runtime::RunBuffers &buffers, Outputs &outputs);
  int32_t runKernels(const Exit &plan, int32_t (*kernels)(void *), void *ctx);
  bool commit(const Exit &plan, Register *registers, Outputs &outputs);

  /// A frameless call's result after `commit`: a new reference.
  PyObject *result = nullptr;
  /// For reports: whether to measure, and what the kernels of the last run
  /// took.
  bool timeKernels = false;
  int64_t kernelNanoseconds = 0;
  /// `runKernels` returns this if NumPy would have warned or raised.
  static constexpr int32_t floatingPointStatus = 1 << 20;

private:
  PyObject *make(const Exit &plan, capture::RecipeId id, Register *registers,
                 Outputs &outputs);
  PyObject *makeNew(const Exit &plan, capture::RecipeId id, Register *registers,
                    Outputs &outputs);
  PyObject *makeFunction(const Exit &plan, const capture::Recipe &recipe,
                         Register *registers, Outputs &outputs);
  PyObject *makeInstance(const Exit &plan, capture::RecipeId id,
                         Register *registers, Outputs &outputs);
  bool fillItems(const Exit &plan, capture::RecipeId id, Register *registers,
                 Outputs &outputs);
  bool allocateOutput(const Exit &plan, uint32_t number, DType dtype,
                      const int64_t *extents, size_t rank, Outputs &outputs);
  bool apply(const capture::Effect &effect, Outputs &outputs);
  int64_t extent(const Exit &plan, importer::ExtentId id) const {
    return plan.guards->extent(id, state.symbols.data());
  }

  FrameView *frame;
  GuardRoots roots;
  LookupState state;
  /// Python numbers that are inputs, as elements.
  llvm::SmallVector<uint64_t, 4> numbers;
  /// Of the run between `bindInputs` and `runKernels`.
  const runtime::CompiledSubgraph *code = nullptr;
  int64_t bytes = 0;
  Register *inputRegisters = nullptr;
};

using Specialization = runtime::Specialization<FrameModel>;
using Site = runtime::Site<FrameModel>;

} // namespace wok::python

#endif // WOK_LIB_PYTHON_FRAMEMODEL_H
