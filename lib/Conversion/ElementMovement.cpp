//===- ElementMovement.cpp - Data movement as changed indices -------------===//

#include "ElementEmitter.h"

#include "wok/IR/Scalar.h"
#include "wok/IR/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace wok;

//===----------------------------------------------------------------------===//
// Arithmetic on indices
//===----------------------------------------------------------------------===//

Index ElementEmitter::add(const Index &a, const Index &b) {
  if (!a.lanes && !b.lanes)
    return {math.add(a.base, b.base), a.step + b.step, {}};
  Value sum = arith::AddIOp::create(builder, loc, splat(asInteger(a)),
                                    splat(asInteger(b)));
  return {{}, 0, sum};
}

Index ElementEmitter::mul(const Index &index, Value factor) {
  auto known = constantValue(factor);
  if (!index.lanes && (index.step == 0 || known))
    return {math.mul(index.base, factor),
            index.step == 0 ? 0 : index.step * *known,
            {}};
  Value scale =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), factor);
  Value product = arith::MulIOp::create(builder, loc, splat(asInteger(index)),
                                        splat(scale));
  return {{}, 0, product};
}

Index ElementEmitter::divide(const Index &index, Value divisor,
                             bool remainder) {
  if (constantValue(divisor) == 1)
    return remainder ? constantIndex(0) : index;
  if (index.isUniform())
    return uniform(remainder ? math.remainder(index.base, divisor)
                             : math.floorDiv(index.base, divisor));
  Value by = splat(
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), divisor));
  Value all = asInteger(index);
  Value result;
  if (remainder)
    result = arith::RemUIOp::create(builder, loc, all, by);
  else
    result = arith::DivUIOp::create(builder, loc, all, by);
  return {{}, 0, result};
}

Value ElementEmitter::within(const Index &index, Value high) {
  // A negative index is a large one.
  if (index.isUniform()) {
    auto known = constantValue(index.base), bound = constantValue(high);
    if (known && bound)
      return arith::ConstantOp::create(
          builder, loc, builder.getBoolAttr(*known >= 0 && *known < *bound));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                 index.base, high);
  }
  Value bound = splat(
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), high));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                               asInteger(index), bound);
}

Value ElementEmitter::choose(Value condition, Value yes, Value no) {
  for (Value value : {condition, yes, no})
    if (isa<VectorType>(value.getType())) {
      condition = splat(condition);
      yes = splat(yes);
      no = splat(no);
      break;
    }
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value ElementEmitter::movement(Operation *op, ArrayRef<Index> at) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](TransposeOp op) {
        IndexList source(at.size());
        for (auto [dim, from] : llvm::enumerate(op.getPermutation()))
          source[from] = at[dim];
        return element(op.getOperand(), source);
      })
      .Case([&](BroadcastOp op) {
        auto type = cast<RankedTensorType>(op.getOperand().getType());
        auto resultType = cast<RankedTensorType>(op.getResult().getType());
        IndexList source;
        for (auto [dim, to] : llvm::enumerate(op.getDims())) {
          bool repeats =
              type.getDimSize(dim) == 1 && resultType.getDimSize(to) != 1;
          source.push_back(repeats ? constantIndex(0) : at[to]);
        }
        return element(op.getOperand(), source);
      })
      .Case([&](SliceOp op) {
        IndexList source;
        ValueRange dynamic = op.getDynamic();
        for (auto [dim, index] : llvm::enumerate(at)) {
          int64_t offset = op.getOffsets()[dim];
          Value start;
          if (ShapedType::isDynamic(offset)) {
            start = this->index(dynamic.front());
            dynamic = dynamic.drop_front();
          } else {
            start = math.constant(offset);
          }
          Index scaled = mul(index, math.constant(op.getStrides()[dim]));
          source.push_back(add(scaled, uniform(start)));
        }
        return element(op.getOperand(), source);
      })
      .Case([&](ReshapeOp op) {
        return element(op.getOperand(), reshapeIndices(op, at));
      })
      .Case([&](PadOp op) { return pad(op, at); })
      .Case([&](ConcatOp op) { return concat(op, at); })
      .Case([&](GatherOp op) { return gather(op, at); })
      .Case([&](IotaOp op) { return iota(op, at); })
      .Case([&](ConstantOp op) { return constantElement(op, at); });
}

