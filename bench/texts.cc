#include "bench/texts.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "core/random.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kWords = 50000;

std::string make_word(Random& random) {
  constexpr std::string_view kConsonants = "bdfghklmnprstvwz";
  constexpr std::string_view kVowels = "aeiou";
  std::string word;
  for (auto syllables = 1 + random.below(4); syllables > 0; --syllables) {
    word += kConsonants[random.below(kConsonants.size())];
    word += kVowels[random.below(kVowels.size())];
    if (random.below(3) == 0) word += kConsonants[random.below(kConsonants.size())];
  }
  return word;
}

}  // namespace

std::vector<std::string> vocabulary() {
  Random random(7);
  std::vector<std::string> words(kWords);
  for (std::size_t i = 0; i < kWords; ++i) {
    // A number behind each word would make it unlike any; a few words twice do no harm.
    words[i] = make_word(random);
  }
  return words;
}

void write_vectors(const std::string& file, std::size_t dim) {
  std::ofstream out(file);
  const auto words = vocabulary();
  Random random(11);
  out << words.size() << ' ' << dim << '\n';
  for (const auto& word : words) {
    out << word;
    for (std::size_t d = 0; d < dim; ++d) out << fmt::format(" {:.5f}", random.normal());
    out << '\n';
  }
}

TextSample make_texts(std::size_t pairs, std::uint64_t seed) {
  const auto words = vocabulary();
  Random random(seed);
  TextSample sample;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::string x;
    std::string y;
    for (auto left = 4 + random.below(9); left > 0; --left) {
      // The rank is log-uniform: each word's chance is about 1 / rank.
      const auto rank =
          static_cast<std::size_t>(std::pow(static_cast<double>(kWords), random.uniform()) - 1);
      x += (x.empty() ? "" : " ") + words[rank];
      y += (y.empty() ? "" : " ") + words[(rank + 1) % kWords];
    }
    sample.texts.push_back(x + ".");
    sample.texts.push_back(y + ".");
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    sample.x.emplace_back(sample.texts[2 * i]);
    sample.y.emplace_back(sample.texts[2 * i + 1]);
  }
  return sample;
}

}  // namespace phsic::bench
