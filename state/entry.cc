#include "state/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stream_config.h"

namespace phsic {
namespace {

// An entry is written and read as a whole.
constexpr std::size_t kMostPairs = 16384;
constexpr std::size_t kMostBytes = 1U << 20U;
constexpr std::uint32_t kDecisionsSince = 4;  // version of the archive

void save_place(const EntryPlace& place, EntryKind kind, Writer& writer) {
  writer.number(place.stream);
  writer.number(place.number);
  writer.number(place.pairs);
  writer.number(kind);
}

}  // namespace

void EntryPairs::add(std::string_view x, std::string_view y, double time, const IdHash& id,
                     const DecisionCode& decision) {
  are_vectors_ = false;
  times_.push_back(time);
  ids_.push_back(id);
  decisions_.push_back(decision);
  bytes_.append(x);
  ends_.push_back(bytes_.size());
  bytes_.append(y);
  ends_.push_back(bytes_.size());
}

void EntryPairs::add(std::span<const float> x, std::span<const float> y, double time,
                     const IdHash& id, const DecisionCode& decision) {
  are_vectors_ = true;
  times_.push_back(time);
  ids_.push_back(id);
  decisions_.push_back(decision);
  x_dim_ = static_cast<std::uint32_t>(x.size());
  y_dim_ = static_cast<std::uint32_t>(y.size());
  x_values_.insert(x_values_.end(), x.begin(), x.end());
  y_values_.insert(y_values_.end(), y.begin(), y.end());
}

void EntryPairs::reject(const DecisionCode& decision) {
  rejected_.push_back({times_.size(), decision});
}

bool EntryPairs::takes(bool vectors) const {
  if (rejected_.size() >= kMostPairs) return false;
  if (times_.empty()) return true;
  const auto bytes = bytes_.size() + sizeof(float) * (x_values_.size() + y_values_.size());
  return vectors == are_vectors_ && times_.size() < kMostPairs && bytes < kMostBytes;
}

std::string_view EntryPairs::text(std::size_t k) const {
  const auto start = k == 0 ? 0 : ends_[k - 1];
  return std::string_view(bytes_).substr(start, ends_[k] - start);
}

std::string_view EntryPairs::x(std::size_t i) const { return text(2 * i); }

std::string_view EntryPairs::y(std::size_t i) const { return text(2 * i + 1); }

void EntryPairs::clear() {
  times_.clear();
  ids_.clear();
  bytes_.clear();
  ends_.clear();
  x_values_.clear();
  y_values_.clear();
  decisions_.clear();
  rejected_.clear();
}

void EntryPairs::save(Writer& writer) const {
  writer.array(times_);
  bool has_ids = false;
  for (const auto& id : ids_) has_ids = has_ids || id != kNoId;
  writer.number<std::uint8_t>(has_ids);
  for (std::size_t i = 0; has_ids && i < ids_.size(); ++i) {
    writer.number(ids_[i].low);
    writer.number(ids_[i].high);
  }
  if (are_vectors_) {
    writer.number(x_dim_);
    writer.number(y_dim_);
    writer.array(x_values_);
    writer.array(y_values_);
  } else {
    writer.array(ends_);
    writer.text(bytes_);
  }
  save_decisions(writer);
}

// Most streams keep most pairs: nothing is written where all are kept.
void EntryPairs::save_decisions(Writer& writer) const {
  std::vector<std::uint8_t> codes;
  const auto add = [&codes](const DecisionCode& decision) {
    codes.push_back(decision.verdict);
    codes.push_back(decision.reason);
  };
  const bool has_any = std::any_of(decisions_.begin(), decisions_.end(),
                                   [](const auto& code) { return code != DecisionCode{}; });
  writer.number<std::uint8_t>(has_any);
  for (std::size_t i = 0; has_any && i < decisions_.size(); ++i) add(decisions_[i]);
  writer.array(codes);
  std::vector<std::uint64_t> places;
  codes.clear();
  for (const auto& rejected : rejected_) {
    places.push_back(rejected.place);
    add(rejected.decision);
  }
  writer.array(places);
  writer.array(codes);
}

void EntryPairs::load_decisions(Reader& reader) {
  decisions_.assign(size(), {});
  if (reader.version() < kDecisionsSince) return;
  const auto code_at = [&reader](const std::vector<std::uint8_t>& codes, std::size_t i) {
    if (codes[2 * i] > DecisionCode::kLastVerdict) {
      reader.refuse("decisions", fmt::format("found the verdict {}, expected at most {}",
                                             codes[2 * i], DecisionCode::kLastVerdict));
    }
    return DecisionCode{codes[2 * i], codes[2 * i + 1]};
  };
  const bool has_any = reader.flag("has decisions");
  const auto decided = reader.array<std::uint8_t>("decisions", has_any ? 2 * size() : 0);
  for (std::size_t i = 0; has_any && i < size(); ++i) decisions_[i] = code_at(decided, i);
  const auto places = reader.array<std::uint64_t>("places of rejected pairs");
  const auto codes = reader.array<std::uint8_t>("decisions to reject", 2 * places.size());
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < last || places[i] > size()) {
      reader.refuse("places of rejected pairs", "found them out of order");
    }
    last = places[i];
    rejected_.push_back({last, code_at(codes, i)});
  }
}

