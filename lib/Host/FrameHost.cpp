//===- FrameHost.cpp - An interpreter of wok.frame ------------------------===//

#include "wok/Host/FrameHost.h"

#include "CallSubgraph.h"
#include "Extents.h"
#include "FrameCapture.h"
#include "FrameModel.h"
#include "Handlers.h"

#include "mlir/IR/SymbolTable.h"
#include "wok/IR/Types.h"
#include "wok/Runtime/DispatchTable.h"
#include "wok/Runtime/Events.h"
#include "wok/Transforms/FramePieces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstring>

using namespace mlir;
using namespace wok;
using namespace wok::host;
using namespace wok::runtime;

//===----------------------------------------------------------------------===//
// Values and errors
//===----------------------------------------------------------------------===//

/// "file:line" of the code that `op` came from; empty if unknown.
static std::string placeOf(Operation *op) {
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  return {};
}

static llvm::Error errorAt(Operation *op, const Twine &message) {
  std::string place = placeOf(op);
  return llvm::createStringError(place + (place.empty() ? "" : ": ") + "'" +
                                 op->getName().getStringRef() + "' " + message);
}

static bool hasType(const TensorValue &value, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!value.isSet() || fromMLIR(tensor.getElementType()) != value.dtype() ||
      static_cast<size_t>(tensor.getRank()) != value.extents().size())
    return false;
  for (auto [extent, claimed] : llvm::zip(value.extents(), tensor.getShape()))
    if (!ShapedType::isDynamic(claimed) && claimed != extent)
      return false;
  return true;
}

/// A constant that is too large is not.
static bool areSet(llvm::ArrayRef<TensorValue> values) {
  return llvm::all_of(values,
                      [](const TensorValue &value) { return value.isSet(); });
}

static TensorValue valueOf(ConstantOp constant) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  auto type = cast<RankedTensorType>(elements.getType());
  TensorValue value(*fromMLIR(type.getElementType()), type.getShape().vec());
  if (!value.isSet())
    return value;
  size_t width = byteWidth(value.dtype());
  std::byte *at = value.data();
  auto store = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    std::memcpy(at, &word, width);
    at += width;
  };
  if (isa<FloatType>(type.getElementType()))
    for (const APFloat &number : elements.getValues<APFloat>())
      store(number.bitcastToAPInt());
  else
    for (const APInt &number : elements.getValues<APInt>())
      store(number);
  return value;
}

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

namespace {
/// One body while it runs.
struct Activation {
  Activation(Region &body, const SlotNumbers &numbers)
      : body(body), numbers(numbers), slots(numbers.size()) {}

  /// The value of a tensor; constants are made when they are asked for.
  const TensorValue &get(Value value) {
    TensorValue &slot = slots[numbers[value]];
    if (!slot.isSet())
      if (auto constant = value.getDefiningOp<ConstantOp>())
        slot = valueOf(constant);
    return slot;
  }
  Values getAll(OperandRange operands) {
    Values values;
    for (Value operand : operands)
      values.push_back(get(operand));
    return values;
  }
  void setAll(ResultRange results, Values values) {
    for (auto [result, value] : llvm::zip_equal(results, values))
      slots[numbers[result]] = std::move(value);
  }

  Region &body;
  const SlotNumbers &numbers;
  std::vector<TensorValue> slots;
  /// Whether computation is captured; external frames and subgraphs that are
  /// executed operation by operation are not.
  bool captures = true;
};
} // namespace

struct FrameHost::Impl {
  Impl(FrameHost &self, ModuleOp program, Compiler &compiler,
       llvm::raw_ostream &output)
      : self(self), program(program), capture(compiler), output(output) {}

  llvm::Expected<Values> runBody(Region &body, bool captures,
                                 llvm::ArrayRef<TensorValue> arguments);
  llvm::Expected<Values> interpret(Activation &frame, Block &block);
  llvm::Expected<Operation *> arrive(Activation &frame, Operation *op,
                                     BreakOp branch);
  llvm::Expected<Operation *> captureAndRun(Activation &frame, Operation *op,
                                            BreakOp branch, FrameSite &site);
  llvm::Error execute(Activation &frame, Operation *op);
  llvm::Error executeBreak(Activation &frame, BreakOp op);
  llvm::Error executeRun(Activation &frame, RunOp op);

