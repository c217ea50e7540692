//===- Extents.cpp --------------------------------------------------------===//

#include "wok/Analysis/Extents.h"

#include "wok/IR/WokOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wok;

Value ExtentBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ExtentBuilder::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value ExtentBuilder::mul(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}

Value ExtentBuilder::extent(Value value, unsigned dim) {
  int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
  if (ShapedType::isStatic(size))
    return constant(size);
  if (Value known = extents.lookup({value, dim}))
    return known;

  Value result = leaf(value, dim);
  if (!result) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // Into the body of a fusion.
      if (auto fusion = dyn_cast<FusionOp>(argument.getOwner()->getParentOp()))
        result = extent(fusion.getInputs()[argument.getArgNumber()], dim);
    } else {
      result = extentOfResult(cast<OpResult>(value), dim);
    }
  }
  if (result)
    extents[{value, dim}] = result;
  return result;
}

/// The operand in `dynamic` that stands for the `?` at `dim` of `sizes`.
static Value dynamicOperand(ValueRange dynamic, ArrayRef<int64_t> sizes,
                            unsigned dim) {
  auto before = llvm::count_if(sizes.take_front(dim), ShapedType::isDynamic);
  return dynamic[before];
}

Value ExtentBuilder::extentOfResult(OpResult result, unsigned dim) {
  ArrayRef<int64_t> shape = cast<ShapedType>(result.getType()).getShape();
  auto keptDim = [&](ArrayRef<int64_t> removed) -> unsigned {
    unsigned source = 0;
    for (unsigned kept = 0;; ++source) {
      if (llvm::is_contained(removed, source))
        continue;
      if (kept++ == dim)
        return source;
    }
  };
  return llvm::TypeSwitch<Operation *, Value>(result.getOwner())
      .Case([&](FusionOp op) {
        return extent(op.getYield().getOperand(result.getResultNumber()), dim);
      })
      .Case<ReshapeOp, BroadcastOp, IotaOp>([&](auto op) {
        return index(dynamicOperand(op.getExtents(), shape, dim));
      })
      .Case([&](SliceOp op) {
        auto offsets = llvm::count_if(op.getOffsets(), ShapedType::isDynamic);
        return index(
            dynamicOperand(op.getDynamic().drop_front(offsets), shape, dim));
      })
      .Case([&](TransposeOp op) {
        return extent(op.getOperand(), op.getPermutation()[dim]);
      })
      .Case([&](PadOp op) -> Value {
        Value inner = extent(op.getOperand(), dim);
        if (!inner)
          return inner;
        return add(inner, constant(op.getLow()[dim] + op.getHigh()[dim]));
      })
      .Case([&](ConcatOp op) -> Value {
        if (dim != op.getDim()) {
          // Static in one operand may be `?` in another: any of them will do.
          return extent(op.getOperands().front(), dim);
        }
        Value sum = constant(0);
        for (Value operand : op.getOperands()) {
          Value part = extent(operand, dim);
          if (!part)
            return part;
          sum = add(sum, part);
        }
        return sum;
      })
      .Case([&](GatherOp op) {
        unsigned at = op.getDim();
        unsigned rank = cast<ShapedType>(op.getIndices().getType()).getRank();
        if (dim < at)
          return extent(op.getOperand(), dim);
        if (dim < at + rank)
          return extent(op.getIndices(), dim - at);
        return extent(op.getOperand(), dim - rank + 1);
      })
      .Case([&](ReduceOp op) {
        return extent(op.getOperand(), keptDim(op.getDims()));
      })
      .Case([&](ArgReduceOp op) {
        return extent(op.getOperand(), keptDim(op.getDim()));
      })
      .Case([&](ContractOp op) {
        unsigned rank = shape.size();
        if (dim + 1 == rank)
          return extent(op.getRhs(),
                        op.getTransposeRhs() ? rank - 2 : rank - 1);
        if (dim + 2 == rank)
          return extent(op.getLhs(),
                        op.getTransposeLhs() ? rank - 1 : rank - 2);
        return extent(op.getLhs(), dim);
      })
      .Default([&](Operation *op) -> Value {
        if (isa<ElementwiseOpInterface>(op))
          return extent(op->getOperand(0), dim);
        return Value();
      });
}

Value ExtentBuilder::index(Value value) {
  if (Value known = indices.lookup(value))
    return known;
  Value result = leaf(value, 0);
  if (result) {
    // The caller's.
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto fusion = dyn_cast<FusionOp>(argument.getOwner()->getParentOp()))
      result = index(fusion.getInputs()[argument.getArgNumber()]);
  } else if (auto dim = value.getDefiningOp<DimOp>()) {
    result = extent(dim.getOperand(), dim.getDim());
  } else if (Operation *op = value.getDefiningOp();
             isa_and_nonnull<arith::ArithDialect>(op->getDialect())) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value mapped = index(operand);
      if (!mapped)
        return mapped;
      mapping.map(operand, mapped);
    }
    result = builder.clone(*op, mapping)
                 ->getResult(cast<OpResult>(value).getResultNumber());
  }
  if (result)
    indices[value] = result;
  return result;
}
