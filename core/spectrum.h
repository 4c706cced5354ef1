// N-gram profiles of texts: the feature space of the spectrum kernel (Leslie et al., 2002), over
// Unicode code points.
//
// For n > 1 a text is read with one boundary mark before and one after it, so that a text of n - 2
// code points already has a gram and that beginnings match beginnings. A profile lists the grams
// with their counts divided by the profile's length in feature space, so that the kernel of two
// texts is a dot product and the kernel of a text with itself is 1. A text too short for a gram has
// an empty profile: its kernel with every text, itself included, is 0, as for a zero vector under
// cosine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace phsic {

// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

struct Gram {
  std::uint64_t code;  // three code points exactly, longer grams by a 64-bit hash
  double weight;
};

// Makes profiles, one after the other, in memory that it keeps.
class ProfileMaker {
 public:
  explicit ProfileMaker(int n) : n_(static_cast<std::size_t>(n)) {}

  // The grams of length n, ascending by code; valid until the next call.
  // REQUIRES: is_utf8(text), n >= 1.
  const std::vector<Gram>& make(std::string_view text);
  // The same before they are divided by the profile's length: how often each gram occurs.
  const std::vector<Gram>& count(std::string_view text);

 private:
  std::size_t n_;
  std::vector<std::uint32_t> points_;
  std::vector<Gram> profile_;
};

// The length of counted grams in feature space.
[[nodiscard]] double length_of(const std::vector<Gram>& counts);

// Does the text have a gram of length n at all? REQUIRES: is_utf8(text).
[[nodiscard]] bool has_grams(std::string_view text, int n);

}  // namespace phsic