IndexList ElementEmitter::reshapeIndices(ReshapeOp op, ArrayRef<Index> at) {
  auto fromType = cast<RankedTensorType>(op.getOperand().getType());
  auto toType = cast<RankedTensorType>(op.getResult().getType());
  // Unit dimensions of the operand are at 0, those of the result say nothing.
  SmallVector<unsigned> from, to;
  for (unsigned dim = 0; dim < fromType.getRank(); ++dim)
    if (fromType.getDimSize(dim) != 1)
      from.push_back(dim);
  for (unsigned dim = 0; dim < toType.getRank(); ++dim)
    if (toType.getDimSize(dim) != 1)
      to.push_back(dim);
  IndexList source(fromType.getRank(), constantIndex(0));

  auto fromExtent = [&](unsigned i) {
    return extent(op.getOperand(), from[i]);
  };
  auto toExtent = [&](unsigned i) { return extent(op.getResult(), to[i]); };
  auto equal = [&](unsigned i, unsigned j) {
    int64_t size = fromType.getDimSize(from[i]);
    if (ShapedType::isStatic(size))
      return size == toType.getDimSize(to[j]);
    return ShapedType::isDynamic(toType.getDimSize(to[j])) &&
           fromExtent(i) == toExtent(j);
  };
  // One group of dimensions of the result becomes one of the operand.
  auto convert = [&](unsigned fromBegin, unsigned fromEnd, unsigned toBegin,
                     unsigned toEnd) {
    Index linear = constantIndex(0);
    for (unsigned j = toBegin; j < toEnd; ++j)
      linear = add(j == toBegin ? linear : mul(linear, toExtent(j)), at[to[j]]);
    for (unsigned i = fromEnd; i-- > fromBegin;) {
      bool isLast = i == fromBegin;
      source[from[i]] =
          isLast ? linear : divide(linear, fromExtent(i), /*remainder=*/true);
      if (!isLast)
        linear = divide(linear, fromExtent(i), /*remainder=*/false);
    }
  };

  // Equal dimensions and static groups of equal size from the left, equal
  // dimensions from the right, and one group of what is between.
  unsigned i = 0, j = 0, iEnd = from.size(), jEnd = to.size();
  while (i < iEnd && j < jEnd) {
    if (equal(i, j)) {
      source[from[i++]] = at[to[j++]];
      continue;
    }
    unsigned iNext = i, jNext = j;
    int64_t fromSize = fromType.getDimSize(from[iNext++]);
    int64_t toSize = toType.getDimSize(to[jNext++]);
    bool matches = false;
    while (ShapedType::isStatic(fromSize) && ShapedType::isStatic(toSize)) {
      if (fromSize == toSize) {
        matches = true;
        break;
      }
      bool growFrom = fromSize < toSize;
      unsigned &next = growFrom ? iNext : jNext;
      if (next == (growFrom ? iEnd : jEnd))
        break;
      int64_t size = growFrom ? fromType.getDimSize(from[next])
                              : toType.getDimSize(to[next]);
      ++next;
      if (ShapedType::isDynamic(size))
        break;
      (growFrom ? fromSize : toSize) *= size;
    }
    if (!matches)
      break;
    convert(i, iNext, j, jNext);
    i = iNext;
    j = jNext;
  }
  while (iEnd > i && jEnd > j && equal(iEnd - 1, jEnd - 1))
    source[from[--iEnd]] = at[to[--jEnd]];
  if (i < iEnd)
    convert(i, iEnd, j, jEnd);
  return source;
}

Value ElementEmitter::pad(PadOp op, ArrayRef<Index> at) {
  IndexList source;
  Value inside;
  for (auto [dim, index] : llvm::enumerate(at)) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    source.push_back(add(index, uniform(math.constant(-low))));
    if (low == 0 && high == 0)
      continue;
    Value condition = within(source.back(), extent(op.getOperand(), dim));
    if (!inside) {
      inside = condition;
      continue;
    }
    if (isa<VectorType>(condition.getType()) ||
        isa<VectorType>(inside.getType())) {
      condition = splat(condition);
      inside = splat(inside);
    }
    inside = arith::AndIOp::create(builder, loc, inside, condition);
  }
  if (!inside)
    return element(op.getOperand(), source);
  Value outer = element(op.getValue(), {});
  Value inner;
  {
    Where where(*this, inside);
    inner = element(op.getOperand(), source);
  }
  return choose(inside, inner, outer);
}

Value ElementEmitter::concat(ConcatOp op, ArrayRef<Index> at) {
  unsigned dim = op.getDim();
  Value result;
  Index rest = at[dim];
  for (Value operand : op.getOperands()) {
    Value size = extent(operand, dim);
    Value inside = within(rest, size);
    IndexList source(at);
    source[dim] = rest;
    rest = add(rest, uniform(math.sub(math.constant(0), size)));
    auto known = constantValue(inside);
    if (known && !*known && operand != op.getOperands().back())
      continue;
    if (known && *known) {
      Value only = element(operand, source);
      return result ? result : only;
    }
    Value part;
    {
      Where where(*this, inside);
      part = element(operand, source);
    }
    result = result ? choose(inside, part, result) : part;
  }
  return result;
}

