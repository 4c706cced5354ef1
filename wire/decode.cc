#include "wire/decode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>

#include "core/stream_config.h"
#include "wire/json_fault.h"
#include "wire/json_text.h"
#include "wire/via.h"

namespace phsic {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

static_assert(std::endian::native == std::endian::little, "vectors are copied as they come");

constexpr std::size_t kLongestId = 256;
constexpr std::size_t kMostParts = 100;
constexpr std::string_view kMessage = "a message";

[[noreturn]] void refuse(const std::string& message) { throw RequestError("bad_request", message); }

std::string_view kind_of(element value) {
  switch (value.type()) {
    case element_type::ARRAY: return "an array";
    case element_type::OBJECT: return "an object";
    case element_type::STRING: return "a text";
    case element_type::BOOL: return "a boolean";
    case element_type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

std::string_view text_of(element value, std::string_view what) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    refuse(fmt::format("{} is {}, expected a text", what, kind_of(value)));
  }
  return text;
}

bool flag_of(element value, std::string_view what) {
  bool flag = false;
  if (value.get(flag) != simdjson::SUCCESS) {
    refuse(fmt::format("{} is {}, expected true or false", what, kind_of(value)));
  }
  return flag;
}

// How a message shows a value: a number as it is, anything else by its kind.
std::string shown(element value) {
  return value.is_number() ? simdjson::minify(value) : std::string(kind_of(value));
}

std::uint64_t count_of(element value, std::string_view what, std::uint64_t least,
                       std::uint64_t most) {
  std::uint64_t count = 0;
  if (value.get(count) != simdjson::SUCCESS || count < least || count > most) {
    refuse(fmt::format("{} is {}, expected a whole number from {} to {}", what, shown(value), least,
                       most));
  }
  return count;
}

// The id as JSON text.
std::string id_of(element value, std::string_view what) {
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return fmt::format("{}", number);
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    refuse(fmt::format("{} is {}, expected a text or a whole number", what, kind_of(value)));
  }
  if (text.size() > kLongestId) {
    refuse(fmt::format("{} has {} bytes, expected {} or fewer", what, text.size(), kLongestId));
  }
  std::string json;
  append_json_text(json, text);
  return json;
}

double time_of(element value, std::string_view what) {
  double time = 0;
  if (value.get(time) != simdjson::SUCCESS || !(std::abs(time) <= kMaxTime)) {
    refuse(fmt::format("{} is {}, expected seconds since 1970, at most {:g}", what, shown(value),
                       kMaxTime));
  }
  return time;
}

// Durable or not.
bool promise_of(element value) {
  const auto name = text_of(value, "promise");
  if (name != "durable" && name != "accepted") {
    refuse(fmt::format("promise is {}, expected \"durable\" or \"accepted\"", quoted_json(name)));
  }
  return name == "durable";
}

struct OperationName {
  std::string_view name;
  Operation operation;
  // Members besides op, stream and id.
  std::initializer_list<std::string_view> members;
};

const std::array<OperationName, 10>& operations() {
  static const std::array<OperationName, 10> kAll = {{
      {"score", Operation::kScore, {"pairs", "x", "y", "learn", "wait", "promise"}},
      {"learn", Operation::kLearn, {"pairs", "x", "y", "wait", "promise"}},
      {"score-and-learn", Operation::kScore, {"pairs", "x", "y", "wait", "promise"}},
      {"rank", Operation::kRank, {"x", "y", "candidates"}},
      {"explain", Operation::kExplain, {"pairs", "pair_id", "top"}},
      {"stats", Operation::kStats, {"calibration"}},
      {"streams", Operation::kStreams, {}},
      {"refresh", Operation::kRefresh, {"all"}},
      {"snapshot", Operation::kSnapshot, {}},
      {"ping", Operation::kPing, {}},
  }};
  return kAll;
}

const OperationName& operation_of(element op) {
  const auto name = text_of(op, "op");
  for (const auto& known : operations()) {
    if (known.name == name) return known;
  }
  std::vector<std::string_view> names;
  for (const auto& known : operations()) names.push_back(known.name);
  throw RequestError("unknown_op", fmt::format("op is {}, expected one of {}", quoted_json(name),
                                               fmt::join(names, ", ")));
}

template <class Members>
void require_known(object header, const Members& members, std::string_view of) {
  for (const auto& [key, value] : header) {
    bool known = key == "stream" || key == "id" || (key == "op" && of != kMessage);
    for (const std::string_view member : members) known = known || member == key;
    if (!known) {
      refuse(fmt::format("{} is no member of {}, expected one of stream, id{}{}", quoted_json(key),
                         of, members.size() > 0 ? ", " : "", fmt::join(members, ", ")));
    }
  }
}