  bool computes(Operation *op) {
    auto [known, isNew] = computing.try_emplace(op, false);
    if (isNew)
      known->second = isa<RunOp>(op) || !collectPiece(op).operations.empty();
    return known->second;
  }
  const SlotNumbers &numbersOf(Region &body) {
    std::unique_ptr<SlotNumbers> &known = numbers[&body];
    if (!known)
      known = std::make_unique<SlotNumbers>(body);
    return *known;
  }

  FrameHost &self;
  ModuleOp program;
  FrameCapture capture;
  llvm::raw_ostream &output;
  llvm::StringMap<Handler> handlers;
  llvm::StringMap<Function> functions;
  DispatchTable<FrameModel, Operation *> sites;
  llvm::DenseMap<Region *, std::unique_ptr<SlotNumbers>> numbers;
  llvm::DenseMap<Operation *, FrameCapture::OperationCode> alone;
  llvm::DenseMap<Operation *, std::shared_ptr<const CompiledSubgraph>> whole;
  llvm::DenseMap<Operation *, bool> computing;
  unsigned depth = 0;
};

/// Each level takes some of the native stack.
static constexpr unsigned maxDepth = 200;

llvm::Expected<Values>
FrameHost::Impl::runBody(Region &body, bool captures,
                         llvm::ArrayRef<TensorValue> arguments) {
  Operation *op = body.getParentOp();
  if (arguments.size() != body.getNumArguments())
    return errorAt(op, "takes " + Twine(body.getNumArguments()) +
                           " arguments, not " + Twine(arguments.size()));
  Activation frame(body, numbersOf(body));
  frame.captures = captures;
  for (auto [parameter, value] : llvm::zip(body.getArguments(), arguments)) {
    if (!hasType(value, parameter.getType()))
      return errorAt(op, "argument " + Twine(parameter.getArgNumber()) +
                             " has another type than the one declared");
    frame.slots[frame.numbers[parameter]] = value;
  }
  if (depth >= maxDepth)
    return errorAt(op, "calls go too deep");
  ++depth;
  llvm::Expected<Values> result = interpret(frame, body.front());
  --depth;
  return result;
}

llvm::Expected<Values> FrameHost::Impl::interpret(Activation &frame,
                                                  Block &block) {
  // A site is where a piece of computation begins: at the entry, and behind
  // whatever ended the piece before.
  bool atSite = true, guardsHold = true;
  BreakOp branch; // The branch that was just left.
  Operation *op = &block.front();
  while (!op->hasTrait<OpTrait::IsTerminator>()) {
    if (atSite && guardsHold && frame.captures && computes(op)) {
      atSite = false;
      llvm::Expected<Operation *> resume = arrive(frame, op, branch);
      if (!resume)
        return resume.takeError();
      if (*resume) {
        atSite = isa<RunOp>(op);
        op = *resume;
        continue;
      }
    }
    if (auto breakOp = dyn_cast<BreakOp>(op)) {
      if (llvm::Error error = executeBreak(frame, breakOp))
        return error;
      branch = breakOp.isBranch() ? breakOp : BreakOp();
      atSite = guardsHold = true;
    } else if (auto guard = dyn_cast<GuardOp>(op)) {
      DenseElementsAttr expected = cast<DenseElementsAttr>(guard.getValue());
      APInt bits = isa<FloatType>(expected.getElementType())
                       ? expected.getSplatValue<APFloat>().bitcastToAPInt()
                       : expected.getSplatValue<APInt>();
      guardsHold &=
          frame.get(guard.getInput()).scalarBits() == bits.getZExtValue();
      if (!guardsHold)
        count(Counter::Misses);
      atSite = true;
    } else if (auto run = dyn_cast<RunOp>(op)) {
      if (llvm::Error error = executeRun(frame, run))
        return error;
      atSite = true;
    } else if (llvm::Error error = execute(frame, op)) {
      return error;
    }
    op = op->getNextNode();
  }
  Values results = frame.getAll(op->getOperands());
  if (!areSet(results))
    return errorAt(op, "out of memory");
  return results;
}

