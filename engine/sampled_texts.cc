#include "engine/sampled_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/cut_text.h"

namespace phsic {

void SampledTexts::add(std::uint64_t number, std::string_view x, std::string_view y) {
  const auto short_x = text::cut_text(x, kLongest);
  const auto short_y = text::cut_text(y, kLongest);
  entries_.push_back({number, bytes_.size(), static_cast<std::uint32_t>(short_x.size()),
                      static_cast<std::uint32_t>(short_y.size())});
  bytes_.append(short_x);
  bytes_.append(short_y);
}

std::optional<std::pair<std::string_view, std::string_view>> SampledTexts::find(
    std::uint64_t number) const {
  const auto place =
      std::lower_bound(entries_.begin(), entries_.end(), number,
                       [](const Entry& entry, std::uint64_t n) { return entry.number < n; });
  if (place == entries_.end() || place->number != number) return std::nullopt;
  const std::string_view all = bytes_;
  return std::pair(all.substr(place->start, place->x_size),
                   all.substr(place->start + place->x_size, place->y_size));
}

void SampledTexts::keep_only(const std::vector<std::uint64_t>& numbers) {
  spare_bytes_.clear();
  spare_entries_.clear();
  auto wanted = numbers.begin();
  for (Entry entry : entries_) {
    while (wanted != numbers.end() && *wanted < entry.number) ++wanted;
    if (wanted == numbers.end() || *wanted != entry.number) continue;
    const auto start = spare_bytes_.size();
    spare_bytes_.append(bytes_, entry.start, std::size_t{entry.x_size} + entry.y_size);
    entry.start = start;
    spare_entries_.push_back(entry);
  }
  bytes_.swap(spare_bytes_);
  entries_.swap(spare_entries_);
  kept_ = entries_.size();
}

void SampledTexts::save(Writer& writer) const {
  writer.number<std::uint64_t>(entries_.size());
  for (const auto& entry : entries_) {
    writer.number(entry.number);
    writer.number(entry.x_size);
    writer.number(entry.y_size);
  }
  std::string packed;
  for (const auto& entry : entries_) {
    packed.append(bytes_, entry.start, std::size_t{entry.x_size} + entry.y_size);
  }
  writer.text(packed);
}

SampledTexts SampledTexts::load(Reader& reader) {
  SampledTexts texts;
  const auto count = reader.number<std::uint64_t>("sampled texts");
  std::size_t start = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Entry entry{};
    entry.number = reader.number<std::uint64_t>("number of a text");
    entry.x_size = reader.number_in<std::uint32_t>("length of a text", 0, kLongest);
    entry.y_size = reader.number_in<std::uint32_t>("length of a text", 0, kLongest);
    entry.start = start;
    start += std::size_t{entry.x_size} + entry.y_size;
    if (i > 0 && texts.entries_.back().number >= entry.number) {
      reader.refuse("number of a text", "found it out of order, expected ascending ones");
    }
    texts.entries_.push_back(entry);
  }
  texts.bytes_ = reader.text("texts", start);
  if (texts.bytes_.size() != start) {
    reader.refuse("texts", fmt::format("found {} bytes, expected {}", texts.bytes_.size(), start));
  }
  texts.kept_ = texts.entries_.size();
  return texts;
}

}  // namespace phsic
