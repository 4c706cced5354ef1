// JSON that came over the wire. It may hold anything: whoever reads it gets what they asked for, or
// an Error that says what was found and expected.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace phsic {

// An object of a Message, valid as long as that. A member that is null is as good as missing.
class JsonObject {
 public:
  explicit JsonObject(simdjson::dom::object object) : object_(object) {}

  // None if it is missing.
  [[nodiscard]] std::optional<simdjson::dom::element> find(std::string_view name) const;
  [[nodiscard]] std::optional<bool> find_flag(std::string_view name) const;
  [[nodiscard]] std::optional<double> find_number(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> find_count(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> find_text(std::string_view name) const;
  [[nodiscard]] std::optional<JsonObject> find_object(std::string_view name) const;
  [[nodiscard]] std::optional<simdjson::dom::array> find_array(std::string_view name) const;

  // The same, where it must not be missing.
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::uint64_t count(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] JsonObject object(std::string_view name) const;
  [[nodiscard]] simdjson::dom::array array(std::string_view name) const;

  // All of its members, in order.
  [[nodiscard]] const simdjson::dom::object& members() const { return object_; }

 private:
  simdjson::dom::object object_;
};

class Message {
 public:
  // Throws an Error unless the bytes are one JSON object.
  explicit Message(std::string_view bytes);

  [[nodiscard]] const JsonObject& root() const { return root_; }
  // As one line, without what belongs to the exchange and not to the answer: `ok` and `id`.
  [[nodiscard]] std::string answer() const;

 private:
  // Behind a pointer: what it parsed must not move.
  std::unique_ptr<simdjson::dom::parser> parser_;
  JsonObject root_;
};

// For messages: "a number", "an array".
[[nodiscard]] std::string_view describe(simdjson::dom::element_type type);

// Throws an Error: `name` is `found`, expected `expected`.
[[noreturn]] void refuse_member(std::string_view name, std::string_view found,
                                std::string_view expected);

}  // namespace phsic
