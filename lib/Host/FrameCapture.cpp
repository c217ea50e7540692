//===- FrameCapture.cpp ---------------------------------------------------===//

#include "FrameCapture.h"
#include "Extents.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "wok/IR/Types.h"
#include "wok/Runtime/Events.h"
#include "wok/Transforms/FramePieces.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace wok;
using namespace wok::host;
using namespace wok::runtime;

SlotNumbers::SlotNumbers(Region &body) {
  auto add = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      numbers.try_emplace(value, static_cast<uint32_t>(numbers.size()));
  };
  for (Value argument : body.getArguments())
    add(argument);
  body.walk([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
  });
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// The piece as people read it: "mul 2, add 1".
static std::string describe(const FramePiece &piece) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(piece.operations, stream, [&](Operation *op) {
    stream << op->getName().stripDialect();
    for (Value operand : op->getOperands()) {
      DenseElementsAttr value;
      if (!matchPattern(operand, m_Constant(&value)) || !value.isSplat())
        continue;
      llvm::SmallString<16> number;
      if (auto f = dyn_cast<FloatAttr>(value.getSplatValue<Attribute>()))
        f.getValue().toString(number);
      else
        value.getSplatValue<APInt>().toStringSigned(number);
      stream << ' ' << number;
    }
  });
  return text;
}

static std::string where(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ':' << file.getLine();
  return text;
}

static void report(const FramePiece &piece, const CompiledSubgraph &code) {
  std::string place = where(piece.operations.front());
  EventStream::emit(
      {.kind = Event::Kind::Captured, .where = place, .text = describe(piece)});
  for (const PhaseTime &phase : code.phases)
    EventStream::emit({.kind = Event::Kind::Compiled,
                       .where = place,
                       .text = phase.phase,
                       .nanoseconds = phase.nanoseconds});
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static llvm::Expected<std::shared_ptr<const CompiledSubgraph>>
compilePiece(Compiler &compiler, const FramePiece &piece, StringRef name) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(piece.operations.front()->getLoc());
  OpBuilder builder(module->getBodyRegion());
  buildSubgraph(builder, piece, name);
  return compiler.compile(*module);
}

static void countCompile(const CompiledSubgraph &code) {
  if (code.phases.empty()) // An equal subgraph had been compiled before.
    return;
  count(Counter::Kernels, code.kernels);
  for (const PhaseTime &phase : code.phases)
    count(Counter::CompileNanoseconds, phase.nanoseconds);
}

/// Refuses inputs whose dynamic extents the operations cannot have.
static std::function<bool(const std::vector<const TensorValue *> &)>
checkExtents(SmallVector<Value> inputs, SmallVector<Operation *> operations) {
  auto isDynamic = [](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor && !tensor.hasStaticShape();
  };
  bool needed = llvm::any_of(operations, [&](Operation *op) {
    return llvm::any_of(op->getOperands(), isDynamic) ||
           llvm::any_of(op->getResults(), isDynamic);
  });
  if (!needed)
    return {};
  return [inputs, operations](const std::vector<const TensorValue *> &values) {
    ExtentChecker checker;
    for (auto [input, value] : llvm::zip(inputs, values))
      checker.set(input, value->extents());
    return llvm::all_of(operations,
                        [&](Operation *op) { return checker.visit(op); });
  };
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

namespace {
/// Appends records; a slot is loaded once.
class GuardBuilder {
public:
  /// What the compiled code needs of an input: everything its type says.
  void addType(uint32_t slot, RankedTensorType type) {
    uint16_t tensor = load(slot);
    test(FrameModel::HasDType, tensor, 0,
         static_cast<uint64_t>(*fromMLIR(type.getElementType())), "dtype");
    test(FrameModel::HasRank, tensor, 0, type.getRank(), "rank");
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(extent))
        test(FrameModel::HasExtent, tensor, static_cast<uint16_t>(dim), extent,
             "extent");
  }
  void addBits(uint32_t slot, uint64_t bits, std::string text) {
    test(FrameModel::HasBits, load(slot), 0, bits, std::move(text));
  }
  GuardProgram take() { return std::move(program); }

private:
  uint16_t load(uint32_t slot) {
    auto [known, isNew] = registers.try_emplace(slot, program.registers);
    if (isNew)
      program.records.push_back(
          {FrameModel::Load, program.registers++, 0, 0, slot});
    return known->second;
  }
  void test(uint16_t kind, uint16_t source, uint16_t detail, uint64_t operand,
            std::string text = {}) {
    program.records.push_back({kind, 0, source, detail, operand});
    program.texts.resize(program.records.size());
    program.texts.back() = std::move(text);
  }
  GuardProgram program;
  llvm::DenseMap<uint32_t, uint16_t> registers;
};
} // namespace

