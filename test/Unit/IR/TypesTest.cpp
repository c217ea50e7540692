//===- TypesTest.cpp - Element types in MLIR ------------------------------===//

#include "wok/IR/Types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace wok;

TEST(Types, EveryElementTypeGoesThereAndBack) {
  MLIRContext context;
#define X(name, text, bytes)                                                   \
  {                                                                            \
    Type type = toMLIR(DType::name, &context);                                 \
    EXPECT_EQ(fromMLIR(type), DType::name);                                    \
    std::string printed;                                                       \
    llvm::raw_string_ostream(printed) << type;                                 \
    EXPECT_EQ(printed, text);                                                  \
  }
  WOK_DTYPES(X)
#undef X
}

TEST(Types, OtherTypesAreNoElementTypes) {
  MLIRContext context;
  for (Type type :
       {Type(IndexType::get(&context)), Type(IntegerType::get(&context, 7)),
        Type(IntegerType::get(&context, 16, IntegerType::Unsigned)),
        Type(IntegerType::get(&context, 8, IntegerType::Signed)),
        Type(Float128Type::get(&context))})
    EXPECT_EQ(fromMLIR(type), std::nullopt);
}

TEST(Types, ComputeTypes) {
  MLIRContext context;
  auto compute = [&](DType dtype) {
    return fromMLIR(computeType(toMLIR(dtype, &context)));
  };
  EXPECT_EQ(compute(DType::BF16), DType::F32);
  EXPECT_EQ(compute(DType::F16), DType::F32);
  EXPECT_EQ(compute(DType::U8), DType::I8);
  EXPECT_EQ(compute(DType::I1), DType::I1);
  EXPECT_EQ(compute(DType::F64), DType::F64);
}
