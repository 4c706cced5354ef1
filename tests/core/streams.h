// Random streams of dependent pairs, of every kind of item, for the tests.
#pragma once

#include <cstdint>
#include <vector>

#include "core/items.h"
#include "core/random.h"

namespace phsic::test {

template <class T>
struct Stream {
  ItemBlock<T> x;
  ItemBlock<T> y;

  [[nodiscard]] std::size_t size() const { return x.size(); }
};

struct StreamShape {
  ItemKind kind = ItemKind::kDense;
  std::uint32_t dim_x = 4;
  std::uint32_t dim_y = 3;
  std::size_t pairs = 100;
  double offset = 0;  // added to every coordinate: how far the mean is from 0
  double turn = 0;    // changes the distribution: streams of different turns lie elsewhere
};

// x and y are two noisy views of the same few hidden numbers.
template <class T>
[[nodiscard]] Stream<T> make_stream(const StreamShape& shape, std::uint64_t seed);

// One row as a block of its own.
template <class T>
[[nodiscard]] ItemBlock<T> block_of_row(const std::vector<T>& values);
[[nodiscard]] ItemBlock<double> block_of_texts(const std::vector<std::string>& texts);

// Pairs `first` up to `last` of a stream.
template <class T>
[[nodiscard]] Stream<T> part(const Stream<T>& stream, std::size_t first, std::size_t last);

// The stream's pairs in a random order; the same for both sides.
template <class T>
[[nodiscard]] Stream<T> shuffled(const Stream<T>& stream, std::uint64_t seed);

// Sparse items written out with their zeros; dense ones as they are.
template <class T>
[[nodiscard]] ItemBlock<T> densified(const ItemBlock<T>& items);

// Dense items with every value times `factor`.
[[nodiscard]] ItemBlock<double> scaled(const ItemBlock<double>& items, double factor);

}  // namespace phsic::test