llvm::Expected<Operation *>
FrameHost::Impl::arrive(Activation &frame, Operation *op, BreakOp branch) {
  FrameSite &site = sites.at(op);
  if (site.name.empty())
    site.name = placeOf(op);
  FrameModel model(frame.slots);
  Lookup<FrameModel> lookup;
  RunResult result;
  if (!tryRun(model, site, lookup, result)) {
    if (!site.budget.begin(site.size()))
      return nullptr;
    return captureAndRun(frame, op, branch, site);
  }
  return result == RunResult::Committed ? model.resume : nullptr;
}

llvm::Expected<Operation *> FrameHost::Impl::captureAndRun(Activation &frame,
                                                           Operation *op,
                                                           BreakOp branch,
                                                           FrameSite &site) {
  count(Counter::Captures);
  auto entry = isa<RunOp>(op)
                   ? capture.capture(cast<RunOp>(op), frame.numbers)
                   : capture.capture(op, branch, frame.numbers, frame.slots);
  if (!entry) {
    site.budget.finish(CaptureBudget::Outcome::Failed);
    return errorAt(op,
                   "does not compile: " + llvm::toString(entry.takeError()));
  }
  site.insert(*entry);
  site.budget.finish(CaptureBudget::Outcome::Compiled);

  // The frame that made the guards must pass them.
  FrameModel model(frame.slots);
  std::vector<FrameModel::Register> registers((*entry)->guards.registers);
  if (evaluate((*entry)->guards, model, registers.data()) !=
      GuardProgram::holds) {
    site.erase(entry->get());
    return nullptr;
  }
  ReadScope scope;
  return runtime::run(model, **entry, registers.data()) == RunResult::Committed
             ? model.resume
             : nullptr;
}

/// Executes one operation. This host has no arithmetic of its own: the
/// operation is compiled alone.
llvm::Error FrameHost::Impl::execute(Activation &frame, Operation *op) {
  // Constants and extents are made when they are asked for, and one operation
  // after the other everything is computed.
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<DemandOp>(op) ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return llvm::Error::success();
  auto found = alone.find(op);
  if (found == alone.end()) {
    auto code = capture.compileAlone(op);
    if (!code)
      return errorAt(op,
                     "does not compile: " + llvm::toString(code.takeError()));
    found = alone.try_emplace(op, std::move(*code)).first;
  }
  Values inputs;
  ExtentChecker extents;
  for (Value input : found->second.inputs) {
    inputs.push_back(frame.get(input));
    extents.set(input, inputs.back().extents());
  }
  if (!extents.visit(op))
    return errorAt(op, "cannot be done: " + extents.error);
  auto results = callSubgraph(*found->second.code, inputs);
  if (!results)
    return errorAt(op, "failed: " + llvm::toString(results.takeError()));
  count(Counter::OpsEager);
  frame.setAll(op->getResults(), std::move(*results));
  return llvm::Error::success();
}

llvm::Error FrameHost::Impl::executeBreak(Activation &frame, BreakOp op) {
  auto handler = handlers.find(op.getHandler());
  if (handler == handlers.end())
    return errorAt(op, "no handler '" + op.getHandler() + "'");
  Values inputs = frame.getAll(op.getInputs());
  if (!areSet(inputs))
    return errorAt(op, "out of memory");
  auto started = std::chrono::steady_clock::now();
  BreakContext context{op, inputs, self, [&](unsigned index) {
                         // An arm is a part of the break: nothing in it is
                         // captured.
                         bool captures = std::exchange(frame.captures, false);
                         auto values =
                             interpret(frame, op.getArms()[index].front());
                         frame.captures = captures;
                         return values;
                       }};
  llvm::Expected<Values> results = handler->second(context);
  if (!results) {
    // What happened inside comes first, and may have a place of its own.
    return llvm::createStringError(llvm::toString(results.takeError()) +
                                   "\nin the break \"" + op.getReason() +
                                   "\" at " + placeOf(op));
  }
  if (!llvm::equal(*results, op.getResultTypes(), hasType))
    return errorAt(op, "the handler '" + op.getHandler() +
                           "' gave other results than the types say");
  count(Counter::Breaks);
  if (EventStream::listening()) {
    std::string place = placeOf(op);
    EventStream::emit(
        {.kind = Event::Kind::Broke,
         .where = place,
         .text = op.getReason(),
         .nanoseconds = (std::chrono::steady_clock::now() - started).count()});
  }
  frame.setAll(op.getResults(), std::move(*results));
  return llvm::Error::success();
}

