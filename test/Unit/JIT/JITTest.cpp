//===- JITTest.cpp - LLVM IR to running code --------------------*- C++ -*-===//

#include "wok/JIT/JIT.h"

#include "wok/JIT/CodeGen.h"
#include "wok/JIT/Target.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

#include <set>
#include <thread>

using namespace wok::jit;

namespace {

std::shared_ptr<Target> target(TargetSpec spec = {}) {
  auto result = Target::create(std::move(spec));
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return nullptr;
  }
  return *result;
}

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext &context,
                                    const std::string &text) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

std::unique_ptr<llvm::MemoryBuffer> compile(const std::string &text,
                                            Target &target) {
  llvm::LLVMContext context;
  skipCostlyPasses(context);
  auto module = parse(context, text);
  if (!module)
    return nullptr;
  Target::Lease machine = target.lease();
  prepareModule(*module, target, *machine);
  optimizeModule(*module, *machine);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  auto object = emitObject(*module, *machine);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return nullptr;
  }
  return std::move(*object);
}

constexpr const char *addOne = R"(
define i32 @entry(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
})";

constexpr const char *callOut = R"(
declare i32 @outside(i32)
define i32 @entry(i32 %x) {
  %y = call i32 @outside(i32 %x)
  %z = mul i32 %y, 2
  ret i32 %z
})";

int32_t outside(int32_t x) { return x + 100; }
const Symbol outsideSymbol[] = {{"outside", reinterpret_cast<void *>(outside)}};

std::shared_ptr<JIT>
makeJIT(std::span<const Symbol> symbols = standardSymbols()) {
  return llvm::cantFail(JIT::create(symbols));
}

TEST(JIT, RunsAndSharesNothing) {
  auto host = target();
  auto jit = makeJIT();
  auto first = llvm::cantFail(jit->addObject(compile(addOne, *host), "entry"));
  // The same names again: objects do not see each other.
  std::string minusOne = addOne;
  minusOne.replace(minusOne.find("add"), 3, "sub");
  auto second =
      llvm::cantFail(jit->addObject(compile(minusOne, *host), "entry"));
  EXPECT_EQ(first->lookupAs<int (*)(int)>("entry")(41), 42);
  EXPECT_EQ(second->lookupAs<int (*)(int)>("entry")(43), 42);
  EXPECT_EQ(first->lookup("nothing"), nullptr);
}

TEST(JIT, EqualFunctionsAreCompiledOnce) {
  // Two kernels whose addresses are handed on, as to `wok_parallel_for`; the
  // third is another.
  std::string kernels;
  for (const char *step : {"7", "7", "9"})
    kernels += "define i32 @kernel" + std::to_string(kernels.size()) +
               "(i32 %x) {\n  %y = mul i32 %x, " + step + "\n  ret i32 %y\n}\n";
  std::string text = kernels;
  std::vector<std::string> names;
  for (size_t at = 0; (at = kernels.find('@', at)) != std::string::npos; ++at)
    names.push_back(kernels.substr(at, kernels.find('(', at) - at));
  ASSERT_EQ(names.size(), 3u);
  text += "define i32 @entry(i32 %x, ptr %out) {\n";
  for (size_t i = 0; i < names.size(); ++i) {
    std::string n = std::to_string(i);
    text += "  %p" + n + " = getelementptr ptr, ptr %out, i32 " + n +
            "\n  store ptr " + names[i] + ", ptr %p" + n + "\n";
  }
  text += "  ret i32 %x\n}\n";

  auto host = target();
  llvm::LLVMContext context;
  auto module = parse(context, text);
  ASSERT_TRUE(module);
  Target::Lease machine = host->lease();
  prepareModule(*module, *host, *machine);
  optimizeModule(*module, *machine);
  size_t bodies = 0;
  for (const llvm::Function &function : *module)
    bodies += !function.isDeclaration();
  EXPECT_EQ(bodies, 3u);

  auto code = llvm::cantFail(makeJIT()->addObject(
      llvm::cantFail(emitObject(*module, *machine)), "entry"));
  int (*found[3])(int) = {};
  code->lookupAs<int (*)(int, void *)>("entry")(0, found);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0](6), 42);
  EXPECT_EQ(found[2](6), 54);
}

TEST(JIT, CallsWhatItWasGiven) {
  auto host = target();
  auto code = llvm::cantFail(
      makeJIT(outsideSymbol)->addObject(compile(callOut, *host), "entry"));
  EXPECT_EQ(code->lookupAs<int (*)(int)>("entry")(1), 202);
}

