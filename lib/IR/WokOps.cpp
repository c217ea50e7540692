//===- WokOps.cpp - Generated definitions of the operations ---------------===//

#include "wok/IR/WokOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace wok;

/// Prints `offsets [0, %o] sizes [4, %n]`: the dynamic entries in their places.
static void printSliceBounds(OpAsmPrinter &printer, Operation *,
                             OperandRange dynamic, DenseI64ArrayAttr offsets,
                             DenseI64ArrayAttr sizes) {
  auto next = dynamic.begin();
  auto list = [&](ArrayRef<int64_t> entries) {
    printer << '[';
    llvm::interleaveComma(entries, printer, [&](int64_t entry) {
      if (ShapedType::isDynamic(entry) && next != dynamic.end())
        printer << *next++;
      else
        printer << entry;
    });
    printer << ']';
  };
  printer << "offsets ";
  list(offsets.asArrayRef());
  printer << " sizes ";
  list(sizes.asArrayRef());
}

static ParseResult
parseSliceBounds(OpAsmParser &parser,
                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &dynamic,
                 DenseI64ArrayAttr &offsets, DenseI64ArrayAttr &sizes) {
  auto list = [&](StringRef keyword, DenseI64ArrayAttr &attr) -> ParseResult {
    SmallVector<int64_t> entries;
    auto entry = [&]() -> ParseResult {
      OpAsmParser::UnresolvedOperand operand;
      OptionalParseResult parsed = parser.parseOptionalOperand(operand);
      if (!parsed.has_value())
        return parser.parseInteger(entries.emplace_back());
      dynamic.push_back(operand);
      entries.push_back(ShapedType::kDynamic);
      return *parsed;
    };
    if (parser.parseKeyword(keyword) ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, entry))
      return failure();
    attr = parser.getBuilder().getDenseI64ArrayAttr(entries);
    return success();
  };
  return failure(list("offsets", offsets) || list("sizes", sizes));
}

bool wok::isCountable(ShapedType type) {
  // Of the largest elements. Empty tensors count too: strides are products of
  // their extents.
  int64_t bytes = 8;
  for (int64_t extent : type.getShape())
    if (ShapedType::isStatic(extent) && extent != 0 &&
        llvm::MulOverflow(bytes, extent, bytes))
      return false;
  return true;
}

#define GET_OP_CLASSES
#include "wok/IR/WokOps.cpp.inc"
