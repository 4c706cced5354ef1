// Pointwise mutual information by counting (Yokoi et al., 2018, equation 1), for items that recur
// exactly: words and short phrases.
//
//   PMI(x, y) = log [ (c(x,y) + k p(x) p(y)) / ((W + k) p(x) p(y)) ],   p(x) = c(x) / W
//
// With k = 0 this is log c(x,y) W / c(x)c(y) as in the paper, -infinity for a pair never seen. k >
// 0 are that many pairs of an independent prior, which keep every score finite: a pair never seen
// gets log k / (W + k). An x or y never seen tells nothing and scores 0.
//
// Memory is bounded: three tables of at most `capacity` counts each (Misra and Gries, 1982; merged
// as by Agarwal et al., 2012). While no table is full, counts are exact. From then on a count may
// be too low, by no more than error() = what was subtracted so far, at most W / (capacity + 1).
// Items are told apart by 128-bit hashes. Not synchronised: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "core/error.h"

namespace phsic {

class CountPmi {
 public:
  // Throws unless capacity is 1 to 2^26 and prior 0 to 2e25, the weight of 2^64 pairs.
  explicit CountPmi(std::size_t capacity, double prior = 1);

  // `fade` is what everything learned before weighs from now on, as in decay(). Throws
  // std::bad_alloc, and has changed nothing, if there is no memory for the pair.
  [[nodiscard]] Fault learn(std::string_view x, std::string_view y, double weight = 1,
                            double fade = 1);
  // Never NaN.
  [[nodiscard]] double score(std::string_view x, std::string_view y) const;

  // Everything learned so far weighs `factor` times as much from now on. REQUIRES: 0 < factor <= 1.
  void decay(double factor);
  // Adds what another has learned. Throws unless capacity and prior are the same.
  void merge(const CountPmi& other);

  [[nodiscard]] double weight() const { return total_ * scale_; }
  [[nodiscard]] double error() const;
  // Counts kept, over all three tables.
  [[nodiscard]] std::size_t size() const { return x_.size() + y_.size() + xy_.size(); }

  static constexpr std::string_view kArchiveKind = "CPMI";
  void save(Writer& writer) const;
  [[nodiscard]] static CountPmi load(Reader& reader);

 private:
  struct Key {
    std::uint64_t low;
    std::uint64_t high;
    auto operator<=>(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.low; }
  };

  // The Misra-Gries summary: heavy items and lower bounds of their counts.
  class Table {
   public:
    using Place = std::unordered_map<Key, double, KeyHash>::iterator;

    // Makes a place for one more count, and has memory ready for shrink().
    [[nodiscard]] std::pair<Place, bool> make_place(const Key& key, std::size_t capacity);
    void remove(Place place) { counts_.erase(place); }
    void add(Place place, double count, std::size_t capacity);
    void merge(const Table& other, double factor, std::size_t capacity);
    void multiply(double factor);
    [[nodiscard]] double count(const Key& key) const;
    [[nodiscard]] std::size_t size() const { return counts_.size(); }
    [[nodiscard]] double error() const { return error_; }
    void save(Writer& writer) const;
    [[nodiscard]] static Table load(Reader& reader, std::size_t capacity, double total);

   private:
    void shrink(std::size_t capacity);
    [[nodiscard]] static std::size_t most_counts(std::size_t capacity);

    std::unordered_map<Key, double, KeyHash> counts_;
    double error_ = 0;
    std::vector<double> values_;  // scratch of shrink()
  };

  [[nodiscard]] static Key key_of(std::string_view text);
  [[nodiscard]] static Key key_of(const Key& x, const Key& y);
  [[nodiscard]] bool would_rescale(double factor) const;
  void rescale();

  std::size_t capacity_;
  double prior_;
  double scale_ = 1;  // true counts are this times the stored ones
  double total_ = 0;
  Table x_;
  Table y_;
  Table xy_;
};

}  // namespace phsic
