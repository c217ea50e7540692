//===- ScalarTest.cpp - Scalar forms of elementwise operations ------------===//
//
// Builds the scalar and the vector form of operations on constants, folds them,
// and compares the values that are left with what the operation promises.
//
//===----------------------------------------------------------------------===//

#include "wok/IR/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "wok/IR/Types.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace wok;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double notANumber = std::nan("");
constexpr int64_t leastI32 = std::numeric_limits<int32_t>::min();
constexpr int64_t leastI64 = std::numeric_limits<int64_t>::min();

class Scalar : public testing::Test {
protected:
  Scalar() {
    context.loadDialect<WokDialect, func::FuncDialect>();
    // Folding is all that happens: on this thread.
    context.disableMultithreading();
  }

  static double toDouble(Attribute attr) {
    if (auto number = dyn_cast<FloatAttr>(attr))
      return number.getValueAsDouble();
    auto integer = cast<IntegerAttr>(attr);
    if (integer.getType().isInteger(1))
      return integer.getValue().getZExtValue();
    return integer.getValue().getSExtValue();
  }

  /// The value of what `build` builds, or nothing if it does not fold: poison
  /// or a trap.
  std::optional<double>
  evaluate(llvm::function_ref<Value(OpBuilder &, Location)> build) {
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    auto function =
        func::FuncOp::create(b, loc, "f", b.getFunctionType({}, {}));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    Value value = build(b, loc);
    auto ret = func::ReturnOp::create(b, loc, value);
    function.setFunctionType(b.getFunctionType({}, {value.getType()}));
    (void)applyPatternsGreedily(function, FrozenRewritePatternSet());
    Attribute attr;
    if (!matchPattern(ret.getOperand(0), m_Constant(&attr)))
      return std::nullopt;
    if (auto lanes = dyn_cast<DenseElementsAttr>(attr)) {
      EXPECT_TRUE(lanes.isSplat());
      attr = lanes.getSplatValue<Attribute>();
    }
    return toDouble(attr);
  }

  Value constant(OpBuilder &b, Location loc, Type element, double value,
                 bool isVector) {
    Type type = computeType(element);
    if (isVector)
      type = VectorType::get({4}, type);
    if (isa<FloatType>(computeType(element)))
      return buildConstant(b, loc, type, value);
    return buildConstant(b, loc, type, static_cast<int64_t>(value));
  }

  /// The result of `Op` on elements of `dtype`, as scalar and as vector.
  template <typename Op>
  std::optional<double> apply(DType dtype, std::vector<double> operands) {
    std::optional<double> results[2];
    for (bool isVector : {false, true})
      results[isVector] = evaluate([&](OpBuilder &b, Location loc) {
        Type element = toMLIR(dtype, &context);
        auto type = RankedTensorType::get({4}, element);
        // The operation itself is only asked, and dies.
        Value tensor =
            ConstantOp::create(b, loc, cast<ElementsAttr>(b.getZeroAttr(type)));
        OperationState state(loc, Op::getOperationName());
        state.addOperands(SmallVector<Value>(operands.size(), tensor));
        state.addTypes(type);
        auto op = cast<Op>(b.create(state));
        SmallVector<Value> values;
        for (double operand : operands)
          values.push_back(constant(b, loc, element, operand, isVector));
        Value result = op.buildScalar(b, loc, values, computeType(element));
        op->erase();
        return result;
      });
    // The folder leaves some vectors alone, comparisons of floats among them.
    if (results[0] && results[1] && !std::isnan(*results[0])) {
      EXPECT_EQ(*results[0], *results[1]);
      EXPECT_EQ(std::signbit(*results[0]), std::signbit(*results[1]));
    }
    return results[0];
  }

  std::optional<double> cast_(DType from, double value, DType to) {
    return evaluate([&](OpBuilder &b, Location loc) {
      Type source = toMLIR(from, &context), target = toMLIR(to, &context);
      Value operand = constant(b, loc, source, value, false);
      Value result = buildCast(b, loc, operand, source, target);
      return buildRound(b, loc, result, target);
    });
  }

  MLIRContext context;
};
} // namespace

TEST_F(Scalar, IntegerDivisionNeverTraps) {
  EXPECT_EQ(apply<DivOp>(DType::I32, {7, -2}), -3);
  EXPECT_EQ(apply<DivOp>(DType::I32, {double(leastI32), -1}), double(leastI32));
  EXPECT_EQ(apply<FmodOp>(DType::I32, {double(leastI32), -1}), 0);
  EXPECT_EQ(apply<FmodOp>(DType::I32, {-7, 2}), -1);
  EXPECT_EQ(apply<FloorDivOp>(DType::I32, {-7, 2}), -4);
  EXPECT_EQ(apply<FloorDivOp>(DType::I32, {7, -2}), -4);
  EXPECT_EQ(apply<FloorDivOp>(DType::I32, {-8, 2}), -4);
  EXPECT_EQ(apply<RemainderOp>(DType::I32, {-7, 2}), 1);
  EXPECT_EQ(apply<RemainderOp>(DType::I32, {7, -2}), -1);
  EXPECT_EQ(apply<RemainderOp>(DType::I32, {6, -2}), 0);
  // A zero divisor is a fault, but the form itself has a value.
  EXPECT_TRUE(apply<DivOp>(DType::I32, {7, 0}).has_value());
  EXPECT_TRUE(apply<RemainderOp>(DType::I64, {7, 0}).has_value());
  // 250 / 7 and 250 mod 7 of unsigned bytes; -6 is 250.
  EXPECT_EQ(apply<DivOp>(DType::U8, {-6, 7}), 35);
  EXPECT_EQ(apply<RemainderOp>(DType::U8, {-6, 7}), 5);
  EXPECT_EQ(apply<FloorDivOp>(DType::U8, {-6, 7}), 35);
}

