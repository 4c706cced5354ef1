// Files of word vectors, word by word. Three formats, told apart by their content:
//
//   word2vec and fastText text    a line "COUNT DIM", then lines "word v1 v2 ... vDIM"
//   GloVe text                    such lines alone
//   word2vec binary               a line "COUNT DIM", then "word ", DIM floats, maybe a line end
//
// each plain or compressed by gzip. In text, blanks and tabs separate; the last DIM fields are the
// vector and all before them is the word, since GloVe has words with blanks in them. Words are in
// any case and any bytes; values are finite and at most kLargestValue.
//
// A file with fewer or more words than its first line says is refused: it was cut, or two were
// glued. Every fault is a std::invalid_argument that tells the line, or in binary the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/file_reader.h"

namespace phsic::plugins {

class WordVectorsReader {
 public:
  // Small enough that the sum over a text of any length is finite.
  static constexpr float kLargestValue = 1e28F;

  // Reads as far as the first word.
  explicit WordVectorsReader(FileReader& source);

  [[nodiscard]] std::uint32_t dimension() const { return dimension_; }

  // The next word, valid until the next call, and its vector, for which there is room; false at the
  // end.
  [[nodiscard]] bool next(std::string_view& word, float* values);

 private:
  void read_header(std::string_view line);
  [[nodiscard]] bool next_line(std::string_view& line);
  [[nodiscard]] bool looks_binary();
  [[nodiscard]] bool next_binary(std::string_view& word, float* values);
  void parse_line(std::string_view line, std::string_view& word, float* values) const;
  void parse_odd_line(std::string_view line, std::string_view& word, float* values) const;
  void expect_end_of_words();
  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const;

  FileReader& source_;
  std::string first_line_;  // of a file without header, until it is taken
  bool is_first_waiting_ = false;
  bool is_binary_ = false;
  std::uint64_t promised_ = 0;  // words, or 0 when there is no header
  std::uint64_t taken_ = 0;
  std::uint64_t line_ = 1;
  std::uint32_t dimension_ = 0;
};

}  // namespace phsic::plugins
