//===- ColumnKernels.cpp - Reductions across the lanes --------------------===//

#include "FusionLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace wok;

void FusionLowering::columns() {
  KernelBuilder kernel(entry, fusion);
  ElementEmitter &e = kernel.emitter;
  bindArguments(kernel);
  unsigned rank = dimsOf(operand).size();
  ArrayRef<unsigned> inner = keptGroups.back();
  int64_t extent = staticExtent(operand, inner);
  bool isStatic = ShapedType::isStatic(extent);
  e.lanes = e.fullLanes = chooseLanes(extent);
  int64_t copies = unroll(8, 2);
  if (isStatic)
    copies = std::clamp<int64_t>(extent / e.lanes, 1, copies);
  int64_t tile = e.lanes * copies;

  auto [fullOutputs, keptOutputs] = splitOutputs();

  Value innerSize = kernelExtent(e, operand, inner);
  Value tiles = e.math.ceilDiv(innerSize, tile);
  auto outer = ArrayRef(keptGroups).drop_back();
  e.loop(kernel.begin(), kernel.end(), 1, {}, [&](Value number, ValueRange) {
    IndexList place =
        unravel(e, e.math.floorDiv(number, tiles), operand, outer);
    Value start =
        e.math.mul(e.math.remainder(number, tiles), e.math.constant(tile));

    auto columnsAt = [&](ArrayRef<Index> vectors) {
      SmallVector<IndexList> all, kept;
      for (const Index &index : vectors) {
        IndexList at(place);
        at.push_back(index);
        all.push_back(spread(e, rank, keptGroups, at));
        kept.push_back(keptOf(all.back()));
      }
      for (ArrayRef<Operation *> level : levels)
        reduceLevel(e, level, kept, /*alongLanes=*/false, 1);
      for (const IndexList &each : kept)
        storeKept(kernel, keptOutputs, each);
      if (fullOutputs.empty())
        return;
      auto walk = [&](auto &&walk, unsigned group) -> void {
        if (group == reducedGroups.size())
          return storeAll(kernel, fullOutputs, all);
        Value size = kernelExtent(e, operand, reducedGroups[group]);
        e.loop(e.math.constant(0), size, 1, {}, [&](Value index, ValueRange) {
          for (IndexList &at : all)
            at[reducedGroups[group].back()] = e.uniform(index);
          walk(walk, group + 1);
          return SmallVector<Value>();
        });
      };
      walk(walk, 0);
    };

    Value end = e.math.add(start, e.math.constant(tile));
    auto whole = [&] {
      SmallVector<Index> vectors;
      for (int64_t copy = 0; copy < copies; ++copy)
        vectors.push_back(
            e.contiguous(e.math.add(start, e.math.constant(copy * e.lanes))));
      columnsAt(vectors);
    };
    auto part = [&] {
      e.loop(start, innerSize, e.lanes, {}, [&](Value index, ValueRange) {
        ElementEmitter::Where where(
            e, e.lanes > 1 ? e.lanesBelow(index, innerSize) : Value());
        columnsAt(e.contiguous(index));
        return SmallVector<Value>();
      });
    };
    if (isStatic && extent % tile == 0)
      whole();
    else
      e.branch(arith::CmpIOp::create(e.builder, e.loc,
                                     arith::CmpIPredicate::sle, end, innerSize),
               whole, part);
    return SmallVector<Value>();
  });

  Dims outerDims;
  for (ArrayRef<unsigned> group : outer)
    llvm::append_range(outerDims, group);
  Value count = entrySize(operand, outerDims);
  Value innerCount = entrySize(operand, inner);
  count = entry.math.mul(count, entry.math.ceilDiv(innerCount, tile));
  Value work = entrySize(operand, reducedDims, tile);
  kernel.launch(count, grainOf(work, grainElements()));
}