TEST_F(Scalar, IntegersWrap) {
  EXPECT_EQ(apply<AddOp>(DType::I8, {127, 1}), -128);
  EXPECT_EQ(apply<NegOp>(DType::I8, {-128}), -128);
  EXPECT_EQ(apply<AbsOp>(DType::I8, {-128}), -128);
  EXPECT_EQ(apply<AbsOp>(DType::I8, {-5}), 5);
  EXPECT_EQ(apply<AbsOp>(DType::U8, {-5}), -5); // 251 stays 251
}

TEST_F(Scalar, IntegerPower) {
  EXPECT_EQ(apply<PowOp>(DType::I32, {3, 5}), 243);
  EXPECT_EQ(apply<PowOp>(DType::I32, {-2, 3}), -8);
  EXPECT_EQ(apply<PowOp>(DType::I32, {0, 0}), 1);
  EXPECT_EQ(apply<PowOp>(DType::I32, {2, 32}), 0);
  EXPECT_EQ(apply<PowOp>(DType::I32, {2, -1}), 0);
  EXPECT_EQ(apply<PowOp>(DType::I32, {1, -7}), 1);
  EXPECT_EQ(apply<PowOp>(DType::I32, {-1, -7}), -1);
  EXPECT_EQ(apply<PowOp>(DType::I32, {-1, -8}), 1);
  EXPECT_EQ(apply<PowOp>(DType::I64, {3, 39}), 4052555153018976267.0);
}

TEST_F(Scalar, ShiftsByAnyDistance) {
  EXPECT_EQ(apply<ShlOp>(DType::I32, {3, 4}), 48);
  EXPECT_EQ(apply<ShlOp>(DType::I32, {3, 32}), 0);
  EXPECT_EQ(apply<ShlOp>(DType::I32, {3, -1}), 0);
  EXPECT_EQ(apply<ShrOp>(DType::I32, {-16, 2}), -4);
  EXPECT_EQ(apply<ShrOp>(DType::I32, {-16, 32}), -1);
  EXPECT_EQ(apply<ShrOp>(DType::I32, {16, -1}), 0);
  EXPECT_EQ(apply<ShrOp>(DType::U8, {-16, 4}), 15);
  EXPECT_EQ(apply<ShrOp>(DType::U8, {-16, 8}), 0);
}

TEST_F(Scalar, ExtremaKeepNanAndTheFirst) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    EXPECT_TRUE(std::isnan(*apply<MaxOp>(dtype, {notANumber, 1})));
    EXPECT_TRUE(std::isnan(*apply<MaxOp>(dtype, {1, notANumber})));
    EXPECT_TRUE(std::isnan(*apply<MinOp>(dtype, {notANumber, -inf})));
    EXPECT_TRUE(std::isnan(*apply<MinOp>(dtype, {-inf, notANumber})));
    EXPECT_EQ(apply<MaxOp>(dtype, {1, 2}), 2);
    EXPECT_EQ(apply<MinOp>(dtype, {1, -inf}), -inf);
    EXPECT_TRUE(std::signbit(*apply<MaxOp>(dtype, {-0.0, 0.0})));
    EXPECT_FALSE(std::signbit(*apply<MinOp>(dtype, {0.0, -0.0})));
  }
  EXPECT_EQ(apply<MaxOp>(DType::U8, {-1, 1}), -1); // 255
  EXPECT_EQ(apply<MaxOp>(DType::I8, {-1, 1}), 1);
}

TEST_F(Scalar, Signs) {
  EXPECT_EQ(apply<SignOp>(DType::F32, {-3}), -1);
  EXPECT_EQ(apply<SignOp>(DType::F32, {notANumber}), 0);
  EXPECT_FALSE(std::signbit(*apply<SignOp>(DType::F32, {-0.0})));
  EXPECT_EQ(apply<SignOp>(DType::I8, {-3}), -1);
  EXPECT_EQ(apply<SignOp>(DType::U8, {-3}), 1);
  EXPECT_TRUE(std::signbit(*apply<NegOp>(DType::F32, {0.0})));
}

