#include "wire/request_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "wire/printable.h"

namespace phsic {
namespace {

void append_pair(std::string& to, const TextPairs& pairs, std::span<const std::string_view> ids,
                 std::size_t i) {
  const auto x = to_json(pairs.x[i]);
  const auto y = to_json(pairs.y[i]);
  const auto out = std::back_inserter(to);
  if (pairs.times.empty() && ids.empty()) {
    fmt::format_to(out, "[{},{}]", x, y);
    return;
  }
  fmt::format_to(out, R"({{"x":{},"y":{})", x, y);
  if (!ids.empty()) fmt::format_to(out, R"(,"id":{})", to_json(ids[i]));
  if (!pairs.times.empty()) fmt::format_to(out, R"(,"time":{})", pairs.times[i]);
  to += '}';
}

}  // namespace

std::string RequestLimits::too_large(std::string_view what) const {
  return fmt::format("the {} is larger than the {} bytes that are sent to a daemon", what, bytes);
}

RequestWriter::RequestWriter(std::string_view op, std::string_view stream) {
  add_text("op", op);
  if (!stream.empty()) add_text("stream", stream);
}

RequestWriter RequestWriter::for_ingest(std::string_view stream) {
  RequestWriter request;
  if (!stream.empty()) request.add_text("stream", stream);
  return request;
}

void RequestWriter::begin(std::string_view name) {
  fmt::format_to(std::back_inserter(members_), "{}\"{}\":", members_.empty() ? "" : ",", name);
}

void RequestWriter::add_true(std::string_view name) {
  begin(name);
  members_ += "true";
}

void RequestWriter::add_number(std::string_view name, std::uint64_t number) {
  begin(name);
  members_ += fmt::format("{}", number);
}

void RequestWriter::add_text(std::string_view name, std::string_view text) {
  begin(name);
  members_ += to_json(text);
}

// write(i) appends element i to members_.
template <class Write>
std::size_t RequestWriter::add_array(std::string_view name, std::size_t count,
                                     const RequestLimits& limits, const Write& write) {
  count = std::min(count, limits.pairs);
  const auto most_together = std::min(kRequestBytes, limits.bytes);
  const auto before = members_.size();
  begin(name);
  members_ += '[';
  std::size_t taken = 0;
  while (taken < count) {
    const auto end = members_.size();
    if (taken > 0) members_ += ',';
    write(taken);
    if (members_.size() > (taken > 0 ? most_together : limits.bytes)) {
      members_.resize(end);
      break;
    }
    ++taken;
  }
  members_ += ']';
  if (taken == 0) members_.resize(before);
  return taken;
}

std::size_t RequestWriter::add_pairs(const TextPairs& pairs, std::span<const std::string_view> ids,
                                     std::size_t first, const RequestLimits& limits) {
  return add_array("pairs", pairs.x.size() - first, limits,
                   [&](std::size_t i) { append_pair(members_, pairs, ids, first + i); });
}

std::size_t RequestWriter::add_texts(std::string_view name, std::span<const std::string_view> texts,
                                     std::size_t first, const RequestLimits& limits) {
  return add_array(name, texts.size() - first, limits,
                   [&](std::size_t i) { members_ += to_json(texts[first + i]); });
}

void RequestWriter::add_no_pairs() {
  begin("pairs");
  members_ += "[]";
}

std::string RequestWriter::json() const { return fmt::format("{{{}}}", members_); }

std::string RequestWriter::json(std::uint64_t id) const {
  return fmt::format("{{\"id\":{},{}}}", id, members_);
}

}  // namespace phsic
