#include "plugins/fasttext_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "plugins/encoder.h"
#include "plugins/quoted.h"

namespace phsic::plugins {
namespace {

constexpr std::int64_t kMagic = 793712314;
constexpr std::int64_t kOldestVersion = 11;
constexpr std::int64_t kNewestVersion = 12;
constexpr std::int64_t kSupervised = 3;
constexpr std::int64_t kCentroids = 256;  // of a product quantiser
// Bounds far beyond all models, and small enough that nothing overflows or takes for ever.
constexpr std::int64_t kMostWords = 1'000'000'000;
constexpr std::int64_t kLongestWord = 65536;
constexpr std::int64_t kLongestGram = 32;
constexpr std::int64_t kLargestCount = 999'999'999'999'999;  // libfasttext takes 1e15 for "none"
// Small enough that the sum over a text of any length is finite. A quantised vector is a product of
// two values.
constexpr float kLargestValue = 1e28F;
constexpr float kLargestFactor = 1e14F;

class Checker {
 public:
  Checker(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::uint32_t check() {
    check_arguments();
    check_dictionary();
    const bool is_quantised = take_flag("the mark of a quantised model");
    if (is_quantised) {
      check_quantised(rows_);
    } else {
      if (pruned_ >= 0) refuse("a pruned model that is not quantised", "a quantised one");
      check_dense(rows_, true);
    }
    const bool is_output_quantised = take_flag("the mark of a quantised output");
    if (is_quantised && is_output_quantised) {
      check_quantised(0);
    } else {
      check_dense(0, false);
    }
    if (at_ != bytes_.size()) refuse(fmt::format("{} more bytes", left()), "the end of the file");
    return static_cast<std::uint32_t>(dimension_);
  }

 private:
  [[nodiscard]] std::uint64_t left() const { return bytes_.size() - at_; }

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw std::invalid_argument(fmt::format(
        "{}: byte {}: found {}, expected {} in a fastText model", name_, at_, found, expected));
  }

  void require_room(std::uint64_t size, const char* what) const {
    if (size <= left()) return;
    refuse(fmt::format("{} bytes up to the end of the file", left()),
           fmt::format("{} bytes of {}", size, what));
  }

