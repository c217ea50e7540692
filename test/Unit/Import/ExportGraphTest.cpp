//===- ExportGraphTest.cpp - Graphs as wok.subgraph -------------*- C++ -*-===//

#include "wok/Import/ExportGraph.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "wok/Import/GraphBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace wok;
using namespace wok::importer;
using Kind = ExtentExpr::Kind;

namespace {

struct ExportGraphTest : testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Graph graph;
  GraphBuilder b{graph};
  std::string errors;
  mlir::ScopedDiagnosticHandler handler{&context,
                                        [this](mlir::Diagnostic &diagnostic) {
                                          errors += diagnostic.str() + "\n";
                                          return mlir::success();
                                        }};

  std::string text(bool locations = false) {
    auto module = exportGraph(graph, "f", context);
    if (!module)
      return "";
    std::string result;
    llvm::raw_string_ostream stream(result);
    mlir::OpPrintingFlags flags;
    flags.enableDebugInfo(locations, /*prettyForm=*/true).useLocalScope();
    module->print(stream, flags);
    return result;
  }
  ValueId input(DType dtype, std::initializer_list<int64_t> extents) {
    return graph.addInput({dtype, b.extents(extents)}, false);
  }
  void expectContains(const std::string &text,
                      std::initializer_list<const char *> parts) {
    EXPECT_TRUE(errors.empty()) << errors;
    size_t at = 0;
    for (const char *part : parts) {
      size_t found = text.find(part, at);
      ASSERT_NE(found, std::string::npos) << "no '" << part << "' in\n" << text;
      at = found + 1;
    }
  }
};

TEST_F(ExportGraphTest, InputsOperationsOutputs) {
  ValueId x = graph.addInput({DType::F32, b.extents({2, 3})}, true);
  ValueId y = input(DType::F32, {2, 3});
  ValueId sum = *b.binary("add", x, y);
  graph.outputs = {*b.reduce("sum", sum, std::vector<int64_t>{1}), sum};
  expectContains(text(), {"wok.subgraph @f", "tensor<2x3xf32> {wok.strided}",
                          "tensor<2x3xf32>", "wok.add", "wok.reduce", " sum ",
                          "wok.return", "tensor<2xf32>, tensor<2x3xf32>"});
}

TEST_F(ExportGraphTest, EnumsFlagsAndTypes) {
  ValueId x = input(DType::F32, {4, 4});
  ValueId less = *b.compare("lt", x, x);
  ValueId product = *b.contract(x, x, false, true);
  ValueId most = *b.argReduce("max", product, 0);
  graph.outputs = {less, *b.cast(most, DType::U8), product};
  expectContains(text(),
                 {"wok.compare", " lt, ", "wok.contract", "transpose_rhs",
                  "wok.arg_reduce", " max ", "tensor<4xui8>"});
  EXPECT_EQ(text().find("transpose_lhs"), std::string::npos);
}

TEST_F(ExportGraphTest, Constants) {
  graph.outputs = {b.constant(DType::F32, 0.1),
                   b.constant(DType::F64, 0.1),
                   b.constant(DType::BF16, 1.00390625), // A tie: to even.
                   b.constant(DType::U8, 255),
                   b.constant(DType::I8, -1),
                   b.constant(DType::I32, 2.0),
                   b.constant(DType::I1, 1),
                   b.constant(DType::F32, int64_t{16777217}),
                   *b.constantList(DType::I64, std::vector<int64_t>{3, -1})};
  expectContains(text(), {"dense<1.000000e-01> : tensor<f32>",
                          "dense<1.000000e-01> : tensor<f64>",
                          "dense<1.000000e+00> : tensor<bf16>",
                          "dense<255> : tensor<ui8>", "dense<-1> : tensor<i8>",
                          "dense<2> : tensor<i32>", "dense<true> : tensor<i1>",
                          "dense<0x4B800000> : tensor<f32>",
                          "dense<[3, -1]> : tensor<2xi64>"});
}

TEST_F(ExportGraphTest, SymbolicExtentsBecomeArithmetic) {
  ExtentId n = graph.symbol(0, 0);
  ValueId x = graph.addInput({DType::F32, {n, graph.constant(4)}}, false);
  ExtentId count = b.elementCount(b.type(x).extents);
  ExtentId half = graph.binary(Kind::FloorDiv, n, graph.constant(2));
  ValueId flat = *b.reshape(x, std::vector{count});
  ValueId rows = *b.slice(x, std::vector<int64_t>{0, 0},
                          std::vector{half, graph.constant(4)},
                          std::vector<int64_t>{1, 1});
  graph.outputs = {flat, rows};
  expectContains(text(),
                 {"wok.dim", "arith.muli", "wok.reshape", "tensor<?xf32>",
                  "arith.floordivsi", "wok.slice", "tensor<?x4xf32>"});
  // The dimension is read once.
  std::string all = text();
  EXPECT_EQ(all.find("wok.dim"), all.rfind("wok.dim"));
}

TEST_F(ExportGraphTest, LocationsAreSourceLines) {
  ValueId x = input(DType::F32, {4});
  graph.setLocation("model.py", 12);
  graph.outputs = {*b.unary("exp", x)};
  expectContains(text(/*locations=*/true), {"wok.exp", "model.py:12"});
}

TEST_F(ExportGraphTest, WhatIsWrongIsSaid) {
  ValueId x = input(DType::F32, {4});
  Node node;
  node.op = "wok.no_such_operation";
  node.operands = {x};
  node.type = b.type(x);
  Graph::Checkpoint before = graph.checkpoint();
  graph.add(node);
  EXPECT_EQ(text(), "");
  EXPECT_NE(errors.find("no_such_operation"), std::string::npos) << errors;

  errors.clear();
  graph.truncate(before);
  node.op = "wok.compare";
  node.operands = {x, x};
  node.type = {DType::I1, b.type(x).extents};
  node.attributes = {{"predicate", std::string("almost")}};
  graph.add(node);
  EXPECT_EQ(text(), "");
  EXPECT_NE(errors.find("almost"), std::string::npos) << errors;

  // A verifier of the dialect.
  errors.clear();
  graph.truncate(before);
  node.op = "wok.neg";
  node.operands = {x};
  node.attributes.clear();
  node.type = {DType::F64, b.type(x).extents};
  graph.add(node);
  EXPECT_EQ(text(), "");
  EXPECT_FALSE(errors.empty());
}

} // namespace
