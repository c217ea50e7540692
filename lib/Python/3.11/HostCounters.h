//===- HostCounters.h - What the frame evaluator did ------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_HOSTCOUNTERS_H
#define WOK_LIB_PYTHON_3_11_HOSTCOUNTERS_H

#include <cstdint>

namespace wok::python {

/// One row a counter: (name, meaning). They are part of `wok.stats()`.
#define WOK_HOST_COUNTERS(X)                                                   \
  X(frames, "frames that ran on trap code")                                    \
  X(traps, "stops at a trap, temporary ones included")                         \
  X(arrivals, "stops at a site")                                               \
  X(resumed, "arrivals after which the frame went on elsewhere")               \
  X(emulated, "instructions at sites that Wok executed for CPython")           \
  X(passed, "instructions at sites that CPython stepped over")                 \
  X(copies, "trap codes made")                                                 \
  X(retired, "trap codes retired in flight, for tracing")                      \
  X(capped, "calls made without the hook because the C stack was deep")        \
  X(frameless, "calls of `wok.jit` functions answered without a frame")

/// Read and written with the GIL held.
struct HostCounters {
#define X(name, text) uint64_t name = 0;
  WOK_HOST_COUNTERS(X)
#undef X
};
inline HostCounters hostCounters;

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_HOSTCOUNTERS_H
