//===- RunReports.cpp -----------------------------------------------------===//

#include "RunReports.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

using namespace wok;
using namespace wok::host;
using namespace wok::runtime;

void EventPrinter::heard(const Event &event) noexcept {
  llvm::StringRef where = llvm::sys::path::filename(event.where);
  output << "  " << llvm::StringRef(toString(event.kind));
  if (!where.empty())
    output << " at " << where;
  switch (event.kind) {
  case Event::Kind::Captured:
    output << ": [" << llvm::StringRef(event.text) << ']';
    break;
  case Event::Kind::Missed:
    if (event.guard == Event::none)
      output << ": nothing captured yet";
    else if (!event.text.empty())
      output << ": not so: " << llvm::StringRef(event.text);
    break;
  case Event::Kind::FellBack:
    output << ": status " << event.number;
    break;
  case Event::Kind::Hit:
  case Event::Kind::Ran:
    break;
  case Event::Kind::Compiled:
  case Event::Kind::Broke:
    output << ": " << llvm::StringRef(event.text);
    break;
  }
  if (event.nanoseconds > 0)
    output << " (" << (event.nanoseconds + 500) / 1000 << " us)";
  output << '\n';
}

void host::printStatistics(llvm::raw_ostream &output) {
  auto counters = readCounters();
  output << " ";
  for (size_t i = 0; i < counterCount; ++i)
    if (auto counter = static_cast<Counter>(i);
        counters[i] && counter != Counter::CompileNanoseconds)
      output << ' ' << llvm::StringRef(toString(counter)) << '=' << counters[i];
  output << '\n';
}
