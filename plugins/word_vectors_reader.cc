#include "plugins/word_vectors_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "plugins/encoder.h"
#include "plugins/numbers.h"
#include "plugins/quoted.h"

namespace phsic::plugins {
namespace {

// Floats are taken from binary files as they are.
static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kBlanks = " \t";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

// Takes the next field from the front of `rest`; empty when there is none.
std::string_view take_field(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const auto field = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(field.size());
  return field;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (auto field = take_field(line); !field.empty(); field = take_field(line)) {
    fields.push_back(field);
  }
  return fields;
}

bool is_digits(std::string_view field) {
  return !field.empty() &&
         std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint64_t> read_count(std::string_view digits) {
  std::uint64_t count = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (result.ec != std::errc()) return std::nullopt;
  return count;
}

bool is_fair(float value) {
  return std::abs(value) <= WordVectorsReader::kLargestValue;  // false for NaN
}

std::optional<float> read_value(std::string_view field) {
  const auto value = read_number(field);
  return value && is_fair(*value) ? value : std::nullopt;
}

}  // namespace

WordVectorsReader::WordVectorsReader(FileReader& source) : source_(source) {
  constexpr std::string_view kFastTextMagic = "\xba\x16\x4f\x2f";
  if (source_.peek(kFastTextMagic.size()) == kFastTextMagic) {
    refuse("a fastText model", "a file of word vectors; the encoder fasttext reads such models");
  }
  std::string_view line;
  if (!source_.take_line(line)) refuse("an empty file", "word vectors");
  const auto fields = fields_of(line);
  if (fields.size() == 2 && is_digits(fields[0]) && is_digits(fields[1])) {
    read_header(line);
    is_binary_ = looks_binary();
    return;
  }
  if (fields.size() < 2) {
    refuse(quoted(line), "\"COUNT DIM\", or a word and its vector");
  }
  if (fields.size() - 1 > PHSIC_MAX_DIMENSION) {
    refuse(fmt::format("a vector of {} values", fields.size() - 1),
           fmt::format("1 to {}", PHSIC_MAX_DIMENSION));
  }
  dimension_ = static_cast<std::uint32_t>(fields.size() - 1);
  first_line_ = line;
  is_first_waiting_ = true;
}

void WordVectorsReader::read_header(std::string_view line) {
  const auto fields = fields_of(line);
  const auto count = read_count(fields[0]);
  const auto dimension = read_count(fields[1]);
  if (!dimension || *dimension == 0 || *dimension > PHSIC_MAX_DIMENSION) {
    refuse(fmt::format("vectors of {} values", fields[1].substr(0, 40)),
           fmt::format("1 to {}", PHSIC_MAX_DIMENSION));
  }
  // A word takes a byte at the least, a value two.
  const auto most = source_.most_bytes() / (1 + 2 * *dimension) + 1;
  if (!count || *count == 0 || *count > most) {
    refuse(fmt::format("{} words", fields[0].substr(0, 40)),
           fmt::format("1 to {}, as many as the file has room for", most));
  }
  promised_ = *count;
  dimension_ = static_cast<std::uint32_t>(*dimension);
}

bool WordVectorsReader::looks_binary() {
  constexpr std::size_t kLongestLook = 4096;
  constexpr std::size_t kMostBytes = 256;
  constexpr std::string_view kNumerals = "0123456789+-.eE \t\rnaifNAIF";
  auto ahead = source_.peek(kLongestLook);
  ahead.remove_prefix(std::min(ahead.find_first_not_of('\n'), ahead.size()));
  const auto blank = ahead.find_first_of(kBlanks);
  if (blank == std::string_view::npos) return false;
  // The bytes where the first vector should be. In text they are nearly all numerals, in floats
  // hardly any.
  ahead = ahead.substr(blank + 1, std::min<std::size_t>(dimension_ * sizeof(float), kMostBytes));
  ahead = ahead.substr(0, ahead.find('\n'));
  const auto numerals = std::count_if(ahead.begin(), ahead.end(), [&](char c) {
    return kNumerals.find(c) != std::string_view::npos;
  });
  return 2 * static_cast<std::size_t>(numerals) < ahead.size() || ahead.empty();
}

bool WordVectorsReader::next(std::string_view& word, float* values) {
  if (promised_ != 0 && taken_ == promised_) {
    expect_end_of_words();
    return false;
  }
  if (is_binary_) return next_binary(word, values);
  std::string_view line;
  if (!next_line(line)) {
    if (promised_ != 0) {
      refuse(fmt::format("the end of the file after {} words", taken_),
             fmt::format("the {} words of line 1", promised_));
    }
    return false;
  }
  parse_line(line, word, values);
  ++taken_;
  return true;
}

bool WordVectorsReader::next_line(std::string_view& line) {
  if (is_first_waiting_) {
    is_first_waiting_ = false;
    line = first_line_;
    return true;
  }
  ++line_;
  if (!source_.take_line(line)) return false;
  if (!is_blank(line)) return true;
  // Empty lines are harmless at the end only.
  while (source_.take_line(line)) {
    if (!is_blank(line)) {
      refuse("an empty line", fmt::format("a word and {} values", dimension_));
    }
  }
  return false;
}

void WordVectorsReader::parse_line(std::string_view line, std::string_view& word,
                                   float* values) const {
  auto rest = line;
  word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  for (std::uint32_t i = 0; i < dimension_; ++i) {
    const auto value = read_value(take_field(rest));
    if (!value) return parse_odd_line(line, word, values);
    values[i] = *value;
  }
  if (word.empty() || !is_blank(rest)) parse_odd_line(line, word, values);
}

// A word with blanks in it, or a fault.
void WordVectorsReader::parse_odd_line(std::string_view line, std::string_view& word,
                                       float* values) const {
  const auto fields = fields_of(line);
  if (fields.size() <= dimension_) {
    refuse(fields.size() == dimension_ && (line[0] == ' ' || line[0] == '\t')
               ? "no word before the values"
               : fmt::format("{} values", fields.size() - 1),
           fmt::format("a word and {} values", dimension_));
  }
  const auto first = fields.size() - dimension_;
  for (std::uint32_t i = 0; i < dimension_; ++i) {
    const auto value = read_value(fields[first + i]);
    if (!value) {
      refuse(fmt::format("{} as value {} of {}", quoted(fields[first + i]), i + 1, dimension_),
             fmt::format("a number from {} to {}", -kLargestValue, kLargestValue));
    }
    values[i] = *value;
  }
  const auto& before = fields[first - 1];
  if (first > 1 && read_number(before)) {
    refuse(fmt::format("at least {} values", dimension_ + 1),
           fmt::format("a word and {} values", dimension_));
  }
  word = line.substr(0, static_cast<std::size_t>(before.data() - line.data()) + before.size());
}

bool WordVectorsReader::next_binary(std::string_view& word, float* values) {
  constexpr std::size_t kLongestWord = 65536;
  // word2vec ends each vector with a line end, others do not.
  while (source_.peek(1) == "\n") source_.skip(1);
  const auto blank = source_.peek(kLongestWord).find(' ');
  const std::size_t vector_size = dimension_ * sizeof(float);
  if (blank == std::string_view::npos) {
    refuse(fmt::format("no word after {} words", taken_),
           fmt::format("the {} words of line 1", promised_));
  }
  const auto ahead = source_.peek(blank + 1 + vector_size);
  if (ahead.size() < blank + 1 + vector_size) {
    refuse(fmt::format("the end of the file in the vector of word {} of {}", taken_ + 1, promised_),
           fmt::format("{} values", dimension_));
  }
  word = ahead.substr(0, blank);
  std::memcpy(values, ahead.data() + blank + 1, vector_size);
  const auto* bad = std::find_if_not(values, values + dimension_, is_fair);
  if (bad != values + dimension_) {
    refuse(fmt::format("{} as value {} of word {}", *bad, bad - values + 1, quoted(word)),
           fmt::format("a number from {} to {}", -kLargestValue, kLargestValue));
  }
  source_.skip(ahead.size());
  ++taken_;
  return true;
}

void WordVectorsReader::expect_end_of_words() {
  for (auto more = source_.peek(1); !more.empty(); more = source_.peek(1)) {
    if (more != "\n" && (is_binary_ || !is_blank(more))) {
      if (!is_binary_) ++line_;
      refuse(fmt::format("more after {} words", taken_),
             fmt::format("the {} words of line 1", promised_));
    }
    source_.skip(1);
  }
}

void WordVectorsReader::refuse(std::string_view found, std::string_view expected) const {
  const auto place = is_binary_ ? fmt::format(" byte {}", source_.offset()) : fmt::to_string(line_);
  throw std::invalid_argument(
      fmt::format("{}:{}: found {}, expected {}", source_.name(), place, found, expected));
}

}  // namespace phsic::plugins
