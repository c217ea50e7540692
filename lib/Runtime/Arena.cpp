//===- Arena.cpp ----------------------------------------------------------===//

#include "wok/Runtime/Arena.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

using namespace wok::runtime;

namespace {

/// The blocks of one thread. A vector of pointers: a deeper level must not move
/// the others.
struct Scratch {
  std::vector<std::unique_ptr<Arena>> levels;
  size_t depth = 0;
};
thread_local Scratch scratch;

} // namespace

Arena::~Arena() { ::operator delete(memory, std::align_val_t(arenaAlignment)); }

std::byte *Arena::grow(int64_t bytes) noexcept {
  // Nobody has as much as half of what can be counted.
  if (bytes < 0 || bytes > std::numeric_limits<int64_t>::max() / 2)
    return nullptr;
  // The old contents are not kept, so the old block goes first. By halves: a
  // run whose shapes grow step by step does not allocate each time.
  int64_t target =
      (std::max(bytes, capacity + capacity / 2) + arenaAlignment - 1) &
      -arenaAlignment;
  ::operator delete(memory, std::align_val_t(arenaAlignment));
  auto allocate = [](int64_t size) {
    return static_cast<std::byte *>(
        ::operator new(static_cast<size_t>(size),
                       std::align_val_t(arenaAlignment), std::nothrow));
  };
  memory = allocate(target);
  if (!memory)
    memory = allocate(target = (bytes + arenaAlignment - 1) & -arenaAlignment);
  capacity = memory ? target : 0;
  return memory;
}

ScratchScope::ScratchScope() noexcept {
  if (scratch.depth == scratch.levels.size()) [[unlikely]]
    scratch.levels.push_back(std::make_unique<Arena>());
  arena = scratch.levels[scratch.depth++].get();
}

ScratchScope::~ScratchScope() { --scratch.depth; }

std::byte *ScratchScope::allocate(int64_t bytes) noexcept {
  std::byte *memory = reserve(std::max<int64_t>(bytes, 1));
  if (!memory) {
    std::fprintf(stderr, "wok: out of memory: %lld bytes of scratch memory\n",
                 static_cast<long long>(bytes));
    std::abort();
  }
  return memory;
}
