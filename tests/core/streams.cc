#include "tests/core/streams.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace phsic::test {
namespace {

constexpr std::size_t kHidden = 3;

void require_appended(Fault fault) {
  if (fault != Fault::kNone) throw Error(std::string(describe(fault)));
}

template <class T>
void append(ItemBlock<T>& block, const std::vector<double>& values) {
  const ItemShape shape = block.shape();
  if (shape.kind == ItemKind::kDense) {
    const std::vector<T> row(values.begin(), values.end());
    require_appended(block.append(DenseRows<T>{row.data(), 1, row.size()}, 0));
    return;
  }
  if (shape.kind == ItemKind::kSparse) {
    std::vector<std::uint32_t> index;
    std::vector<T> value;
    for (std::uint32_t j = 0; j < shape.dim; ++j) {
      if (std::abs(values[j]) < 0.7) continue;
      index.push_back(j);
      value.push_back(static_cast<T>(values[j]));
    }
    const std::size_t start[] = {0, index.size()};
    require_appended(
        block.append(SparseRows<T>{start, index.data(), value.data(), 1, shape.dim}, 0));
    return;
  }
  // Each coordinate becomes a syllable, chosen by its size; letters have one, two and three bytes.
  static const std::string kSyllables[] = {"ka", "né", "ło", "水", "ri", "ша", "to", "u"};
  std::string text;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const auto level = static_cast<std::size_t>(std::clamp(values[j] + 2.0, 0.0, 3.9));
    text += kSyllables[(level + 3 * j) % 8];
    if (j % 3 == 2) text += ' ';
  }
  const std::size_t start[] = {0, text.size()};
  require_appended(block.append(TextRows{start, text.data(), 1}, 0));
}

ItemShape item_shape(ItemKind kind, std::uint32_t dim) {
  return {kind, kind == ItemKind::kText ? 0 : dim};
}

}  // namespace

template <class T>
Stream<T> make_stream(const StreamShape& shape, std::uint64_t seed) {
  Random random(seed);
  const auto view = [&](std::uint32_t dim) {
    std::vector<double> mixing(dim * kHidden);
    for (double& value : mixing) value = random.normal();
    return mixing;
  };
  const std::vector<double> mixing_x = view(shape.dim_x);
  const std::vector<double> mixing_y = view(shape.dim_y);
  Stream<T> stream{ItemBlock<T>(item_shape(shape.kind, shape.dim_x)),
                   ItemBlock<T>(item_shape(shape.kind, shape.dim_y))};
  const auto observe = [&](const std::vector<double>& mixing, std::uint32_t dim,
                           const double* hidden) {
    std::vector<double> values(dim);
    for (std::size_t j = 0; j < dim; ++j) {
      values[j] = shape.offset + shape.turn * std::sin(static_cast<double>(j + 1) * shape.turn) +
                  0.3 * random.normal();
      for (std::size_t h = 0; h < kHidden; ++h) values[j] += mixing[j * kHidden + h] * hidden[h];
    }
    return values;
  };
  for (std::size_t i = 0; i < shape.pairs; ++i) {
    double hidden[kHidden];
    for (double& value : hidden) value = 0.8 * random.normal();
    append(stream.x, observe(mixing_x, shape.dim_x, hidden));
    append(stream.y, observe(mixing_y, shape.dim_y, hidden));
  }
  return stream;
}

template <class T>
ItemBlock<T> block_of_row(const std::vector<T>& values) {
  ItemBlock<T> block({ItemKind::kDense, static_cast<std::uint32_t>(values.size())});
  require_appended(block.append(DenseRows<T>{values.data(), 1, values.size()}, 0));
  return block;
}

ItemBlock<double> block_of_texts(const std::vector<std::string>& texts) {
  ItemBlock<double> block({ItemKind::kText, 0});
  for (const std::string& text : texts) {
    const std::size_t start[] = {0, text.size()};
    require_appended(block.append(TextRows{start, text.data(), 1}, 0));
  }
  return block;
}

template <class T>
Stream<T> part(const Stream<T>& stream, std::size_t first, std::size_t last) {
  std::vector<std::size_t> positions(last - first);
  std::iota(positions.begin(), positions.end(), first);
  return {stream.x.select(positions), stream.y.select(positions)};
}

template <class T>
Stream<T> shuffled(const Stream<T>& stream, std::uint64_t seed) {
  std::vector<std::size_t> positions(stream.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  Random random(seed);
  for (std::size_t i = positions.size(); i > 1; --i) {
    std::swap(positions[i - 1], positions[random.below(i)]);
  }
  return {stream.x.select(positions), stream.y.select(positions)};
}

template <class T>
ItemBlock<T> densified(const ItemBlock<T>& items) {
  if (items.shape().kind != ItemKind::kSparse) return items;
  ItemBlock<T> dense({ItemKind::kDense, items.shape().dim});
  const auto rows = std::get<SparseRows<T>>(items.view());
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::vector<T> row(rows.dim);
    for (std::size_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
      row[rows.index[e]] = rows.value[e];
    }
    require_appended(dense.append(DenseRows<T>{row.data(), 1, row.size()}, 0));
  }
  return dense;
}

ItemBlock<double> scaled(const ItemBlock<double>& items, double factor) {
  ItemBlock<double> result(items.shape());
  const auto rows = std::get<DenseRows<double>>(items.view());
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::vector<double> row(rows.row(i), rows.row(i) + rows.dim);
    for (double& value : row) value *= factor;
    require_appended(result.append(DenseRows<double>{row.data(), 1, row.size()}, 0));
  }
  return result;
}

#define PHSIC_INSTANTIATE(T)                                           \
  template Stream<T> make_stream(const StreamShape&, std::uint64_t);   \
  template ItemBlock<T> block_of_row(const std::vector<T>&);           \
  template Stream<T> part(const Stream<T>&, std::size_t, std::size_t); \
  template Stream<T> shuffled(const Stream<T>&, std::uint64_t);        \
  template ItemBlock<T> densified(const ItemBlock<T>&);
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)

}  // namespace phsic::test
