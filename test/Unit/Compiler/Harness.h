//===- Harness.h - Graphs compiled, run and compared ------------*- C++ -*-===//

#ifndef WOK_TEST_UNIT_COMPILER_HARNESS_H
#define WOK_TEST_UNIT_COMPILER_HARNESS_H

#include "Reference.h"

#include "wok/Compiler/Compiler.h"
#include "wok/Import/GraphBuilder.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace wok::test {

constexpr DType allDTypes[] = {DType::I1,  DType::I8,  DType::U8,  DType::I16,
                               DType::I32, DType::I64, DType::F16, DType::BF16,
                               DType::F32, DType::F64};
constexpr DType integerDTypes[] = {DType::I8, DType::U8, DType::I16, DType::I32,
                                   DType::I64};
constexpr DType floatDTypes[] = {DType::F16, DType::BF16, DType::F32,
                                 DType::F64};

/// The values of `dtype` where operations have their corners.
std::vector<Element> edgeValues(DType dtype);

/// How many elements there are to be, and of what kind.
struct Fill {
  enum Kind {
    Edges,  ///< The corners, then random numbers of every magnitude.
    Tame,   ///< Numbers of magnitude about 1: sums of them stay accurate.
    Small,  ///< Whole numbers from 0 to 3.
    Nonzero ///< As Edges without zeros (and ones of the divisor's extremes).
  };
};
Tensor makeTensor(DType dtype, std::vector<int64_t> extents, Fill::Kind kind,
                  unsigned seed);

/// All pairs of `values`.
void allPairs(const std::vector<Element> &values, DType dtype, Tensor &lhs,
              Tensor &rhs);

/// By how much outputs may differ from the reference.
struct Tolerance {
  /// Units in the last place of the output's type.
  double ulps = 0;
  /// Of the magnitude of the result: for what is computed from sums.
  double relative = 0;
  double absolute = 0;
  bool signOfZero = true;
};

/// How inputs lie in memory.
enum class Layout {
  Dense,      ///< Row-major, aligned as any element is.
  Transposed, ///< Column-major.
  Gaps,       ///< Every third element; only for strided inputs.
  Reversed,   ///< Negative strides; only for strided inputs.
};

/// Tests of one target processor. Of a target "CPU:BYTES" vectors have BYTES
/// bytes, whatever its registers have.
class CompilerTest : public testing::Test {
public:
  explicit CompilerTest(std::string target = "") : target(std::move(target)) {}

  importer::Graph graph;
  importer::GraphBuilder b{graph};

  void reset() { graph = importer::Graph(); }
  importer::ValueId input(DType dtype, std::vector<int64_t> extents,
                          bool strided = false);
  /// An input whose extents are new symbols where `extents` has -1.
  importer::ValueId symbolicInput(DType dtype, std::vector<int64_t> extents,
                                  bool strided = false);

  /// Compiles the graph; null, after a failure, if that is impossible. For a
  /// processor that this one is not it compiles to an object and gives null.
  std::shared_ptr<const runtime::CompiledSubgraph> compile();

  /// Runs `code` on `inputs`. Checks that nothing is written but outputs.
  std::vector<Tensor> run(const runtime::CompiledSubgraph &code,
                          const std::vector<Tensor> &inputs,
                          runtime::Status &status,
                          Layout layout = Layout::Dense);

  /// Compiles, runs and compares with the reference.
  void check(const std::vector<Tensor> &inputs, const Tolerance &tolerance = {},
             Layout layout = Layout::Dense);
  /// The same with code that is there; names of outputs are for messages.
  void checkWith(const runtime::CompiledSubgraph *code,
                 const std::vector<Tensor> &inputs,
                 const std::vector<Tolerance> &tolerances,
                 const std::vector<std::string> &names = {},
                 Layout layout = Layout::Dense);

  Compiler &compiler();

protected:
  const std::string target;
};

/// The same tests for each target.
class TargetTest : public CompilerTest,
                   public testing::WithParamInterface<const char *> {
public:
  TargetTest() : CompilerTest(GetParam()) {}
};

/// Where the processor has no AVX-512, code for x86-64-v4 is only compiled; the
/// width of its vectors is tested with the instructions of x86-64-v3.
#define WOK_FOR_ALL_TARGETS(Suite)                                             \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Targets, Suite,                                                          \
      testing::Values("x86-64", "x86-64-v3", "x86-64-v3:64", "x86-64-v4", ""), \
      [](const auto &info) {                                                   \
        std::string name = info.param;                                         \
        std::erase(name, '-');                                                 \
        std::ranges::replace(name, ':', '_');                                  \
        return name.empty() ? "native" : name;                                 \
      })

} // namespace wok::test

#endif // WOK_TEST_UNIT_COMPILER_HARNESS_H
