#include "plugins/word_table_writer.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace phsic::plugins {
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{1} << 16U;
constexpr std::size_t kFirstSlots = 16;

void write_all(int descriptor, const void* data, std::size_t size, std::uint64_t offset) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const auto done = pwrite(descriptor, bytes, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw std::system_error(errno, std::generic_category(), "a table of words");
    bytes += done;
    size -= static_cast<std::size_t>(done);
    offset += static_cast<std::uint64_t>(done);
  }
}

}  // namespace

WordTableWriter::WordTableWriter(int descriptor, std::uint32_t dimension)
    : descriptor_(descriptor),
      hash_(XXH3_createState(), [](XXH3_state_s* state) { XXH3_freeState(state); }),
      written_(sizeof(WordTableHeader)),
      slots_(kFirstSlots) {
  header_.dimension = dimension;
  buffer_.reserve(kWriteBuffer);
  XXH3_64bits_reset(hash_.get());
}

void WordTableWriter::add(std::string_view word, const float* values) {
  if (ends_.size() == WordTable::kMostWords || bytes_.size() + word.size() > UINT32_MAX) {
    throw std::length_error("found more words than fit, expected at most 2147483648 of 4 GiB");
  }
  if (!take_slot(word)) return;
  bytes_.append(word);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  append(values, header_.dimension * sizeof(float));
  if (2 * ends_.size() > slots_.size()) grow();
}

std::string_view WordTableWriter::word(std::size_t i) const {
  const auto begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(bytes_).substr(begin, ends_[i] - begin);
}

bool WordTableWriter::take_slot(std::string_view wanted) {
  const auto hash = hash_word(wanted);
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  const auto mask = slots_.size() - 1;
  auto at = hash & mask;
  for (; slots_[at].index_1 != 0; at = (at + 1) & mask) {
    if (slots_[at].tag == tag && word(slots_[at].index_1 - 1) == wanted) return false;
  }
  slots_[at] = {tag, static_cast<std::uint32_t>(ends_.size() + 1)};
  return true;
}

void WordTableWriter::grow() {
  slots_.assign(2 * slots_.size(), {});
  const auto mask = slots_.size() - 1;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto hash = hash_word(word(i));
    auto at = hash & mask;
    while (slots_[at].index_1 != 0) at = (at + 1) & mask;
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), static_cast<std::uint32_t>(i + 1)};
  }
}

void WordTableWriter::finish(const ModelStamp& model) {
  header_.count = ends_.size();
  header_.model = model;
  header_.slot_count = slots_.size();
  header_.bytes_size = bytes_.size();
  constexpr std::array<char, 64> kPadding{};
  const WordTableLayout layout(header_);
  append(kPadding.data(),
         layout.slots - layout.vectors - header_.count * header_.dimension * sizeof(float));
  append(slots_.data(), slots_.size() * sizeof(WordSlot));
  append(ends_.data(), ends_.size() * sizeof(std::uint32_t));
  append(bytes_.data(), bytes_.size());
  flush();
  header_.content_hash = XXH3_64bits_digest(hash_.get());
  header_.header_hash = XXH3_64bits(&header_, offsetof(WordTableHeader, header_hash));
  write_all(descriptor_, &header_, sizeof header_, 0);
}

void WordTableWriter::append(const void* data, std::size_t size) {
  XXH3_64bits_update(hash_.get(), data, size);
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const auto part = std::min(size, kWriteBuffer - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + part);
    bytes += part;
    size -= part;
    if (buffer_.size() == kWriteBuffer) flush();
  }
}

void WordTableWriter::flush() {
  write_all(descriptor_, buffer_.data(), buffer_.size(), written_);
  written_ += buffer_.size();
  buffer_.clear();
}

}  // namespace phsic::plugins
