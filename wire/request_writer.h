// What is asked of a daemon, as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/batch.h"

namespace phsic {

// A message holds so many pairs and bytes at most, unless one pair alone is larger. Few enough that
// several are under way at once, and far from what a daemon refuses.
inline constexpr std::size_t kRequestPairs = 4096;
inline constexpr std::size_t kRequestBytes = std::size_t{1} << 20U;
// What a daemon takes unless it is told otherwise, less what else is in a message. Larger pairs are
// not sent, because the daemon would hang up.
inline constexpr std::size_t kMessageRest = 4096;
inline constexpr std::size_t kMostBytes = (std::size_t{4} << 20U) - kMessageRest;

// What a daemon takes of one message.
struct RequestLimits {
  std::size_t pairs = kRequestPairs;
  std::size_t bytes = kMostBytes;  // of a pair or text that comes alone

  // What is wrong with one that is larger.
  [[nodiscard]] std::string too_large(std::string_view what) const;
};

class RequestWriter {
 public:
  // Without a stream it is the only one of the daemon.
  RequestWriter(std::string_view op, std::string_view stream);
  // Pairs for the socket `ingest`, which knows no operations.
  [[nodiscard]] static RequestWriter for_ingest(std::string_view stream);

  void add_true(std::string_view name);
  void add_number(std::string_view name, std::uint64_t number);
  void add_text(std::string_view name, std::string_view text);

  // These take as many as have room, of those from `first` on, and say how many that are: none if
  // the first by itself is larger than `limits.bytes`. REQUIRES: there is a first.
  // `ids` are the pairs' or none.
  std::size_t add_pairs(const TextPairs& pairs, std::span<const std::string_view> ids,
                        std::size_t first, const RequestLimits& limits = {});
  std::size_t add_texts(std::string_view name, std::span<const std::string_view> texts,
                        std::size_t first, const RequestLimits& limits = {});
  // No pairs at all, to learn how much room there is.
  void add_no_pairs();

  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string json(std::uint64_t id) const;

 private:
  RequestWriter() = default;
  void begin(std::string_view name);
  template <class Write>
  std::size_t add_array(std::string_view name, std::size_t count, const RequestLimits& limits,
                        const Write& write);

  std::string members_;  // without braces
};

}  // namespace phsic