EntryPairs EntryPairs::load(Reader& reader, bool vectors) {
  EntryPairs pairs;
  pairs.are_vectors_ = vectors;
  pairs.times_ = reader.finite_array<double>("times");
  const auto count = pairs.times_.size();
  for (const double time : pairs.times_) {
    if (std::abs(time) > kMaxTime) reader.refuse("times", "found one out of range");
  }
  pairs.ids_.resize(count, kNoId);
  const bool has_ids = reader.flag("has ids");
  for (std::size_t i = 0; has_ids && i < count; ++i) {
    pairs.ids_[i].low = reader.number<std::uint64_t>("id");
    pairs.ids_[i].high = reader.number<std::uint64_t>("id");
  }
  if (vectors) {
    pairs.x_dim_ = reader.number<std::uint32_t>("dimension of x");
    pairs.y_dim_ = reader.number<std::uint32_t>("dimension of y");
    pairs.x_values_ = reader.finite_array<float>("x", count * pairs.x_dim_);
    pairs.y_values_ = reader.finite_array<float>("y", count * pairs.y_dim_);
  } else {
    pairs.load_texts(reader);
  }
  pairs.load_decisions(reader);
  if (pairs.is_empty()) reader.refuse("times", "found none, expected one for each pair");
  return pairs;
}

void EntryPairs::load_texts(Reader& reader) {
  ends_ = reader.array<std::uint64_t>("ends of texts", 2 * size());
  bytes_ = reader.text("texts", SIZE_MAX);
  std::uint64_t last = 0;
  for (const auto end : ends_) {
    if (end < last) reader.refuse("ends of texts", "found them out of order");
    last = end;
  }
  if (last != bytes_.size()) {
    reader.refuse("texts", fmt::format("found {} bytes, expected {}", bytes_.size(), last));
  }
}

void Entry::save(Writer& writer) const {
  save_place(place, kind, writer);
  switch (kind) {
    case EntryKind::kTexts:
    case EntryKind::kVectors: pairs.save(writer); break;
    case EntryKind::kFreeze: writer.number(extent); break;
    case EntryKind::kAdopt: writer.text(adoption); break;
    case EntryKind::kAbandon: break;
    case EntryKind::kEvery: writer.number(every); break;
    case EntryKind::kCut: writer.text(cut); break;
  }
}

Entry Entry::load(Reader& reader) {
  Entry entry;
  entry.place.stream = reader.number<std::uint32_t>("stream");
  entry.place.number = reader.number<std::uint64_t>("number of the entry");
  entry.place.pairs = reader.number<std::uint64_t>("pairs before it");
  entry.kind = reader.enumerator("kind of entry", EntryKind::kCut);
  switch (entry.kind) {
    case EntryKind::kTexts: entry.pairs = EntryPairs::load(reader, false); break;
    case EntryKind::kVectors: entry.pairs = EntryPairs::load(reader, true); break;
    case EntryKind::kFreeze: entry.extent = reader.enumerator("extent", PairExtent::kAll); break;
    case EntryKind::kAdopt: entry.adoption = reader.text("adoption", SIZE_MAX); break;
    case EntryKind::kAbandon: break;
    case EntryKind::kEvery: entry.every = reader.number<std::uint64_t>("refresh"); break;
    case EntryKind::kCut: entry.cut = reader.text("cut", SIZE_MAX); break;
  }
  return entry;
}

Entry parse_entry(std::span<const char> bytes, const EntryPlace& place) {
  auto entry = parse<Entry>(bytes);
  if (entry.place != place) {
    throw Error(
        fmt::format("found entry {} of stream {} after {} pairs, expected {} of {} after {}",
                    entry.place.number, entry.place.stream, entry.place.pairs, place.number,
                    place.stream, place.pairs));
  }
  return entry;
}

std::string seal_pairs(const EntryPlace& place, const EntryPairs& pairs) {
  Writer writer;
  save_place(place, pairs.are_vectors() ? EntryKind::kVectors : EntryKind::kTexts, writer);
  pairs.save(writer);
  return seal(Entry::kArchiveKind, writer.bytes());
}

}  // namespace phsic
