//===- LowerFusions.cpp - Planned subgraphs to functions ------------------===//

#include "wok/Conversion/Passes.h"

#include "EntryBuilder.h"

#include "wok/Analysis/EntryPoint.h"
#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace wok {
#define GEN_PASS_DEF_LOWERFUSIONS
#include "wok/Conversion/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;

namespace {

/// Lowers one subgraph.
class SubgraphLowering {
public:
  SubgraphLowering(SubgraphOp subgraph, EntryBuilder &entry)
      : subgraph(subgraph), entry(entry) {}

  LogicalResult run(const EntryPoint &point);

private:
  void bindArguments(const EntryPoint &point);
  LogicalResult lower(Operation &op);
  LogicalResult lowerView(Value result, Value pointer, ValueRange sizes);
  LogicalResult lowerContract(CallLibraryOp op);
  void denseStrides(Buffer &buffer);
  Value loadWord(Value array, int64_t index);
  Value index(Value value) { return entry.indices.lookup(value); }

  SubgraphOp subgraph;
  EntryBuilder &entry;
};

struct LowerFusions : wok::impl::LowerFusionsBase<LowerFusions> {
  using LowerFusionsBase::LowerFusionsBase;
  void runOnOperation() override;
};

} // namespace

void SubgraphLowering::denseStrides(Buffer &buffer) {
  buffer.strides.resize(buffer.extents.size());
  Value stride = entry.math.constant(1);
  for (unsigned dim = buffer.extents.size(); dim-- > 0;) {
    buffer.strides[dim] = stride;
    if (dim != 0)
      stride = entry.math.mul(stride, buffer.extents[dim]);
  }
}

/// The element `index` of an array of i64, as an index.
Value SubgraphLowering::loadWord(Value array, int64_t index) {
  OpBuilder &b = entry.builder;
  Type i64 = b.getI64Type();
  Value place = array;
  if (index != 0)
    place = LLVM::GEPOp::create(b, entry.loc, array.getType(), i64, array,
                                ArrayRef<LLVM::GEPArg>{int32_t(index)});
  Value loaded = LLVM::LoadOp::create(b, entry.loc, i64, place);
  return arith::IndexCastOp::create(b, entry.loc, b.getIndexType(), loaded);
}

void SubgraphLowering::bindArguments(const EntryPoint &point) {
  OpBuilder &b = entry.builder;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value data = entry.entry.getArgument(0), dims = entry.entry.getArgument(1);
  int64_t word = 0;
  for (auto [number, argument] : llvm::enumerate(subgraph.getArguments())) {
    auto type = cast<MemRefType>(argument.getType());
    int64_t rank = type.getRank();
    bool isInput = number < point.inputs.size();
    Value place = data;
    if (number != 0)
      place = LLVM::GEPOp::create(b, entry.loc, pointer, pointer, data,
                                  ArrayRef<LLVM::GEPArg>{int32_t(number)});
    Buffer buffer{LLVM::LoadOp::create(b, entry.loc, pointer, place),
                  type.getElementType(),
                  {},
                  {}};
    for (int64_t dim = 0; dim < rank; ++dim)
      buffer.extents.push_back(type.isDynamicDim(dim)
                                   ? loadWord(dims, word + dim)
                                   : entry.math.constant(type.getDimSize(dim)));
    if (isInput && point.strided[number])
      for (int64_t dim = 0; dim < rank; ++dim)
        buffer.strides.push_back(loadWord(dims, word + rank + dim));
    else
      denseStrides(buffer);
    word += isInput ? 2 * rank : rank;
    entry.buffers[argument] = std::move(buffer);
  }
}

LogicalResult SubgraphLowering::run(const EntryPoint &point) {
  bindArguments(point);
  for (Operation &op : subgraph.getBody().front())
    if (failed(lower(op)))
      return failure();
  entry.finish();
  return success();
}

LogicalResult SubgraphLowering::lowerView(Value result, Value pointer,
                                          ValueRange sizes) {
  auto type = cast<MemRefType>(result.getType());
  Buffer buffer{pointer, type.getElementType(), {}, {}};
  for (int64_t size : type.getShape()) {
    if (ShapedType::isStatic(size)) {
      buffer.extents.push_back(entry.math.constant(size));
    } else {
      buffer.extents.push_back(index(sizes.front()));
      sizes = sizes.drop_front();
    }
  }
  denseStrides(buffer);
  entry.buffers[result] = std::move(buffer);
  return success();
}

