// Words and their vectors, read-only, in a mapped file that several processes may share.
//
// The file is little-endian and has, one after the other,
//
//   WordTableHeader                   192 bytes
//   vectors     count × dimension     float, starts at a multiple of 64 bytes
//   slots       slot_count            WordSlot, starts at a multiple of 64 bytes
//   ends        count                 uint32: where each word ends in `bytes`
//   bytes       bytes_size            the words
//
// The slots are a hash table with linear probing. A WordTable is immutable and safe to share
// between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace phsic::plugins {

// What a table was made of.
struct ModelStamp {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t limit = 0;      // the first so many words of the model, 0 for all
  std::array<char, 40> hash{};  // file_hash() of the model, ends in a zero byte
};

struct WordTableHeader {
  static constexpr std::array<char, 8> kMagic = {'p', 'h', 's', 'i', 'c', 'w', 'v', '\n'};
  static constexpr std::uint32_t kVersion = 1;

  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;
  ModelStamp model;
  std::uint64_t slot_count = 0;  // a power of two, more than count
  std::uint64_t bytes_size = 0;
  std::array<std::uint64_t, 9> reserved{};
  std::uint64_t content_hash = 0;  // XXH3 of everything after the header
  std::uint64_t header_hash = 0;   // XXH3 of the header up to here
};
static_assert(sizeof(WordTableHeader) == 192);

struct WordSlot {
  std::uint32_t tag = 0;      // the upper half of the word's hash
  std::uint32_t index_1 = 0;  // 1 + the word's place in the file, 0 in an empty slot
};

// Where the parts of a table begin, in bytes.
struct WordTableLayout {
  explicit WordTableLayout(const WordTableHeader& header);
  std::uint64_t vectors;
  std::uint64_t slots;
  std::uint64_t ends;
  std::uint64_t bytes;
  std::uint64_t size;
};

[[nodiscard]] std::uint64_t hash_word(std::string_view word);

class WordTable {
 public:
  static constexpr std::uint64_t kMostWords = std::uint64_t{1} << 31U;

  // Maps an open file, which may be closed afterwards. Everything in it is checked, the vectors by
  // their hash; throws std::runtime_error that says what is wrong.
  explicit WordTable(int descriptor);
  ~WordTable();
  WordTable(WordTable&& other) noexcept;
  WordTable& operator=(WordTable&& other) = delete;
  WordTable(const WordTable&) = delete;
  WordTable& operator=(const WordTable&) = delete;

  [[nodiscard]] std::uint32_t dimension() const { return header_->dimension; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(header_->count); }
  [[nodiscard]] const ModelStamp& model() const { return header_->model; }

  // The word's place in the file, counted from 0.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view wanted) const;
  // REQUIRES: i < size()
  [[nodiscard]] std::string_view word(std::uint32_t i) const;
  [[nodiscard]] const float* vector(std::uint32_t i) const {
    return vectors_ + std::size_t{i} * header_->dimension;
  }

 private:
  void check() const;
  void check_words() const;
  template <class T>
  [[nodiscard]] const T* part(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(data_) + offset);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
  const WordTableHeader* header_ = nullptr;
  const float* vectors_ = nullptr;
  const WordSlot* slots_ = nullptr;
  const std::uint32_t* ends_ = nullptr;
  const char* bytes_ = nullptr;
};

}  // namespace phsic::plugins
