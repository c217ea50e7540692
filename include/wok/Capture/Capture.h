//===- Capture.h - The state of one capture ---------------------*- C++ -*-===//
//
// Everything that the symbolic evaluator (lib/Python/3.11/Evaluator*) and the
// importers of calls (lib/Capture/Torch*, Numpy*, Builtins*) read and write
// while one subgraph is captured. It only looks: no Python code of the program
// runs, nothing of the program changes.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_CAPTURE_H
#define WOK_CAPTURE_CAPTURE_H

#include "wok/Capture/Exit.h"
#include "wok/Capture/Guard.h"
#include "wok/Capture/Heap.h"
#include "wok/Capture/Source.h"
#include "wok/Capture/Value.h"
#include "wok/Import/Graph.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wok::capture {

/// One input of a subgraph, in the order of the graph's `input` nodes.
struct SubgraphInput {
  enum class Kind : uint8_t {
    Tensor, ///< A tensor or array, guarded by `Tensor` of the same source.
    Int,    ///< An exact int, guarded by `IntRange`, passed as a rank-0 i64.
    Float,  ///< An exact float, guarded by `FloatType`, passed as a rank-0 f64.
  };
  Kind kind = Kind::Tensor;
  SourceId source = noSource;
  importer::ValueId value = 0; ///< The `input` node.
};

/// What capture remembers of a site between captures.
struct SiteHistory {
  /// An int, float or extent that a capture met: printed source, dimension + 1
  /// for extents, value (bits of a float). One that has another value at a
  /// later capture becomes symbolic then, unless something asked for the value
  /// of the symbol.
  struct Number {
    std::string source;
    int32_t dim;
    int64_t bits;
    bool varied = false;
    bool keepStatic = false;
  };
  std::vector<Number> numbers;
  int8_t dynamic = -1; ///< As JitOptions::dynamic.
};

/// The state of one capture. Handlers and importers return `std::nullopt` after
/// `breakHere`; the evaluator then truncates to the checkpoint before the
/// instruction.
class Capture {
public:
  explicit Capture(SiteHistory &history);
  ~Capture();
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;

  importer::Graph graph;
  SourceTable sources;
  GuardList guards;

  //===--- Values ---------------------------------------------------------===//

  /// A live object found at `source`. Two calls with one source give one Value;
  /// one object that two sources lead to is two Values (pure reads need not
  /// know that they are one: `sameObject` asks).
  Value known(PyObject *object, SourceId source);
  /// An object that folding made, or that is the same for ever (None, a small
  /// table). Steals nothing.
  Value constant(PyObject *object);
  Value constant(long long number);
  Value none();
  const KnownRow &knownRow(Value value) const;
  /// The object of a Known; null for every other kind.
  PyObject *object(Value value) const;

  Value tensor(TensorRow row);
  const TensorRow &tensorRow(Value value) const;
  /// To change a row: what it was comes back if the instruction ends in a
  /// break.
  TensorRow &changeTensor(Value value);
  Value scalar(ScalarRow row);
  const ScalarRow &scalarRow(Value value) const;
  Value sequence(SequenceRow::Type type, std::vector<Value> items);
  const SequenceRow &sequenceRow(Value value) const;
  SequenceRow &changeSequence(Value value);
  Value tuple(std::vector<Value> items) {
    return sequence(SequenceRow::Type::Tuple, std::move(items));
  }
  Value list(std::vector<Value> items) {
    return sequence(SequenceRow::Type::List, std::move(items));
  }
  Value table(TableRow row);
  const TableRow &tableRow(Value value) const;
  TableRow &changeTable(Value value);
  Value iterator(IteratorRow row);
  Value instance(InstanceRow row);
  Value callable(CallableRow row);
  Value cell(Value contents);

  //===--- Decisions: each leaves a guard ---------------------------------===//

  /// Guards that the Known has exactly its present type.
  void guardType(Value value);
  /// Guards the value of an exact int, float, bool, str, bytes or None, or
  /// identity otherwise.
  void guardValue(Value value);
  void guardIdentity(Value value);
  /// Decides `a is b`. Nullopt, with a break set, where only eager knows (a
  /// Scalar is no object yet).
  std::optional<bool> sameObject(Value a, Value b);
  /// Asks for an int: a Known int (or bool) under a value guard, or a Scalar
  /// that is replaced by one and kept static from now on. Nullopt and no break
  /// set if it is not an int.
  std::optional<long long> asInt(Value value);
  std::optional<double> asFloat(Value value); ///< int or float
  std::optional<bool> asBool(Value value);    ///< exact bool
  /// An exact str, guarded.
  std::optional<std::string_view> asString(Value value);
  /// The items of a fresh or live tuple/list (length and, for live ones, items
  /// by source), or of a torch.Size. Nullopt if it is no sequence.
  std::optional<std::vector<Value>> asItems(Value value);

