//===- ExitPlan.h - An exit, ready to be run --------------------*- C++ -*-===//
//
// What a capture says about leaving (`capture::Exit`), with sources replaced by
// registers of the guard program and everything that is known before a run
// computed once. Immutable; shared by all runs.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_EXITPLAN_H
#define WOK_LIB_PYTHON_EXITPLAN_H

#include "GuardModel.h"

#include "wok/Runtime/CompiledSubgraph.h"

#include <memory>
#include <string>
#include <vector>

namespace wok::python {

/// Where an input of the subgraph comes from.
struct InputPlan {
  SubgraphInput::Kind kind;
  uint16_t reg;       ///< The object.
  uint32_t described; ///< Tensors: where the guards left its description.
};

/// Who makes the memory of an output: a tensor recipe, or nobody but the run.
struct OutputPlan {
  capture::RecipeId recipe = capture::noRecipe; ///< A Tensor.
  bool scalar = false; ///< One element, read after the kernels.
};

struct ExitPlan {
  std::unique_ptr<GuardTable> guards;
  std::vector<InputPlan> inputs;
  std::vector<OutputPlan> outputs;
  capture::Exit exit; ///< Its objects are held by `guards`.
  /// By recipe: the register of a Source.
  std::vector<uint16_t> registers;
  /// Recipes whose tensor an effect writes into: they must be writable.
  std::vector<capture::RecipeId> written;
  bool hasArrays =
      false; ///< An input is an ndarray: the FP flags say what NumPy would.
  /// Work of the kernels in bytes moved, weighted by operations; what symbolic
  /// extents add is counted at the run.
  uint32_t operations = 0;

  /// Runs that were given up before commit. Under the GIL.
  mutable uint32_t refusals = 0;

  // For reports.
  std::vector<std::string> operationNames;
  std::string file;
  uint32_t line = 0;
};

/// Lowers guards and exit of a capture: moves the exit out of it and shares the
/// objects that it names. An empty plan (`guards` is null) if it does not fit.
ExitPlan makeExitPlan(CapturedSubgraph &subgraph, PyCodeObject *code);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_EXITPLAN_H
