//===- ContractLoops.cpp - Matrix products without a library --------------===//
//
// One blocked algorithm for all element types. Operands are converted to the
// type of the accumulator while they are packed, so four micro kernels serve
// ten types. A tile of the result is computed by one thread from start to end:
// the sum of an element does not depend on the threads.
//
//===----------------------------------------------------------------------===//

#include "wok/Runtime/Contract.h"
#include "wok/Runtime/Parallel.h"

#include "Half.h"
#include "wok/Runtime/Arena.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace wok;
using namespace wok::runtime;

namespace {

/// Logical or-of-ands: counts the true products; what is not zero is true. 2^32
/// of them would be needed to wrap.
struct Bool {
  uint8_t bits;
  operator uint32_t() const { return bits != 0; }
};

template <class T>
T roundTo(auto sum) {
  if constexpr (std::is_same_v<T, Bool>)
    return {static_cast<uint8_t>(sum != 0)};
  else if constexpr (std::is_class_v<T>)
    return T::round(sum);
  else
    return static_cast<T>(sum);
}

/// Where an operand's elements are: row and column strides of the untransposed
/// matrix.
template <class T>
struct Operand {
  const T *data;
  int64_t rowStride, columnStride;
  const T &at(int64_t row, int64_t column) const {
    return data[row * rowStride + column * columnStride];
  }
};

//===----------------------------------------------------------------------===//
// The micro kernel
//===----------------------------------------------------------------------===//

constexpr int64_t tileRows = 96, tileColumns = 128, blockDepth = 256;

/// tile[i][j] += sum over p of a[p][i] * b[p][j]. `a` and `b` are packed
/// panels, `tile` has rows of `tileColumns`. Rows and VectorBytes fit the
/// registers of one level of x86-64; any other target compiles it too.
template <class Acc, int rows, int vectorBytes>
[[gnu::always_inline]] inline void microKernel(int64_t depth, const Acc *a,
                                               const Acc *b, Acc *tile) {
  constexpr int lanes = vectorBytes / sizeof(Acc), vectors = 2;
  using Vector [[gnu::vector_size(vectorBytes)]] = Acc;
  Vector sums[rows][vectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Vector columns[vectors];
    std::memcpy(columns, b + p * lanes * vectors, sizeof(columns));
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      Vector scale = a[p * rows + i] - Vector{};
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v)
        sums[i][v] += scale * columns[v];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) {
      Vector old;
      std::memcpy(&old, tile + i * tileColumns + v * lanes, sizeof(old));
      old += sums[i][v];
      std::memcpy(tile + i * tileColumns + v * lanes, &old, sizeof(old));
    }
}

/// All micro tiles of one tile.
template <class Acc, int rows, int vectorBytes>
[[gnu::always_inline]] inline void blockKernel(int64_t height, int64_t width,
                                               int64_t depth, const Acc *a,
                                               const Acc *b, Acc *tile) {
  constexpr int columns = 2 * vectorBytes / sizeof(Acc);
  for (int64_t j = 0; j < width; j += columns)
    for (int64_t i = 0; i < height; i += rows)
      microKernel<Acc, rows, vectorBytes>(depth, a + i * depth, b + j * depth,
                                          tile + i * tileColumns + j);
}

template <class Acc>
using BlockFn = void (*)(int64_t, int64_t, int64_t, const Acc *, const Acc *,
                         Acc *);

template <class Acc>
void blockBase(int64_t height, int64_t width, int64_t depth, const Acc *a,
               const Acc *b, Acc *tile) {
  blockKernel<Acc, 4, 16>(height, width, depth, a, b, tile);
}

#if defined(__x86_64__)
template <class Acc>
[[gnu::target("arch=x86-64-v3")]] void blockV3(int64_t height, int64_t width,
                                               int64_t depth, const Acc *a,
                                               const Acc *b, Acc *tile) {
  blockKernel<Acc, 6, 32>(height, width, depth, a, b, tile);
}
template <class Acc>
[[gnu::target("arch=x86-64-v4")]] void blockV4(int64_t height, int64_t width,
                                               int64_t depth, const Acc *a,
                                               const Acc *b, Acc *tile) {
  blockKernel<Acc, 8, 64>(height, width, depth, a, b, tile);
}
#endif

/// The micro kernel of this machine and the shape of its panels.
template <class Acc>
struct Kernel {
  BlockFn<Acc> block = blockBase<Acc>;
  int64_t rows = 4, columns = 32 / sizeof(Acc);