  /// Whether a live object can be read now. False, with a break set, if a store
  /// to it waits for the exit; guards that it is none of the other objects that
  /// wait.
  bool readable(Value value);

  /// Whether the value is (or, for a Known, holds) a tensor or array that could
  /// be one in the graph.
  bool isTensor(Value value) const;
  /// The tensor as a value of the graph; a live one becomes an input under a
  /// Tensor guard. Breaks (UnsupportedTensor, RequiresGrad) if Wok does not
  /// compute with it.
  std::optional<Value> asTensor(Value value);
  /// The current SSA value of a Tensor: rereads views of written storages.
  importer::ValueId read(Value tensor);

  /// The extent as a Python number: a Known int if constant, otherwise a
  /// Scalar.
  Value extentValue(importer::ExtentId extent);
  /// Asks for the number behind an extent, and keeps it static.
  int64_t asConstant(importer::ExtentId extent);

  /// Keeps a number of the history static from now on, and has the capture
  /// start again.
  void keepStatic(SourceId source, int32_t dim);

  /// Reads ambient state and guards what it found.
  int64_t ambient(Ambient which);
  /// Guards that a class of tensors means what its library says. False, with a
  /// break set, if the program has changed it.
  bool guardTensorClass(PyTypeObject *type);

  //===--- Breaks ---------------------------------------------------------===//

  std::nullopt_t breakHere(BreakInfo::Reason reason, std::string detail = {});
  const std::optional<BreakInfo> &pendingBreak() const { return broke; }

  //===--- Effects --------------------------------------------------------===//

  /// Records that the storage of tensor `target` now holds `value` (of its
  /// dtype and shape): one in-place operation. False, with a break set, if it
  /// cannot be postponed (views alive, overlap).
  bool write(Value target, importer::ValueId value);

  /// Notes that a tensor operation was captured ("torch.add"): what reports
  /// count.
  void noteOperation(std::string name);

  SiteHistory &history;
  uint32_t line = 0; ///< Of the instruction under evaluation.

  /// For the evaluator and the exit builder: tables, journal, checkpoints.
  struct State;
  State &internal() { return *state; }

private:
  /// An int or float with a second value as a Scalar.
  std::optional<Value> symbolicNumber(PyObject *object, SourceId source);
  /// Notes a number in the history. True if it is symbolic.
  bool meetNumber(SourceId source, int32_t dim, int64_t bits);
  void keepSymbolsStatic(importer::ExtentId extent);
  bool guardApart(const TensorRow &written, const TensorRow &other);

  std::optional<BreakInfo> broke;
  std::unique_ptr<State> state;
};

//===--- Importers of calls -----------------------------------------------===//

struct CallArguments {
  std::span<const Value> positional;
  std::span<const std::pair<std::string_view, Value>> keywords;
};

/// Appends what a call of the callable computes to the graph, or folds it.
/// Nullopt after a break.
using ImportFn = std::optional<Value> (*)(Capture &, const CallArguments &,
                                          const void *detail);

struct CallableEntry {
  ImportFn import;
  const void *detail = nullptr; ///< The row of the importer's own table.
  /// Tensor operations (counted in reports) as opposed to builtins and
  /// metadata.
  bool isOperation = true;
  std::string name; ///< "torch.add", for reports.
  /// The code that a Python function has to have to mean that; null for what is
  /// written in C.
  PyObject *code = nullptr;
};

/// The entry of a callable: torch functions and builtins, method descriptors of
/// torch.Tensor and numpy.ndarray, ufuncs, Python builtins, math.*, operator.*.
/// Null if there is none. Filled at the first call for each library that the
/// process has imported (it imports nothing itself).
const CallableEntry *findCallable(PyObject *callable);

/// Operators on tensors, arrays and Scalars: `NB_*` of BINARY_OP (in-place
/// forms included), the comparison of COMPARE_OP (`Py_LT`...), unary '-', '+',
/// '~'. At least one operand is a Tensor (or Known tensor) or Scalar.
std::optional<Value> importBinary(Capture &, int nbOperator, Value lhs,
                                  Value rhs);
std::optional<Value> importCompare(Capture &, int pyCompare, Value lhs,
                                   Value rhs);
std::optional<Value> importUnary(Capture &, char op, Value operand);

/// `tensor[index]` and `tensor[index] = value`.
std::optional<Value> importSubscript(Capture &, Value tensor, Value index);
bool importStoreSubscript(Capture &, Value tensor, Value index, Value value);

/// Attributes of a tensor that need no call: shape, dtype, ndim, T, mT, device,
/// ... Nullopt without a break if `name` is not one of them (the evaluator then
/// looks for a method on the type).
std::optional<Value> importTensorAttribute(Capture &, Value tensor,
                                           std::string_view name);

/// Which item of a struct sequence (SequenceRow::structure) the attribute is;
/// -1 if none.
int structureField(PyObject *structure, std::string_view name);

} // namespace wok::capture

#endif // WOK_CAPTURE_CAPTURE_H