std::optional<element> member(object of, std::string_view name) {
  element value;
  if (of.at_key(name).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

struct Shape {
  std::size_t rows = 0;
  std::size_t dim = 0;
};

Shape shape_of(element value, std::string_view name) {
  object shape;
  if (value.get(shape) != simdjson::SUCCESS) {
    refuse(fmt::format("{} is {}, expected {{\"rows\": N, \"dim\": D}}", name, kind_of(value)));
  }
  const auto rows = member(shape, "rows");
  const auto dim = member(shape, "dim");
  if (!rows || !dim || shape.size() != 2) {
    refuse(fmt::format("{} has other members, expected rows and dim", name));
  }
  return {count_of(*rows, fmt::format("{}.rows", name), 0, UINT32_MAX),
          count_of(*dim, fmt::format("{}.dim", name), 1, kMaxDimension)};
}

void copy_floats(std::string_view frame, const Shape& shape, std::string_view name,
                 std::vector<float>& out) {
  const auto expected = std::uint64_t{shape.rows} * shape.dim * sizeof(float);
  if (frame.size() != expected) {
    throw RequestError("wrong_shape",
                       fmt::format("the frame of {} has {} bytes, expected {} for {} rows of {}",
                                   name, frame.size(), expected, shape.rows, shape.dim));
  }
  out.resize(shape.rows * shape.dim);
  if (!frame.empty()) std::memcpy(out.data(), frame.data(), frame.size());
}

// Copies a text to where it stays. REQUIRES: room was reserved.
std::string_view keep(std::string_view text, std::string& bytes) {
  const auto start = bytes.size();
  bytes.append(text);
  return std::string_view(bytes).substr(start);
}

// A pair with names: x, y, and perhaps id and time.
void read_named_pair(object pair, bool strict, const std::string& what, PairBlock& out) {
  const auto x = member(pair, "x");
  const auto y = member(pair, "y");
  if (!x || !y) refuse(fmt::format("{} has no {}, expected x and y", what, x ? "y" : "x"));
  out.x.push_back(keep(text_of(*x, fmt::format("{}.x", what)), out.bytes));
  out.y.push_back(keep(text_of(*y, fmt::format("{}.y", what)), out.bytes));
  if (const auto id = member(pair, "id")) {
    out.ids.resize(out.x.size());
    out.ids.back() = id_of(*id, fmt::format("{}.id", what));
  }
  if (const auto time = member(pair, "time")) {
    out.times.resize(out.x.size(), std::numeric_limits<double>::quiet_NaN());
    out.times.back() = time_of(*time, fmt::format("{}.time", what));
  }
  for (const auto& [key, value] : pair) {
    const bool known = key == "x" || key == "y" || key == "id" || key == "time";
    if (strict && !known) {
      refuse(fmt::format("{} has a member {}, expected x, y, id and time", what, quoted_json(key)));
    }
  }
}

void read_pair(element pair, std::size_t i, PairBlock& out) {
  object named;
  if (pair.get(named) == simdjson::SUCCESS) {
    read_named_pair(named, true, fmt::format("pairs[{}]", i), out);
    return;
  }
  array two;
  if (pair.get(two) != simdjson::SUCCESS) {
    refuse(fmt::format("pairs[{}] is {}, expected [\"x\", \"y\"] or an object", i, kind_of(pair)));
  }
  if (two.size() != 2) {
    refuse(fmt::format("pairs[{}] has {} element{}, expected 2", i, two.size(),
                       two.size() == 1 ? "" : "s"));
  }
  const auto side = [&](std::size_t k) {
    std::string_view text;
    const element value = two.at(k).value_unsafe();
    if (value.get(text) == simdjson::SUCCESS) return keep(text, out.bytes);
    refuse(fmt::format("pairs[{}][{}] is {}, expected a text", i, k, kind_of(value)));
  };
  out.x.push_back(side(0));
  out.y.push_back(side(1));
}

// Where some pairs have an id or a time, gives the others an empty one, so that each has one.
void fill_gaps(PairBlock& pairs) {
  if (!pairs.ids.empty()) pairs.ids.resize(pairs.x.size());
  if (!pairs.times.empty()) {
    pairs.times.resize(pairs.x.size(), std::numeric_limits<double>::quiet_NaN());
  }
}

// Whether the message is an event of another daemon's feed. Its `pairs`, if any, is a number.
bool is_event(object head) {
  const auto pairs = member(head, "pairs");
  const bool has_pairs = member(head, "x") || member(head, "y") || (pairs && pairs->is_array());
  return !has_pairs && member(head, "event") && member(head, "seq");
}

// Reads which daemons the pair came through. A publisher that is no phsicd may use `via` for
// anything, so other values are passed over.
void read_via(object head, std::vector<std::string>& via) {
  const auto found = member(head, "via");
  array names;
  if (!found || found->get(names) != simdjson::SUCCESS) return;
  for (const auto value : names) {
    std::string_view name;
    if (value.get(name) != simdjson::SUCCESS || name.size() > kLongestId) continue;
    via.emplace_back(name);
    if (via.size() == kMostDaemons) {
      refuse(fmt::format("the pair came through {} daemons or more, expected fewer", kMostDaemons));
    }
  }
}

// What is wanted, besides the pairs.
void read_options(object head, const OperationName& known, Request& request) {
  if (const auto stream = member(head, "stream")) request.stream = text_of(*stream, "stream");
  request.scores = known.operation == Operation::kScore || known.operation == Operation::kRank;
  request.learns = known.name == "learn" || known.name == "score-and-learn";
  if (const auto learn = member(head, "learn")) request.learns = flag_of(*learn, "learn");
  if (const auto wait = member(head, "wait")) request.waits = flag_of(*wait, "wait");
  if (request.waits && !request.learns)
    refuse("wait is true, expected it only where pairs are learned");
  if (const auto promise = member(head, "promise")) request.durable = promise_of(*promise);
  if (request.durable && !request.learns) {
    refuse("found a promise, expected it only where pairs are learned");
  }
  if (const auto all = member(head, "all")) request.all = flag_of(*all, "all");
  if (const auto with = member(head, "calibration"))
    request.calibration = flag_of(*with, "calibration");
  if (const auto top = member(head, "top")) request.top = count_of(*top, "top", 1, kMostParts);
}

void require_frames(std::span<const std::string_view> frames, std::size_t expected) {
  if (frames.size() == expected) return;
  refuse(fmt::format("the message has {} frames, expected {}: {}", frames.size(), expected,
                     expected == 1 ? "one of JSON" : "JSON, x and y"));
}

}  // namespace

Decoder::Object Decoder::header(std::string_view frame) {
  element root;
  if (const auto error = parser_.parse(frame.data(), frame.size()).get(root)) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    const auto fault = json_fault(frame);
    refuse(
        fmt::format("the message is not JSON {}, expected an object",
                    fault.empty() ? fmt::format("({})", simdjson::error_message(error)) : fault));
  }
  object header;
  if (root.get(header) != simdjson::SUCCESS) {
    refuse(fmt::format("the message is {}, expected an object", kind_of(root)));
  }
  return header;
}