/// A run whose guards do not hold: its operations one by one.
llvm::Error FrameHost::Impl::executeRun(Activation &frame, RunOp op) {
  auto callee = program.lookupSymbol<SubgraphOp>(op.getCallee());
  auto results = runBody(callee.getBody(), /*captures=*/false,
                         frame.getAll(op.getInputs()));
  if (!results)
    return results.takeError();
  frame.setAll(op.getResults(), std::move(*results));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// FrameHost
//===----------------------------------------------------------------------===//

FrameHost::FrameHost(ModuleOp program, Compiler &compiler,
                     llvm::raw_ostream &output)
    : impl(std::make_unique<Impl>(*this, program, compiler, output)) {
  addStandardHandlers(*this);
}

FrameHost::~FrameHost() {
  impl.reset();
  collectRetired();
}

llvm::Expected<Values> FrameHost::run(StringRef name,
                                      llvm::ArrayRef<TensorValue> arguments) {
  Operation *op = impl->program.lookupSymbol(name);
  if (auto frame = dyn_cast_or_null<FrameOp>(op))
    return impl->runBody(frame.getBody(), !frame.getExternal(), arguments);
  auto subgraph = dyn_cast_or_null<SubgraphOp>(op);
  if (!subgraph)
    return llvm::createStringError("no frame and no subgraph @" + name);

  // A subgraph runs as a whole.
  if (arguments.size() != subgraph.getNumArguments())
    return errorAt(op, "takes " + Twine(subgraph.getNumArguments()) +
                           " arguments, not " + Twine(arguments.size()));
  ExtentChecker extents;
  for (auto [parameter, value] :
       llvm::zip(subgraph.getArguments(), arguments)) {
    if (!isa<RankedTensorType>(parameter.getType()))
      return errorAt(op, "works on buffers: run it before the phase 'plan'");
    if (!hasType(value, parameter.getType()))
      return errorAt(op, "argument " + Twine(parameter.getArgNumber()) +
                             " has another type than the one declared");
    extents.set(parameter, value.extents());
  }
  for (Operation &inner : subgraph.getBody().front().without_terminator())
    if (!isa<FusionOp>(inner) && !extents.visit(&inner))
      return errorAt(&inner, "cannot be done: " + extents.error);
  auto &code = impl->whole[op];
  if (!code) {
    auto compiled = impl->capture.compile(subgraph);
    if (!compiled)
      return errorAt(op, "does not compile: " +
                             llvm::toString(compiled.takeError()));
    code = std::move(*compiled);
  }
  auto results = callSubgraph(*code, arguments);
  if (!results)
    return errorAt(op, "failed: " + llvm::toString(results.takeError()));
  count(Counter::Runs);
  count(Counter::OpsCompiled, code->operations);
  return results;
}

void FrameHost::setHandler(StringRef name, Handler handler) {
  impl->handlers[name] = std::move(handler);
}

void FrameHost::setFunction(StringRef name, Function function) {
  impl->functions[name] = std::move(function);
}

llvm::Expected<Values> FrameHost::call(StringRef name,
                                       llvm::ArrayRef<TensorValue> arguments) {
  if (auto function = impl->functions.find(name);
      function != impl->functions.end())
    return function->second(arguments);
  return run(name, arguments);
}

llvm::raw_ostream &FrameHost::output() { return impl->output; }
