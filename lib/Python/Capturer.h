//===- Capturer.h - From a miss to a specialization -------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_CAPTURER_H
#define WOK_LIB_PYTHON_CAPTURER_H

#include "CodeSites.h"
#include "Recording.h"

#include "wok/Runtime/Counters.h"
#include "wok/Runtime/Events.h"

#include <string>

namespace wok::python {

/// What became of a capture.
enum class Captured : uint8_t { Inserted, Nothing, Raised };

/// One capture at a site at which no specialization holds: evaluates
/// symbolically, lowers the guards and tries them, compiles without the GIL,
/// inserts.
class Capturer {
public:
  Capturer(CodeSites &sites, SiteState &state, FrameView &frame,
           Arrival &arrival)
      : sites(sites), state(state), frame(frame), arrival(arrival) {}

  Captured run();

private:
  bool insert(CapturedSubgraph subgraph);
  /// No more captures here; without specializations the trap goes too.
  void goCold() {
    state.site.budget.freeze();
    if (state.site.size() == 0)
      arrival.disarm.push_back(frame.offset);
  }
  void giveUp(const std::string &why);

  CodeSites &sites;
  SiteState &state;
  FrameView &frame;
  Arrival &arrival;
};

/// The file that a code object comes from.
std::string fileOf(PyCodeObject *code);

/// Counts a break that a frame arrives at.
void countBreak(const capture::BreakInfo &why);

/// Tells those who listen what happened at a line of `code`.
void emit(runtime::Event::Kind kind, PyCodeObject *code, uint32_t line,
          const std::string &text, int64_t nanoseconds = 0);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_CAPTURER_H
