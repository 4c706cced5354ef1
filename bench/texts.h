// Made-up sentences of two languages that mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace phsic::bench {

// The same 50,000 words every time, most frequent first.
[[nodiscard]] std::vector<std::string> vocabulary();

// Random vectors for these words, in the format of word2vec.
void write_vectors(const std::string& file, std::size_t dim);

struct TextSample {
  std::vector<std::string> texts;  // what x and y point into
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
};

// Sentences of 4 to 12 words, frequent ones more often, as Zipf's law has it; the words of y are
// those of x moved on by one in the vocabulary.
[[nodiscard]] TextSample make_texts(std::size_t pairs, std::uint64_t seed);

}  // namespace phsic::bench