void Decoder::read_vectors(std::span<const std::string_view> frames, Element x, Element y,
                           Request& request) const {
  require_frames(frames, 3);
  auto& pairs = request.pairs;
  const auto shape_x = shape_of(x, "x");
  const auto shape_y = shape_of(y, "y");
  const auto expected_x = request.operation == Operation::kRank ? 1 : shape_y.rows;
  if (shape_x.rows != expected_x) {
    throw RequestError("wrong_shape",
                       fmt::format("x has {} rows, expected {}", shape_x.rows, expected_x));
  }
  if (shape_y.rows > limits_.pairs) {
    throw RequestError("too_large", fmt::format("found {} rows, expected {} or fewer", shape_y.rows,
                                                limits_.pairs));
  }
  copy_floats(frames[1], shape_x, "x", pairs.x_values);
  copy_floats(frames[2], shape_y, "y", pairs.y_values);
  pairs.are_vectors = true;
  pairs.x_rows = shape_x.rows;
  pairs.y_rows = shape_y.rows;
  pairs.x_dim = shape_x.dim;
  pairs.y_dim = shape_y.dim;
}

void Decoder::read_pairs(Element pairs, Request& request) const {
  array all;
  if (pairs.get(all) != simdjson::SUCCESS) {
    refuse(fmt::format("pairs is {}, expected an array", kind_of(pairs)));
  }
  std::size_t count = 0;
  for ([[maybe_unused]] const auto pair : all) ++count;
  if (count > limits_.pairs) {
    throw RequestError("too_large",
                       fmt::format("found {} pairs, expected {} or fewer", count, limits_.pairs));
  }
  request.pairs.x.reserve(count);
  request.pairs.y.reserve(count);
  std::size_t i = 0;
  for (const auto pair : all) read_pair(pair, i++, request.pairs);
  fill_gaps(request.pairs);
}

