//===- FrameHostTest.cpp - Handlers and functions of a host ---------------===//

#include "wok/Host/FrameHost.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "wok/Compiler/Compiler.h"
#include "wok/Runtime/Counters.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace wok;
using namespace wok::host;

namespace {

class FrameHostTest : public testing::Test {
protected:
  FrameHostTest() : context(makeRegistry()) { context.disableMultithreading(); }
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    Compiler::registerDialects(registry);
    return registry;
  }
  void parse(llvm::StringRef text) {
    context.loadAllAvailableDialects();
    program = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(program);
    host.emplace(*program, Compiler::get(), output);
  }
  std::string run(llvm::StringRef name, std::vector<TensorValue> arguments) {
    auto results = host->run(name, arguments);
    if (!results)
      return "error: " + llvm::toString(results.takeError());
    std::string text;
    for (const TensorValue &value : *results)
      text += (text.empty() ? "" : ", ") + toString(value);
    return text;
  }
  static TensorValue scalar(float number) {
    TensorValue value(DType::F32, {});
    *reinterpret_cast<float *>(value.data()) = number;
    return value;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
  std::string printed;
  llvm::raw_string_ostream output{printed};
  std::optional<FrameHost> host;
};

TEST_F(FrameHostTest, FunctionsOfTheHostGoBeforeFrames) {
  parse(R"(
    wok.frame @f(%x: tensor<f32>) -> tensor<f32> {
      %0 = wok.add %x, %x : tensor<f32>
      %1 = wok.break "call" by "call"(%0) config {callee = @g} : (tensor<f32>) -> tensor<f32>
      wok.return %1 : tensor<f32>
    }
    wok.frame @g(%x: tensor<f32>) -> tensor<f32> {
      wok.return %x : tensor<f32>
    })");
  EXPECT_EQ(run("f", {scalar(2)}), "4");
  int calls = 0;
  host->setFunction("g",
                    [&](llvm::ArrayRef<TensorValue>) -> llvm::Expected<Values> {
                      ++calls;
                      return Values{scalar(9)};
                    });
  EXPECT_EQ(run("f", {scalar(2)}), "9");
  EXPECT_EQ(calls, 1);
}

TEST_F(FrameHostTest, HandlersMayFailAndBeReplaced) {
  parse(R"(
    wok.frame @f(%x: tensor<f32>) {
      wok.break "print" by "print"(%x) : (tensor<f32>) -> ()
      wok.return
    })");
  EXPECT_EQ(run("f", {scalar(2)}), "");
  EXPECT_EQ(printed, "2\n");
  host->setHandler(
      "print",
      [](const FrameHost::BreakContext &context) -> llvm::Expected<Values> {
        return llvm::createStringError("the paper is out");
      });
  EXPECT_TRUE(
      llvm::StringRef(run("f", {scalar(2)}))
          .starts_with("error: the paper is out\nin the break \"print\""));
}

TEST_F(FrameHostTest, ChecksArguments) {
  parse(R"(
    wok.frame @f(%x: tensor<2xf32>) {
      wok.return
    })");
  EXPECT_TRUE(
      llvm::StringRef(run("f", {})).contains("takes 1 arguments, not 0"));
  EXPECT_TRUE(llvm::StringRef(run("f", {scalar(1)}))
                  .contains("argument 0 has another type"));
  EXPECT_TRUE(llvm::StringRef(run("f", {TensorValue()}))
                  .contains("argument 0 has another type"));
}

TEST_F(FrameHostTest, EachArmHasASpecialization) {
  parse(R"(
    wok.frame @f(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
      %zero = wok.constant dense<0> : tensor<i32>
      %even = wok.compare eq, %i, %zero : tensor<i32>
      %0 = wok.break "branch" by "branch"(%even) : (tensor<i1>) -> tensor<f32> {
        wok.yield %x : tensor<f32>
      }, {
        wok.yield %x : tensor<f32>
      }
      %1 = wok.exp %0 : tensor<f32>
      wok.return %1 : tensor<f32>
    })");
  runtime::resetCounters();
  for (int32_t i = 0; i < 4; ++i) {
    TensorValue number(DType::I32, {});
    *reinterpret_cast<int32_t *>(number.data()) = i & 1;
    EXPECT_EQ(run("f", {number, scalar(0)}), "1");
  }
  auto counters = runtime::readCounters();
  EXPECT_EQ(counters[size_t(runtime::Counter::Captures)], 3u);
  EXPECT_EQ(counters[size_t(runtime::Counter::Hits)], 5u);
}

} // namespace
