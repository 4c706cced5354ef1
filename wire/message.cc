#include "wire/message.h"

#include <fmt/format.h>

#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

namespace dom = simdjson::dom;

JsonObject parse(dom::parser& parser, std::string_view bytes) {
  dom::element root;
  if (const auto error = parser.parse(bytes.data(), bytes.size()).get(root)) {
    throw Error(
        fmt::format("found {}, expected JSON: {}", quote(bytes), simdjson::error_message(error)));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    throw Error(fmt::format("found {}, expected a JSON object", describe(root.type())));
  }
  return JsonObject(object);
}

template <class Value>
std::optional<Value> take(const std::optional<dom::element>& element, std::string_view name,
                          std::string_view expected) {
  if (!element) return std::nullopt;
  Value value{};
  if (element->get(value) != simdjson::SUCCESS) {
    refuse_member(name, describe(element->type()), expected);
  }
  return value;
}

template <class Value>
Value require(const std::optional<Value>& value, std::string_view name, std::string_view expected) {
  if (!value) refuse_member(name, "missing", expected);
  return *value;
}

constexpr std::string_view kFlag = "true or false";
constexpr std::string_view kNumber = "a number";
constexpr std::string_view kCount = "a whole number from 0";
constexpr std::string_view kText = "a string";
constexpr std::string_view kObject = "an object";
constexpr std::string_view kArray = "an array";

}  // namespace

std::string_view describe(dom::element_type type) {
  switch (type) {
    case dom::element_type::ARRAY: return kArray;
    case dom::element_type::OBJECT: return kObject;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE: return kNumber;
    case dom::element_type::STRING: return kText;
    case dom::element_type::BOOL: return kFlag;
    case dom::element_type::NULL_VALUE: return "null";
  }
  return "something else";
}

void refuse_member(std::string_view name, std::string_view found, std::string_view expected) {
  throw Error(
      fmt::format("the daemon's \"{}\" is {}, expected {}", printable(name), found, expected));
}

std::optional<dom::element> JsonObject::find(std::string_view name) const {
  dom::element element;
  if (object_.at_key(name).get(element) != simdjson::SUCCESS) return std::nullopt;
  if (element.is_null()) return std::nullopt;
  return element;
}

std::optional<bool> JsonObject::find_flag(std::string_view name) const {
  return take<bool>(find(name), name, kFlag);
}
std::optional<double> JsonObject::find_number(std::string_view name) const {
  return take<double>(find(name), name, kNumber);
}
std::optional<std::uint64_t> JsonObject::find_count(std::string_view name) const {
  return take<std::uint64_t>(find(name), name, kCount);
}
std::optional<std::string_view> JsonObject::find_text(std::string_view name) const {
  return take<std::string_view>(find(name), name, kText);
}
std::optional<JsonObject> JsonObject::find_object(std::string_view name) const {
  const auto found = take<dom::object>(find(name), name, kObject);
  return found ? std::optional(JsonObject(*found)) : std::nullopt;
}
std::optional<dom::array> JsonObject::find_array(std::string_view name) const {
  return take<dom::array>(find(name), name, kArray);
}

double JsonObject::number(std::string_view name) const {
  return require(find_number(name), name, kNumber);
}
std::uint64_t JsonObject::count(std::string_view name) const {
  return require(find_count(name), name, kCount);
}
std::string_view JsonObject::text(std::string_view name) const {
  return require(find_text(name), name, kText);
}
JsonObject JsonObject::object(std::string_view name) const {
  return require(find_object(name), name, kObject);
}
dom::array JsonObject::array(std::string_view name) const {
  return require(find_array(name), name, kArray);
}

Message::Message(std::string_view bytes)
    : parser_(std::make_unique<dom::parser>()), root_(parse(*parser_, bytes)) {}

std::string Message::answer() const {
  std::string line = "{";
  for (const auto [name, value] : root_.members()) {
    if (name == "ok" || name == "id") continue;
    if (line.size() > 1) line += ',';
    // A name may need escaping as much as a value.
    line += fmt::format("{}:{}", to_json(name), simdjson::minify(value));
  }
  return line + "}";
}

}  // namespace phsic
