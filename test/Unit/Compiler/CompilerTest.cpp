//===- CompilerTest.cpp - Caching, errors, dumps, threads, fork -*- C++ -*-===//

#include "Harness.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <limits>
#include <malloc.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace wok;
using namespace wok::importer;
using namespace wok::test;

namespace {

struct CompilerBehaviour : CompilerTest {
  /// x * factor + x.
  void makeGraph(double factor) {
    reset();
    ValueId x = input(DType::F32, {100});
    ValueId scale = b.filled(DType::F32, factor, b.type(x).extents).value();
    graph.outputs = {
        b.binary("add", b.binary("mul", x, scale).value(), x).value()};
  }
  static std::unique_ptr<Compiler> makeCompiler(CompilerOptions options = {}) {
    return std::make_unique<Compiler>(std::move(options));
  }
  std::string errorOf(Compiler::Result result) {
    if (result)
      return "";
    return llvm::toString(result.takeError());
  }
  /// A graph that no verifier accepts.
  void makeBadGraph() {
    reset();
    ValueId x = input(DType::F32, {4});
    Node node;
    node.op = "wok.neg";
    node.operands = {x};
    node.type = {DType::F64, b.type(x).extents};
    graph.setLocation("model.py", 7);
    graph.outputs = {graph.add(node)};
  }
};

TEST_F(CompilerBehaviour, FillsTheDescription) {
  makeGraph(2.5);
  auto code = llvm::cantFail(compiler().compile(graph, "scaled"));
  EXPECT_EQ(code->name, "scaled");
  ASSERT_EQ(code->inputs.size(), 1u);
  EXPECT_EQ(code->inputs[0].extents, std::vector<int64_t>{100});
  EXPECT_FALSE(code->inputs[0].strided);
  ASSERT_EQ(code->outputs.size(), 1u);
  EXPECT_EQ(code->outputs[0].dtype, DType::F32);
  EXPECT_EQ(code->kernels, 1u);
  EXPECT_EQ(code->shape, nullptr);
  EXPECT_EQ(code->operations, 3u); // mul, add and the broadcast.
  std::vector<std::string> phases;
  for (const runtime::PhaseTime &phase : code->phases) {
    phases.push_back(phase.phase);
    EXPECT_GT(phase.nanoseconds, 0);
  }
  EXPECT_EQ(phases, (std::vector<std::string>{"simplify", "fuse", "plan",
                                              "loops", "llvm", "translate",
                                              "optimize", "object", "link"}));
}

TEST_F(CompilerBehaviour, SymbolicExtentsHaveAShapeFunction) {
  ValueId x = symbolicInput(DType::F32, {-1, 3}, /*strided=*/true);
  graph.outputs = {b.unary("neg", x).value()};
  auto code = compile();
  ASSERT_TRUE(code);
  EXPECT_NE(code->shape, nullptr);
  EXPECT_TRUE(code->inputs[0].strided);
  EXPECT_EQ(code->inputs[0].extents,
            (std::vector<int64_t>{runtime::dynamicExtent, 3}));
}

// What is not countable is not wrapped around.
TEST_F(CompilerBehaviour, SizesOfTransientsDoNotOverflow) {
  ValueId x = symbolicInput(DType::F32, {-1, 4});
  ValueId squares = b.contract(x, x, false, true).value();
  graph.outputs = {b.contract(squares, x, false, false).value()};
  auto code = compile();
  ASSERT_TRUE(code);
  ASSERT_EQ(code->transients.size(), 1u);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (auto [rows, wanted] : std::initializer_list<std::pair<int64_t, int64_t>>{
           {0, 0},
           {100, 40000},
           {int64_t(1) << 30, int64_t(1) << 62},
           {int64_t(1) << 31, most},
           {int64_t(1) << 32, most},
           {int64_t(1) << 62, most},
           {-3, most}}) {
    const int64_t dims[] = {rows, 4, 4, 1, rows, 4};
    int64_t extents[2], bytes = -77;
    code->shape(dims, extents, &bytes);
    EXPECT_EQ(extents[0], rows);
    EXPECT_EQ(bytes, wanted) << rows;
  }
}

TEST_F(CompilerBehaviour, EqualSubgraphsCompileOnce) {
  auto own = makeCompiler();
  makeGraph(2.5);
  graph.setLocation("a.py", 1);
  auto first = llvm::cantFail(own->compile(graph, "first"));
  makeGraph(2.5);
  graph.setLocation("b.py", 2);
  auto second = llvm::cantFail(own->compile(graph, "second"));
  makeGraph(3.5);
  auto third = llvm::cantFail(own->compile(graph, "third"));
  EXPECT_EQ(first->entry, second->entry);
  EXPECT_EQ(second->name, "second");
  EXPECT_TRUE(second->phases.empty());
  EXPECT_NE(first->entry, third->entry);
  EXPECT_EQ(own->statistics().compiled, 2u);
  EXPECT_EQ(own->statistics().reused, 1u);

  own->forgetAll();
  makeGraph(2.5);
  auto fourth = llvm::cantFail(own->compile(graph, "fourth"));
  EXPECT_NE(fourth->entry, first->entry);
  EXPECT_EQ(own->statistics().compiled, 3u);
}

TEST_F(CompilerBehaviour, CodeOutlivesItsCompiler) {
  auto own = makeCompiler();
  makeGraph(4);
  auto code = llvm::cantFail(own->compile(graph, "left"));
  own.reset();
  checkWith(code.get(), {makeTensor(DType::F32, {100}, Fill::Tame, 1)}, {});
}

TEST_F(CompilerBehaviour, ContextsAreGivenUp) {
  CompilerOptions options;
  options.compilesPerContext = 2;
  auto own = makeCompiler(options);
  for (int i = 0; i < 5; ++i) {
    makeGraph(i);
    auto code = llvm::cantFail(own->compile(graph, "f"));
    checkWith(code.get(), {makeTensor(DType::F32, {100}, Fill::Tame, 1)}, {});
  }
}

TEST_F(CompilerBehaviour, DiagnosticsAreInTheError) {
  makeBadGraph();
  std::string error = errorOf(compiler().compile(graph, "bad"));
  EXPECT_NE(error.find("model.py:7"), std::string::npos) << error;
  EXPECT_NE(error.find("wok.neg"), std::string::npos) << error;
}

TEST_F(CompilerBehaviour, AnUnknownProcessorIsAnError) {
  CompilerOptions options;
  options.cpu = "pdp-11";
  auto own = makeCompiler(options);
  makeGraph(1);
  for (int i = 0; i < 2; ++i) {
    std::string error = errorOf(own->compile(graph, "f"));
    EXPECT_NE(error.find("pdp-11"), std::string::npos) << error;
  }
}

TEST_F(CompilerBehaviour, ForeignObjectsAreNotRun) {
  CompilerOptions options;
  options.cpu = "x86-64-v4";
  auto own = makeCompiler(options);
  makeGraph(1);
  std::string object = llvm::cantFail(own->compileToObject(graph, "f"));
  EXPECT_EQ(object.substr(1, 3), "ELF");
  std::string error = errorOf(own->compile(graph, "f"));
  if (error.empty())
    GTEST_SKIP() << "this processor runs x86-64-v4";
  EXPECT_NE(error.find("avx512"), std::string::npos) << error;
}

TEST_F(CompilerBehaviour, CompilesModules) {
  mlir::DialectRegistry registry;
  Compiler::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    wok.subgraph @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = wok.add %x, %x : tensor<3xf32>
      wok.return %y : tensor<3xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  auto code = llvm::cantFail(compiler().compile(*module));
  EXPECT_EQ(code->name, "twice");
  float in[] = {1, 2, 3}, out[3] = {};
  void *data[] = {in, out};
  EXPECT_EQ(code->entry(data, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(out[2], 6);

  mlir::OwningOpRef<mlir::ModuleOp> empty =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  EXPECT_NE(errorOf(compiler().compile(*empty)), "");
}

TEST_F(CompilerBehaviour, DumpsEveryPhase) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("wok-dump", directory));
  CompilerOptions options;
  options.dumpDirectory = std::string(directory);
  auto own = makeCompiler(options);
  makeGraph(2);
  llvm::cantFail(own->compile(graph, "a name/with ../odd characters"));
  std::vector<std::string> stages;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(directory, error), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    EXPECT_TRUE(name.contains("a_name_with____odd_characters")) << name.str();
    stages.push_back(name.split('.').second.str());
    EXPECT_GT(llvm::cantFail(llvm::errorOrToExpected(
                                 llvm::MemoryBuffer::getFile(it->path())))
                  ->getBufferSize(),
              0u);
  }
  std::sort(stages.begin(), stages.end());
  EXPECT_EQ(stages,
            (std::vector<std::string>{
                "0-subgraph.mlir", "1-simplify.mlir", "2-fuse.mlir",
                "3-plan.mlir", "4-loops.mlir", "5-llvm.mlir", "6-translated.ll",
                "7-optimized.ll", "8-object.o", "8-object.s"}));
  llvm::sys::fs::remove_directories(directory);
}

