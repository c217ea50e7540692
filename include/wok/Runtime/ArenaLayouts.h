//===- ArenaLayouts.h - Arena layouts of dynamic shapes ---------*- C++ -*-===//

#ifndef WOK_RUNTIME_ARENALAYOUTS_H
#define WOK_RUNTIME_ARENALAYOUTS_H

#include "wok/Runtime/CompiledSubgraph.h"
#include "wok/Runtime/ReadScope.h"

#include <mutex>
#include <span>

namespace wok::runtime {

/// The layouts of a subgraph's transients for the sizes it has met. Packed once
/// for each; reading takes no lock.
class ArenaLayouts {
public:
  /// Offsets for transients of `bytes` bytes with the live ranges of
  /// `transients`. Needs an open `ReadScope`; valid until it ends.
  const ArenaLayout &find(std::span<const ArenaRequest> transients,
                          std::span<const int64_t> bytes);

  /// How many layouts are kept. Beyond, all are forgotten.
  static constexpr size_t limit = 64;

private:
  struct Entry {
    std::vector<int64_t> bytes;
    ArenaLayout layout;
  };
  using List = std::vector<std::shared_ptr<const Entry>>;
  static const Entry *findIn(const List *list, std::span<const int64_t> bytes);

  Published<List, /*isPlain=*/true> published;
  std::mutex writing;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_ARENALAYOUTS_H
