//===- Recording.h - What wok.explain shows ---------------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_RECORDING_H
#define WOK_LIB_PYTHON_RECORDING_H

#include "FrameModel.h"

#include <chrono>
#include <string>
#include <vector>

namespace wok::python {

/// What costs are measured by.
using Clock = std::chrono::steady_clock;

inline int64_t nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                              start)
      .count();
}

/// What happens on one thread between `beginRecording` and `endRecording`.
/// Needs the GIL.
class Recording {
public:
  /// The recording of this thread, or null.
  static Recording *current();

  /// A specialization ran: it is listed once, in the order of first runs.
  void ran(const Specialization &entry);
  /// A break was met. Breaks at one place for one reason are one entry; what
  /// they cost adds up.
  void broke(const capture::BreakInfo &why, const std::string &file,
             int64_t nanoseconds);
  /// New reference; null with an exception.
  PyObject *toDict() const;

private:
  struct Subgraph {
    uint32_t number;
    std::vector<std::string> operations, guards;
    std::vector<runtime::PhaseTime> phases;
    uint32_t kernels, line;
    std::string file;
    uint64_t hits;
  };
  struct Break {
    capture::BreakInfo why;
    std::string file;
    int64_t nanoseconds;
  };
  std::vector<Subgraph> subgraphs;
  std::vector<Break> breaks;
};

/// A break reason's row of BreakReasons.def.
struct BreakText {
  const char *name, *code, *explanation, *hint;
};
const BreakText &breakText(capture::BreakInfo::Reason reason);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_RECORDING_H
