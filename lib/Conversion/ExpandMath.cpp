//===- ExpandMath.cpp - Replace elementary functions by arithmetic --------===//

#include "wok/Conversion/Passes.h"

#include "HalfFloats.h"
#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace wok {
#define GEN_PASS_DEF_EXPANDMATH
#include "wok/Conversion/Passes.h.inc"
} // namespace wok

using namespace mlir;
using namespace wok;
using namespace wok::vecmath;

namespace {

/// Private functions of the module that expansions call, made on demand.
class HelperFunctions {
public:
  HelperFunctions(ModuleOp module, const TargetFeatures &target)
      : module(module), target(target) {}

  /// The C function `name` on f64.
  func::FuncOp libm(StringRef name, unsigned operands) {
    Type f64 = Float64Type::get(module.getContext());
    return declare(name,
                   FunctionType::get(module.getContext(),
                                     SmallVector<Type>(operands, f64), f64));
  }

  /// `base` for values of `type`, with a body that returns what `build` emits
  /// on the arguments.
  func::FuncOp
  get(StringRef base, Type type, FunctionType signature,
      function_ref<SmallVector<Value>(Emitter &, ValueRange)> build) {
    int64_t lanes = 1;
    if (auto vector = dyn_cast<VectorType>(type))
      lanes = vector.getNumElements();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    std::string name =
        ("wok_" + base + "_" + Twine(lanes) + "xf" + Twine(width)).str();
    func::FuncOp function = declare(name, signature);
    if (!function.isExternal())
      return function;
    OpBuilder builder(module.getContext());
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    ConstantPool constants(*entry);
    Emitter emitter(builder, function.getLoc(), type, target, constants);
    SmallVector<Value> results = build(emitter, entry->getArguments());
    func::ReturnOp::create(builder, function.getLoc(), results);
    // Kept out of line: it is the rare case, or larger than the loop that calls
    // it.
    function->setAttr("no_inline", builder.getUnitAttr());
    return function;
  }

private:
  func::FuncOp declare(StringRef name, FunctionType signature) {
    if (auto existing = module.lookupSymbol<func::FuncOp>(name))
      return existing;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto function =
        func::FuncOp::create(builder, module.getLoc(), name, signature);
    function.setPrivate();
    return function;
  }

  ModuleOp module;
  const TargetFeatures &target;
};

class Expander {
public:
  Expander(HelperFunctions &helpers, const TargetFeatures &target,
           ConstantPool &constants)
      : helpers(helpers), target(target), constants(constants) {}

  /// What replaces the result of `op`; null if `op` stays.
  Value expand(Operation *op);

private:
  Value expandFunction(Operation *op);
  Value expandConversion(Operation *op);
  Value callPerLane(StringRef name, ValueRange operands, Emitter &emitter);
  Value trigonometricOf(Trigonometric function, StringRef name, Value operand,
                        Emitter &emitter);
  Value powerOf(Value base, Value exponent, Emitter &emitter);

  HelperFunctions &helpers;
  const TargetFeatures &target;
  ConstantPool &constants;
};

struct ExpandMath : wok::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;
  void runOnOperation() override;
};

} // namespace

Value Expander::expand(Operation *op) {
  if (isa<arith::TruncFOp, arith::ExtFOp>(op))
    return expandConversion(op);
  return op->getNumResults() == 1 ? expandFunction(op) : Value();
}

/// Conversions between f32 and bf16, and f16 where the target has none.
Value Expander::expandConversion(Operation *op) {
  bool narrows = isa<arith::TruncFOp>(op);
  Value operand = op->getOperand(0), result = op->getResult(0);
  Value wide = narrows ? operand : result, narrow = narrows ? result : operand;
  Type half = getElementTypeOrSelf(narrow.getType());
  if (!getElementTypeOrSelf(wide.getType()).isF32() ||
      !(half.isBF16() || (half.isF16() && !target.f16c)))
    return nullptr;

  OpBuilder builder(op);
  Location loc = op->getLoc();
  Emitter emitter(builder, loc, wide.getType(), target, constants);
  Type shorts = builder.getI16Type();
  if (auto vector = dyn_cast<VectorType>(wide.getType()))
    shorts = vector.clone(shorts);
  if (narrows) {
    Float x = emitter.wrap(operand);
    Int bits = half.isBF16() ? roundToBF16(x) : roundToF16(x);
    Value low = arith::TruncIOp::create(builder, loc, shorts, bits.value);
    return arith::BitcastOp::create(builder, loc, narrow.getType(), low);
  }
  Value low = arith::BitcastOp::create(builder, loc, shorts, operand);
  Int bits{arith::ExtUIOp::create(builder, loc, emitter.intType, low),
           &emitter};
  return (half.isBF16() ? extendBF16(bits) : extendF16(bits)).value;
}