TEST_F(CompilerBehaviour, ThreadsCompileAtTheSameTime) {
  auto own = makeCompiler();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        Graph mine;
        GraphBuilder builder(mine);
        ValueId x = mine.addInput({DType::F32, builder.extents({8})}, false);
        double addend = t * 10 + i;
        ValueId c = *builder.filled(DType::F32, addend, builder.extents({8}));
        mine.outputs = {*builder.binary("add", x, c)};
        auto code = llvm::cantFail(own->compile(mine, "f"));
        float in[8] = {1}, out[8] = {};
        void *data[] = {in, out};
        code->entry(data, nullptr, nullptr, nullptr);
        right += out[0] == 1 + addend;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 16);
}

/// Forks; the child compiles and runs something, and says whether it was right.
bool childCompiles(Compiler &compiler, double factor) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    Graph mine;
    GraphBuilder builder(mine);
    ValueId x = mine.addInput({DType::F32, builder.extents({8})}, false);
    ValueId c = *builder.filled(DType::F32, factor, builder.extents({8}));
    mine.outputs = {*builder.binary("mul", x, c)};
    auto code = compiler.compile(mine, "child");
    if (!code)
      _exit(2);
    float in[8] = {3}, out[8] = {};
    void *data[] = {in, out};
    (*code)->entry(data, nullptr, nullptr, nullptr);
    _exit(out[0] == 3 * factor ? 0 : 3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(CompilerBehaviour, ChildrenOfForksCompile) {
  auto own = makeCompiler();
  makeGraph(7);
  auto before = llvm::cantFail(own->compile(graph, "before"));
  EXPECT_TRUE(childCompiles(*own, 5));

  // While other threads are in the middle of compiles.
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        Graph mine;
        GraphBuilder builder(mine);
        ValueId x = mine.addInput({DType::F32, builder.extents({8})}, false);
        ValueId c = *builder.filled(DType::F32, 1000.0 * (t + 1) + i,
                                    builder.extents({8}));
        mine.outputs = {*builder.binary("mul", x, c)};
        llvm::cantFail(own->compile(mine, "busy"));
      }
    });
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(childCompiles(*own, 20 + i));
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

