// Decoding: from the frames of a message to a Job, or to what is wrong with it.
//
// Every byte is taken for hostile: sizes are checked before anything is allocated by them, and what
// cannot be read changes nothing. A Decoder belongs to one thread.
#pragma once

#include <simdjson.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "daemon/serving/job.h"

namespace phsic {

class Decoder {
 public:
  struct Limits {
    std::size_t pairs = 65536;  // of one message
  };
  explicit Decoder(Limits limits) : limits_(limits) {}

  // The frames of a request after its envelope. Throws a RequestError; what was read until then,
  // the id above all, is in the job.
  void request(std::span<const std::string_view> frames, Job& job);

  // The frames of a message on ingest: pairs to score and learn. Throws a RequestError. `strict`
  // refuses members that are not known. False: it is an event of another daemon's feed, which has
  // no pairs.
  [[nodiscard]] bool message(std::span<const std::string_view> frames, bool strict, Job& job);

 private:
  using Object = simdjson::dom::object;
  using Element = simdjson::dom::element;

  [[nodiscard]] Object header(std::string_view frame);
  void read_vectors(std::span<const std::string_view> frames, Element x, Element y, Job& job) const;
  void read_pairs(Element pairs, Job& job) const;
  void read_rank(Element x, Element candidates, Job& job) const;

  Limits limits_;
  simdjson::dom::parser parser_;
};

}  // namespace phsic