  template <class T>
  T take_raw(const char* what) {
    require_room(sizeof(T), what);
    T value{};
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  // An integer of the file's type T between two bounds.
  template <class T>
  std::int64_t take(const char* what, std::int64_t least, std::int64_t most) {
    const std::int64_t value = take_raw<T>(what);
    if (value < least || value > most) {
      at_ -= sizeof(T);
      refuse(fmt::format("{} as {}", value, what), fmt::format("{} to {}", least, most));
    }
    return value;
  }
  std::int64_t take_int(const char* what, std::int64_t least, std::int64_t most) {
    return take<std::int32_t>(what, least, most);
  }
  bool take_flag(const char* what) { return take<std::uint8_t>(what, 0, 1) != 0; }

  void check_arguments() {
    if (bytes_.size() < sizeof(std::int32_t) || take_raw<std::int32_t>("magic") != kMagic) {
      at_ = 0;
      refuse(quoted(bytes_.substr(0, 16)), "the magic number 793712314 (wordvec reads .vec files)");
    }
    const auto version = take_int("version", kOldestVersion, kNewestVersion);
    dimension_ = take_int("dimension", 1, PHSIC_MAX_DIMENSION);
    for (const char* what : {"window", "epochs", "least count", "negatives", "word n-grams"}) {
      static_cast<void>(take_int(what, INT32_MIN, INT32_MAX));
    }
    static_cast<void>(take_int("loss", 1, 4));
    const auto kind = take_int("kind of model", 1, kSupervised);
    buckets_ = take_int("number of buckets", 0, INT32_MAX);
    static_cast<void>(take_int("shortest n-gram", 0, INT32_MAX));
    auto longest = take_int("longest n-gram", 0, kLongestGram);
    if (version == kOldestVersion && kind == kSupervised) longest = 0;
    if (longest > 0 && buckets_ == 0) refuse("no buckets for n-grams", "at least one");
    static_cast<void>(take_int("rate of updates", INT32_MIN, INT32_MAX));
    static_cast<void>(take_raw<double>("sampling threshold"));
  }

  void check_dictionary() {
    const auto size = take_int("number of entries", 1, kMostWords);
    const auto words = take_int("number of words", 1, size);
    static_cast<void>(take_int("number of labels", size - words, size - words));
    static_cast<void>(take<std::int64_t>("number of tokens", 0, INT64_MAX));
    pruned_ = take<std::int64_t>("number of pruned n-grams", -1, INT32_MAX);
    // Even an empty word takes ten bytes.
    require_room(static_cast<std::uint64_t>(size) * 10, "dictionary");
    for (std::int64_t i = 0; i < size; ++i) {
      const auto end = bytes_.substr(at_, kLongestWord).find('\0');
      if (end == std::string_view::npos) {
        refuse(fmt::format("entry {} without end", i + 1), "words of less than 64 KiB");
      }
      at_ += end + 1;
      static_cast<void>(take<std::int64_t>("count of a word", 0, kLargestCount));
      const int type = i < words ? 0 : 1;
      static_cast<void>(
          take<std::uint8_t>(type == 0 ? "type of a word" : "type of a label", type, type));
    }
    for (std::int64_t i = 0; i < pruned_; ++i) {
      static_cast<void>(take_int("pruned n-gram", INT32_MIN, INT32_MAX));
      static_cast<void>(take_int("place of a pruned n-gram", 0, pruned_ - 1));
    }
    rows_ = words + (pruned_ >= 0 ? pruned_ : buckets_);
  }

  // Rows and columns of a matrix.
  std::int64_t take_shape(std::int64_t least_rows) {
    const auto rows = take<std::int64_t>("number of rows", least_rows, INT32_MAX);
    static_cast<void>(take<std::int64_t>("number of columns", dimension_, dimension_));
    return rows;
  }

  void check_dense(std::int64_t least_rows, bool has_values) {
    const auto rows = take_shape(least_rows);
    const auto count = static_cast<std::uint64_t>(rows * dimension_);
    require_room(count * sizeof(float), "vectors");
    if (has_values) {
      check_values(count, kLargestValue);
    } else {
      at_ += count * sizeof(float);
    }
  }

  void check_quantised(std::int64_t least_rows) {
    const bool has_norms = take_flag("the mark of norms");
    const auto rows = take_shape(least_rows);
    const auto code_size = take_int("size of codes", 0, INT32_MAX);
    require_room(static_cast<std::uint64_t>(code_size), "codes");
    at_ += static_cast<std::uint64_t>(code_size);
    const auto parts = check_quantiser(dimension_);
    if (rows * parts != code_size) {
      refuse(fmt::format("{} bytes of codes", code_size),
             fmt::format("{} for {} rows of {}", rows * parts, rows, parts));
    }
    if (!has_norms) return;
    require_room(static_cast<std::uint64_t>(rows), "codes of norms");
    at_ += static_cast<std::uint64_t>(rows);
    static_cast<void>(check_quantiser(1));
  }

  // Returns in how many parts it cuts a vector.
  std::int64_t check_quantiser(std::int64_t dimension) {
    static_cast<void>(take_int("dimension of a quantiser", dimension, dimension));
    const auto parts = take_int("parts of a quantiser", 1, dimension);
    const auto size = take_int("size of a part", 1, INT32_MAX);
    if ((dimension + size - 1) / size != parts) {
      refuse(fmt::format("{} parts of {}", parts, size),
             fmt::format("parts that make {} together", dimension));
    }
    const auto last = dimension - (parts - 1) * size;
    static_cast<void>(take_int("size of the last part", last, last));
    const auto count = static_cast<std::uint64_t>(dimension * kCentroids);
    require_room(count * sizeof(float), "centroids");
    check_values(count, kLargestFactor);
    return parts;
  }

  void check_values(std::uint64_t count, float largest) {
    constexpr std::uint64_t kChunk = 4096;
    std::array<float, kChunk> values{};  // the file's are not aligned
    while (count > 0) {
      const auto size = std::min(count, kChunk);
      std::memcpy(values.data(), bytes_.data() + at_, size * sizeof(float));
      unsigned bad = 0;
      for (const float value : values) bad += std::abs(value) <= largest ? 0U : 1U;
      if (bad != 0) refuse_value(values.data(), size, largest);
      at_ += size * sizeof(float);
      count -= size;
    }
  }

  [[noreturn]] void refuse_value(const float* values, std::uint64_t size, float largest) {
    const auto* bad =
        std::find_if(values, values + size, [&](float v) { return !(std::abs(v) <= largest); });
    at_ += static_cast<std::uint64_t>(bad - values) * sizeof(float);
    refuse(fmt::format("{} in a vector", *bad), fmt::format("{} to {}", -largest, largest));
  }

  std::string_view bytes_;
  const std::string& name_;
  std::uint64_t at_ = 0;
  std::int64_t dimension_ = 0;
  std::int64_t buckets_ = 0;
  std::int64_t pruned_ = -1;
  std::int64_t rows_ = 0;  // that words and n-grams may ask for
};

}  // namespace

std::uint32_t check_fasttext(std::string_view bytes, const std::string& name) {
  return Checker(bytes, name).check();
}

}  // namespace phsic::plugins
