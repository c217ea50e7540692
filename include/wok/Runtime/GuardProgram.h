//===- GuardProgram.h - Assumptions as a table of records -------*- C++ -*-===//

#ifndef WOK_RUNTIME_GUARDPROGRAM_H
#define WOK_RUNTIME_GUARDPROGRAM_H

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace wok::runtime {

/// One step of a guard program. A load walks one step from `source` and writes
/// the register `target`; a test looks at `source`. What `kind` and `operand`
/// mean is the host's.
struct GuardRecord {
  uint16_t kind;
  uint16_t target;
  uint16_t source;
  uint16_t detail;
  uint64_t operand;

  bool operator==(const GuardRecord &) const = default;
};
static_assert(sizeof(GuardRecord) == 16);

/// The assumptions of one specialization, in the order in which they are
/// tested: a parent before its children.
struct GuardProgram {
  std::vector<GuardRecord> records;
  uint16_t registers = 0;
  /// What each record assumes, for reports; may be shorter than `records`.
  std::vector<std::string> texts = {};

  static constexpr uint32_t holds = UINT32_MAX;
};

/// How guard programs see a host's values. `step` returns false on a failed
/// test, and on a load that finds nothing. It runs no code of the program,
/// allocates nothing and does not throw.
template <class M>
concept GuardModel = requires(M &model, const GuardRecord &record,
                              typename M::Register *registers) {
  { model.step(record, registers) } noexcept -> std::same_as<bool>;
};

/// Runs `program`. Returns `GuardProgram::holds`, or the index of the record
/// that failed.
template <GuardModel M>
uint32_t evaluate(const GuardProgram &program, M &model,
                  typename M::Register *registers) noexcept {
  uint32_t index = 0;
  for (const GuardRecord &record : program.records) {
    if (!model.step(record, registers)) [[unlikely]]
      return index;
    ++index;
  }
  return GuardProgram::holds;
}

} // namespace wok::runtime

#endif // WOK_RUNTIME_GUARDPROGRAM_H
