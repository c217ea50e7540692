//===- Simplify.cpp - Canonical forms, and movement behind computation ----===//

#include "wok/Transforms/Passes.h"

#include "Faults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "wok/IR/WokOps.h"

namespace wok {
#define GEN_PASS_DEF_SIMPLIFY
#include "wok/Transforms/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;

/// A tensor of `type` that holds `value` everywhere, with the dynamic extents
/// of `like`.
static Value buildSplat(PatternRewriter &rewriter, Location loc,
                        RankedTensorType type, TypedAttr value, Value like) {
  auto constant = [&](RankedTensorType of) -> Value {
    return ConstantOp::create(rewriter, loc,
                              cast<ElementsAttr>(DenseElementsAttr::get(
                                  of, ArrayRef<Attribute>(value))));
  };
  if (type.hasStaticShape())
    return constant(type);
  SmallVector<Value> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(DimOp::create(rewriter, loc, rewriter.getIndexType(),
                                      like, int64_t(dim)));
  Value scalar = constant(RankedTensorType::get({}, type.getElementType()));
  return BroadcastOp::create(rewriter, loc, type, scalar, extents,
                             ArrayRef<int64_t>());
}

/// Whether both move their operands, which have one shape, in the same way.
static bool moveAlike(Operation *lhs, Operation *rhs) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (lhs->getName() != rhs->getName() ||
      shapeOf(lhs->getOperand(0)) != shapeOf(rhs->getOperand(0)))
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(lhs))
    return transpose.getPermutation() ==
           cast<TransposeOp>(rhs).getPermutation();
  if (auto broadcast = dyn_cast<BroadcastOp>(lhs))
    return broadcast.getDims() == cast<BroadcastOp>(rhs).getDims();
  return isa<ReshapeOp>(lhs);
}

static bool movesOnlyUnits(ReshapeOp reshape) {
  SmallVector<int64_t> from(reshape.getOperand().getType().getShape());
  SmallVector<int64_t> to(reshape.getType().getShape());
  llvm::erase(from, 1);
  llvm::erase(to, 1);
  return from == to;
}

/// Whether computing before `movement` rather than after it is as good or
/// better.
static bool isBetterBehind(Operation *movement, ElementwiseOpInterface op) {
  if (isa<TransposeOp>(movement))
    return true;
  // A fault where nothing was to be computed would be wrong.
  if (isa<BroadcastOp>(movement))
    return !op.canFault();
  auto reshape = dyn_cast<ReshapeOp>(movement);
  // With more than one dynamic extent, operands of one result shape may differ
  // in shape.
  if (!reshape || reshape.getOperand().getType().getNumDynamicDims() > 1)
    return false;
  // A view of what is in memory costs nothing where it is. One of a computed
  // value keeps that from being fused with `op`.
  Operation *producer = reshape.getOperand().getDefiningOp();
  return movesOnlyUnits(reshape) || (producer && producer->hasTrait<Fusable>());
}

namespace {
/// elementwise(movement(x), movement(y), constant) is movement(elementwise(x,
/// y, constant)).
struct MoveBehindElementwise
    : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    Operation *movement = nullptr;
    for (Value operand : op->getOperands()) {
      if (getSplat(operand))
        continue;
      Operation *producer = operand.getDefiningOp();
      if (!producer || !isa<TransposeOp, BroadcastOp, ReshapeOp>(producer) ||
          (movement && !moveAlike(movement, producer)))
        return failure();
      movement = producer;
    }
    if (!movement || !isBetterBehind(movement, op))
      return failure();

    Value source = movement->getOperand(0);
    auto withSourceShape = [&](Value value) {
      auto type = cast<RankedTensorType>(source.getType());
      return type.clone(
          cast<RankedTensorType>(value.getType()).getElementType());
    };
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (TypedAttr splat = getSplat(operand))
        mapping.map(operand,
                    buildSplat(rewriter, op.getLoc(), withSourceShape(operand),
                               splat, source));
      else
        mapping.map(operand, operand.getDefiningOp()->getOperand(0));
    }
    Value result = op->getResult(0);
    Operation *computed = rewriter.clone(*op, mapping);
    computed->getResult(0).setType(withSourceShape(result));

    IRMapping moved;
    moved.map(source, computed->getResult(0));
    Operation *movedResult = rewriter.clone(*movement, moved);
    movedResult->getResult(0).setType(result.getType());
    movedResult->setLoc(op.getLoc());
    rewriter.replaceOp(op, movedResult);
    return success();
  }
};

struct Simplify : wok::impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() == WokDialect::getDialectNamespace())
        name.getCanonicalizationPatterns(set, context);
    set.add<MoveBehindElementwise>(context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    demandFaults(getOperation());
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      return signalPassFailure();
    dropNeedlessDemands(getOperation());
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
