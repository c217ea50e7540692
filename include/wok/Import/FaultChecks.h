//===- FaultChecks.h - Operations that raise although unread ----*- C++ -*-===//

#ifndef WOK_IMPORT_FAULTCHECKS_H
#define WOK_IMPORT_FAULTCHECKS_H

#include "wok/Import/Graph.h"

#include <vector>

namespace wok::importer {

/// A kernel reports an index out of range or an integer division by zero where
/// it computes the element. An operation whose elements are not all computed
/// for `graph.outputs` (its result is dead, sliced, selected from, multiplied
/// by zero) raises in eager all the same: for each of those a test is appended
/// to the graph. Returns the tests, 0-d values of i1 that are true if the
/// operation would raise. The caller makes them outputs.
std::vector<ValueId> appendFaultChecks(Graph &graph);

} // namespace wok::importer

#endif // WOK_IMPORT_FAULTCHECKS_H
