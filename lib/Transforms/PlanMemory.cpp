//===- PlanMemory.cpp - Give the tensors of subgraphs memory --------------===//

#include "wok/Transforms/Passes.h"

#include "wok/Analysis/EntryPoint.h"
#include "wok/Analysis/Extents.h"
#include "wok/IR/Types.h"
#include "wok/IR/WokOps.h"
#include "wok/Support/ArenaPacker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

#include <limits>

#define DEBUG_TYPE "wok-plan-memory"

namespace wok {
#define GEN_PASS_DEF_PLANMEMORY
#include "wok/Transforms/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;

namespace {

/// The memory of one subgraph: decided on tensors, then rewritten.
class Planner {
public:
  Planner(SubgraphOp subgraph, int64_t alignment)
      : subgraph(subgraph), alignment(alignment), builder(subgraph) {}

  LogicalResult run();
  int64_t arenaBytes() const { return point.arenaBytes; }

private:
  LogicalResult check();
  void insertCopies();
  Value copyOf(OpBuilder &at, Value value);
  void decide();
  void layOut();
  void buildShape();
  void rewrite();

  // Rewriting.
  MemRefType bufferType(Value tensor, bool strided = false);
  SmallVector<Value> dynamicSizes(Value tensor);
  Value reshaped(Value buffer, MemRefType type, ArrayRef<Value> sizes);
  Value bufferOf(Value tensor);
  void rewriteOp(Operation &op);

  bool isComputation(Operation &op) { return isa<FusionOp, ContractOp>(op); }
  int64_t staticBytes(Value tensor);

  SubgraphOp subgraph;
  int64_t alignment;
  OpBuilder builder;
  EntryPoint point;

  /// Results that are outputs: of which number.
  DenseMap<Value, unsigned> outputOf;
  /// All other results of computations, in order.
  SmallVector<Value> transients;
  DenseMap<Value, unsigned> transientOf;
  ArenaLayout layout;
  bool isSymbolic = false;

  // Of the new subgraph.
  SubgraphOp planned;
  Value arena;
  DenseMap<Value, Value> buffers;
  DenseMap<Value, SmallVector<Value>> sizes;
  DenseMap<Value, Value> indices;
};

struct PlanMemory : wok::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;
};

} // namespace

/// The value whose bytes `value` shows.
static Value rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t elementBytes(Type tensor) {
  return byteWidth(*fromMLIR(getElementTypeOrSelf(tensor)));
}

int64_t Planner::staticBytes(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  if (!type.hasStaticShape())
    return ShapedType::kDynamic;
  return type.getNumElements() * elementBytes(type);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

LogicalResult Planner::check() {
  for (Operation &op : subgraph.getBody().front().without_terminator())
    if (!isa<FusionOp, ContractOp, DemandOp, ReshapeOp, DimOp>(op) &&
        !isa<arith::ArithDialect>(op.getDialect()))
      return op.emitOpError("stands outside of a fusion: it cannot be planned");
  return success();
}

/// A fusion that yields `value`.
Value Planner::copyOf(OpBuilder &at, Value value) {
  auto copy = FusionOp::create(at, value.getLoc(), TypeRange{value.getType()},
                               ValueRange{value}, ValueRange{});
  Block &body = copy.getBody().emplaceBlock();
  Value inside = body.addArgument(value.getType(), value.getLoc());
  OpBuilder inBody = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inBody, value.getLoc(), inside);
  return copy.getResult(0);
}

void Planner::insertCopies() {
  Block &block = subgraph.getBody().front();
  // What is returned needs memory of its own.
  DenseSet<Value> taken;
  OpBuilder atEnd(block.getTerminator());
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    Value root = rootOf(operand.get());
    if (isa<BlockArgument>(root) || !taken.insert(root).second)
      operand.set(copyOf(atEnd, operand.get()));
  }
  // Libraries and views read dense memory.
  for (BlockArgument argument : block.getArguments()) {
    if (!subgraph.isStrided(argument.getArgNumber()))
      continue;
    Value copy;
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      if (!isa<ContractOp, ReshapeOp>(use.getOwner()))
        continue;
      if (!copy) {
        OpBuilder atStart(&block, block.begin());
        copy = copyOf(atStart, argument);
      }
      use.set(copy);
    }
  }
}

