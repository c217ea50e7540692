//===- Evaluator.h - From a frame at a site to a subgraph -------*- C++ -*-===//
//
// The entry of the symbolic evaluator (lib/Python/3.11/Evaluator*.cpp over
// lib/Capture). The dispatcher turns what it returns into a guard program, a
// compiled subgraph and an exit.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_PYTHON_EVALUATOR_H
#define WOK_PYTHON_EVALUATOR_H

#include "wok/Capture/Capture.h"
#include "wok/Python/Host.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wok::python {

using capture::SubgraphInput;

/// What a capture found. Owns (through `sources`) every Python object that
/// guards and recipes name.
///
/// - `guards.guards` is in the order in which they are tested: a parent before
///   its children. All of them hold on the frame that was captured.
/// - A symbol `s` of `graph` is dimension `dim` of input node `input`
///   (`Graph::allSymbols`), and so known once that input's tensor guard has
///   passed; extents in recipes and relations are expressions over symbols.
/// - `graph.outputs[n]` is output `n` of the subgraph, row-major. Two outputs
///   may be one value, and an output may be an input's value: each is memory of
///   its own.
/// - There is at least one operation, but there may be no output (all results
///   are dead).
struct CapturedSubgraph {
  importer::Graph graph;
  capture::SourceTable sources;
  capture::GuardList guards;
  std::vector<SubgraphInput> inputs;
  capture::Exit exit;
  /// Names of the captured tensor operations in program order ("torch.add"),
  /// for reports.
  std::vector<std::string> operations;
  uint32_t line = 0; ///< Source line of the site.
};

/// `subgraph` is absent if there is nothing to compile at the site: `why` says
/// what capture met, and `sites` where it may go on (code units; the site
/// itself goes cold). With a subgraph both are those of its exit.
struct CaptureOutcome {
  std::optional<CapturedSubgraph> subgraph;
  capture::BreakInfo why;
  std::vector<int32_t> sites;
};

/// Evaluates symbolically from the site at which `frame` stands. Runs no Python
/// code of the program, changes nothing, keeps the GIL; sets no exception. The
/// cyclic collector, which may run finalizers, is off meanwhile.
/// `history` gets what was seen, for the next capture at this site: an int,
/// float or extent that differs from the value of an earlier capture becomes
/// symbolic. Needs the GIL.
CaptureOutcome captureAt(const FrameView &frame, capture::SiteHistory &history);

/// A captured subgraph as text: inputs, guards, operations, exit. For tests and
/// `WOK_DUMP`.
std::string toString(const CapturedSubgraph &subgraph, PyCodeObject *code);

} // namespace wok::python

#endif // WOK_PYTHON_EVALUATOR_H
