//===- Bytecode.cpp - Decoded bytecode of CPython 3.11 --------------------===//

#include "Bytecode.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace wok::python {

namespace {

constexpr std::array<OpInfo, 256> makeInfos() {
  std::array<OpInfo, 256> infos{};
#define WOK_OPCODE(name, text, number, caches, pops, pushes, traits)           \
  infos[number] = OpInfo{text, caches, traits};
#include "Opcodes.def"
#undef WOK_OPCODE
  return infos;
}
constexpr std::array<OpInfo, 256> infos = makeInfos();

/// Reads the exception table: big-endian groups of six bits, bit 6 set on all
/// but the last of a number; numbers come in fours.
class ExceptionTableReader {
public:
  explicit ExceptionTableReader(std::span<const uint8_t> bytes)
      : bytes(bytes) {}

  bool atEnd() const { return position == bytes.size(); }

  std::optional<int32_t> number() {
    uint32_t value = 0;
    for (int groups = 0; groups < 5 && position < bytes.size(); ++groups) {
      uint8_t byte = bytes[position++];
      value = (value << 6) | (byte & 63);
      if (!(byte & 64))
        return value <= INT32_MAX ? std::optional<int32_t>(value)
                                  : std::nullopt;
    }
    return std::nullopt;
  }

private:
  std::span<const uint8_t> bytes;
  size_t position = 0;
};

} // namespace

const OpInfo &opInfo(Op op) { return infos[static_cast<uint8_t>(op)]; }

StackEffect stackEffect(Op op, uint32_t unsignedArg, bool jump) {
  [[maybe_unused]] const int32_t arg = static_cast<int32_t>(unsignedArg);
  switch (op) {
#define WOK_OPCODE(name, text, number, caches, pops, pushes, traits)           \
  case Op::name:                                                               \
    return {static_cast<int32_t>(pops), static_cast<int32_t>(pushes)};
#include "Opcodes.def"
#undef WOK_OPCODE
  }
  return {0, 0};
}

std::optional<Bytecode>
Bytecode::decode(std::span<const uint8_t> code,
                 std::span<const uint8_t> exceptionTable) {
  if (code.size() % 2 != 0 || code.size() / 2 > INT32_MAX / 4)
    return std::nullopt;
  Bytecode result;
  const int32_t size = static_cast<int32_t>(code.size() / 2);
  result.indexes.assign(size, -1);

  bool group = false;
  for (int32_t offset = 0; offset < size;) {
    Instruction instruction{offset, offset, offset, -1, 0, Op::Nop};
    const int32_t index = static_cast<int32_t>(result.list.size());
    for (;; ++instruction.opOffset) {
      if (instruction.opOffset == size || instruction.opOffset - offset > 3)
        return std::nullopt;
      instruction.op = static_cast<Op>(code[2 * instruction.opOffset]);
      instruction.arg =
          (instruction.arg << 8) | code[2 * instruction.opOffset + 1];
      if (instruction.op != Op::ExtendedArg)
        break;
    }
    const OpInfo &info = opInfo(instruction.op);
    instruction.next = instruction.opOffset + 1 + info.caches;
    // A CACHE that stands alone is no instruction.
    if (!info.name || instruction.op == Op::Cache || instruction.next > size)
      return std::nullopt;
    const int64_t behind = instruction.opOffset + 1;
    if (info.traits & (JumpsForward | JumpsBackward)) {
      int64_t target = info.traits & JumpsForward
                           ? behind + instruction.arg
                           : behind - int64_t(instruction.arg);
      if (target < 0 || target >= size)
        return std::nullopt;
      instruction.target = static_cast<int32_t>(target);
    }

    result.indexes[offset] = index;
    for (int32_t unit = offset + 1; unit < instruction.next; ++unit)
      result.indexes[unit] = -1 - index;
    // KW_NAMES and PRECALL open a group, CALL closes it; whoever is inside
    // keeps state (the names) that is not in the frame.
    result.inCallGroup.push_back(group && (info.traits & CallGroup));
    group = (info.traits & CallGroup) && instruction.op != Op::Call;
    if (instruction.op == Op::Resume && result.entryOffset < 0)
      result.entryOffset = instruction.next;
    result.list.push_back(instruction);
    offset = instruction.next;
  }

  for (const Instruction &instruction : result.list)
    if (instruction.target >= 0 && !result.at(instruction.target))
      return std::nullopt;

  ExceptionTableReader reader(exceptionTable);
  while (!reader.atEnd()) {
    std::optional<int32_t> start = reader.number(), length = reader.number(),
                           target = reader.number(), depth = reader.number();
    if (!start || !length || !target || !depth || *start > size ||
        *length > size - *start || !result.at(*target))
      return std::nullopt;
    result.table.push_back(
        {*start, *start + *length, *target, *depth >> 1, (*depth & 1) != 0});
  }
  if (!std::is_sorted(
          result.table.begin(), result.table.end(),
          [](const auto &a, const auto &b) { return a.start < b.start; }))
    return std::nullopt;
  return result;
}

const Instruction &Bytecode::containing(int32_t offset) const {
  assert(offset >= 0 && offset < size());
  int32_t index = indexes[offset];
  return list[index >= 0 ? index : -1 - index];
}

bool Bytecode::exitLegal(int32_t offset) const {
  return entryOffset >= 0 && offset >= entryOffset && at(offset) &&
         !inCallGroup[indexes[offset]];
}

bool Bytecode::trapLegal(int32_t offset) const {
  if (!exitLegal(offset))
    return false;
  Op op = list[indexes[offset]].op;
  // A CALL without PRECALL in front would be inside a group whose start we did
  // not see.
  return op != Op::Resume && op != Op::ReturnValue && op != Op::KwNames &&
         op != Op::Call;
}

const ExceptionHandler *Bytecode::handlerFor(int32_t offset) const {
  auto behind =
      std::upper_bound(table.begin(), table.end(), offset,
                       [](int32_t value, const ExceptionHandler &row) {
                         return value < row.start;
                       });
  if (behind == table.begin())
    return nullptr;
  const ExceptionHandler &row = *std::prev(behind);
  return offset < row.end ? &row : nullptr;
}

} // namespace wok::python