  static const Kernel &ofMachine() {
    static const Kernel kernel = [] {
      Kernel best;
#if defined(__x86_64__)
      if (__builtin_cpu_supports("x86-64-v4"))
        best = {blockV4<Acc>, 8, 128 / sizeof(Acc)};
      else if (__builtin_cpu_supports("x86-64-v3"))
        best = {blockV3<Acc>, 6, 64 / sizeof(Acc)};
#endif
      return best;
    }();
    return kernel;
  }
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Copies `count` vectors of `depth` elements into panels of `width` vectors,
/// element by element interleaved, and fills the last panel with zeros.
template <class Acc, class T>
void pack(Acc *to, const T *from, int64_t count, int64_t vectorStride,
          int64_t depth, int64_t depthStride, int64_t width) {
  for (int64_t first = 0; first < count; first += width, to += width * depth) {
    int64_t present = std::min(width, count - first);
    const T *panel = from + first * vectorStride;
    if (present < width)
      std::fill_n(to, width * depth, Acc(0));
    if (vectorStride == 1) {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < present; ++i)
          to[p * width + i] = static_cast<Acc>(panel[p * depthStride + i]);
    } else {
      for (int64_t i = 0; i < present; ++i)
        for (int64_t p = 0; p < depth; ++p)
          to[p * width + i] =
              static_cast<Acc>(panel[i * vectorStride + p * depthStride]);
    }
  }
}

