//===- Reference.h - Graphs evaluated element by element --------*- C++ -*-===//
//
// What compiled code is compared with: an interpreter of captured graphs that
// computes one element after the other, in the plainest way. It shares nothing
// with the compiler but the graph.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_TEST_UNIT_COMPILER_REFERENCE_H
#define WOK_TEST_UNIT_COMPILER_REFERENCE_H

#include "wok/Import/Graph.h"
#include "wok/Runtime/CompiledSubgraph.h"

#include <string>
#include <vector>

namespace wok::test {

/// One element: `f` of a float, `i` of an integer or truth value.
union Element {
  double f;
  int64_t i;
};

/// A dense tensor whose elements are values of `dtype`.
struct Tensor {
  DType dtype;
  std::vector<int64_t> extents;
  std::vector<Element> elements;
  /// By how much an element may differ, beyond what the operation allows; empty
  /// if by nothing. Sums have it, as their order is free.
  std::vector<double> slack;

  Tensor(DType dtype, std::vector<int64_t> extents);
  double number(size_t index) const {
    return isFloat(dtype) ? elements[index].f
                          : static_cast<double>(elements[index].i);
  }
};

int64_t countOf(const std::vector<int64_t> &extents);

/// `value` rounded to `dtype`, a float.
double roundTo(DType dtype, double value);
/// The distance from |value| to the next number of `dtype` away from zero.
double ulpOf(DType dtype, double value);
/// `value` wrapped to `dtype`, an integer or `i1`.
int64_t wrapTo(DType dtype, int64_t value);

/// The value of every extent of `graph` on these inputs.
std::vector<int64_t> evaluateExtents(const importer::Graph &graph,
                                     const std::vector<Tensor> &inputs);

/// Takes one more fault into the status of a run: kernels OR them.
inline void addStatus(runtime::Status &status, runtime::Status fault) {
  status = static_cast<runtime::Status>(static_cast<int>(status) |
                                        static_cast<int>(fault));
}

/// Runs `graph`. `status` becomes what a run of the compiled code returns; the
/// outputs mean nothing if it is not `Ok`.
std::vector<Tensor> interpret(const importer::Graph &graph,
                              const std::vector<Tensor> &inputs,
                              runtime::Status &status);

} // namespace wok::test

#endif // WOK_TEST_UNIT_COMPILER_REFERENCE_H
