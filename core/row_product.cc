#include "core/row_product.h"

#include <algorithm>
#include <cstring>

// Each instruction set has tiles that fill its registers. The sanitizers' builds have the plain
// ones only, as in loops.cc.
#if defined(__x86_64__) && !defined(PHSIC_PLAIN_LOOPS)
#define PHSIC_WIDE_PRODUCTS
#endif
// Bodies are inlined into a function for each instruction set, which compiles them for itself.
#define PHSIC_INLINED [[gnu::always_inline]] inline

namespace phsic {
namespace {

// Rows of b that are worked on at once: a panel of them stays in the second-level cache.
constexpr std::size_t kDepth = 512;
// For fewer rows of a it does not pay to copy b, panel by panel; for still fewer, b is read row by
// row.
constexpr std::size_t kFewestForCopy = 16;
constexpr std::size_t kFewestForTiles = 4;
// Vectors of columns in a tile.
constexpr std::size_t kTileVectors = 2;

template <class T, std::size_t kBytes>
struct VectorOf {
  using Type [[gnu::vector_size(kBytes)]] = T;
};

// Some rows and columns of b, as many columns as a tile has: those that count, then zeros.
template <class T>
struct Panel {
  const T* values;
  std::size_t stride;
  std::size_t depth;
  std::size_t columns;
};

// A tile of c: kRows rows of kVectors vectors.
template <class T, std::size_t kVectorBytes, std::size_t kTileRows, std::size_t kVectors>
struct Tile {
  using Vector = typename VectorOf<T, kVectorBytes>::Type;
  static constexpr std::size_t kRows = kTileRows;
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(T);
  static constexpr std::size_t kColumns = kVectors * kLanes;
  using HalfTheRows = Tile<T, kVectorBytes, std::max<std::size_t>(kTileRows / 2, 1), kVectors>;
  using OneVector = Tile<T, kVectorBytes, kTileRows, 1>;

  // c += a * panel.
  PHSIC_INLINED static void add(const T* a, std::size_t a_stride, const Panel<T>& panel, T* c,
                                std::size_t c_stride) {
    Vector sums[kRows][kVectors];
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        std::memcpy(&sums[i][v], c + i * c_stride + v * kLanes, kVectorBytes);
      }
    }
    for (std::size_t e = 0; e < panel.depth; ++e) {
      Vector row[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) {
        std::memcpy(&row[v], panel.values + e * panel.stride + v * kLanes, kVectorBytes);
      }
      for (std::size_t i = 0; i < kRows; ++i) {
        const T factor = a[i * a_stride + e];
        for (std::size_t v = 0; v < kVectors; ++v) sums[i][v] += factor * row[v];
      }
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        std::memcpy(c + i * c_stride + v * kLanes, &sums[i][v], kVectorBytes);
      }
    }
  }

  // The same where c may have fewer columns than the tile.
  PHSIC_INLINED static void add_part(const T* a, std::size_t a_stride, const Panel<T>& panel, T* c,
                                     std::size_t c_stride) {
    if (panel.columns == kColumns) return add(a, a_stride, panel, c, c_stride);
    T whole[kRows * kColumns] = {};
    for (std::size_t i = 0; i < kRows; ++i) {
      std::copy_n(c + i * c_stride, panel.columns, whole + i * kColumns);
    }
    add(a, a_stride, panel, whole, kColumns);
    for (std::size_t i = 0; i < kRows; ++i) {
      std::copy_n(whole + i * kColumns, panel.columns, c + i * c_stride);
    }
  }
};

// One product, cut up.
template <class T>
struct Task {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  const T* a;
  const T* b;
  T* c;
  T* copy;  // room for a panel
};

// c += a * panel for `rows` rows, in tiles of fewer and fewer of them.
template <class Tiles, class T>
PHSIC_INLINED void add_tiles(const T* a, std::size_t a_stride, const Panel<T>& panel, T* c,
                             std::size_t c_stride, std::size_t rows) {
  std::size_t i = 0;
  for (; i + Tiles::kRows <= rows; i += Tiles::kRows) {
    Tiles::add_part(a + i * a_stride, a_stride, panel, c + i * c_stride, c_stride);
  }
  if constexpr (Tiles::kRows > 1) {
    if (i == rows) return;
    add_tiles<typename Tiles::HalfTheRows>(a + i * a_stride, a_stride, panel, c + i * c_stride,
                                           c_stride, rows - i);
  }
}