void Planner::decide() {
  Block &block = subgraph.getBody().front();
  for (auto [number, argument] : llvm::enumerate(block.getArguments())) {
    point.inputs.push_back(tensorType(argument));
    point.strided.push_back(subgraph.isStrided(number));
  }
  for (auto [number, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    point.outputs.push_back(tensorType(value));
    outputOf[rootOf(value)] = number;
  }

  // Program points are the computations.
  uint32_t step = 0;
  for (Operation &op : block.without_terminator()) {
    if (!isComputation(op))
      continue;
    for (Value operand : op.getOperands()) {
      auto known = transientOf.find(rootOf(operand));
      if (known != transientOf.end())
        point.transients[known->second].last = step;
    }
    for (Value result : op.getResults()) {
      if (outputOf.contains(result))
        continue;
      transientOf[result] = transients.size();
      transients.push_back(result);
      point.transients.push_back({staticBytes(result), step, step});
      isSymbolic |= !tensorType(result).hasStaticShape();
    }
    ++step;
  }
}

void Planner::layOut() {
  if (isSymbolic)
    return;
  SmallVector<ArenaRequest> requests;
  for (const EntryTransient &transient : point.transients)
    requests.push_back({transient.bytes, transient.first, transient.last});
  layout = packArena({requests.data(), requests.size()}, alignment);
  point.arenaBytes = layout.bytes;
  LDBG() << requests.size() << " buffers in " << layout.bytes << " bytes";
}

//===----------------------------------------------------------------------===//
// The shape function
//===----------------------------------------------------------------------===//

/// Reads or writes word `index` of an array of i64.
static Value wordAt(OpBuilder &builder, Location loc, Value array,
                    int64_t index) {
  if (index == 0)
    return array;
  return LLVM::GEPOp::create(builder, loc, array.getType(),
                             builder.getI64Type(), array,
                             ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

/// The bytes of `tensor` as an i64; the greatest of them if they are more than
/// it counts, or if an extent is negative.
static Value symbolicBytes(OpBuilder &b, Value tensor, ExtentBuilder &extents) {
  Location loc = tensor.getLoc();
  RankedTensorType type = tensorType(tensor);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  };
  int64_t known = elementBytes(type);
  for (int64_t extent : type.getShape())
    if (ShapedType::isStatic(extent))
      known *= extent;
  Value bytes = constant(known);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    Value extent = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                              extents.extent(tensor, dim));
    auto product = arith::MulUIExtendedOp::create(b, loc, bytes, extent);
    // More than 63 bits: something above them is set.
    Value sign = arith::ShRUIOp::create(b, loc, product.getLow(), constant(63));
    Value above = arith::OrIOp::create(b, loc, product.getHigh(), sign);
    Value isTooLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                             above, constant(0));
    bytes = arith::SelectOp::create(
        b, loc, isTooLarge, constant(std::numeric_limits<int64_t>::max()),
        product.getLow());
  }
  return bytes;
}