template <class T, class Acc>
void computeTile(Operand<T> lhs, Operand<T> rhs, T *out, int64_t outLeading,
                 int64_t m, int64_t n, int64_t k) {
  const Kernel<Acc> &kernel = Kernel<Acc>::ofMachine();
  constexpr size_t tileBytes = tileRows * tileColumns * sizeof(Acc);
  constexpr size_t lhsBytes = tileRows * blockDepth * sizeof(Acc),
                   rhsBytes = tileColumns * blockDepth * sizeof(Acc);
  ScratchScope scratch;
  std::byte *memory = scratch.allocate(tileBytes + lhsBytes + rhsBytes);
  auto *tile = reinterpret_cast<Acc *>(memory);
  auto *packedLhs = reinterpret_cast<Acc *>(memory + tileBytes);
  auto *packedRhs = reinterpret_cast<Acc *>(memory + tileBytes + lhsBytes);

  std::memset(memory, 0, tileBytes);
  for (int64_t p = 0; p < k; p += blockDepth) {
    int64_t depth = std::min(blockDepth, k - p);
    pack(packedLhs, &lhs.at(0, p), m, lhs.rowStride, depth, lhs.columnStride,
         kernel.rows);
    pack(packedRhs, &rhs.at(p, 0), n, rhs.columnStride, depth, rhs.rowStride,
         kernel.columns);
    kernel.block(m, n, depth, packedLhs, packedRhs, tile);
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      out[i * outLeading + j] = roundTo<T>(tile[i * tileColumns + j]);
}

//===----------------------------------------------------------------------===//
// Matrix times vector
//===----------------------------------------------------------------------===//

/// out[r * outStride] = sum over p of matrix[r, p] * vector[p] for `rows` rows.
/// Reads the matrix once, as it lies.
template <class T, class Acc>
void matrixVector(Operand<T> matrix, const Acc *vector, int64_t rows, int64_t k,
                  T *out, int64_t outStride) {
  constexpr int64_t width = 512;
  if (matrix.rowStride == 1) {
    for (int64_t first = 0; first < rows; first += width) {
      int64_t count = std::min(width, rows - first);
      Acc sums[width] = {};
      for (int64_t p = 0; p < k; ++p) {
        const T *column = &matrix.at(first, p);
        Acc scale = vector[p];
        for (int64_t i = 0; i < count; ++i)
          sums[i] += static_cast<Acc>(column[i]) * scale;
      }
      for (int64_t i = 0; i < count; ++i)
        out[(first + i) * outStride] = roundTo<T>(sums[i]);
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    constexpr int64_t lanes = 32;
    Acc sums[lanes] = {};
    const T *row = &matrix.at(r, 0);
    int64_t p = 0;
    if (matrix.columnStride == 1) {
      for (; p + lanes <= k; p += lanes)
        for (int64_t i = 0; i < lanes; ++i)
          sums[i] += static_cast<Acc>(row[p + i]) * vector[p + i];
    }
    for (; p < k; ++p)
      sums[p % lanes] +=
          static_cast<Acc>(row[p * matrix.columnStride]) * vector[p];
    for (int64_t half = lanes / 2; half; half /= 2)
      for (int64_t i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    out[r * outStride] = roundTo<T>(sums[0]);
  }
}

//===----------------------------------------------------------------------===//
// One element type
//===----------------------------------------------------------------------===//

/// Work of a piece that is worth a thread, in multiplications.
constexpr int64_t pieceWork = 1 << 15;

template <class T, class Acc>
void contract(const WokContractArgs &args) {
  auto lhs = [&](int64_t batch) -> Operand<T> {
    const T *data =
        static_cast<const T *>(args.lhs) + batch * args.lhsBatchStride;
    return args.transposeLhs ? Operand<T>{data, 1, args.lhsLeading}
                             : Operand<T>{data, args.lhsLeading, 1};
  };
  auto rhs = [&](int64_t batch) -> Operand<T> {
    const T *data =
        static_cast<const T *>(args.rhs) + batch * args.rhsBatchStride;
    return args.transposeRhs ? Operand<T>{data, 1, args.rhsLeading}
                             : Operand<T>{data, args.rhsLeading, 1};
  };
  auto out = [&](int64_t batch) {
    return static_cast<T *>(args.out) + batch * args.outBatchStride;
  };
  int64_t m = args.m, n = args.n, k = args.k;

  if (m == 1 || n == 1) {
    // rows of the result, whichever way it lies: out = matrix * vector.
    int64_t rows = std::max(m, n);
    // Where the rows lie side by side, long stretches of them are read.
    bool sideBySide = n == 1 ? args.transposeLhs : !args.transposeRhs;
    const int64_t rowsOfPiece = sideBySide ? 512 : 64;
    int64_t blocks = (rows - 1) / rowsOfPiece + 1;
    int64_t grain = std::max<int64_t>(
        1, pieceWork / (rowsOfPiece * std::max<int64_t>(k, 1)));
    parallelFor(
        0, args.batch * blocks, grain,
        [&](int64_t first, int64_t last) -> int32_t {
          ScratchScope scratch;
          auto *vector =
              reinterpret_cast<Acc *>(scratch.allocate(k * sizeof(Acc)));
          for (int64_t index = first, known = -1; index < last; ++index) {
            int64_t batch = index / blocks, row = index % blocks * rowsOfPiece;
            Operand<T> left = lhs(batch), right = rhs(batch);
            if (batch != known) {
              for (int64_t p = 0; p < k; ++p)
                vector[p] =
                    static_cast<Acc>(n == 1 ? right.at(p, 0) : left.at(0, p));
              known = batch;
            }
            Operand<T> matrix = n == 1
                                    ? left
                                    : Operand<T>{right.data, right.columnStride,
                                                 right.rowStride};
            matrix.data += row * matrix.rowStride;
            int64_t outStride = n == 1 ? args.outLeading : 1;
            matrixVector<T, Acc>(matrix, vector,
                                 std::min(rowsOfPiece, rows - row), k,
                                 out(batch) + row * outStride, outStride);
          }
          return 0;
        });
    return;
  }

  int64_t rowTiles = (m - 1) / tileRows + 1,
          columnTiles = (n - 1) / tileColumns + 1;
  int64_t work = std::min(m, tileRows) * std::min(n, tileColumns) *
                 std::max<int64_t>(k, 1);
  int64_t grain = std::max<int64_t>(1, pieceWork / work);
  parallelFor(0, args.batch * rowTiles * columnTiles, grain,
              [&](int64_t first, int64_t last) -> int32_t {
                for (int64_t index = first; index < last; ++index) {
                  int64_t batch = index / (rowTiles * columnTiles),
                          inside = index % (rowTiles * columnTiles);
                  int64_t row = inside / columnTiles * tileRows,
                          column = inside % columnTiles * tileColumns;
                  Operand<T> left = lhs(batch), right = rhs(batch);
                  left.data += row * left.rowStride;
                  right.data += column * right.columnStride;
                  computeTile<T, Acc>(
                      left, right, out(batch) + row * args.outLeading + column,
                      args.outLeading, std::min(tileRows, m - row),
                      std::min(tileColumns, n - column), k);
                }
                return 0;
              });
}

} // namespace

void wok::runtime::contractByLoops(const WokContractArgs &args) noexcept {
  if (args.batch <= 0 || args.m <= 0 || args.n <= 0)
    return;
  // Unsigned sums wrap, and the low bits of a product do not depend on signs.
  switch (static_cast<DType>(args.dtype)) {
  case DType::I1:
    return contract<Bool, uint32_t>(args);
  case DType::I8:
  case DType::U8:
    return contract<uint8_t, uint32_t>(args);
  case DType::I16:
    return contract<uint16_t, uint32_t>(args);
  case DType::I32:
    return contract<uint32_t, uint32_t>(args);
  case DType::I64:
    return contract<uint64_t, uint64_t>(args);
  case DType::F16:
    return contract<Float16, float>(args);
  case DType::BF16:
    return contract<BFloat16, float>(args);
  case DType::F32:
    return contract<float, float>(args);
  case DType::F64:
    return contract<double, double>(args);
  }
}
