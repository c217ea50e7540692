//===- IndexMath.cpp ------------------------------------------------------===//

#include "IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wok;

std::optional<int64_t> wok::constantValue(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value IndexMath::constant(int64_t value) {
  Value &result = constants[value];
  if (!result) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry);
    result = arith::ConstantIndexOp::create(builder, loc, value);
  }
  return result;
}

Value IndexMath::add(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y)
    return constant(*x + *y);
  if (x == 0)
    return b;
  if (y == 0)
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value IndexMath::sub(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y)
    return constant(*x - *y);
  if (y == 0)
    return a;
  return arith::SubIOp::create(builder, loc, a, b);
}

Value IndexMath::mul(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y)
    return constant(*x * *y);
  if (x == 0 || y == 1)
    return a;
  if (y == 0 || x == 1)
    return b;
  return arith::MulIOp::create(builder, loc, a, b);
}

Value IndexMath::floorDiv(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y && *y != 0)
    return constant(*x / *y);
  if (y == 1 || x == 0)
    return a;
  return arith::DivUIOp::create(builder, loc, a, b);
}

Value IndexMath::remainder(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y && *y != 0)
    return constant(*x % *y);
  if (y == 1)
    return constant(0);
  if (x == 0)
    return a;
  return arith::RemUIOp::create(builder, loc, a, b);
}

Value IndexMath::ceilDiv(Value a, int64_t b) {
  return floorDiv(add(a, constant(b - 1)), constant(b));
}

Value IndexMath::min(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y)
    return constant(std::min(*x, *y));
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value IndexMath::max(Value a, Value b) {
  auto x = constantValue(a), y = constantValue(b);
  if (x && y)
    return constant(std::max(*x, *y));
  return arith::MaxSIOp::create(builder, loc, a, b);
}

Value IndexMath::roundDown(Value a, int64_t b) {
  if (auto x = constantValue(a))
    return constant(*x - *x % b);
  return sub(a, remainder(a, constant(b)));
}