// c += a * b for `depth` rows of b from `top` on, and a tile's columns from `left` on.
template <class Tiles, class T>
PHSIC_INLINED void add_panel(const Task<T>& task, std::size_t top, std::size_t depth,
                             std::size_t left) {
  const std::size_t columns = std::min(Tiles::kColumns, task.n - left);
  Panel<T> panel{task.b + top * task.n + left, task.n, depth, columns};
  if (columns < Tiles::kColumns || task.m >= kFewestForCopy) {
    for (std::size_t e = 0; e < depth; ++e) {
      T* row = task.copy + e * Tiles::kColumns;
      std::copy_n(panel.values + e * task.n, columns, row);
      std::fill(row + columns, row + Tiles::kColumns, T(0));
    }
    panel.values = task.copy;
    panel.stride = Tiles::kColumns;
  }
  add_tiles<Tiles>(task.a + top, task.k, panel, task.c + left, task.n, task.m);
}

template <class Tiles, class T>
PHSIC_INLINED void add_panels(const Task<T>& task) {
  for (std::size_t top = 0; top < task.k; top += kDepth) {
    const std::size_t depth = std::min(kDepth, task.k - top);
    std::size_t left = 0;
    for (; left + Tiles::kLanes < task.n; left += Tiles::kColumns) {
      add_panel<Tiles>(task, top, depth, left);
    }
    if (left < task.n) add_panel<typename Tiles::OneVector>(task, top, depth, left);
  }
}

// c += a * b for one row, four rows of b at a time, which are read once and in their order.
template <class T>
PHSIC_INLINED void add_row(const T* __restrict a, const T* __restrict b, std::size_t n,
                           std::size_t k, T* __restrict c) {
  std::size_t e = 0;
  for (; e + 4 <= k; e += 4) {
    const T* row = b + e * n;
    for (std::size_t j = 0; j < n; ++j) {
      T sum = c[j];
      sum += a[e] * row[j];
      sum += a[e + 1] * row[n + j];
      sum += a[e + 2] * row[2 * n + j];
      sum += a[e + 3] * row[3 * n + j];
      c[j] = sum;
    }
  }
  for (; e < k; ++e) {
    for (std::size_t j = 0; j < n; ++j) c[j] += a[e] * b[e * n + j];
  }
}

template <std::size_t kVectorBytes, std::size_t kRows, class T>
PHSIC_INLINED void multiply_with(const Task<T>& task) {
  std::fill_n(task.c, task.m * task.n, T(0));
  if (task.m >= kFewestForTiles) {
    return add_panels<Tile<T, kVectorBytes, kRows, kTileVectors>>(task);
  }
  for (std::size_t i = 0; i < task.m; ++i) {
    add_row(task.a + i * task.k, task.b, task.n, task.k, task.c + i * task.n);
  }
}

// Two vectors of columns and so many rows are about what the registers hold.
template <class T>
void multiply_plain(const Task<T>& task) {
  multiply_with<16, 4>(task);
}
#ifdef PHSIC_WIDE_PRODUCTS
template <class T>
[[gnu::target("avx2,fma")]] void multiply_avx2(const Task<T>& task) {
  multiply_with<32, 6>(task);
}
template <class T>
[[gnu::target("avx512f,fma")]] void multiply_avx512(const Task<T>& task) {
  multiply_with<64, 8>(task);
}
#endif

template <class T>
void multiply(Task<T> task, Workspace& workspace, [[maybe_unused]] Instructions with) {
  constexpr std::size_t kWidest = kTileVectors * 64 / sizeof(T);
  const bool in_tiles = task.m >= kFewestForTiles;
  Workspace::Buffer<T> copy(workspace, in_tiles ? std::min(task.k, kDepth) * kWidest : 0);
  task.copy = copy.data();
#ifdef PHSIC_WIDE_PRODUCTS
  if (with == Instructions::kAvx512) return multiply_avx512(task);
  if (with == Instructions::kAvx2) return multiply_avx2(task);
#endif
  multiply_plain(task);
}

}  // namespace

Instructions widest_instructions() {
#ifdef PHSIC_WIDE_PRODUCTS
  static const Instructions kWidest = [] {
    if (__builtin_cpu_supports("fma") == 0) return Instructions::kPlain;
    if (__builtin_cpu_supports("avx512f") != 0) return Instructions::kAvx512;
    return __builtin_cpu_supports("avx2") != 0 ? Instructions::kAvx2 : Instructions::kPlain;
  }();
  return kWidest;
#else
  return Instructions::kPlain;
#endif
}

void multiply_rows(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
                   float* c, Workspace& workspace, Instructions with) {
  multiply(Task<float>{m, n, k, a, b, c, nullptr}, workspace, with);
}

void multiply_rows(std::size_t m, std::size_t n, std::size_t k, const double* a, const double* b,
                   double* c, Workspace& workspace, Instructions with) {
  multiply(Task<double>{m, n, k, a, b, c, nullptr}, workspace, with);
}

}  // namespace phsic
