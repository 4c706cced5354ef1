#include "bench/pairs.h"

#include <cmath>

#include "core/random.h"

namespace phsic::bench {
namespace {

std::vector<double> normals(std::size_t size, Random& random) {
  std::vector<double> values(size);
  for (double& value : values) value = random.normal();
  return values;
}

std::vector<float> noisy_image(const std::vector<double>& shared, std::size_t latent,
                               std::size_t dim, Random& random) {
  constexpr double kMean = 0.5;
  constexpr double kNoise = 0.5;
  const std::size_t rows = shared.size() / latent;
  const std::vector<double> map = normals(latent * dim, random);
  std::vector<float> image(rows * dim);
  std::vector<double> row(dim);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : row) value = kMean + kNoise * random.normal();
    for (std::size_t k = 0; k < latent; ++k) {
      const double factor = shared[i * latent + k] / std::sqrt(static_cast<double>(latent));
      for (std::size_t j = 0; j < dim; ++j) row[j] += factor * map[k * dim + j];
    }
    for (std::size_t j = 0; j < dim; ++j) image[i * dim + j] = static_cast<float>(row[j]);
  }
  return image;
}

// Appends a row of `entries` distinct indices.
void append_row(std::size_t topic_start, std::size_t dim, std::size_t entries, Random& random,
                std::vector<std::uint32_t>& index, std::vector<float>& value) {
  const std::size_t topic_width = dim / 8;
  std::vector<bool> used(dim);
  for (std::size_t found = 0; found < entries;) {
    const bool by_topic = found < entries / 2;
    const std::size_t at =
        by_topic ? (topic_start + random.below(topic_width)) % dim : random.below(dim);
    if (used[at]) continue;
    used[at] = true;
    ++found;
  }
  for (std::size_t j = 0; j < dim; ++j) {
    if (!used[j]) continue;
    index.push_back(static_cast<std::uint32_t>(j));
    value.push_back(static_cast<float>(random.uniform()));
  }
}

std::vector<float> spread(const std::vector<std::uint32_t>& index, const std::vector<float>& value,
                          const SparsePairs& pairs) {
  std::vector<float> dense(pairs.rows * pairs.dim);
  for (std::size_t e = 0; e < index.size(); ++e) {
    dense[e / pairs.entries * pairs.dim + index[e]] = value[e];
  }
  return dense;
}

}  // namespace

DensePairs make_dense_pairs(std::size_t rows, std::size_t dim, std::size_t latent,
                            std::uint64_t seed) {
  Random random(seed);
  const std::vector<double> shared = normals(rows * latent, random);
  DensePairs pairs{rows, dim, {}, {}};
  pairs.x = noisy_image(shared, latent, dim, random);
  pairs.y = noisy_image(shared, latent, dim, random);
  return pairs;
}

SparsePairs make_sparse_pairs(std::size_t rows, std::size_t dim, std::size_t entries,
                              std::uint64_t seed) {
  Random random(seed);
  SparsePairs pairs;
  pairs.rows = rows;
  pairs.dim = dim;
  pairs.entries = entries;
  pairs.start.push_back(0);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t topic_start = random.below(dim);
    append_row(topic_start, dim, entries, random, pairs.index_x, pairs.value_x);
    append_row(topic_start, dim, entries, random, pairs.index_y, pairs.value_y);
    pairs.start.push_back(pairs.index_x.size());
  }
  return pairs;
}

DensePairs SparsePairs::densified() const {
  return {rows, dim, spread(index_x, value_x, *this), spread(index_y, value_y, *this)};
}

}  // namespace phsic::bench