void Planner::buildShape() {
  bool dynamicOutput = llvm::any_of(point.outputs, [](RankedTensorType type) {
    return !type.hasStaticShape();
  });
  point.hasShape = dynamicOutput || isSymbolic;
  if (!point.hasShape)
    return;

  Location loc = subgraph.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto function = func::FuncOp::create(
      builder, loc, EntryPoint::shapeName(subgraph.getSymName()),
      builder.getFunctionType({pointer, pointer, pointer}, {}));
  Block *entry = function.addEntryBlock();
  OpBuilder b = OpBuilder::atBlockEnd(entry);
  Type i64 = b.getI64Type();

  SmallVector<int64_t> firstWord;
  int64_t words = 0;
  for (RankedTensorType type : point.inputs) {
    firstWord.push_back(words);
    words += 2 * type.getRank();
  }
  ExtentBuilder extents(b, loc, [&](Value value, unsigned dim) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &subgraph.getBody().front())
      return {};
    Value loaded =
        LLVM::LoadOp::create(b, loc, i64,
                             wordAt(b, loc, entry->getArgument(0),
                                    firstWord[argument.getArgNumber()] + dim));
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), loaded);
  });
  auto write = [&](Value array, int64_t index, Value value) {
    Value word = arith::IndexCastOp::create(b, loc, i64, value);
    LLVM::StoreOp::create(b, loc, word, wordAt(b, loc, array, index));
  };

  int64_t at = 0;
  for (Value value : subgraph.getBody().front().getTerminator()->getOperands())
    for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
      write(entry->getArgument(1), at++, extents.extent(value, dim));
  for (auto [number, value] : llvm::enumerate(transients)) {
    Value bytes = symbolicBytes(b, value, extents);
    LLVM::StoreOp::create(b, loc, bytes,
                          wordAt(b, loc, entry->getArgument(2), number));
  }
  func::ReturnOp::create(b, loc);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

MemRefType Planner::bufferType(Value tensor, bool strided) {
  RankedTensorType type = tensorType(tensor);
  if (!strided || type.getRank() == 0)
    return MemRefType::get(type.getShape(), type.getElementType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout =
      StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

SmallVector<Value> Planner::dynamicSizes(Value tensor) {
  return sizes.lookup(tensor);
}

/// Other extents of the same dense bytes.
Value Planner::reshaped(Value buffer, MemRefType type, ArrayRef<Value> sizes) {
  if (buffer.getType() == type)
    return buffer;
  Location loc = buffer.getLoc();
  SmallVector<OpFoldResult> extents, strides(type.getRank());
  for (int64_t size : type.getShape()) {
    if (ShapedType::isStatic(size)) {
      extents.push_back(builder.getIndexAttr(size));
    } else {
      extents.push_back(sizes.front());
      sizes = sizes.drop_front();
    }
  }
  ExtentBuilder arithmetic(builder, loc,
                           [](Value, unsigned) { return Value(); });
  OpFoldResult stride = builder.getIndexAttr(1);
  auto asValue = [&](OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return value;
    return arithmetic.constant(
        cast<IntegerAttr>(cast<Attribute>(size)).getInt());
  };
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = stride;
    if (dim != 0)
      stride = getAsOpFoldResult(
          arithmetic.mul(asValue(stride), asValue(extents[dim])));
  }
  // The layout is dense, also where the type of the view cannot say so.
  auto [staticStrides, offset] = type.getStridesAndOffset();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (ShapedType::isStatic(staticStrides[dim]))
      strides[dim] = builder.getIndexAttr(staticStrides[dim]);
  SmallVector<int64_t> shape(type.getShape());
  auto viewType = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), 0, staticStrides));
  Value view = memref::ReinterpretCastOp::create(builder, loc, viewType, buffer,
                                                 builder.getIndexAttr(0),
                                                 extents, strides);
  return memref::CastOp::create(builder, loc, type, view);
}

/// The buffer that `tensor` is in, made on demand.
Value Planner::bufferOf(Value tensor) {
  if (Value known = buffers.lookup(tensor))
    return known;
  Location loc = tensor.getLoc();
  Value result;
  if (auto output = outputOf.find(tensor); output != outputOf.end()) {
    Value whole = planned.getArgument(point.inputs.size() + output->second);
    result = reshaped(whole, bufferType(tensor), dynamicSizes(tensor));
  } else if (auto transient = transientOf.find(tensor);
             transient != transientOf.end()) {
    unsigned number = transient->second;
    Value offset;
    if (isSymbolic)
      offset = ArenaOffsetOp::create(builder, loc, number);
    else
      offset =
          arith::ConstantIndexOp::create(builder, loc, layout.offsets[number]);
    result = memref::ViewOp::create(builder, loc, bufferType(tensor), arena,
                                    offset, dynamicSizes(tensor));
  } else {
    auto reshape = tensor.getDefiningOp<ReshapeOp>();
    result = reshaped(bufferOf(reshape.getOperand()), bufferType(tensor),
                      dynamicSizes(tensor));
  }
  buffers[tensor] = result;
  return result;
}

