// Decoding: from the frames of a message to a Request, or to what is wrong with it.
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

#include "wire/request.h"

namespace phsic {

class Decoder {
 public:
  struct Limits {
    std::size_t pairs = 65536;  // of one message
  };
  explicit Decoder(Limits limits) : limits_(limits) {}

  // The frames of a request after its envelope. Throws a RequestError; what was read until then,
  // the id above all, is in the request.
  void request(std::span<const std::string_view> frames, Request& request);

  // The frames of a message on ingest: pairs to score and learn. Throws a RequestError. `strict`
  // refuses members that are not known. False: it is an event of another daemon's feed, which has
  // no pairs.
  [[nodiscard]] bool message(std::span<const std::string_view> frames, bool strict,
                             Request& request);

 private:
  using Object = simdjson::dom::object;
  using Element = simdjson::dom::element;

  [[nodiscard]] Object header(std::string_view frame);
  void read_vectors(std::span<const std::string_view> frames, Element x, Element y,
                    Request& request) const;
  void read_pairs(Element pairs, Request& request) const;
  void read_rank(Element x, Element candidates, Request& request) const;

  Limits limits_;
  simdjson::dom::parser parser_;
};

}  // namespace phsic
