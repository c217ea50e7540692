//===- Reporting.cpp - Counters and events of the dispatcher --------------===//

#include "Capturer.h"

namespace wok::python {

using namespace capture;
using runtime::count;
using runtime::Counter;

/// Work that the program does itself at this break and that is a tensor
/// operation.
static bool isEagerOperation(BreakInfo::Reason reason) {
  using Reason = BreakInfo::Reason;
  switch (reason) {
  case Reason::UnsupportedOp:
  case Reason::UnsupportedArgument:
  case Reason::UnsupportedTensor:
  case Reason::RequiresGrad:
  case Reason::InPlace:
  case Reason::RandomNumbers:
  case Reason::Ambient:
    return true;
  default:
    return false;
  }
}

void countBreak(const BreakInfo &why) {
  if (why.reason == BreakInfo::Reason::Return)
    return;
  count(Counter::Breaks);
  if (isEagerOperation(why.reason))
    count(Counter::OpsEager);
}

std::string fileOf(PyCodeObject *code) {
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  PyErr_Clear();
  return file ? file : "?";
}

void emit(runtime::Event::Kind kind, PyCodeObject *code, uint32_t line,
          const std::string &text, int64_t nanoseconds) {
  std::string where = fileOf(code) + ":" + std::to_string(line);
  runtime::EventStream::emit(
      {.kind = kind, .where = where, .text = text, .nanoseconds = nanoseconds});
}

} // namespace wok::python
