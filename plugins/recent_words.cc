#include "plugins/recent_words.h"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace phsic::plugins {
namespace {

// Four for each text of a batch of 256 pairs.
constexpr std::size_t kPlaces = 2048;

// The number of tokenizers with this identity.
std::shared_ptr<const std::uint64_t> number_of(const std::string& identity) {
  static std::mutex mutex;  // guards what follows
  static std::map<std::string, std::weak_ptr<const std::uint64_t>> numbers;
  static std::uint64_t next = 1;
  const std::lock_guard lock(mutex);
  std::erase_if(numbers, [](const auto& known) { return known.second.expired(); });
  auto& known = numbers[identity];
  auto number = known.lock();
  if (number == nullptr) {
    number = std::make_shared<const std::uint64_t>(next++);
    known = number;
  }
  return number;
}

}  // namespace

bool RecentWords::holds(const Place& place, std::uint64_t cut, std::string_view text) const {
  return place.cut == cut && std::string_view(bytes_).substr(place.bytes, place.text_size) == text;
}

std::size_t RecentWords::held_bytes() const {
  return bytes_.size() + ends_.size() * sizeof(std::size_t);
}

void RecentWords::forget() {
  places_.assign(kPlaces, Place());
  bytes_.clear();
  ends_.clear();
}

// Puts the words in tokens_ to the text's place.
void RecentWords::keep(Place& place, std::uint64_t cut, std::string_view text) {
  const Place kept = {
      cut, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(text.size()),
      static_cast<std::uint32_t>(ends_.size()), static_cast<std::uint32_t>(tokens_.size())};
  const auto ends = tokens_.ends();
  bytes_.append(text).append(tokens_.bytes());
  ends_.insert(ends_.end(), ends.begin(), ends.end());
  place = kept;  // last: nothing is kept of a text if memory ran out
}

Words RecentWords::split(std::uint64_t cut, const text::Tokenizer& tokenizer,
                         std::string_view text) {
  if (places_.empty() || held_bytes() > kMostBytes) forget();
  auto& place = places_[(std::hash<std::string_view>()(text) + cut) % kPlaces];
  if (!holds(place, cut, text)) {
    ++misses_;
    tokenizer.split(text, tokens_);
    keep(place, cut, text);
  }
  return {bytes_.data() + place.bytes + place.text_size, ends_.data() + place.ends, place.words};
}

SharedTokenizer::SharedTokenizer(text::Tokenizer tokenizer)
    : tokenizer_(std::move(tokenizer)), cut_(number_of(tokenizer_.identity())) {}

RecentWords& SharedTokenizer::recent() {
  thread_local RecentWords recent;
  return recent;
}

}  // namespace phsic::plugins