Value ElementEmitter::gather(GatherOp op, ArrayRef<Index> at) {
  unsigned dim = op.getDim();
  auto indicesType = cast<RankedTensorType>(op.getIndices().getType());
  unsigned rank = indicesType.getRank();
  Value found = element(op.getIndices(), at.slice(dim, rank));
  found = buildCast(builder, loc, found, indicesType.getElementType(),
                    builder.getI64Type());

  Value size = extent(op.getOperand(), dim);
  Value bound =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
  bool isVector = isa<VectorType>(found.getType());
  if (isVector)
    bound = splat(bound);
  // A negative index is a large one.
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       found, bound);
  Value one = buildConstant(builder, loc, inside.getType(), int64_t(1));
  reportFault(arith::XOrIOp::create(builder, loc, inside, one),
              /*Status::IndexOutOfRange=*/1);
  // Element 0 is read in place of one that is not there.
  Value zero = buildConstant(builder, loc, found.getType(), int64_t(0));
  Value safe = arith::SelectOp::create(builder, loc, inside, found, zero);

  IndexList source(at.take_front(dim));
  if (isVector)
    source.push_back({{}, 0, safe});
  else
    source.push_back(uniform(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), safe)));
  source.append(at.begin() + dim + rank, at.end());

  Value exists;
  if (auto known = constantValue(size); !known || *known == 0)
    exists = within(constantIndex(0), size);
  Where where(*this, exists);
  return element(op.getOperand(), source);
}

Value ElementEmitter::iota(IotaOp op, ArrayRef<Index> at) {
  Type elementType = getElementTypeOrSelf(op.getResult().getType());
  Value value = asInteger(at[op.getDim()]);
  int64_t size =
      cast<RankedTensorType>(op.getResult().getType()).getDimSize(op.getDim());
  if (ShapedType::isStatic(size) &&
      size <= std::numeric_limits<int32_t>::max()) {
    // Few targets convert vectors of 64-bit integers to floats.
    Type wide = value.getType(), narrow = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(wide))
      narrow = vector.clone(narrow);
    value = arith::TruncIOp::create(builder, loc, narrow, value);
    value = arith::ExtSIOp::create(builder, loc, wide, value);
  }
  value = buildCast(builder, loc, value, builder.getI64Type(), elementType);
  return buildRound(builder, loc, value, elementType);
}

Value ElementEmitter::constantElement(ConstantOp op, ArrayRef<Index> at) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Type elementType = type.getElementType();
  Type compute = computeType(elementType);
  if (dense.isSplat()) {
    TypedAttr value;
    if (isa<FloatType>(compute)) {
      APFloat number = dense.getSplatValue<APFloat>();
      bool loses = false;
      number.convert(cast<FloatType>(compute).getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &loses);
      value = builder.getFloatAttr(compute, number);
    } else {
      value = builder.getIntegerAttr(compute, dense.getSplatValue<APInt>());
    }
    return arith::ConstantOp::create(builder, loc, value);
  }

  // A table in the object file.
  auto module = kernel->getParentOfType<ModuleOp>();
  Buffer &table = buffers[op.getResult()];
  if (!table.pointer) {
    OpBuilder::InsertionGuard guard(builder);
    Type memoryType = elementType;
    DenseElementsAttr contents = dense;
    if (elementType.isInteger(1) || elementType.isUnsignedInteger()) {
      memoryType = builder.getI8Type();
      SmallVector<APInt> bytes;
      for (const APInt &value : dense.getValues<APInt>())
        bytes.push_back(value.zext(8));
      contents = DenseElementsAttr::get(
          RankedTensorType::get(type.getShape(), memoryType), bytes);
    }
    contents = contents.reshape(
        RankedTensorType::get({type.getNumElements()}, memoryType));
    auto arrayType =
        LLVM::LLVMArrayType::get(memoryType, type.getNumElements());
    unsigned number = 0;
    std::string name;
    do
      name = (kernel.getSymName() + "_table" + Twine(number++)).str();
    while (module.lookupSymbol(name));
    builder.setInsertionPointToStart(module.getBody());
    auto global = LLVM::GlobalOp::create(builder, loc, arrayType,
                                         /*isConstant=*/true,
                                         LLVM::Linkage::Private, name, contents,
                                         /*alignment=*/64);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    table.pointer = LLVM::AddressOfOp::create(builder, loc, global);
    table.elementType = elementType;
    int64_t stride = 1;
    table.strides.resize(type.getRank());
    table.extents.resize(type.getRank());
    for (unsigned dim = type.getRank(); dim-- > 0;) {
      table.strides[dim] = math.constant(stride);
      table.extents[dim] = math.constant(type.getDimSize(dim));
      stride *= type.getDimSize(dim);
    }
  }
  return load(Buffer(table), at);
}