LogicalResult SubgraphLowering::lower(Operation &op) {
  OpBuilder &b = entry.builder;
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](FusionOp fusion) {
        lowerFusion(entry, fusion);
        return success();
      })
      .Case([&](CallLibraryOp call) { return lowerContract(call); })
      .Case([&](ArenaOp arena) {
        entry.buffers[arena.getArena()] = {
            entry.entry.getArgument(2), b.getI8Type(), {}, {}};
        return success();
      })
      .Case([&](ArenaOffsetOp offset) {
        entry.indices[offset.getOffset()] =
            loadWord(entry.entry.getArgument(3), offset.getTransient());
        return success();
      })
      .Case([&](memref::ViewOp view) {
        Value base = entry.buffers[view.getSource()].pointer;
        Value shift = arith::IndexCastOp::create(b, entry.loc, b.getI64Type(),
                                                 index(view.getByteShift()));
        Value pointer =
            LLVM::GEPOp::create(b, entry.loc, base.getType(), b.getI8Type(),
                                base, ArrayRef<LLVM::GEPArg>{shift});
        return lowerView(view.getResult(), pointer, view.getSizes());
      })
      .Case([&](memref::ReinterpretCastOp cast) {
        return lowerView(cast.getResult(),
                         entry.buffers[cast.getSource()].pointer,
                         cast.getSizes());
      })
      .Case([&](memref::CastOp cast) {
        // It only says less or more of the same dense memory.
        Buffer same = entry.buffers[cast.getSource()];
        entry.buffers[cast.getResult()] = std::move(same);
        return success();
      })
      .Case([&](memref::DimOp dim) -> LogicalResult {
        auto at = constantValue(dim.getIndex());
        if (!at)
          return dim.emitOpError("needs a constant dimension");
        entry.indices[dim.getResult()] =
            entry.extent(dim.getSource(), static_cast<unsigned>(*at));
        return success();
      })
      .Case([&](ReturnOp) { return success(); })
      .Default([&](Operation *op) -> LogicalResult {
        if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) ||
            op->getNumResults() != 1)
          return op->emitOpError(
              "is not planned: it cannot be lowered to loops");
        if (auto constant = constantValue(op->getResult(0))) {
          entry.indices[op->getResult(0)] = entry.math.constant(*constant);
          return success();
        }
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, index(operand));
        entry.indices[op->getResult(0)] = b.clone(*op, mapping)->getResult(0);
        return success();
      });
}

/// Fills a `WokContractArgs` (Runtime/Contract.h): 16 words.
LogicalResult SubgraphLowering::lowerContract(CallLibraryOp op) {
  if (op.getCallee() != "wok_contract" || op.getInputs().size() != 2 ||
      op.getOutputs().size() != 1)
    return op.emitOpError("calls an unknown library function");
  DictionaryAttr config = op.getConfigAttr();
  bool transposeLhs = config && config.contains("transpose_lhs");
  bool transposeRhs = config && config.contains("transpose_rhs");
  const Buffer &lhs = entry.buffers[op.getInputs()[0]];
  const Buffer &rhs = entry.buffers[op.getInputs()[1]];
  const Buffer &out = entry.buffers[op.getOutputs()[0]];
  unsigned rank = out.extents.size();
  IndexMath &math = entry.math;

  Value batch = math.constant(1);
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    batch = math.mul(batch, out.extents[dim]);
  Value m = out.extents[rank - 2], n = out.extents[rank - 1];
  Value k = lhs.extents[transposeLhs ? rank - 2 : rank - 1];
  auto leading = [&](const Buffer &buffer) { return buffer.extents[rank - 1]; };
  auto matrix = [&](const Buffer &buffer) {
    return math.mul(buffer.extents[rank - 2], buffer.extents[rank - 1]);
  };
  auto dtype = fromMLIR(out.elementType);
  assert(dtype && "an element type of wok");
  Value words[] = {lhs.pointer,
                   rhs.pointer,
                   out.pointer,
                   batch,
                   m,
                   n,
                   k,
                   leading(lhs),
                   leading(rhs),
                   leading(out),
                   matrix(lhs),
                   matrix(rhs),
                   matrix(out),
                   math.constant(transposeLhs),
                   math.constant(transposeRhs),
                   math.constant(static_cast<int64_t>(*dtype))};

  OpBuilder &b = entry.builder;
  Type i64 = b.getI64Type();
  Value arguments = entry.allocate(i64, std::size(words));
  for (auto [slot, word] : llvm::enumerate(words)) {
    Value place = arguments;
    if (slot != 0)
      place =
          LLVM::GEPOp::create(b, entry.loc, arguments.getType(), i64, arguments,
                              ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    Value value = word;
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, entry.loc, i64, value);
    LLVM::StoreOp::create(b, entry.loc, value, place);
  }
  func::FuncOp callee = entry.runtimeFunction(
      "wok_contract",
      b.getFunctionType({arguments.getType()}, {b.getI32Type()}));
  auto call = func::CallOp::create(b, entry.loc, callee, arguments);
  entry.addStatus(call.getResult(0));
  return success();
}

void LowerFusions::runOnOperation() {
  KernelTarget target;
  target.features = TargetFeatures::parse(features);
  target.vectorBytes =
      vectorBytes ? vectorBytes : target.features.vectorBytes();

  for (auto subgraph : llvm::to_vector(getOperation().getOps<SubgraphOp>())) {
    std::optional<EntryPoint> point = EntryPoint::get(subgraph);
    if (!point) {
      subgraph.emitOpError("is not planned: it has no attribute '")
          << EntryPoint::attrName << "'";
      return signalPassFailure();
    }
    OpBuilder builder(subgraph);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    auto function = func::FuncOp::create(
        builder, subgraph.getLoc(), subgraph.getSymName(),
        builder.getFunctionType({pointer, pointer, pointer, pointer},
                                {builder.getI32Type()}));
    function.addEntryBlock();
    EntryBuilder entry(getOperation(), function, target);
    if (failed(SubgraphLowering(subgraph, entry).run(*point)))
      return signalPassFailure();
    point->kernels = entry.kernels;
    point->set(function);
    subgraph.erase();
  }
}
