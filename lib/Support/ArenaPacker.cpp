//===- ArenaPacker.cpp ----------------------------------------------------===//

#include "wok/Support/ArenaPacker.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

using namespace wok;

namespace {

/// What a buffer takes of the arena: its size, aligned. Of one that is so large
/// that all of them might not be counted in 64 bits, as much as can be: nobody
/// has that memory. A negative size is one that was not counted.
int64_t roomFor(int64_t bytes, size_t buffers, int64_t alignment) {
  int64_t most =
      std::numeric_limits<int64_t>::max() / 4 / static_cast<int64_t>(buffers) &
      -alignment;
  if (bytes < 0 || bytes > most)
    return most;
  return (bytes + alignment - 1) & -alignment;
}

/// A layout is decided by the order in which buffers are placed, each at the
/// lowest offset where it fits. Orders are what is searched.
class Packer {
public:
  Packer(std::span<const ArenaRequest> requests, int64_t alignment)
      : buffers(requests.size()) {
    for (size_t i = 0; i < requests.size(); ++i)
      buffers[i] = {roomFor(requests[i].bytes, requests.size(), alignment),
                    requests[i].first, requests[i].last, 0};
    placed.reserve(buffers.size());
  }

  /// Places all buffers in `order`. Gives up and returns `limit` as soon as the
  /// arena would be that large.
  int64_t place(const std::vector<uint32_t> &order, int64_t limit);

  /// Buffers that end where the last layout ends.
  void collectHighest(int64_t peak, std::vector<uint32_t> &highest) const;

  std::vector<int64_t> offsets() const;
  bool exhausted() const { return work > workBudget; }

  struct Buffer {
    int64_t bytes;
    uint32_t first, last;
    int64_t offset;

    bool meets(const Buffer &other) const {
      return first <= other.last && other.first <= last;
    }
  };
  const Buffer &operator[](uint32_t index) const { return buffers[index]; }

private:
  std::vector<Buffer> buffers;
  std::vector<uint32_t> placed; ///< In the order of their offsets.
  int64_t work = 0;

  /// Interval comparisons; a few milliseconds.
  static constexpr int64_t workBudget = 4'000'000;
};

int64_t Packer::place(const std::vector<uint32_t> &order, int64_t limit) {
  placed.clear();
  int64_t peak = 0;
  for (uint32_t index : order) {
    Buffer &buffer = buffers[index];
    int64_t offset = 0;
    for (uint32_t otherIndex : placed) {
      const Buffer &other = buffers[otherIndex];
      // All that follow begin at or above a gap that is large enough.
      if (other.offset >= offset + buffer.bytes)
        break;
      if (other.meets(buffer))
        offset = std::max(offset, other.offset + other.bytes);
    }
    work += static_cast<int64_t>(placed.size());
    buffer.offset = offset;
    peak = std::max(peak, offset + buffer.bytes);
    if (peak >= limit)
      return limit;
    auto position =
        std::partition_point(placed.begin(), placed.end(), [&](uint32_t other) {
          return buffers[other].offset <= offset;
        });
    placed.insert(position, index);
  }
  return peak;
}

void Packer::collectHighest(int64_t peak,
                            std::vector<uint32_t> &highest) const {
  highest.clear();
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].offset + buffers[i].bytes == peak)
      highest.push_back(i);
}

