//===- Extents.cpp --------------------------------------------------------===//

#include "Extents.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wok;
using namespace wok::host;

std::optional<int64_t> ExtentChecker::index(Value value) {
  if (auto known = indices.find(value); known != indices.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<int64_t> result;
  if (auto dim = dyn_cast<DimOp>(op)) {
    auto tensor = tensors.find(dim.getOperand());
    if (tensor != tensors.end())
      result = tensor->second[dim.getDim()];
  } else {
    // The folders of `arith` do the arithmetic.
    Builder builder(op->getContext());
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> number = index(operand);
      if (!number)
        return std::nullopt;
      operands.push_back(builder.getIndexAttr(*number));
    }
    SmallVector<OpFoldResult> folded;
    if (op->getNumResults() != 1)
      return std::nullopt;
    if (succeeded(op->fold(operands, folded)) && folded.size() == 1) {
      if (auto attr = dyn_cast_if_present<IntegerAttr>(
              dyn_cast<Attribute>(folded.front())))
        result = attr.getInt();
      else if (auto other = dyn_cast<Value>(folded.front()))
        result = index(other);
    }
  }
  if (result)
    indices[value] = *result;
  return result;
}

bool ExtentChecker::fail(Operation *op, StringRef what) {
  error = (op->getName().getStringRef() + ": " + what).str();
  return false;
}

