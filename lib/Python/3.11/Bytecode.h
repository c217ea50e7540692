//===- Bytecode.h - Decoded bytecode of CPython 3.11 ------------*- C++ -*-===//
//
// Offsets are in code units (two bytes) everywhere. What is decoded is always
// pristine code (`co_code`): no specialised opcodes, zeroed caches. No CPython
// header is needed here.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_BYTECODE_H
#define WOK_LIB_PYTHON_3_11_BYTECODE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wok::python {

/// An opcode by its number in CPython 3.11.
enum class Op : uint8_t {
#define WOK_OPCODE(name, text, number, caches, pops, pushes, traits)           \
  name = number,
#include "Opcodes.def"
#undef WOK_OPCODE
};

/// What is true of an opcode whatever its argument; see Opcodes.def.
enum OpTraits : uint16_t {
  Raises = 1 << 0,
  CallsUser = 1 << 1,
  JumpsForward = 1 << 2,
  JumpsBackward = 1 << 3,
  CallGroup = 1 << 4,
  Suspends = 1 << 5,
  ExcState = 1 << 6,
  Prologue = 1 << 7,
  Ends = 1 << 8,
};

struct OpInfo {
  const char *name = nullptr; ///< Null: no such opcode.
  uint8_t caches = 0;
  uint16_t traits = 0;
};

const OpInfo &opInfo(Op op);
inline bool hasTrait(Op op, uint16_t traits) {
  return opInfo(op).traits & traits;
}

/// How many stack slots an instruction takes and leaves; `jump`: when it jumps.
struct StackEffect {
  int32_t pops, pushes;
};
StackEffect stackEffect(Op op, uint32_t arg, bool jump = false);

/// An instruction with its EXTENDED_ARGs in front and its caches behind.
struct Instruction {
  int32_t offset;   ///< Its first unit: an EXTENDED_ARG if it has any.
  int32_t opOffset; ///< The unit of the opcode proper.
  int32_t next;     ///< Behind the caches.
  int32_t
      target; ///< Where it jumps to (the first unit there); -1 if it does not.
  uint32_t arg;
  Op op;
};

/// A row of the exception table: where an exception raised in [start, end)
/// goes.
struct ExceptionHandler {
  int32_t start, end;
  int32_t target;
  int32_t depth; ///< Of the stack that is kept.
  bool lasti;    ///< The offset of the raise is pushed before the exception.
};

/// One code object's instructions. Immutable.
class Bytecode {
public:
  /// Decodes `code` (bytes of `co_code`) with its exception table. Nullopt for
  /// what no compiler made: unknown opcodes, truncated instructions, jumps into
  /// the middle of one.
  static std::optional<Bytecode>
  decode(std::span<const uint8_t> code,
         std::span<const uint8_t> exceptionTable);

  std::span<const Instruction> instructions() const { return list; }
  std::span<const ExceptionHandler> handlers() const { return table; }
  /// Code units in all.
  int32_t size() const { return static_cast<int32_t>(indexes.size()); }

  /// The instruction whose first unit is at `offset`; null inside of one and
  /// behind the end.
  const Instruction *at(int32_t offset) const {
    if (offset < 0 || offset >= size() || indexes[offset] < 0 ||
        list[indexes[offset]].offset != offset)
      return nullptr;
    return &list[indexes[offset]];
  }
  /// The instruction that the unit at `offset` is part of: an EXTENDED_ARG, the
  /// opcode or a cache.
  const Instruction &containing(int32_t offset) const;

  /// Behind the first RESUME: there the frame is complete. -1 if there is no
  /// RESUME.
  int32_t entry() const { return entryOffset; }

  /// Whether a frame can be left for CPython to go on at `offset`: the start of
  /// an instruction, prologue done, not inside a call group.
  bool exitLegal(int32_t offset) const;
  /// Whether a trap may be at `offset`: `exitLegal`, and the instruction is not
  /// RESUME, RETURN_VALUE or KW_NAMES.
  bool trapLegal(int32_t offset) const;

  /// Where an exception that the instruction at `offset` raises is handled;
  /// null: the frame is left.
  const ExceptionHandler *handlerFor(int32_t offset) const;

private:
  std::vector<Instruction> list;
  std::vector<int32_t> indexes; ///< Unit -> instruction; -1 - instruction for
                                ///< the units behind its first.
  std::vector<ExceptionHandler> table; ///< Sorted by `start`.
  std::vector<bool>
      inCallGroup; ///< By instruction: behind the first of a call group.
  int32_t entryOffset = -1;
};

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_BYTECODE_H
