// Made-up streams to learn and score: pairs whose two sides have something in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/items.h"

namespace phsic::bench {

struct DensePairs {
  std::size_t rows = 0;
  std::size_t dim = 0;
  std::vector<float> x;  // rows x dim
  std::vector<float> y;

  [[nodiscard]] Items<float> items_x(std::size_t first, std::size_t count) const {
    return DenseRows<float>{x.data() + first * dim, count, dim};
  }
  [[nodiscard]] Items<float> items_y(std::size_t first, std::size_t count) const {
    return DenseRows<float>{y.data() + first * dim, count, dim};
  }
};

// Noisy images of shared vectors of `latent` dimensions, about a mean that is not 0.
[[nodiscard]] DensePairs make_dense_pairs(std::size_t rows, std::size_t dim, std::size_t latent,
                                          std::uint64_t seed);

struct SparsePairs {
  std::size_t rows = 0;
  std::size_t dim = 0;
  std::size_t entries = 0;         // of each row
  std::vector<std::size_t> start;  // the same for both sides
  std::vector<std::uint32_t> index_x;
  std::vector<std::uint32_t> index_y;
  std::vector<float> value_x;
  std::vector<float> value_y;

  [[nodiscard]] Items<float> items_x() const {
    return SparseRows<float>{start.data(), index_x.data(), value_x.data(), rows, dim};
  }
  [[nodiscard]] Items<float> items_y() const {
    return SparseRows<float>{start.data(), index_y.data(), value_y.data(), rows, dim};
  }
  [[nodiscard]] DensePairs densified() const;
};

// Half of the entries of a pair's rows lie where its topic puts them, half anywhere.
[[nodiscard]] SparsePairs make_sparse_pairs(std::size_t rows, std::size_t dim, std::size_t entries,
                                            std::uint64_t seed);

}  // namespace phsic::bench