// Python's algorithm: not the floor of the quotient.
TEST_F(Scalar, FloatFloorDivision) {
  EXPECT_EQ(apply<FloorDivOp>(DType::F64, {1, 0.1}), 9);
  EXPECT_EQ(apply<FloorDivOp>(DType::F32, {-7, 2}), -4);
  EXPECT_EQ(apply<FloorDivOp>(DType::F32, {1, -inf}), -1);
  EXPECT_TRUE(std::isnan(*apply<FloorDivOp>(DType::F32, {inf, 1})));
  EXPECT_EQ(apply<FloorDivOp>(DType::F32, {1, 0}), inf);
  EXPECT_TRUE(std::signbit(*apply<FloorDivOp>(DType::F32, {0.0, -2})));
  EXPECT_EQ(apply<RemainderOp>(DType::F32, {-7, 2}), 1);
  EXPECT_EQ(apply<RemainderOp>(DType::F32, {1, -inf}), -inf);
}

TEST_F(Scalar, CastsOutOfRange) {
  EXPECT_EQ(cast_(DType::F32, -1.9, DType::I32), -1);
  EXPECT_EQ(cast_(DType::F32, 3e9, DType::I32), double(leastI32));
  EXPECT_EQ(cast_(DType::F32, notANumber, DType::I32), double(leastI32));
  EXPECT_EQ(cast_(DType::F32, -2147483648.0, DType::I32), double(leastI32));
  EXPECT_EQ(cast_(DType::F64, 2147483647.5, DType::I32), 2147483647);
  EXPECT_EQ(cast_(DType::F64, inf, DType::I64), double(leastI64));
  EXPECT_EQ(cast_(DType::F32, 300, DType::I8), 44);
  EXPECT_EQ(cast_(DType::F32, 1e20, DType::I8), 0);
  EXPECT_EQ(cast_(DType::F32, -1.9, DType::U8), -1); // 255
  EXPECT_EQ(cast_(DType::F64, 70000, DType::I16), 4464);
}

TEST_F(Scalar, CastsOfIntegersAndTruth) {
  EXPECT_EQ(cast_(DType::U8, -1, DType::I32), 255);
  EXPECT_EQ(cast_(DType::I8, -1, DType::I32), -1);
  EXPECT_EQ(cast_(DType::U8, -1, DType::F32), 255);
  EXPECT_EQ(cast_(DType::I1, 1, DType::I32), 1);
  EXPECT_EQ(cast_(DType::I1, 1, DType::F64), 1);
  EXPECT_EQ(cast_(DType::F32, notANumber, DType::I1), 1);
  EXPECT_EQ(cast_(DType::F32, -0.0, DType::I1), 0);
  EXPECT_EQ(cast_(DType::I32, 256, DType::I1), 1);
  EXPECT_EQ(cast_(DType::I32, 256 + 3, DType::U8), 3);
}

TEST_F(Scalar, Comparisons) {
  auto compare = [&](ComparePredicate predicate, DType dtype, double x,
                     double y) {
    return *evaluate([&](OpBuilder &b, Location loc) {
      Type element = toMLIR(dtype, &context);
      return buildCompare(b, loc, predicate,
                          constant(b, loc, element, x, false),
                          constant(b, loc, element, y, false), element);
    });
  };
  using P = ComparePredicate;
  for (P predicate : {P::Eq, P::Lt, P::Le, P::Gt, P::Ge})
    EXPECT_EQ(compare(predicate, DType::F32, notANumber, notANumber), 0);
  EXPECT_EQ(compare(P::Ne, DType::F32, notANumber, notANumber), 1);
  EXPECT_EQ(compare(P::Eq, DType::F32, 0.0, -0.0), 1);
  EXPECT_EQ(compare(P::Lt, DType::I8, -1, 1), 1);
  EXPECT_EQ(compare(P::Lt, DType::U8, -1, 1), 0);
  EXPECT_EQ(compare(P::Lt, DType::I1, 0, 1), 1);
}

// Every kind: combining with the neutral value changes nothing.
TEST_F(Scalar, NeutralValues) {
  for (uint32_t k = 0; k <= getMaxEnumValForReduceKind(); ++k) {
    auto kind = static_cast<ReduceKind>(k);
    bool isLogical = kind == ReduceKind::Any || kind == ReduceKind::All;
    for (DType dtype : {DType::I1, DType::I8, DType::U8, DType::I64, DType::F32,
                        DType::BF16, DType::F64}) {
      if (isLogical != (dtype == DType::I1))
        continue;
      for (double value : {0.0, 1.0, -1.0, 5.0, -inf, notANumber}) {
        if (!isFloat(dtype) && (value != value || value == -inf))
          continue;
        if (dtype == DType::I1 && value != 0 && value != 1)
          continue;
        auto result = evaluate([&](OpBuilder &b, Location loc) {
          Type element = toMLIR(dtype, &context);
          Value x = constant(b, loc, element, value, false);
          Value neutral = buildNeutral(b, loc, kind, x.getType(), element);
          return buildCombine(b, loc, kind, neutral, x, element);
        });
        ASSERT_TRUE(result.has_value());
        if (std::isnan(value))
          EXPECT_TRUE(std::isnan(*result));
        else
          EXPECT_EQ(*result, value) << stringifyReduceKind(kind).str();
      }
    }
  }
}
