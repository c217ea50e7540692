//===- Liveness.cpp - Which locals later bytecode reads -------------------===//

#include "Liveness.h"

#include <cstdlib>
#include <string_view>

namespace wok::python {

std::vector<bool> liveLocals(const Bytecode &bytecode, PyCodeObject *code,
                             int32_t offset) {
  auto slots = static_cast<size_t>(code->co_nlocalsplus);
  auto instructions = bytecode.instructions();
  // Live before each instruction; one backward pass after the other until
  // nothing changes. Loops nest a few deep, so that few passes do.
  std::vector<std::vector<bool>> live(instructions.size() + 1,
                                      std::vector<bool>(slots));
  std::vector<size_t> indexAt(static_cast<size_t>(bytecode.size()) + 1,
                              instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i)
    indexAt[static_cast<size_t>(instructions[i].offset)] = i;

  auto join = [&](std::vector<bool> &into, int32_t from) {
    const std::vector<bool> &other = live[indexAt[static_cast<size_t>(from)]];
    for (size_t slot = 0; slot < slots; ++slot)
      into[slot] = into[slot] || other[slot];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = instructions.size(); i-- > 0;) {
      const Instruction &instruction = instructions[i];
      std::vector<bool> now(slots);
      if (!hasTrait(instruction.op, Ends))
        join(now, instruction.next);
      if (instruction.target >= 0)
        join(now, instruction.target);
      if (instruction.op == Op::StoreFast)
        now[instruction.arg] = false;
      else if (instruction.op == Op::LoadFast ||
               instruction.op == Op::DeleteFast)
        now[instruction.arg] = true;
      // A raise leaves before the store.
      if (const ExceptionHandler *handler =
              bytecode.handlerFor(instruction.offset))
        join(now, handler->target);
      if (now != live[i]) {
        live[i] = std::move(now);
        changed = true;
      }
    }
  }

  std::vector<bool> result = live[indexAt[static_cast<size_t>(offset)]];
  for (size_t slot = 0; slot < slots; ++slot) {
    char kind = PyBytes_AS_STRING(code->co_localspluskinds)[slot];
    if (!(kind & 0x20) || (kind & 0xC0)) // CO_FAST_LOCAL; CELL or FREE
      result[slot] = true;
  }
  return result;
}

bool keepsAllLocals(PyCodeObject *code) {
  static const bool always = [] {
    const char *text = std::getenv("WOK_KEEP_LOCALS");
    return text && *text == '1';
  }();
  if (always)
    return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); ++i) {
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(code->co_names, i));
    if (!name) {
      PyErr_Clear();
      return true;
    }
    for (std::string_view reader : {"locals", "vars", "dir", "eval", "exec",
                                    "inspect", "_getframe", "currentframe"})
      if (reader == name)
        return true;
  }
  return false;
}

} // namespace wok::python
