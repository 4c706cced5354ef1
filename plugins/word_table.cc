#include "plugins/word_table.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "plugins/encoder.h"

namespace phsic::plugins {
namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<WordTableHeader>);

void require(bool is_right, const char* what) {
  if (!is_right) throw std::runtime_error(fmt::format("a table of words with wrong {}", what));
}

}  // namespace

WordTableLayout::WordTableLayout(const WordTableHeader& header)
    : vectors(sizeof(WordTableHeader)),
      slots((vectors + header.count * header.dimension * sizeof(float) + 63) / 64 * 64),
      ends(slots + header.slot_count * sizeof(WordSlot)),
      bytes(ends + header.count * sizeof(std::uint32_t)),
      size(bytes + header.bytes_size) {}

std::uint64_t hash_word(std::string_view word) { return XXH3_64bits(word.data(), word.size()); }

WordTable::WordTable(int descriptor) {
  struct stat facts {};
  require(fstat(descriptor, &facts) == 0, "state");
  size_ = static_cast<std::size_t>(facts.st_size);
  require(size_ >= sizeof(WordTableHeader), "size");
  data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  if (data_ == MAP_FAILED) {
    throw std::runtime_error(fmt::format("cannot map a table of words: {}", std::strerror(errno)));
  }
  header_ = part<WordTableHeader>(0);
  try {
    check();
    const WordTableLayout layout(*header_);
    vectors_ = part<float>(layout.vectors);
    slots_ = part<WordSlot>(layout.slots);
    ends_ = part<std::uint32_t>(layout.ends);
    bytes_ = part<char>(layout.bytes);
    check_words();
  } catch (...) {
    munmap(data_, size_);
    throw;
  }
}

WordTable::~WordTable() {
  if (data_ != nullptr) munmap(data_, size_);
}

WordTable::WordTable(WordTable&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      header_(other.header_),
      vectors_(other.vectors_),
      slots_(other.slots_),
      ends_(other.ends_),
      bytes_(other.bytes_) {}

void WordTable::check() const {
  require(header_->magic == WordTableHeader::kMagic, "magic");
  require(header_->version == WordTableHeader::kVersion, "version");
  require(header_->header_hash == XXH3_64bits(header_, offsetof(WordTableHeader, header_hash)),
          "header");
  require(header_->dimension >= 1 && header_->dimension <= PHSIC_MAX_DIMENSION, "dimension");
  require(header_->count >= 1 && header_->count <= kMostWords, "count");
  // The bounds keep the layout's sums far from overflow.
  require(std::has_single_bit(header_->slot_count) && header_->slot_count > header_->count &&
              header_->slot_count <= 4 * kMostWords,
          "number of slots");
  require(header_->bytes_size <= UINT32_MAX, "size of words");
  require(WordTableLayout(*header_).size == size_, "size");
  require(header_->model.hash.back() == '\0', "hash of its model");
  require(header_->content_hash == XXH3_64bits(part<std::byte>(sizeof(WordTableHeader)),
                                               size_ - sizeof(WordTableHeader)),
          "content");
}

// Even if the hashes are right: find() must stay inside the table and come to an end.
void WordTable::check_words() const {
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < header_->count; ++i) {
    require(ends_[i] >= last, "ends of words");
    last = ends_[i];
  }
  require(last == header_->bytes_size, "ends of words");
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < header_->slot_count; ++i) {
    require(slots_[i].index_1 <= header_->count, "slots");
    used += slots_[i].index_1 != 0 ? 1U : 0U;
  }
  require(used == header_->count, "slots");
}

std::string_view WordTable::word(std::uint32_t i) const {
  const auto begin = i == 0 ? 0 : ends_[i - 1];
  return {bytes_ + begin, ends_[i] - begin};
}

std::optional<std::uint32_t> WordTable::find(std::string_view wanted) const {
  const auto hash = hash_word(wanted);
  const auto mask = header_->slot_count - 1;
  for (auto at = hash & mask; slots_[at].index_1 != 0; at = (at + 1) & mask) {
    if (slots_[at].tag != hash >> 32U) continue;
    const auto index = slots_[at].index_1 - 1;
    if (word(index) == wanted) return index;
  }
  return std::nullopt;
}

}  // namespace phsic::plugins
