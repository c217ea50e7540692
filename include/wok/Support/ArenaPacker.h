//===- ArenaPacker.h - Offsets for buffers that share an arena --*- C++ -*-===//

#ifndef WOK_SUPPORT_ARENAPACKER_H
#define WOK_SUPPORT_ARENAPACKER_H

#include <cstdint>
#include <span>
#include <vector>

namespace wok {

/// One buffer to place. It is live on the closed interval [first, last] of
/// program points.
struct ArenaRequest {
  int64_t bytes;
  uint32_t first;
  uint32_t last;
};

/// Where each request landed, and how large the arena has to be.
struct ArenaLayout {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places `requests` so that buffers that are live at the same time never
/// overlap, every offset a multiple of `alignment` (a power of two). Greedy
/// first, then a bounded search. Deterministic: the layout depends on nothing
/// but the arguments.
ArenaLayout packArena(std::span<const ArenaRequest> requests,
                      int64_t alignment);

/// The largest sum of aligned sizes that is live at one point: a lower bound of
/// any layout.
int64_t largestLiveSet(std::span<const ArenaRequest> requests,
                       int64_t alignment);

} // namespace wok

#endif // WOK_SUPPORT_ARENAPACKER_H
