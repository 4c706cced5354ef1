// Saved state as bytes: little-endian, versioned, checksummed, the same on every machine.
//
//   "PHSIC\r\n\0"  kind (4 letters)  version u32  payload size u64  payload  XXH3-64 of all before
//
// `serialise(object)` and `parse<Object>(bytes)` work for every type that names its kind
// (`static constexpr std::string_view kArchiveKind`) and has `save(Writer&)` and
// `static load(Reader&)`. A parse either gives the very object that was saved or throws an Error
// that names the field, what was found and what was expected; it never allocates more than the
// input is long. Thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"

namespace phsic {

// The version that is written, and the oldest that can still be read.
inline constexpr std::uint32_t kArchiveVersion = 4;
inline constexpr std::uint32_t kOldestArchiveVersion = 2;

namespace archive_detail {

template <class S>
using Bits = std::conditional_t<
    sizeof(S) == 1, std::uint8_t,
    std::conditional_t<sizeof(S) == 2, std::uint16_t,
                       std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>>>;

// A number's bits in little-endian order; its own inverse.
template <class S>
[[nodiscard]] constexpr Bits<S> little(Bits<S> bits) {
  if constexpr (std::endian::native == std::endian::little || sizeof(S) == 1) {
    return bits;
  } else {
    Bits<S> swapped = 0;
    for (std::size_t i = 0; i < sizeof(S); ++i) {
      swapped = static_cast<Bits<S>>((swapped << 8) | ((bits >> (8 * i)) & 0xff));
    }
    return swapped;
  }
}

}  // namespace archive_detail

class Writer {
 public:
  template <class S>
  void number(S value) {
    static_assert(std::is_arithmetic_v<S> || std::is_enum_v<S>);
    const auto bits = archive_detail::little<S>(std::bit_cast<archive_detail::Bits<S>>(value));
    bytes_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }

  // Its length, then its numbers.
  template <class S>
  void array(std::span<const S> values) {
    number<std::uint64_t>(values.size());
    if constexpr (std::endian::native == std::endian::little) {
      bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    } else {
      for (const S value : values) number(value);
    }
  }
  template <class S>
  void array(const std::vector<S>& values) {
    array(std::span<const S>(values));
  }

  void text(std::string_view value) { array(std::span<const char>(value)); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const char> payload, std::uint32_t version = kArchiveVersion)
      : rest_(payload), size_(payload.size()), version_(version) {}

  // The archive's version. A field that came with a later version must not be read from it.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  // The bytes that were not read yet.
  [[nodiscard]] std::span<const char> rest() const { return rest_; }

  // `field` names the value in error messages.
  template <class S>
  [[nodiscard]] S number(const char* field) {
    const std::span<const char> raw = take(field, sizeof(S));
    archive_detail::Bits<S> bits{};
    std::memcpy(&bits, raw.data(), sizeof bits);
    return std::bit_cast<S>(archive_detail::little<S>(bits));
  }

  // A whole number that must lie in [low, high].
  template <class S>
  [[nodiscard]] S number_in(const char* field, S low, S high) {
    const S value = number<S>(field);
    if (value < low || value > high) refuse_range(field, double(value), double(low), double(high));
    return value;
  }

  // An enumerator up to `last`.
  template <class E>
  [[nodiscard]] E enumerator(const char* field, E last) {
    using Code = std::underlying_type_t<E>;
    return static_cast<E>(number_in<Code>(field, Code{0}, static_cast<Code>(last)));
  }

  [[nodiscard]] bool flag(const char* field) { return number_in<std::uint8_t>(field, 0, 1) == 1; }

  // A finite floating-point number; NaN and infinities are refused.
  [[nodiscard]] double finite(const char* field);

  template <class S>
  [[nodiscard]] std::vector<S> array(const char* field) {
    const auto count = number<std::uint64_t>(field);
    if (count > rest_.size() / sizeof(S)) refuse_count(field, count, rest_.size() / sizeof(S));
    const std::span<const char> raw = take(field, count * sizeof(S));
    std::vector<S> values(count);
    if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
    if constexpr (std::endian::native != std::endian::little) {
      for (S& value : values) {
        value = std::bit_cast<S>(
            archive_detail::little<S>(std::bit_cast<archive_detail::Bits<S>>(value)));
      }
    }
    return values;
  }

  // An array that must have `expected` entries.
  template <class S>
  [[nodiscard]] std::vector<S> array(const char* field, std::size_t expected) {
    std::vector<S> values = array<S>(field);
    if (values.size() != expected) refuse_size(field, values.size(), expected);
    return values;
  }

  // The same, all finite.
  template <class S>
  [[nodiscard]] std::vector<S> finite_array(const char* field) {
    std::vector<S> values = array<S>(field);
    require_finite(field, values);
    return values;
  }
  template <class S>
  [[nodiscard]] std::vector<S> finite_array(const char* field, std::size_t expected) {
    std::vector<S> values = array<S>(field, expected);
    require_finite(field, values);
    return values;
  }

  [[nodiscard]] std::string text(const char* field, std::size_t longest);

  // Throws the Error for a field whose value makes no sense; `why` says found and expected.
  [[noreturn]] void refuse(const char* field, const std::string& why) const;

  // Throws if anything is left.
  void finish() const;

 private:
  std::span<const char> take(const char* field, std::size_t size);
  [[noreturn]] void refuse_range(const char* field, double found, double low, double high) const;
  [[noreturn]] void refuse_count(const char* field, std::uint64_t found, std::size_t room) const;
  [[noreturn]] void refuse_size(const char* field, std::size_t found, std::size_t expected) const;
  void require_finite(const char* field, std::span<const float> values) const;
  void require_finite(const char* field, std::span<const double> values) const;

  std::span<const char> rest_;
  std::size_t size_;
  std::uint32_t version_;
};

// Puts a payload into its envelope, and checks and opens one of any version that can be read.
[[nodiscard]] std::string seal(std::string_view kind, const std::string& payload);
[[nodiscard]] Reader unseal(std::string_view kind, std::span<const char> bytes);

template <class Object>
[[nodiscard]] std::string serialise(const Object& object) {
  Writer writer;
  object.save(writer);
  return seal(Object::kArchiveKind, writer.bytes());
}

template <class Object>
[[nodiscard]] Object parse(std::span<const char> bytes) {
  Reader reader = unseal(Object::kArchiveKind, bytes);
  Object object = Object::load(reader);
  reader.finish();
  return object;
}

}  // namespace phsic