Value Expander::expandFunction(Operation *op) {
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  if ((!element.isF32() && !element.isF64()) ||
      (vector && (vector.getRank() != 1 || vector.isScalable())))
    return nullptr;
  OpBuilder builder(op);
  Emitter emitter(builder, op->getLoc(), type, target, constants);
  if (isa<math::RsqrtOp>(op)) {
    Value root = math::SqrtOp::create(builder, op->getLoc(), op->getOperand(0));
    return (1.0 / emitter.wrap(root)).value;
  }
  auto x = [&] { return emitter.wrap(op->getOperand(0)); };
  auto trigonometric = [&](Trigonometric function, StringRef name) {
    return trigonometricOf(function, name, op->getOperand(0), emitter);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return exp(x()).value; })
      .Case([&](math::Exp2Op) { return exp2(x()).value; })
      .Case([&](math::ExpM1Op) { return expm1(x()).value; })
      .Case([&](math::LogOp) { return log(x()).value; })
      .Case([&](math::Log2Op) { return log2(x()).value; })
      .Case([&](math::Log10Op) { return log10(x()).value; })
      .Case([&](math::Log1pOp) { return log1p(x()).value; })
      .Case([&](math::TanhOp) { return tanh(x()).value; })
      .Case([&](math::ErfOp) { return erf(x()).value; })
      .Case(
          [&](math::SinOp) { return trigonometric(Trigonometric::Sin, "sin"); })
      .Case(
          [&](math::CosOp) { return trigonometric(Trigonometric::Cos, "cos"); })
      .Case(
          [&](math::TanOp) { return trigonometric(Trigonometric::Tan, "tan"); })
      .Case([&](math::PowFOp pow) {
        return powerOf(pow.getLhs(), pow.getRhs(), emitter);
      })
      .Default(Value());
}

Value Expander::callPerLane(StringRef name, ValueRange operands,
                            Emitter &emitter) {
  func::FuncOp function = helpers.libm(name, operands.size());
  OpBuilder &b = emitter.builder;
  if (!isa<VectorType>(emitter.type))
    return func::CallOp::create(b, emitter.loc, function, operands)
        .getResult(0);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < emitter.lanes(); ++lane) {
    SmallVector<Value> scalars;
    for (Value operand : operands)
      scalars.push_back(
          vector::ExtractOp::create(b, emitter.loc, operand, lane));
    lanes.push_back(
        func::CallOp::create(b, emitter.loc, function, scalars).getResult(0));
  }
  return vector::FromElementsOp::create(b, emitter.loc,
                                        cast<VectorType>(emitter.type), lanes);
}

Value Expander::trigonometricOf(Trigonometric function, StringRef name,
                                Value operand, Emitter &emitter) {
  Type type = emitter.type, intType = emitter.intType;
  MLIRContext *context = type.getContext();
  if (emitter.isDouble()) {
    auto slow = [&](OpBuilder &builder) -> Value {
      func::FuncOp callee = helpers.get(
          name, type, FunctionType::get(context, {type}, {type}),
          [&](Emitter &inner, ValueRange arguments) {
            return SmallVector<Value>{callPerLane(name, arguments, inner)};
          });
      return func::CallOp::create(builder, emitter.loc, callee, operand)
          .getResult(0);
    };
    return trigonometricDouble(function, emitter.wrap(operand), slow).value;
  }
  auto slow = [&](OpBuilder &builder, Value x) -> ValueRange {
    auto signature = FunctionType::get(context, {type}, {type, type, intType});
    func::FuncOp callee = helpers.get("reduce_by_half_pi", type, signature,
                                      [](Emitter &inner, ValueRange arguments) {
                                        return slowTrigonometricReduction(
                                            inner.wrap(arguments[0]));
                                      });
    return func::CallOp::create(builder, emitter.loc, callee, x).getResults();
  };
  return trigonometric(function, emitter.wrap(operand), slow).value;
}

Value Expander::powerOf(Value base, Value exponent, Emitter &emitter) {
  Type type = emitter.type;
  auto signature = FunctionType::get(type.getContext(), {type, type}, {type});
  func::FuncOp callee = helpers.get(
      "pow", type, signature, [](Emitter &inner, ValueRange arguments) {
        return SmallVector<Value>{
            pow(inner.wrap(arguments[0]), inner.wrap(arguments[1])).value};
      });
  return func::CallOp::create(emitter.builder, emitter.loc, callee,
                              ValueRange{base, exponent})
      .getResult(0);
}

void ExpandMath::runOnOperation() {
  TargetFeatures target = TargetFeatures::parse(features);
  HelperFunctions helpers(getOperation(), target);
  // Bodies that exist now; what helpers add holds no function of `math` that is
  // expanded.
  for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
    if (function.isExternal())
      continue;
    SmallVector<Operation *> candidates;
    function.walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          isa<arith::TruncFOp, arith::ExtFOp>(op))
        candidates.push_back(op);
    });
    ConstantPool constants(function.getBody().front());
    Expander expander(helpers, target, constants);
    for (Operation *op : candidates) {
      if (Value replacement = expander.expand(op)) {
        op->getResult(0).replaceAllUsesWith(replacement);
        op->erase();
      }
    }
  }
}