// MLIR takes locks when a thread that compiled ends, which is what a fork that
// waited for the compile meets.
TEST_F(CompilerBehaviour, ForksWhileThreadsEnd) {
  auto own = makeCompiler();
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> begins = false;
    std::thread thread([&] {
      Graph mine;
      GraphBuilder builder(mine);
      ValueId x = mine.addInput({DType::F32, builder.extents({8})}, false);
      ValueId c =
          *builder.filled(DType::F32, 1.0 * round, builder.extents({8}));
      mine.outputs = {*builder.binary("mul", x, c)};
      begins = true;
      llvm::cantFail(own->compile(mine, "ends"));
    });
    while (!begins)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(childCompiles(*own, 100 + round)) << "round " << round;
    thread.join();
  }
}

// What only asks leaves nothing behind for the end of the thread.
TEST_F(CompilerBehaviour, StatisticsLeaveNoMemory) {
  auto own = makeCompiler();
  own->statistics();
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 100000; ++i)
    own->statistics();
  EXPECT_LT(mallinfo2().uordblks, before + (1 << 20));
}

TEST_F(CompilerBehaviour, WarmsUpInTheBackground) {
  auto own = makeCompiler();
  own->warmUp();
  own->warmUp();
  own->waitForWarmUp();
  EXPECT_EQ(own->statistics().compiled, 1u);
  // The child has no such thread, and may begin one of its own.
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    own->forgetAll();
    own->warmUp();
    own->waitForWarmUp();
    _exit(own->statistics().compiled == 2 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A process that ends while it compiles ends well.
TEST_F(CompilerBehaviour, ExitWaitsForCompiles) {
  EXPECT_EXIT(
      {
        Compiler::get().warmUp();
        std::exit(42);
      },
      testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        for (int t = 0; t < 2; ++t)
          std::thread([t] {
            for (int i = 0;; ++i) {
              Graph mine;
              GraphBuilder builder(mine);
              ValueId x =
                  mine.addInput({DType::F32, builder.extents({8})}, false);
              ValueId c = *builder.filled(DType::F32, 1000.0 * (t + 1) + i,
                                          builder.extents({8}));
              mine.outputs = {*builder.binary("mul", x, c)};
              llvm::consumeError(
                  Compiler::get().compile(mine, "busy").takeError());
            }
          }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        std::exit(43);
      },
      testing::ExitedWithCode(43), "");
}

} // namespace
