//===- Arena.h - Scratch memory of a thread ---------------------*- C++ -*-===//

#ifndef WOK_RUNTIME_ARENA_H
#define WOK_RUNTIME_ARENA_H

#include "wok/Runtime/CompiledSubgraph.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wok::runtime {

/// A block that grows and is used again: every run of a subgraph on a thread
/// finds its scratch memory here. Contents do not survive.
class Arena {
public:
  Arena() = default;
  Arena(Arena &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)),
        capacity(std::exchange(other.capacity, 0)) {}
  Arena &operator=(Arena &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(capacity, other.capacity);
    return *this;
  }
  ~Arena();

  /// At least `bytes` bytes, aligned to `arenaAlignment`; null if `bytes` is 0
  /// or if there is no memory. What an earlier call returned is gone.
  std::byte *reserve(int64_t bytes) noexcept {
    if (bytes <= capacity) [[likely]]
      return bytes ? memory : nullptr;
    return grow(bytes);
  }
  int64_t size() const { return capacity; }

private:
  std::byte *grow(int64_t bytes) noexcept;

  std::byte *memory = nullptr;
  int64_t capacity = 0;
};

/// The use of a block of this thread for the length of a scope. Scopes nest (a
/// host that allocates an output may run another subgraph); each level has its
/// own block, which the next scope of that level uses again.
class ScratchScope {
public:
  ScratchScope() noexcept;
  ~ScratchScope();
  ScratchScope(const ScratchScope &) = delete;
  ScratchScope &operator=(const ScratchScope &) = delete;

  /// As `Arena::reserve`. Throws nothing; a caller that cannot go on without
  /// memory uses `allocate`.
  std::byte *reserve(int64_t bytes) noexcept { return arena->reserve(bytes); }
  /// As `reserve`, but ends the process where there is no memory.
  std::byte *allocate(int64_t bytes) noexcept;

private:
  Arena *arena;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_ARENA_H
