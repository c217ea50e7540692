//===- BytecodeTest.cpp - Decoding bytecode -------------------------------===//

#include "../../../lib/Python/3.11/Bytecode.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

using namespace wok::python;

namespace {

struct Unit {
  Op op;
  uint8_t arg = 0;
};

std::vector<uint8_t> assemble(std::initializer_list<Unit> units) {
  std::vector<uint8_t> bytes;
  for (Unit unit : units) {
    bytes.push_back(static_cast<uint8_t>(unit.op));
    bytes.push_back(unit.arg);
  }
  return bytes;
}

TEST(Bytecode, InstructionsCarryTheirPrefixesAndCaches) {
  auto code = assemble({{Op::Resume},
                        {Op::ExtendedArg, 1},
                        {Op::LoadFast, 2},
                        {Op::LoadConst, 0},
                        {Op::BinaryOp, 5},
                        {Op::Cache},
                        {Op::ReturnValue}});
  auto bytecode = Bytecode::decode(code, {});
  ASSERT_TRUE(bytecode);
  ASSERT_EQ(bytecode->instructions().size(), 5u);
  const Instruction &load = bytecode->instructions()[1];
  EXPECT_EQ(load.offset, 1);
  EXPECT_EQ(load.opOffset, 2);
  EXPECT_EQ(load.arg, 0x102u);
  EXPECT_EQ(bytecode->at(1), &load);
  EXPECT_EQ(bytecode->at(2), nullptr);
  EXPECT_EQ(&bytecode->containing(2), &load);
  EXPECT_EQ(bytecode->containing(5).op, Op::BinaryOp);
  EXPECT_EQ(bytecode->entry(), 1);
}

TEST(Bytecode, TrapsAreNotOnReturnsNorInsideOfCalls) {
  auto code = assemble({{Op::Resume},
                        {Op::KwNames, 0},
                        {Op::Precall, 0},
                        {Op::Cache},
                        {Op::Call, 0},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::Precall, 0},
                        {Op::Cache},
                        {Op::Call, 0},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::Cache},
                        {Op::ReturnValue}});
  auto bytecode = Bytecode::decode(code, {});
  ASSERT_TRUE(bytecode);
  std::vector<int32_t> exits, traps;
  for (int32_t offset = -1; offset <= bytecode->size(); ++offset) {
    if (bytecode->exitLegal(offset))
      exits.push_back(offset);
    if (bytecode->trapLegal(offset))
      traps.push_back(offset);
  }
  EXPECT_EQ(exits, (std::vector<int32_t>{1, 9, 16}));
  EXPECT_EQ(traps, (std::vector<int32_t>{9}));
}

TEST(Bytecode, NothingIsLegalInThePrologue) {
  auto code = assemble({{Op::CopyFreeVars, 1},
                        {Op::ReturnGenerator},
                        {Op::PopTop},
                        {Op::Resume},
                        {Op::LoadConst, 0},
                        {Op::ReturnValue}});
  auto bytecode = Bytecode::decode(code, {});
  ASSERT_TRUE(bytecode);
  EXPECT_EQ(bytecode->entry(), 4);
  for (int32_t offset = 0; offset < 4; ++offset)
    EXPECT_FALSE(bytecode->exitLegal(offset)) << offset;
}

TEST(Bytecode, JumpsAreCountedFromBehindTheOpcode) {
  auto code = assemble({{Op::Resume},
                        {Op::PopJumpForwardIfTrue, 1},
                        {Op::Nop},
                        {Op::JumpBackward, 3},
                        {Op::ReturnValue}});
  auto bytecode = Bytecode::decode(code, {});
  ASSERT_TRUE(bytecode);
  EXPECT_EQ(bytecode->at(1)->target, 3);
  EXPECT_EQ(bytecode->at(3)->target, 1);
}

TEST(Bytecode, HandlersComeFromTheExceptionTable) {
  auto code = assemble(
      {{Op::Resume}, {Op::Nop}, {Op::Nop}, {Op::Nop}, {Op::ReturnValue}});
  // [1, 3) -> 4, depth 2, lasti; numbers of six bits, bit 7 marks the first.
  std::vector<uint8_t> table = {0x80 | 1, 2, 4, 2 << 1 | 1};
  auto bytecode = Bytecode::decode(code, table);
  ASSERT_TRUE(bytecode);
  EXPECT_EQ(bytecode->handlerFor(0), nullptr);
  EXPECT_EQ(bytecode->handlerFor(3), nullptr);
  const ExceptionHandler *handler = bytecode->handlerFor(2);
  ASSERT_TRUE(handler);
  EXPECT_EQ(handler->target, 4);
  EXPECT_EQ(handler->depth, 2);
  EXPECT_TRUE(handler->lasti);
}

TEST(Bytecode, RandomBytesAreDecodedOrRefused) {
  std::mt19937 random(1);
  int decoded = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> code(2 * (random() % 12)), table(random() % 6);
    for (size_t i = 0; i < code.size(); i += 2) {
      do
        code[i] = random() % 256;
      while (random() % 8 && !opInfo(static_cast<Op>(code[i])).name);
      code[i + 1] = random() % 4;
    }
    for (uint8_t &byte : table)
      byte = random() % 12;
    auto bytecode = Bytecode::decode(code, table);
    if (!bytecode)
      continue;
    ++decoded;
    for (const Instruction &instruction : bytecode->instructions()) {
      EXPECT_LE(instruction.next, bytecode->size());
      if (instruction.target >= 0) {
        EXPECT_TRUE(bytecode->at(instruction.target));
      }
    }
  }
  EXPECT_GT(decoded, 100);
}

} // namespace
