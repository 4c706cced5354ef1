#include "core/spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/random.h"

namespace phsic {
namespace {

constexpr std::uint32_t kBroken = 0xffffffffU;
constexpr std::uint32_t kBoundary = 0x110000U;  // beyond every code point

// The code point at text[at], moving `at` behind it; kBroken if there is none.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return kBroken;
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return kBroken;
    code = (code << 6) | (byte(at + i) & 0x3fU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return kBroken;
  at += length;
  return code;
}

// 21 bits a code point: up to three fit exactly.
std::uint64_t gram_code(std::span<const std::uint32_t> points) {
  std::uint64_t code = 0;
  if (points.size() <= 3) {
    for (const std::uint32_t point : points) code = (code << 21) | point;
  } else {
    for (const std::uint32_t point : points) code = scatter(code ^ (point + 0x9e3779b97f4a7c15U));
  }
  return code;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next_code_point(text, at) == kBroken) return false;
  }
  return true;
}

bool has_grams(std::string_view text, int n) {
  if (text.empty()) return false;
  const auto points = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  });
  return points + (n > 1 ? 2 : 0) >= n;
}

double length_of(const std::vector<Gram>& counts) {
  double squares = 0;
  for (const Gram& gram : counts) squares += gram.weight * gram.weight;
  return std::sqrt(squares);
}

const std::vector<Gram>& ProfileMaker::count(std::string_view text) {
  points_.clear();
  profile_.clear();
  // A boundary mark alone says nothing, so single code points go without.
  if (n_ > 1) points_.push_back(kBoundary);
  for (std::size_t at = 0; at < text.size();) points_.push_back(next_code_point(text, at));
  if (n_ > 1) points_.push_back(kBoundary);
  if (points_.size() < n_ || text.empty()) return profile_;

  const std::span<const std::uint32_t> all(points_);
  for (std::size_t i = 0; i + n_ <= points_.size(); ++i) {
    profile_.push_back({gram_code(all.subspan(i, n_)), 1});
  }
  const auto by_code = [](const Gram& a, const Gram& b) { return a.code < b.code; };
  std::sort(profile_.begin(), profile_.end(), by_code);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < profile_.size(); ++i) {
    if (profile_[i].code == profile_[kept].code) {
      profile_[kept].weight += 1;
    } else {
      profile_[++kept] = profile_[i];
    }
  }
  profile_.resize(kept + 1);
  return profile_;
}

const std::vector<Gram>& ProfileMaker::make(std::string_view text) {
  const double length = length_of(count(text));
  for (Gram& gram : profile_) gram.weight /= length;
  return profile_;
}

}  // namespace phsic
