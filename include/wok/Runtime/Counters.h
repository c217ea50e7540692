//===- Counters.h - What the runtime counts ---------------------*- C++ -*-===//

#ifndef WOK_RUNTIME_COUNTERS_H
#define WOK_RUNTIME_COUNTERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wok::runtime {

/// One row a counter: name in the code, name in reports.
#define WOK_COUNTERS(X)                                                        \
  X(Subgraphs, "subgraphs")      /* specializations made */                    \
  X(Kernels, "kernels")          /* loop nests compiled */                     \
  X(Hits, "hits")                /* lookups that found a specialization */     \
  X(Misses, "misses")            /* lookups that found none */                 \
  X(Runs, "runs")                /* subgraphs run and committed */             \
  X(Breaks, "breaks")            /* arrivals at a break */                     \
  X(Captures, "captures")        /* captures begun */                          \
  X(Fallbacks, "fallbacks")      /* runs given up before commit */             \
  X(OpsCompiled, "ops_compiled") /* tensor operations run in native code */    \
  X(OpsEager, "ops_eager")       /* tensor operations left to the host */      \
  X(CompileNanoseconds, "compile_ns")

enum class Counter : uint8_t {
#define X(name, text) name,
  WOK_COUNTERS(X)
#undef X
};

inline constexpr size_t counterCount = 0
#define X(name, text) +1
    WOK_COUNTERS(X)
#undef X
    ;

constexpr std::string_view toString(Counter counter) {
  constexpr std::string_view names[] = {
#define X(name, text) text,
      WOK_COUNTERS(X)
#undef X
  };
  return names[static_cast<uint8_t>(counter)];
}

/// The sums over all threads, those that ended included, since the last reset.
/// Exact when no other thread counts meanwhile.
std::array<uint64_t, counterCount> readCounters() noexcept;
void resetCounters() noexcept;

} // namespace wok::runtime

#endif // WOK_RUNTIME_COUNTERS_H