std::vector<int64_t> Packer::offsets() const {
  std::vector<int64_t> result(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    result[i] = buffers[i].offset;
  return result;
}

/// The same numbers on every machine and in every run.
class Random {
public:
  uint32_t below(uint32_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>((state >> 32) * bound >> 32);
  }

private:
  uint64_t state = 0x9E3779B97F4A7C15;
};

/// The best of a few orders that are known to be good.
struct Best {
  std::vector<uint32_t> order;
  int64_t bytes = std::numeric_limits<int64_t>::max();
};

Best packGreedily(Packer &packer, size_t count, int64_t bound) {
  using Buffer = Packer::Buffer;
  auto length = [](const Buffer &b) {
    return static_cast<int64_t>(b.last) - b.first + 1;
  };
  auto bySize = [](const Buffer &a, const Buffer &b) {
    return a.bytes > b.bytes;
  };
  auto byArea = [&](const Buffer &a, const Buffer &b) {
    return static_cast<double>(a.bytes) * length(a) >
           static_cast<double>(b.bytes) * length(b);
  };
  auto byLength = [&](const Buffer &a, const Buffer &b) {
    return length(a) > length(b);
  };
  auto byStart = [](const Buffer &a, const Buffer &b) {
    return a.first < b.first;
  };
  auto byEnd = [](const Buffer &a, const Buffer &b) { return a.last > b.last; };

  Best best;
  auto tryOrder = [&](auto before) {
    if (best.bytes == bound)
      return;
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      if (before(packer[a], packer[b]))
        return true;
      return !before(packer[b], packer[a]) && a < b;
    });
    if (int64_t bytes = packer.place(order, best.bytes); bytes < best.bytes)
      best = {std::move(order), bytes};
  };
  tryOrder(bySize);
  tryOrder(byArea);
  tryOrder(byLength);
  tryOrder(byStart);
  tryOrder(byEnd);
  return best;
}

/// Improves `best` by letting a buffer that lies at the top be placed earlier,
/// as long as that keeps the arena no larger. Steps that change nothing are
/// taken too: they leave plateaus.
void improve(Packer &packer, Best &best, int64_t bound) {
  Random random;
  std::vector<uint32_t> order = best.order, candidate, highest;
  int64_t current = best.bytes;
  uint32_t failures = 0;
  while (best.bytes > bound && !packer.exhausted()) {
    packer.place(order, std::numeric_limits<int64_t>::max());
    packer.collectHighest(current, highest);
    uint32_t top = highest[random.below(highest.size())];
    uint32_t from = std::find(order.begin(), order.end(), top) - order.begin();

    // Every few failures move a buffer that meets the top one instead.
    candidate = order;
    if (from == 0 || failures % 3 == 2) {
      from = random.below(order.size());
      uint32_t to = random.below(order.size());
      uint32_t moved = candidate[from];
      candidate.erase(candidate.begin() + from);
      candidate.insert(candidate.begin() + to, moved);
    } else {
      uint32_t to = random.below(from);
      std::rotate(candidate.begin() + to, candidate.begin() + from,
                  candidate.begin() + from + 1);
    }

    int64_t bytes = packer.place(candidate, current + 1);
    if (bytes > current) {
      // Far from any improvement: begin again from the best.
      if (++failures % 400 == 0) {
        order = best.order;
        current = best.bytes;
      }
      continue;
    }
    failures = bytes < current ? 0 : failures + 1;
    current = bytes;
    order = candidate;
    if (current < best.bytes)
      best = {order, current};
  }
}

} // namespace

int64_t wok::largestLiveSet(std::span<const ArenaRequest> requests,
                            int64_t alignment) {
  // Events in the order of program points; at one point, what begins counts
  // before what ends goes.
  std::vector<std::pair<uint64_t, int64_t>> events;
  events.reserve(2 * requests.size());
  for (const ArenaRequest &request : requests) {
    int64_t bytes = roomFor(request.bytes, requests.size(), alignment);
    events.emplace_back(2 * uint64_t(request.first), bytes);
    events.emplace_back(2 * uint64_t(request.last) + 1, -bytes);
  }
  std::sort(events.begin(), events.end(),
            [](auto &a, auto &b) { return a.first < b.first; });
  int64_t live = 0, most = 0;
  for (auto [point, bytes] : events)
    most = std::max(most, live += bytes);
  return most;
}

ArenaLayout wok::packArena(std::span<const ArenaRequest> requests,
                           int64_t alignment) {
  assert(alignment > 0 && (alignment & (alignment - 1)) == 0 &&
         "not a power of two");
  if (requests.empty())
    return {};
  Packer packer(requests, alignment);
  int64_t bound = largestLiveSet(requests, alignment);
  Best best = packGreedily(packer, requests.size(), bound);
  improve(packer, best, bound);
  packer.place(best.order, std::numeric_limits<int64_t>::max());
  return {packer.offsets(), best.bytes};
}