bool ExtentChecker::fill(Type type, OperandRange operands, Extents &result) {
  result.assign(cast<RankedTensorType>(type).getShape());
  auto next = operands.begin();
  for (int64_t &extent : result) {
    if (!ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> number = index(*next++);
    if (!number || *number < 0)
      return false;
    extent = *number;
  }
  return true;
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// `isCountable`, of extents that are known.
static bool areCountable(ArrayRef<int64_t> extents, Type type) {
  return isCountable(cast<RankedTensorType>(type).clone(extents));
}

/// Works out the result of `op` in `result`; false after `fail`.
bool ExtentChecker::infer(Operation *op, Extents &result) {
  auto in = [&](Value value) -> ArrayRef<int64_t> { return extents(value); };
  if (isa<ElementwiseOpInterface>(op)) {
    result = extents(op->getOperand(0));
    for (Value operand : op->getOperands())
      if (in(operand) != ArrayRef(result))
        return fail(op, "operands have different extents");
    return true;
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ReduceOp reduce) {
        for (auto [dim, extent] : llvm::enumerate(in(reduce.getOperand())))
          if (!llvm::is_contained(reduce.getDims(), int64_t(dim)))
            result.push_back(extent);
        return true;
      })
      .Case([&](ArgReduceOp reduce) {
        result.assign(in(reduce.getOperand()));
        if (result[reduce.getDim()] == 0)
          return fail(op, "nothing to choose from");
        result.erase(result.begin() + reduce.getDim());
        return true;
      })
      .Case([&](ContractOp contract) {
        ArrayRef<int64_t> lhs = in(contract.getLhs()),
                          rhs = in(contract.getRhs());
        bool flipLhs = contract.getTransposeLhs(),
             flipRhs = contract.getTransposeRhs();
        size_t rank = lhs.size();
        if (lhs.drop_back(2) != rhs.drop_back(2) ||
            lhs[rank - 1 - flipLhs] != rhs[rank - 2 + flipRhs])
          return fail(op, "operands do not fit");
        result.assign(lhs.drop_back(2));
        result.push_back(lhs[rank - 2 + flipLhs]);
        result.push_back(rhs[rank - 1 - flipRhs]);
        return true;
      })
      .Case([&](ReshapeOp reshape) {
        if (!fill(reshape.getType(), reshape.getExtents(), result) ||
            !areCountable(result, reshape.getType()) ||
            product(result) != product(in(reshape.getOperand())))
          return fail(op, "the number of elements changes");
        return true;
      })
      .Case([&](TransposeOp transpose) {
        for (int64_t dim : transpose.getPermutation())
          result.push_back(in(transpose.getOperand())[dim]);
        return true;
      })
      .Case([&](BroadcastOp broadcast) {
        if (!fill(broadcast.getType(), broadcast.getExtents(), result))
          return fail(op, "an extent is negative or unknown");
        for (auto [extent, dim] :
             llvm::zip(in(broadcast.getOperand()), broadcast.getDims()))
          if (extent != 1 && extent != result[dim])
            return fail(op, "an extent is neither 1 nor that of the result");
        return true;
      })
      .Case([&](SliceOp slice) {
        // Index operands: offsets first, then sizes.
        auto next = slice.getDynamic().begin();
        SmallVector<int64_t> offsets(slice.getOffsets());
        result.assign(slice.getSizes());
        for (MutableArrayRef<int64_t> list :
             {MutableArrayRef(offsets), MutableArrayRef<int64_t>(result)})
          for (int64_t &entry : list)
            if (ShapedType::isDynamic(entry)) {
              std::optional<int64_t> number = index(*next++);
              if (!number)
                return fail(op, "a bound is unknown");
              entry = *number;
            }
        for (auto [offset, size, stride, extent] : llvm::zip(
                 offsets, result, slice.getStrides(), in(slice.getOperand()))) {
          if (size == 0)
            continue;
          int64_t last;
          if (size < 0 || offset < 0 || offset >= extent ||
              llvm::MulOverflow(size - 1, stride, last) ||
              llvm::AddOverflow(last, offset, last) || last < 0 ||
              last >= extent)
            return fail(op, "reads outside of its operand");
        }
        return true;
      })
      .Case([&](PadOp pad) {
        for (auto [extent, low, high] :
             llvm::zip(in(pad.getOperand()), pad.getLow(), pad.getHigh()))
          if (llvm::AddOverflow(extent, low, result.emplace_back()) ||
              llvm::AddOverflow(result.back(), high, result.back()))
            return fail(op, "the result is too large");
        return true;
      })
      .Case([&](ConcatOp concat) {
        result.assign(in(concat.getOperands().front()));
        size_t along = concat.getDim();
        result[along] = 0;
        for (Value operand : concat.getOperands()) {
          Extents expected(in(operand));
          std::swap(expected[along], result[along]);
          if (ArrayRef(expected).drop_front(along + 1) !=
                  ArrayRef(result).drop_front(along + 1) ||
              ArrayRef(expected).take_front(along) !=
                  ArrayRef(result).take_front(along))
            return fail(op, "operands do not fit");
          if (llvm::AddOverflow(result[along], expected[along], result[along]))
            return fail(op, "the result is too large");
        }
        return true;
      })
      .Case([&](GatherOp gather) {
        ArrayRef<int64_t> operand = in(gather.getOperand());
        size_t along = gather.getDim();
        result.assign(operand.take_front(along));
        llvm::append_range(result, in(gather.getIndices()));
        llvm::append_range(result, operand.drop_front(along + 1));
        return true;
      })
      .Case([&](IotaOp iota) {
        return fill(iota.getType(), iota.getExtents(), result) ||
               fail(op, "an extent is negative or unknown");
      })
      .Case([&](ConstantOp constant) {
        result.assign(cast<RankedTensorType>(constant.getType()).getShape());
        return true;
      })
      .Default([&](Operation *) { return fail(op, "not known here"); });
}

bool ExtentChecker::visit(Operation *op) {
  // Constants and extents are looked at when something asks.
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !knows(operand)) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || !visit(definition))
        return error.empty() ? fail(op, "an operand is not known") : false;
    }
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return true;
  Extents result;
  if (!infer(op, result))
    return false;
  if (!areCountable(result, op->getResult(0).getType()))
    return fail(op, "the result is too large");
  // Static extents that the operation claims.
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [extent, claimed] : llvm::zip(result, type.getShape()))
    if (!ShapedType::isDynamic(claimed) && extent != claimed)
      return fail(op, "the result has other extents than its type");
  tensors[op->getResult(0)] = std::move(result);
  return true;
}