//===----------------------------------------------------------------------===//
// FrameCapture
//===----------------------------------------------------------------------===//

llvm::Expected<FrameCapture::Entry>
FrameCapture::capture(Operation *first, BreakOp branch,
                      const SlotNumbers &numbers,
                      const std::vector<TensorValue> &slots) {
  FramePiece piece = collectPiece(first);
  if (piece.operations.empty())
    return Entry();
  auto code = compilePiece(compiler, piece, "piece");
  if (!code)
    return code.takeError();
  countCompile(**code);
  if (EventStream::listening())
    report(piece, **code);

  GuardBuilder guards;
  FrameModel::Exit exit;
  exit.resume = piece.end;
  for (Value input : piece.inputs) {
    exit.inputs.push_back(numbers[input]);
    guards.addType(numbers[input], cast<RankedTensorType>(input.getType()));
  }
  for (Value output : piece.outputs)
    exit.outputs.push_back(numbers[output]);
  exit.fits = checkExtents(piece.inputs, piece.operations);
  if (branch) {
    Value condition = branch.getInputs().front();
    uint32_t slot = numbers[condition];
    if (slots[slot].isSet()) // A constant needs no guard.
      guards.addBits(slot, slots[slot].scalarBits(),
                     "the branch goes the way it went (" +
                         toString(slots[slot]) + ")");
  }
  return std::make_shared<const FrameSpecialization>(
      guards.take(), std::move(*code), std::move(exit));
}

llvm::Expected<std::shared_ptr<const CompiledSubgraph>>
FrameCapture::compile(SubgraphOp subgraph) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(subgraph.getLoc());
  module->push_back(subgraph->clone());
  auto code = compiler.compile(*module);
  if (code)
    countCompile(**code);
  return code;
}

llvm::Expected<FrameCapture::Entry>
FrameCapture::capture(RunOp run, const SlotNumbers &numbers) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<SubgraphOp>(
      run, run.getCalleeAttr());
  auto code = compile(callee);
  if (!code)
    return code.takeError();
  FramePiece piece;
  for (Operation &op : callee.getBody().front().without_terminator())
    piece.operations.push_back(&op);
  if (EventStream::listening() && !piece.operations.empty())
    report(piece, **code);

  GuardBuilder guards;
  FrameModel::Exit exit;
  exit.resume = run->getNextNode();
  for (Value input : run.getInputs()) {
    exit.inputs.push_back(numbers[input]);
    guards.addType(numbers[input], cast<RankedTensorType>(input.getType()));
  }
  for (Value output : run.getResults())
    exit.outputs.push_back(numbers[output]);
  exit.fits =
      checkExtents(SmallVector<Value>(callee.getArguments()), piece.operations);
  return std::make_shared<const FrameSpecialization>(
      guards.take(), std::move(*code), std::move(exit));
}

llvm::Expected<FrameCapture::OperationCode>
FrameCapture::compileAlone(Operation *op) {
  FramePiece piece;
  piece.operations.push_back(op);
  piece.end = op->getBlock()->getTerminator();
  piece.outputs.assign(op->result_begin(), op->result_end());
  collectInputs(piece);
  auto code = compilePiece(compiler, piece, op->getName().stripDialect());
  if (!code)
    return code.takeError();
  return OperationCode{std::move(*code), piece.inputs};
}
