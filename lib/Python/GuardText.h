//===- GuardText.h - Guards as reports show them ----------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_GUARDTEXT_H
#define WOK_LIB_PYTHON_GUARDTEXT_H

#include "wok/Python/Evaluator.h"

#include <string>

namespace wok::python {

/// What `guard` of `subgraph` assumes of the frame of `code`: "local x:
/// tensor<8xf32> (line 3)". Runs no code of the program.
std::string describeGuard(const CapturedSubgraph &subgraph,
                          const capture::Guard &guard, PyCodeObject *code);

/// An extent as an expression of symbols: "(s0 + 1)".
std::string extentText(const importer::Graph &graph, importer::ExtentId extent);

/// "s0 == (s1 + 1)".
std::string relationText(const importer::Graph &graph,
                         const capture::ExtentRelation &relation);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_GUARDTEXT_H