TEST(JIT, AMissingSymbolIsNamed) {
  auto host = target();
  auto jit = makeJIT();
  auto code = jit->addObject(compile(callOut, *host), "entry");
  ASSERT_FALSE(code);
  std::string text = llvm::toString(code.takeError());
  EXPECT_NE(text.find("outside"), std::string::npos) << text;

  // Nothing of the process is found by its name.
  std::string callsLibc = callOut;
  for (size_t at; (at = callsLibc.find("@outside")) != std::string::npos;)
    callsLibc.replace(at, 8, "@usleep");
  code = jit->addObject(compile(callsLibc, *host), "entry");
  ASSERT_FALSE(code);
  llvm::consumeError(code.takeError());

  code = jit->addObject(compile(addOne, *host), "not_there");
  ASSERT_FALSE(code);
  EXPECT_NE(llvm::toString(code.takeError()).find("not_there"),
            std::string::npos);

  // The JIT is as good as before.
  auto good = llvm::cantFail(jit->addObject(compile(addOne, *host), "entry"));
  EXPECT_EQ(good->lookupAs<int (*)(int)>("entry")(1), 2);
}

TEST(JIT, RefusesWhatIsNoObject) {
  auto code = makeJIT()->addObject(
      llvm::MemoryBuffer::getMemBufferCopy("not an object"), "entry");
  ASSERT_FALSE(code);
  EXPECT_FALSE(llvm::toString(code.takeError()).empty());
}

TEST(JIT, CodeOutlivesTheHandleOfTheJIT) {
  auto host = target();
  std::shared_ptr<const Code> code;
  {
    auto jit = makeJIT();
    code = llvm::cantFail(jit->addObject(compile(addOne, *host), "entry"));
  }
  EXPECT_EQ(code->lookupAs<int (*)(int)>("entry")(1), 2);
}

TEST(JIT, RemovedCodeGivesItsMemoryBack) {
  auto host = target();
  auto jit = makeJIT();
  auto object = compile(addOne, *host);
  auto copy = [&] {
    return llvm::MemoryBuffer::getMemBufferCopy(object->getBuffer(), "again");
  };
  // Each object takes pages of its own: kept, a thousand would be at a thousand
  // places.
  std::set<void *> places;
  for (int i = 0; i < 1000; ++i)
    places.insert(
        llvm::cantFail(jit->addObject(copy(), "entry"))->lookup("entry"));
  EXPECT_LT(places.size(), 100u);
}

TEST(JIT, ThreadsCompileAtTheSameTime) {
  auto host = target();
  auto jit = makeJIT();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        std::string text = addOne;
        text.replace(text.find(", 1"), 3, ", " + std::to_string(t * 100 + i));
        auto code =
            llvm::cantFail(jit->addObject(compile(text, *host), "entry"));
        right += code->lookupAs<int (*)(int)>("entry")(1) == 1 + t * 100 + i;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 32);
}

TEST(Target, NamedProcessors) {
  EXPECT_EQ(target({"x86-64", ""})->vectorBytes(), 16u);
  EXPECT_EQ(target({"x86-64-v3", ""})->vectorBytes(), 32u);
  EXPECT_EQ(target({"x86-64-v4", ""})->vectorBytes(), 64u);
  EXPECT_EQ(target({"x86-64-v4", "-avx512f"})->vectorBytes(), 32u);
  EXPECT_TRUE(target()->runsOnHost());
  EXPECT_TRUE(target({"x86-64", ""})->runsOnHost());
  EXPECT_FALSE(target()->features().empty());
  std::string v3 = target({"x86-64-v3", ""})->enabledFeatures();
  EXPECT_NE(v3.find("+avx2"), std::string::npos) << v3;
  EXPECT_EQ(v3.find("+avx512f"), std::string::npos) << v3;
}

TEST(Target, UnknownNamesAreErrors) {
  auto expectError = [](TargetSpec spec, const char *name) {
    auto result = Target::create(std::move(spec));
    ASSERT_FALSE(result);
    std::string text = llvm::toString(result.takeError());
    EXPECT_NE(text.find(name), std::string::npos) << text;
  };
  expectError({"pdp-11", ""}, "pdp-11");
  expectError({"x86-64", "+flux"}, "flux");
  expectError({"x86-64", "avx2"}, "avx2");
  expectError({"", "+"}, "+");
}

// One object for each level, the widest only where it can run.
class Levels : public testing::TestWithParam<const char *> {};

