//===- Promotion.cpp - Result dtypes of PyTorch and NumPy -------*- C++ -*-===//

#include "Operand.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;

namespace {

enum class Category : uint8_t { Bool, Int, Float };

} // namespace

static Category categoryOf(DType dtype) {
  if (isFloat(dtype))
    return Category::Float;
  return dtype == DType::I1 ? Category::Bool : Category::Int;
}

static Category categoryOf(NumberType number) {
  return static_cast<Category>(number);
}

/// Two integer dtypes: the smallest signed one that holds both.
static DType promoteIntegers(DType a, DType b) {
  if (a == b)
    return a;
  if (a == DType::U8 || b == DType::U8) {
    DType other = a == DType::U8 ? b : a;
    return other == DType::I8 ? DType::I16 : other;
  }
  return std::max(a, b); // In the order of DType: i8, i16, i32, i64.
}

//===----------------------------------------------------------------------===//
// PyTorch
//===----------------------------------------------------------------------===//

DType capture::torchPromoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  Category left = categoryOf(a), right = categoryOf(b);
  if (left != right)
    return left > right ? a : b;
  if (left == Category::Int)
    return promoteIntegers(a, b);
  if ((a == DType::F16 && b == DType::BF16) ||
      (a == DType::BF16 && b == DType::F16))
    return DType::F32;
  return std::max(a, b);
}

DType capture::torchDefaultDtype(Capture &capture) {
  return static_cast<DType>(capture.ambient(Ambient::DefaultDtype));
}

DType capture::torchFloatType(Capture &capture, DType dtype) {
  return isFloat(dtype) ? dtype : torchDefaultDtype(capture);
}

/// A dtype, or none yet.
using Seen = std::optional<DType>;

static void see(Seen &seen, DType dtype) {
  seen = seen ? torchPromoteTypes(*seen, dtype) : dtype;
}

/// The dtype of a class of operands and that of a class which counts only by
/// its category.
static Seen combine(Seen higher, Seen lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (isFloat(*higher))
    return higher;
  if (*higher == DType::I1 || isFloat(*lower))
    return torchPromoteTypes(*higher, *lower);
  return higher;
}

DType capture::torchResultType(Capture &capture,
                               std::span<const Operand> operands) {
  Seen dimensioned, zeroDim, wrapped;
  for (const Operand &operand : operands) {
    if (operand.isTensor && !operand.wrapped) {
      see(operand.rank > 0 ? dimensioned : zeroDim, operand.dtype);
      continue;
    }
    Category category = operand.isTensor ? categoryOf(operand.dtype)
                                         : categoryOf(operand.number);
    if (operand.isTensor && operand.rank > 0)
      see(dimensioned, operand.dtype);
    else if (category == Category::Float)
      see(wrapped, torchDefaultDtype(capture));
    else
      see(wrapped, category == Category::Int ? DType::I64 : DType::I1);
  }
  return combine(dimensioned, combine(zeroDim, wrapped))
      .value_or(torchDefaultDtype(capture));
}

//===----------------------------------------------------------------------===//
// NumPy
//===----------------------------------------------------------------------===//

DType capture::numpyPromoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  Category left = categoryOf(a), right = categoryOf(b);
  if (left == Category::Bool || right == Category::Bool)
    return left == Category::Bool ? b : a;
  if (left == Category::Int && right == Category::Int)
    return promoteIntegers(a, b);
  if (left == Category::Float && right == Category::Float)
    return std::max(a, b); // NumPy has no bf16.
  // A float that holds the integers: f16 for 8 bits, f32 for 16, else f64.
  DType integer = left == Category::Int ? a : b;
  DType least = byteWidth(integer) == 1   ? DType::F16
                : byteWidth(integer) == 2 ? DType::F32
                                          : DType::F64;
  return std::max(left == Category::Int ? b : a, least);
}

std::optional<DType>
capture::numpyResultType(std::span<const Operand> operands) {
  std::optional<DType> arrays;
  Category numbers = Category::Bool;
  bool anyNumber = false;
  for (const Operand &operand : operands) {
    if (operand.isTensor) {
      arrays =
          arrays ? numpyPromoteTypes(*arrays, operand.dtype) : operand.dtype;
    } else {
      anyNumber = true;
      numbers = std::max(numbers, categoryOf(operand.number));
    }
  }
  // A Python number only says its category.
  constexpr DType defaults[] = {DType::I1, DType::I64, DType::F64};
  DType number = defaults[static_cast<uint8_t>(numbers)];
  if (!arrays)
    return number;
  if (anyNumber && numbers > categoryOf(*arrays))
    return number;
  return *arrays;
}
