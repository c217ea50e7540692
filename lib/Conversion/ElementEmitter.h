//===- ElementEmitter.h - Elements of tensors in a kernel -------*- C++ -*-===//
//
// What a kernel computes is asked for backwards: the element of an output at an
// index, or a vector of elements along one dimension, from the elements of
// operands at the indices that they need. Nothing of a fusion's body is ever
// stored, and nothing is computed twice in one place:
//
// - Each open loop is a scope, and so is each arm of a branch. A value is
//   emitted in the outermost scope that knows its index, in front of the loop
//   that is being filled, and is found again by everything that follows in that
//   scope. It stays in the arm that asked for it: elsewhere there may be no
//   such element.
// - Elements whose index is the same in all lanes are scalars until they meet a
//   vector.
// - Data movement only changes indices.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CONVERSION_ELEMENTEMITTER_H
#define WOK_LIB_CONVERSION_ELEMENTEMITTER_H

#include "IndexMath.h"

#include "wok/Conversion/TargetFeatures.h"
#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace wok {

/// The index in one dimension. Lane l has `base + l * step`, or lane l of
/// `lanes` (a vector of i64) if that is set.
struct Index {
  mlir::Value base;
  int64_t step = 0;
  mlir::Value lanes;

  bool isUniform() const { return !lanes && step == 0; }
  bool operator==(const Index &) const = default;
};
using IndexList = llvm::SmallVector<Index, 4>;

/// Reductions of operands of one shape along the same dimensions: one loop
/// nest.
struct ReductionNest {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Reduced dimensions, increasing; a group is walked as one dimension, which
  /// the last of its members indexes.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  /// Vectors in flight, where lanes run along a reduced dimension.
  int64_t unroll = 1;
};

/// Memory of a tensor: `strides` count elements.
struct Buffer {
  mlir::Value pointer;
  mlir::Type elementType;
  llvm::SmallVector<mlir::Value, 4> extents, strides;
};

class ElementEmitter {
public:
  /// Emits into `kernel`, whose entry block exists.
  ElementEmitter(mlir::OpBuilder &builder, mlir::func::FuncOp kernel,
                 const TargetFeatures &target, unsigned vectorBytes);

  //===--------------------------------------------------------------------===//
  // Set-up
  //===--------------------------------------------------------------------===//

  /// Says where argument `argument` of the fusion's body lies.
  void bind(mlir::Value argument, Buffer buffer);
  /// Says what an argument of type index is.
  void bindIndex(mlir::Value argument, mlir::Value value) {
    indexValues[argument] = value;
  }
  const Buffer &buffer(mlir::Value argument) const {
    return buffers.find(argument)->second;
  }

  /// From now on elements of `tensor` are read from `buffer`, which was filled
  /// by loops of the current scope.
  void readFrom(mlir::Value tensor, Buffer buffer);
  /// From now on the element of `tensor` at `at` is `value`.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value value);
  void forgetReads() { cached.clear(); }

  /// Lanes of the vectors that are emitted; with 1, everything is a scalar.
  int64_t lanes = 1;
  IndexMath math;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const TargetFeatures &target;

  //===--------------------------------------------------------------------===//
  // Loops and conditions
  //===--------------------------------------------------------------------===//

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value index, mlir::ValueRange carried)>;

  /// A loop over [low, high); the body gives the next carried values. A loop
  /// that surely runs once is only its body.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t step, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits `then` in a branch that is taken where `condition` holds, and
  /// `otherwise`, if any, in the other.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);

  /// Lanes in which elements are wanted: scalar or vector conditions (`i1`).
  /// Memory is touched only where all of them hold.
  class Where {
  public:
    Where(ElementEmitter &emitter, mlir::Value condition) : emitter(emitter) {
      if (condition)
        emitter.conditions.push_back(condition);
      pushed = condition != nullptr;
    }
    ~Where() {
      if (pushed)
        emitter.conditions.pop_back();
    }
    Where(const Where &) = delete;
    Where &operator=(const Where &) = delete;

  private:
    ElementEmitter &emitter;
    bool pushed;
  };

  /// The lanes l with base + l < high, as a vector condition.
  mlir::Value lanesBelow(mlir::Value base, mlir::Value high);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// Elements of `tensor`, in its compute type: a scalar if every index is
  /// uniform, else a vector.
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// The same, always a vector if `lanes` > 1.
  mlir::Value vectorElement(mlir::Value tensor, llvm::ArrayRef<Index> at) {
    return splat(element(tensor, at));
  }
  void store(mlir::Value value, const Buffer &buffer, llvm::ArrayRef<Index> at);
  /// Elements of memory, in the compute type.
  mlir::Value read(const Buffer &buffer, llvm::ArrayRef<Index> at) {
    return load(buffer, at);
  }

  /// The extent of a tensor of the body; a constant where static.
  mlir::Value extent(mlir::Value tensor, unsigned dim);
  /// A value of type index of the body.
  mlir::Value index(mlir::Value value);

  mlir::Value splat(mlir::Value scalar);
  /// `type`, or a vector of it if `lanes` > 1.
  mlir::Type vectorOf(mlir::Type type) const;
  Index uniform(mlir::Value base) const { return {base, 0, {}}; }
  Index constantIndex(int64_t value) { return uniform(math.constant(value)); }
  /// Lanes base, base + 1, ...
  Index contiguous(mlir::Value base) const {
    return {base, lanes > 1 ? 1 : 0, {}};
  }
  /// The index as an i64, or a vector of i64 unless it is uniform.
  mlir::Value asInteger(const Index &index);

  /// Takes `fault` (i1 or a vector of i1) into the kernel's status, where the
  /// conditions hold.
  void reportFault(mlir::Value fault, int32_t status);
  /// The status to return; ends the kernel.
  mlir::Value finalStatus();

  //===--------------------------------------------------------------------===//
  // Reductions (ReductionLoops.cpp)
  //===--------------------------------------------------------------------===//

  /// Emits the loops of `nest`, for each list of indices of the kept
  /// dimensions. The result has, for each list, for each operation, its
  /// accumulators.
  ///
  /// `alongLanes`: lanes run along the innermost reduced dimension and are
  /// combined at the end, so that accumulators are scalars; there is one list,
  /// uniform. Otherwise they are as the indices are. `low` and `high`, if
  /// given, bound the first group.
  llvm::SmallVector<mlir::Value>
  accumulate(const ReductionNest &nest, llvm::ArrayRef<IndexList> kept,
             bool alongLanes, mlir::Value low = {}, mlir::Value high = {});
  /// The element that scalar or vector accumulators of `op` stand for.
  mlir::Value finishReduction(mlir::Operation *op,
                              mlir::ValueRange accumulators);
  /// Combines all lanes, pairwise.
  llvm::SmallVector<mlir::Value> combineLanes(mlir::Operation *op,
                                              mlir::ValueRange accumulators);
  /// If set, `accumulate` also stores each element that it takes, at its own
  /// index.
  const Buffer *keepOperand = nullptr;
  /// The types of the accumulators of one element.
  static llvm::SmallVector<mlir::Type> accumulatorTypes(mlir::Operation *op);
  llvm::SmallVector<mlir::Value> neutralAccumulators(mlir::Operation *op);

  /// Lanes of a full vector of the kernel's elements.
  int64_t nativeLanes(int64_t elementBytes) const {
    return std::max<int64_t>(1, vectorBytes / elementBytes);
  }
  /// What `reduction` uses where it can.
  int64_t fullLanes = 1;

