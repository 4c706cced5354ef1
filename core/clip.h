// How long the vectors of one side usually are, so that one far longer than all others does not
// outweigh them for good.
//
// The usual length is the one that a tenth of the vectors exceed. It begins with the first
// kCompared vectors. From then on each vector moves it by a small constant factor, up or down,
// whatever its own length: a few long ones hardly move it, and a stream that has changed for good
// is followed, by a factor of 2 in 256 vectors. Zero vectors do not count. The usual length is a
// function of the vectors in their order.
#pragma once

#include <cstddef>
#include <vector>

#include "core/archive.h"
#include "core/kernel.h"

namespace phsic {

class UsualLength {
 public:
  static constexpr std::size_t kCompared = 64;

  [[nodiscard]] bool is_known() const { return squared_ > 0; }
  [[nodiscard]] double squared() const { return squared_; }

  // Takes the squared lengths of the first vectors. Stays unknown if all are 0.
  void begin(std::vector<double> squared_lengths);
  // Takes the squared length of the next vector. REQUIRES: is_known().
  void follow(double squared_length);
  // Takes the other's usual length if it is longer.
  void join(const UsualLength& other);

  // What a vector of this length is multiplied by before it is learned. It is 1, unless the vector
  // is more than 10 times and its features more than 100 times as long as usual; then it is the
  // factor that gives the vector the usual length. REQUIRES: is_known().
  [[nodiscard]] double factor(const Kernel& kernel, double squared_length) const;

  void save(Writer& writer) const { writer.number(squared_); }
  [[nodiscard]] static UsualLength load(Reader& reader);

 private:
  double squared_ = 0;  // 0: unknown
};

}  // namespace phsic
