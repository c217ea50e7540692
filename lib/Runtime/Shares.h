//===- Shares.h - Who does which part of a loop -----------------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_SHARES_H
#define WOK_LIB_RUNTIME_SHARES_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

namespace wok::runtime {

/// Splits [begin, end) into one contiguous share for each thread, so that a
/// thread meets the same data in one loop after another, and each share into a
/// few pieces. A thread whose share is done takes pieces of the others, so that
/// a loop ends even if some threads never come.
class Shares {
public:
  static constexpr int maxShares = 256;
  struct Piece {
    int64_t first, last;
  };

  Shares(int64_t begin, int64_t end, int64_t grain, int count)
      : begin(begin), end(end), count(count) {
    // In units of `grain` from here on. A quarter of a share is small enough to
    // even out.
    int64_t grains = (end - begin - 1) / grain + 1;
    unit = grain;
    step = std::max<int64_t>(1, grains / (count * 4));
    for (int i = 0; i < count; ++i)
      new (&share(i)) Share{grains * i / count, grains * (i + 1) / count};
  }

  /// The next piece for thread `index`, of its own share first. Any index does.
  std::optional<Piece> next(int index) noexcept {
    for (int i = 0; i < count; ++i) {
      Share &from = share((index + i) % count);
      // A look before the write: a finished share costs no cache line.
      if (from.next.load(std::memory_order_relaxed) >= from.end)
        continue;
      int64_t first = from.next.fetch_add(step, std::memory_order_relaxed);
      if (first < from.end)
        return Piece{
            begin + first * unit,
            std::min(end, begin + std::min(first + step, from.end) * unit)};
    }
    return std::nullopt;
  }

private:
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };
  Share &share(int index) { return reinterpret_cast<Share *>(storage)[index]; }

  int64_t begin, end, unit, step;
  int count;
  // Raw: a loop on two threads does not pay for writing all of it.
  alignas(64) std::byte storage[maxShares * sizeof(Share)];
};

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_SHARES_H