TEST_P(Levels, VectorsOfThisWidth) {
  auto level = target({GetParam(), ""});
  unsigned lanes = level->vectorBytes() / 4;
  std::string type = "<" + std::to_string(lanes) + " x float>";
  auto object = compile("define void @entry(ptr %p) {\n  %v = load " + type +
                            ", ptr %p, align 4\n  %w = fadd " + type +
                            " %v, %v\n  store " + type +
                            " %w, ptr %p, align 4\n  ret void\n}",
                        *level);
  ASSERT_TRUE(object);
  if (!level->runsOnHost())
    GTEST_SKIP() << "compiled, not run: no " << level->missingFeature().str();
  auto code = llvm::cantFail(makeJIT()->addObject(std::move(object), "entry"));
  std::vector<float> data(lanes + 1, 3.0f);
  code->lookupAs<void (*)(float *)>("entry")(data.data());
  EXPECT_EQ(data[0], 6.0f);
  EXPECT_EQ(data[lanes - 1], 6.0f);
  EXPECT_EQ(data[lanes], 3.0f);
}

INSTANTIATE_TEST_SUITE_P(JIT, Levels,
                         testing::Values("x86-64", "x86-64-v3", "x86-64-v4",
                                         ""),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name.empty() ? "native" : name;
                         });

TEST(CodeGen, ConversionsWithoutF16C) {
  auto old = target({"x86-64", ""});
  auto code = llvm::cantFail(makeJIT()->addObject(compile(R"(
define i16 @entry(float %x) {
  %h = fptrunc float %x to half
  %b = bitcast half %h to i16
  ret i16 %b
}
define float @back(i16 %b) {
  %h = bitcast i16 %b to half
  %x = fpext half %h to float
  ret float %x
})",
                                                          *old),
                                                  "entry"));
  EXPECT_EQ(code->lookupAs<uint16_t (*)(float)>("entry")(1.5f), 0x3e00);
  EXPECT_EQ(code->lookupAs<float (*)(uint16_t)>("back")(0x3e00), 1.5f);
}

TEST(CodeGen, MultiplicationAndAdditionRoundTwice) {
  auto host = target();
  auto code = llvm::cantFail(makeJIT()->addObject(compile(R"(
define float @entry(float %a, float %b, float %c) {
  %m = fmul float %a, %b
  %s = fadd float %m, %c
  ret float %s
})",
                                                          *host),
                                                  "entry"));
  float a = 1.0f + 0x1p-12f;
  // a * a is 1 + 2^-11 + 2^-24, rounded to even; fused, the last term would
  // survive.
  EXPECT_EQ(code->lookupAs<float (*)(float, float, float)>("entry")(
                a, a, -(1.0f + 0x1p-11f)),
            0.0f);
}

// The gate goes by the names of passes: a renamed pass would run again
// unnoticed.
TEST(CodeGen, SkippedPassesHaveTheseNames) {
  struct Recorder : llvm::OptPassGate {
    mutable std::set<std::string> names;
    bool isEnabled() const override { return true; }
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
      names.insert(pass.str());
      return true;
    }
  } recorder;
  llvm::LLVMContext context;
  context.setOptPassGate(recorder);
  auto module = parse(context, R"(
define float @entry(ptr %p, i64 %n) {
top:
  br label %loop
loop:
  %i = phi i64 [0, %top], [%next, %loop]
  %a = phi float [0.0, %top], [%s, %loop]
  %q = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %q
  %s = fadd float %a, %v
  %next = add i64 %i, 1
  %go = icmp slt i64 %next, %n
  br i1 %go, label %loop, label %end
end:
  ret float %s
})");
  auto host = target();
  Target::Lease machine = host->lease();
  prepareModule(*module, *host, *machine);
  ASSERT_TRUE(static_cast<bool>(emitObject(*module, *machine)));
  for (const char *name :
       {"Loop Strength Reduction", "machine-scheduler", "post-RA-sched"})
    EXPECT_TRUE(recorder.names.count(name)) << name << " is not asked for";
}

TEST(CodeGen, AssemblyIsText) {
  auto host = target();
  llvm::LLVMContext context;
  auto module = parse(context, addOne);
  Target::Lease machine = host->lease();
  prepareModule(*module, *host, *machine);
  std::string text = llvm::cantFail(emitAssembly(*module, *machine));
  EXPECT_NE(text.find("entry:"), std::string::npos) << text;
}

} // namespace
