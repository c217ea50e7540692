//===- FormFusions.cpp - Gather operations into fusions -------------------===//

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "wok/Analysis/FusionGraphBuilder.h"
#include "wok/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "wok-form-fusions"

namespace wok {
#define GEN_PASS_DEF_FORMFUSIONS
#include "wok/Transforms/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;

namespace {
struct FormFusions : wok::impl::FormFusionsBase<FormFusions> {
  using FormFusionsBase::FormFusionsBase;
  void runOnOperation() override;
};
} // namespace

/// Extents are read from arguments where they can be, so that they do not keep
/// values alive; and there are no reductions along no dimension.
static LogicalResult normalize(SubgraphOp subgraph) {
  MLIRContext *context = subgraph.getContext();
  RewritePatternSet patterns(context);
  DimOp::getCanonicalizationPatterns(patterns, context);
  ReduceOp::getCanonicalizationPatterns(patterns, context);
  SmallVector<Operation *> ops;
  for (Operation &op : subgraph.getBody().front())
    if (isa<DimOp, ReduceOp>(op))
      ops.push_back(&op);
  return applyOpPatternsGreedily(
      ops, std::move(patterns),
      GreedyRewriteConfig().setStrictness(
          GreedyRewriteStrictness::ExistingAndNewOps));
}

static void eraseDeadOperations(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// A view needs its elements dense in memory: an argument whose strides are not
/// known is copied first.
static void copyViewedArguments(SubgraphOp subgraph) {
  OpBuilder builder = OpBuilder::atBlockBegin(&subgraph.getBody().front());
  for (BlockArgument argument : subgraph.getBody().getArguments()) {
    if (!subgraph.isStrided(argument.getArgNumber()))
      continue;
    FusionOp copy;
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      if (!isa<ReshapeOp>(use.getOwner()))
        continue;
      if (!copy) {
        copy = FusionOp::create(builder, argument.getLoc(), argument.getType(),
                                argument, ValueRange());
        Block &body = copy.getBody().emplaceBlock();
        Value element = body.addArgument(argument.getType(), argument.getLoc());
        OpBuilder inBody = OpBuilder::atBlockEnd(&body);
        YieldOp::create(inBody, argument.getLoc(), element);
      }
      use.set(copy.getResult(0));
    }
  }
}

/// Makes the fusion of `group`, at the place of `builder`. It reads what the
/// members read; the members are left as they are.
static FusionOp buildFusion(OpBuilder &builder, const BlockGraph &block,
                            const FusionGroup &group) {
  SmallVector<Location> locations;
  llvm::SetVector<Value> inputs;
  llvm::SmallPtrSet<Operation *, 16> members;
  for (uint32_t member : group.members)
    members.insert(block.values[member].getDefiningOp());
  for (uint32_t member : group.members) {
    Operation *op = block.values[member].getDefiningOp();
    locations.push_back(op->getLoc());
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()) &&
          !matchPattern(operand, m_Constant()))
        inputs.insert(operand);
  }
  SmallVector<Value> outputs;
  for (uint32_t output : group.outputs)
    outputs.push_back(block.values[output]);

  Location loc = builder.getFusedLoc(locations);
  auto fusion = FusionOp::create(builder, loc, TypeRange(outputs),
                                 inputs.getArrayRef(), ValueRange());
  Block &body = fusion.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  OpBuilder inBody = OpBuilder::atBlockEnd(&body);
  for (uint32_t member : group.members) {
    Operation *op = block.values[member].getDefiningOp();
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand,
                    inBody.clone(*operand.getDefiningOp())->getResult(0));
    inBody.clone(*op, mapping);
  }
  SmallVector<Value> yields;
  for (Value output : outputs)
    yields.push_back(mapping.lookup(output));
  YieldOp::create(inBody, loc, yields);
  return fusion;
}

void FormFusions::runOnOperation() {
  SubgraphOp subgraph = getOperation();
  if (llvm::any_of(subgraph.getArgumentTypes(), llvm::IsaPred<MemRefType>))
    return markAllAnalysesPreserved();
  Block &block = subgraph.getBody().front();
  if (failed(normalize(subgraph)))
    return signalPassFailure();
  eraseDeadOperations(block);
  copyViewedArguments(subgraph);

  // Decide.
  BlockGraph graph = buildFusionGraph(subgraph);
  std::vector<FusionGroup> groups = planFusions(graph.graph);
  LDBG() << subgraph.getName() << ": " << graph.graph.size() << " values in "
         << groups.size() << " kernels";

  // Rewrite.
  OpBuilder builder(block.getTerminator());
  SmallVector<FusionOp> built;
  for (const FusionGroup &group : groups)
    built.push_back(buildFusion(builder, graph, group));
  // Not before all are built: a fusion has its own copy of what moves elements,
  // also where another one writes the moved elements to memory.
  for (auto [group, fusion] : llvm::zip(groups, built))
    for (auto [output, result] : llvm::zip(group.outputs, fusion.getResults()))
      graph.values[output].replaceAllUsesWith(result);
  fusions += groups.size();
  eraseDeadOperations(block);
  sortTopologically(&block);
}