private:
  friend class Where;

  struct Remembered {
    mlir::Value tensor;
    IndexList at;
    llvm::SmallVector<mlir::Value, 2> conditions;
    int64_t lanes;
    mlir::Value result;
  };
  struct Scope {
    mlir::Operation *op = nullptr; ///< Null for the body of the function.
    mlir::Block *block = nullptr;
    bool isArm = false;
    llvm::SmallVector<Remembered> remembered;
    llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> splats;
  };
  struct CachedTensor {
    Buffer buffer;
    unsigned depth;
  };
  /// The part of the state that hoisting saves.
  class Hoist;

  unsigned depthOf(mlir::Value value) const;
  unsigned depthOf(llvm::ArrayRef<Index> at) const;
  /// The innermost open arm of a branch; 0 if there is none.
  unsigned depthOfArm() const;
  void fill(mlir::Operation *op, mlir::Block *block, bool isArm,
            llvm::function_ref<void()> body);

  // ReductionLoops.cpp
  class ReductionLoops;
  mlir::Value reduction(mlir::Operation *op, llvm::ArrayRef<Index> at);

  // ElementEmitter.cpp
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<Index> at);
  mlir::Value elementwise(ElementwiseOpInterface op, llvm::ArrayRef<Index> at);

  // ElementMovement.cpp
  mlir::Value movement(mlir::Operation *op, llvm::ArrayRef<Index> at);
  mlir::Value pad(PadOp op, llvm::ArrayRef<Index> at);
  mlir::Value concat(ConcatOp op, llvm::ArrayRef<Index> at);
  mlir::Value gather(GatherOp op, llvm::ArrayRef<Index> at);
  mlir::Value constantElement(ConstantOp op, llvm::ArrayRef<Index> at);
  mlir::Value iota(IotaOp op, llvm::ArrayRef<Index> at);
  IndexList reshapeIndices(ReshapeOp op, llvm::ArrayRef<Index> at);
  Index add(const Index &a, const Index &b);
  Index mul(const Index &index, mlir::Value factor);
  Index divide(const Index &index, mlir::Value divisor, bool remainder);
  /// 0 <= index < high, as one i1 or for each lane.
  mlir::Value within(const Index &index, mlir::Value high);
  /// `yes` in lanes where `condition` holds; vectors where any of the three is.
  mlir::Value choose(mlir::Value condition, mlir::Value yes, mlir::Value no);

  // ElementMemory.cpp
  struct Address {
    mlir::Value offset; ///< Of lane 0.
    int64_t step = 0;   ///< Between lanes, if `stepValue` is null.
    mlir::Value stepValue;
    mlir::Value offsets; ///< A vector of i64, if not affine.
  };
  Address address(const Buffer &buffer, llvm::ArrayRef<Index> at);
  mlir::Value load(const Buffer &buffer, llvm::ArrayRef<Index> at);
  mlir::Value loadContiguous(mlir::Value pointer, mlir::Type elementType,
                             bool reversed = false);
  mlir::Value loadReversed(const Buffer &buffer, mlir::Value offset);
  mlir::Value reverse(mlir::Value vector);
  mlir::Value loadGathered(const Buffer &buffer, const Address &address);
  mlir::Value elementPointer(mlir::Value pointer, mlir::Value offset,
                             mlir::Type memoryType);
  /// All conditions as one vector of i1 (or one i1 if not `vector`, from the
  /// scalar conditions only); null if there are none.
  mlir::Value mask(bool vector);

  mlir::func::FuncOp kernel;
  unsigned vectorBytes;
  llvm::SmallVector<Scope, 4> scopes;
  llvm::SmallVector<mlir::Value, 4> conditions;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> indexValues;
  llvm::DenseMap<mlir::Value, CachedTensor> cached;
  mlir::Value statusSlot;
};

} // namespace wok

#endif // WOK_LIB_CONVERSION_ELEMENTEMITTER_H