void Decoder::read_rank(Element x, Element candidates, Request& request) const {
  request.pairs.x.push_back(keep(text_of(x, "x"), request.pairs.bytes));
  array all;
  if (candidates.get(all) != simdjson::SUCCESS) {
    refuse(fmt::format("candidates is {}, expected an array", kind_of(candidates)));
  }
  std::size_t j = 0;
  for (const auto candidate : all) {
    if (j == limits_.pairs) {
      throw RequestError("too_large", fmt::format("found more than {} candidates", limits_.pairs));
    }
    std::string_view text;
    if (candidate.get(text) != simdjson::SUCCESS) {
      refuse(fmt::format("candidates[{}] is {}, expected a text", j, kind_of(candidate)));
    }
    request.pairs.y.push_back(keep(text, request.pairs.bytes));
    ++j;
  }
}

void Decoder::request(std::span<const std::string_view> frames, Request& request) {
  if (frames.empty()) refuse("the message has no frame, expected one of JSON");
  const auto head = header(frames[0]);
  if (const auto id = member(head, "id")) request.id = id_of(*id, "id");
  const auto op = member(head, "op");
  if (!op) refuse("there is no op, expected one such as \"score\"");
  const auto& known = operation_of(*op);
  request.operation = known.operation;
  require_known(head, known.members, known.name);
  read_options(head, known, request);
  if (const auto id = member(head, "pair_id")) {
    request.pair_id = id_of(*id, "pair_id");
    if (member(head, "pairs")) refuse("found pairs and pair_id, expected one of them");
    require_frames(frames, 1);
    return;
  }

  const auto pairs = member(head, "pairs");
  const auto x = member(head, "x");
  const auto y = member(head, "y");
  const auto candidates = member(head, "candidates");
  // Unescaped texts are never longer than they were: views into the bytes stay valid.
  request.pairs.bytes.reserve(frames[0].size());
  const bool takes_pairs = request.operation == Operation::kScore || request.learns ||
                           request.operation == Operation::kLearn ||
                           request.operation == Operation::kExplain;
  if (takes_pairs && !pairs && !(x && y)) refuse("there are no pairs, expected an array of them");
  if (pairs && (x || y)) refuse("found pairs and x or y, expected one of them");
  if (request.operation == Operation::kRank) {
    if (x && candidates && !y) {
      read_rank(*x, *candidates, request);
    } else if (x && y && !candidates) {
      read_vectors(frames, *x, *y, request);
      return;
    } else {
      refuse("expected x and candidates, or vectors x and y");
    }
  } else if (pairs) {
    read_pairs(*pairs, request);
  } else if (x && y) {
    read_vectors(frames, *x, *y, request);
    return;
  }
  if (request.operation == Operation::kExplain && request.pairs.size() != 1) {
    refuse(fmt::format("found {} pairs, expected one to explain", request.pairs.size()));
  }
  require_frames(frames, 1);
}

bool Decoder::message(std::span<const std::string_view> frames, bool strict, Request& request) {
  if (frames.empty()) refuse("the message has no frame, expected one of JSON");
  const auto head = header(frames[0]);
  if (!strict) {
    if (is_event(head)) return false;
    read_via(head, request.via);
  }
  request.operation = Operation::kScore;
  request.scores = true;
  request.learns = true;
  if (const auto stream = member(head, "stream")) request.stream = text_of(*stream, "stream");
  request.pairs.bytes.reserve(frames[0].size());
  static constexpr std::array<std::string_view, 4> kMembers = {"pairs", "x", "y", "time"};
  if (strict) require_known(head, kMembers, kMessage);
  const auto x = member(head, "x");
  const auto y = member(head, "y");
  if (const auto pairs = member(head, "pairs")) {
    if (x || y) refuse("found pairs and x or y, expected one of them");
    if (strict && (member(head, "id") || member(head, "time"))) {
      refuse("found id or time beside pairs, expected them in each pair");
    }
    read_pairs(*pairs, request);
  } else if (x && y && x->is_object()) {
    read_vectors(frames, *x, *y, request);
    return true;
  } else {
    read_named_pair(head, false, "the message", request.pairs);
  }
  require_frames(frames, 1);
  return true;
}

}  // namespace phsic
