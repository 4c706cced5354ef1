// What every parser of saved state is held to, whatever bytes it is given.
//
// It refuses them by an Error and nothing else, or it gives an object that can be saved, parsed
// again to the same bytes, and used: no crash, no undefined behaviour, no hang. A broken promise
// aborts, which is how the fuzzer hears of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/archive.h"
#include "core/drift.h"
#include "core/learner.h"
#include "core/model.h"
#include "core/pmi.h"

namespace phsic::fuzz {

// Aborts and says why, unless `kept`.
void require(bool kept, const char* promise);

// Each puts its object to work. Objects too large to do so in a moment are left alone.
template <class T>
void use(Learner<T> learner);
template <class T>
void use(const Model<T>& model);
template <class T>
void use(const PivotChange<T>& change);
void use(CountPmi pmi);
void use(DriftAlarm alarm);

template <class Object>
[[nodiscard]] std::optional<Object> parse_or_refuse(std::span<const char> bytes) {
  try {
    return parse<Object>(bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

template <class Object>
void check_bytes(std::span<const char> bytes) {
  const std::optional<Object> object = parse_or_refuse<Object>(bytes);
  if (!object) return;
  const std::string saved = serialise(*object);
  const std::optional<Object> again = parse_or_refuse<Object>(saved);
  require(again.has_value(), "what was saved can be parsed");
  require(serialise(*again) == saved, "what was parsed is what was saved");
  try {
    use(*again);
  } catch (const Error&) {
    return;  // refused, not crashed
  }
}

// The input as a payload, in an envelope whose checksum is right.
template <class Object>
void check_payload(const std::uint8_t* data, std::size_t size) {
  const std::string payload(reinterpret_cast<const char*>(data), size);
  check_bytes<Object>(seal(Object::kArchiveKind, payload));
}

}  // namespace phsic::fuzz