void Planner::rewriteOp(Operation &op) {
  SmallVector<Value> inputs, outputs;
  for (Value operand : op.getOperands())
    inputs.push_back(operand.getType().isIndex() ? indices.lookup(operand)
                                                 : bufferOf(operand));
  for (Value result : op.getResults())
    outputs.push_back(bufferOf(result));

  if (auto fusion = dyn_cast<FusionOp>(op)) {
    auto copy =
        FusionOp::create(builder, op.getLoc(), TypeRange{}, inputs, outputs);
    copy.getBody().takeBody(fusion.getBody());
    return;
  }
  auto contract = cast<ContractOp>(op);
  NamedAttrList config;
  if (contract.getTransposeLhs())
    config.append("transpose_lhs", builder.getUnitAttr());
  if (contract.getTransposeRhs())
    config.append("transpose_rhs", builder.getUnitAttr());
  CallLibraryOp::create(builder, op.getLoc(), "wok_contract", inputs, outputs,
                        config.empty()
                            ? DictionaryAttr()
                            : config.getDictionary(builder.getContext()));
}

void Planner::rewrite() {
  Block &old = subgraph.getBody().front();
  Location loc = subgraph.getLoc();
  SmallVector<Type> arguments;
  for (auto [number, argument] : llvm::enumerate(old.getArguments()))
    arguments.push_back(bufferType(argument, point.strided[number]));
  for (Value value : old.getTerminator()->getOperands())
    arguments.push_back(bufferType(value));
  planned = SubgraphOp::create(builder, loc, subgraph.getSymName(),
                               builder.getFunctionType(arguments, {}));
  for (unsigned number = 0; number < point.strided.size(); ++number)
    if (point.strided[number])
      planned.setArgAttr(number, SubgraphOp::getStridedAttrName(),
                         builder.getUnitAttr());
  point.set(planned);

  Block &body = planned.getBody().front();
  builder.setInsertionPointToEnd(&body);
  for (auto [tensor, buffer] :
       llvm::zip(old.getArguments(), body.getArguments()))
    buffers[tensor] = buffer;

  // Every size first, while the bodies of fusions are still where they were.
  ExtentBuilder extents(builder, loc, [&](Value value, unsigned dim) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &old)
      return {};
    Value at = arith::ConstantIndexOp::create(builder, loc, dim);
    return memref::DimOp::create(builder, loc, buffers[value], at);
  });
  for (Operation &op : old.without_terminator()) {
    for (Value operand : op.getOperands())
      if (operand.getType().isIndex() && isComputation(op))
        indices[operand] = extents.index(operand);
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes[result].push_back(extents.extent(result, dim));
    }
  }
  if (!transients.empty()) {
    int64_t bytes = isSymbolic ? ShapedType::kDynamic : layout.bytes;
    arena = ArenaOp::create(builder, loc,
                            MemRefType::get({bytes}, builder.getI8Type()));
  }
  for (Operation &op : old.without_terminator())
    if (isComputation(op))
      rewriteOp(op);
  ReturnOp::create(builder, loc, ValueRange{});
  subgraph.erase();
}

LogicalResult Planner::run() {
  if (failed(check()))
    return failure();
  insertCopies();
  decide();
  layOut();
  buildShape();
  rewrite();
  return success();
}

void PlanMemory::runOnOperation() {
  for (auto subgraph : llvm::to_vector(getOperation().getOps<SubgraphOp>())) {
    if (EntryPoint::get(subgraph))
      continue;
    Planner planner(subgraph, alignment);
    if (failed(planner.run()))
      return signalPassFailure();
    bytesPlanned += planner.arenaBytes();
  }
}
