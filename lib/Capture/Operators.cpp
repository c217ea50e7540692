//===- Operators.cpp - Operators on tensors and arrays ----------*- C++ -*-===//

#include "Numpy.h"
#include "Torch.h"

#include <opcode.h>

using namespace wok;
using namespace wok::capture;

namespace {

/// A row of BINARY_OP: its name in `torchBinary` and in NumPy's table.
struct BinaryOperator {
  int operation, inPlace;
  std::string_view name;
};

constexpr BinaryOperator binaryOperators[] = {
    {NB_ADD, NB_INPLACE_ADD, "add"},
    {NB_SUBTRACT, NB_INPLACE_SUBTRACT, "sub"},
    {NB_MULTIPLY, NB_INPLACE_MULTIPLY, "mul"},
    {NB_TRUE_DIVIDE, NB_INPLACE_TRUE_DIVIDE, "div"},
    {NB_FLOOR_DIVIDE, NB_INPLACE_FLOOR_DIVIDE, "floor_divide"},
    {NB_REMAINDER, NB_INPLACE_REMAINDER, "remainder"},
    {NB_POWER, NB_INPLACE_POWER, "pow"},
    {NB_AND, NB_INPLACE_AND, "bitwise_and"},
    {NB_OR, NB_INPLACE_OR, "bitwise_or"},
    {NB_XOR, NB_INPLACE_XOR, "bitwise_xor"},
    {NB_LSHIFT, NB_INPLACE_LSHIFT, "shl"},
    {NB_RSHIFT, NB_INPLACE_RSHIFT, "shr"},
    {NB_MATRIX_MULTIPLY, NB_INPLACE_MATRIX_MULTIPLY, "matmul"},
};

} // namespace

/// Whose operator it is: that of the first Tensor.
static std::optional<Library> libraryOf(Capture &capture, Value lhs,
                                        Value rhs) {
  for (Value value : {lhs, rhs})
    if (value.kind == Kind::Tensor)
      return capture.tensorRow(value).library;
  return std::nullopt;
}

/// Makes Tensors of what are tensors. False, with a break, if one cannot be, or
/// if an operand is neither a tensor nor a number, or if they are of two
/// libraries.
static bool prepare(Capture &capture, std::span<Value> operands) {
  std::optional<Library> library;
  for (Value &value : operands) {
    if (!isTensorLike(capture, value)) {
      if (isNumber(capture, value))
        continue;
      capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                        "an operand that is no tensor and no number");
      return false;
    }
    std::optional<Value> tensor = asTensorLike(capture, value);
    if (!tensor)
      return false;
    value = *tensor;
    Library own = capture.tensorRow(value).library;
    if (library && *library != own) {
      capture.breakHere(BreakInfo::Reason::UnsupportedArgument,
                        "a tensor and an array");
      return false;
    }
    library = own;
  }
  return true;
}

std::optional<Value> wok::capture::importBinary(Capture &capture,
                                                int nbOperator, Value lhs,
                                                Value rhs) {
  Value operands[] = {lhs, rhs};
  const BinaryOperator *row = nullptr;
  for (const BinaryOperator &candidate : binaryOperators)
    if (candidate.operation == nbOperator || candidate.inPlace == nbOperator)
      row = &candidate;
  if (!row)
    return capture.breakHere(BreakInfo::Reason::UnsupportedOp, "an operator");
  bool inPlace = row->inPlace == nbOperator;
  if (!prepare(capture, operands))
    return std::nullopt;
  std::optional<Library> library = libraryOf(capture, operands[0], operands[1]);
  if (!library)
    return capture.breakHere(BreakInfo::Reason::UnsupportedPython,
                             std::string(row->name));
  // A number on the left is replaced, not written to.
  inPlace &= operands[0].kind == Kind::Tensor;
  if (*library == Library::Torch)
    return torchOperator(capture, row->name, operands[0], operands[1], inPlace);
  return numpyOperator(capture, row->name, operands[0], operands[1], inPlace);
}

std::optional<Value> wok::capture::importCompare(Capture &capture,
                                                 int pyCompare, Value lhs,
                                                 Value rhs) {
  constexpr std::string_view names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 &&
                Py_GT == 4 && Py_GE == 5);
  Value operands[] = {lhs, rhs};
  if (!prepare(capture, operands))
    return std::nullopt;
  std::string_view name = names[pyCompare];
  std::optional<Library> library = libraryOf(capture, operands[0], operands[1]);
  if (!library)
    return capture.breakHere(BreakInfo::Reason::UnsupportedPython,
                             std::string(name));
  if (*library == Library::Torch && operands[0].kind != Kind::Tensor) {
    // number < tensor asks the tensor, the other way round.
    constexpr std::string_view mirrored[] = {"gt", "ge", "eq",
                                             "ne", "lt", "le"};
    return torchOperator(capture, mirrored[pyCompare], operands[1], operands[0],
                         false);
  }
  if (*library == Library::Torch)
    return torchOperator(capture, name, operands[0], operands[1], false);
  return numpyOperator(capture, name, operands[0], operands[1], false);
}

std::optional<Value> wok::capture::importUnary(Capture &capture, char op,
                                               Value operand) {
  if (!prepare(capture, std::span(&operand, 1)))
    return std::nullopt;
  if (operand.kind != Kind::Tensor)
    return capture.breakHere(BreakInfo::Reason::UnsupportedPython,
                             std::string(1, op));
  if (capture.tensorRow(operand).library == Library::NumPy)
    return numpyUnaryOperator(capture, op, operand);
  if (!torchIsPlain(capture))
    return std::nullopt;
  Emitter e(capture);
  Emitter::V x = emit(e, operand);
  bool isBool = e.dtype(x) == DType::I1;
  if (op == '+' && !isBool)
    return operand;
  if ((op != '~' && isBool) || (op == '~' && isFloat(e.dtype(x))))
    return capture.breakHere(BreakInfo::Reason::WouldRaise, std::string(1, op));
  Emitter::V v = e.unary(op == '-' ? "neg" : "not", x);
  if (e.failed())
    return e.giveUp(std::string_view(&op, 1));
  return newTensor(capture, Library::Torch, v,
                   torchLayout(capture, std::span(&operand, 1), e.extents(v)));
}
