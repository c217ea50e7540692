//===- Host.h - Between the frame evaluator and the dispatcher --*- C++ -*-===//
//
// The frame evaluator (trap code, lib/Python/3.11) brings frames to sites; the
// dispatcher (lib/Python/Dispatch.cpp) finds, captures and runs specializations
// there. This header is all they share.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_PYTHON_HOST_H
#define WOK_PYTHON_HOST_H

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace wok::python {

/// What the user asked for at `wok.jit(f, ...)`.
struct JitOptions {
  bool fullgraph = false; ///< A break raises `wok.BreakError`.
  /// Extents and Python scalars: -1 dynamic from their second value on, 0
  /// never, 1 at once.
  int8_t dynamic = -1;

  bool operator==(const JitOptions &) const = default;
};

/// A frame of the program that stands at a site. All pointers are borrowed;
/// `localsplus` and `stack` may be rewritten in place by an arrival that
/// resumes (it owns the references it writes).
struct FrameView {
  PyFunctionObject *function;
  PyCodeObject *code; ///< Pristine, never the trap copy.
  PyObject *globals;
  PyObject *builtins;
  PyObject *localsDict;  ///< Class and module bodies; otherwise null.
  PyObject **localsplus; ///< Locals, cells, free variables: `co_nlocalsplus`
                         ///< slots, null if unbound.
  PyObject **stack; ///< The bottom of the value stack, `co_stacksize` slots.
  int32_t stackDepth;
  int32_t offset; ///< In code units: the first unit of an instruction.
  bool isGenerator;
};

/// What the evaluator does after an arrival.
struct Arrival {
  enum class Action : uint8_t {
    Interpret, ///< Nothing was done: CPython executes the instruction at the
               ///< site.
    Resume,    ///< The frame was written; CPython goes on at `offset` with
               ///< `stackDepth`.
    Raise,     ///< A Python exception is set; it is raised at `offset`, with
               ///< `stackDepth`.
  };
  Action action = Action::Interpret;
  int32_t offset = 0;
  int32_t stackDepth = 0;
  std::vector<int32_t> arm;    ///< Sites that are new.
  std::vector<int32_t> disarm; ///< Sites that went cold.
};

/// The sites of one watched code object with their specializations. Owned by
/// the trap-code registry; dies with the code object.
class CodeSites;
struct CodeSitesDeleter {
  void operator()(CodeSites *sites) const;
};
using CodeSitesPtr = std::unique_ptr<CodeSites, CodeSitesDeleter>;

/// Starts watching `code`. Runs no Python of the program.
CodeSitesPtr makeCodeSites(PyCodeObject *code, const JitOptions &options);

/// The offsets to arm before the first frame runs: the entry, if the code is
/// worth watching.
std::vector<int32_t> initialSites(const CodeSites &sites);

/// Looks up, captures and runs what the site has. Called with the GIL held, no
/// exception set, and with a `_PyCFrame` and a recursion level of its own, so
/// that it may run Python. An evaluator that must not take over (tracing,
/// thrown into) does not call it.
Arrival arrive(CodeSites &sites, FrameView &frame);

/// Runs a whole call without a frame: if the entry of `function` has a
/// specialization that returns, and its guards hold on the arguments. Returns a
/// new reference; null without an exception means "make the frame"; null with
/// one means that the call raises.
PyObject *tryFrameless(CodeSites &sites, PyFunctionObject *function,
                       PyObject *const *args, size_t nargsf, PyObject *kwnames);

/// Marks a function (or code) as never to be captured; calls of it are breaks.
/// `wok.disable`.
bool markDisabled(PyObject *function);

/// Whether a function was marked so.
bool isDisabled(PyObject *function);

/// Forgets all specializations and statistics of all code objects
/// (`wok.reset`).
void resetAll();

/// New reference to a dict of counters (`wok.stats`): subgraphs, kernels, hits,
/// misses, breaks, ops_compiled, ops_eager, captures, fallbacks, compile_ns.
PyObject *statistics();

/// Recording for `wok.explain`: between begin and end, what happens on this
/// thread is kept. `end` returns a new reference to a dict {"subgraphs":
/// [{"ops": [str], "guards": [str], "kernels": int, "phases": {str: ns},
/// "filename": str, "lineno": int, "hits": int}], "breaks": [{"reason": str,
/// "code": str, "detail": str, "hint": str, "filename": str, "lineno": int,
/// "cost_ns": int}]}.
void beginRecording();
PyObject *endRecording();

//===--- What the frame evaluator's side offers ---------------------------===//

/// `wok.BreakError`, which `fullgraph=True` raises at a break. Borrowed; null
/// with an exception set if there is no memory for it.
PyObject *breakErrorType();

/// The Python function that `wok.jit` wrapped in `callable`; null if it is none
/// of ours. Borrowed. A capture that meets a call of such an object inlines
/// this function.
PyObject *jitTarget(PyObject *callable);

} // namespace wok::python

#endif // WOK_PYTHON_HOST_H
