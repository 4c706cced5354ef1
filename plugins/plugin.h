// From a C++ class to the C interface of encoder.h: what every shipped plugin has in common.
//
//   class Hashing {
//    public:
//     static constexpr Nameplate kNameplate = {"hashing", "1.0", "what it does, in a line"};
//     static const OptionTable& options();
//     explicit Hashing(const Options& options);      // throws std::exception
//     [[nodiscard]] Facts facts() const;             // called once, after construction
//     // Throws BadText for a text that cannot be encoded.
//     void encode(const phsic_text* texts, std::size_t n, RowWriter& rows);
//   };
//   PHSIC_ENCODER(Hashing);
//
// encode() handles texts in order and ends each with rows.finish_row(), until rows.is_full().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "plugins/encoder.h"
#include "plugins/options.h"

namespace phsic::plugins {

struct Nameplate {
  const char* name;
  const char* version;
  const char* summary;
};

struct Facts {
  std::uint32_t dimension = 0;
  phsic_layout layout = PHSIC_DENSE;
  bool concurrent = true;
  std::string identity;
  std::uint32_t flags = 0;
};

// Thrown by encode() for the text after the last finished row.
class BadText : public std::runtime_error {
 public:
  explicit BadText(const std::string& message) : std::runtime_error(message) {}
};

// The caller's buffers, filled row by row.
class RowWriter {
 public:
  RowWriter(phsic_rows& rows, std::size_t dimension) : rows_(rows), dimension_(dimension) {
    rows_.done = 0;
  }

  // Dense: where the next row goes, `dimension` values.
  [[nodiscard]] float* dense_row() { return rows_.values + rows_.done * dimension_; }

  // Sparse: adds an entry to the next row. REQUIRES: not is_full(), indices increasing.
  void add(std::uint32_t index, float value) {
    rows_.indices[used_] = index;
    rows_.values[used_] = value;
    ++used_;
  }
  void finish_row() {
    if (rows_.ends != nullptr) rows_.ends[rows_.done] = used_;
    ++rows_.done;
  }
  // Sparse: whether a next row of `entries` might not fit.
  [[nodiscard]] bool is_full(std::size_t entries) const { return rows_.capacity - used_ < entries; }

 private:
  phsic_rows& rows_;
  std::size_t dimension_;
  std::size_t used_ = 0;
};

inline void write_error(std::string_view message, char* error, std::size_t error_size) noexcept {
  const auto size = message.size() < error_size ? message.size() : error_size - 1;
  std::memcpy(error, message.data(), size);
  error[size] = '\0';
}

template <class E>
class Plugin {
 public:
  static phsic_encoder_plugin entry() {
    static const std::string kOptions = to_json(E::options());
    return {PHSIC_ENCODER_ABI,
            sizeof(phsic_encoder_plugin),
            E::kNameplate.name,
            E::kNameplate.version,
            E::kNameplate.summary,
            kOptions.c_str(),
            open,
            describe,
            encode,
            close};
  }

 private:
  struct Instance {
    explicit Instance(const char* options)
        : encoder(Options(E::options(), options)), facts(encoder.facts()) {}
    E encoder;
    Facts facts;
  };

  static void* open(const char* options, char* error, std::size_t error_size) noexcept {
    try {
      return new Instance(options);
    } catch (const std::exception& problem) {
      write_error(problem.what(), error, error_size);
      return nullptr;
    }
  }

  static void describe(const void* instance, phsic_encoder_facts* facts) noexcept {
    const Facts& ours = static_cast<const Instance*>(instance)->facts;
    *facts = {ours.dimension, static_cast<std::uint32_t>(ours.layout), ours.concurrent ? 1U : 0U,
              ours.flags, ours.identity.c_str()};
  }

  static int encode(void* instance, const phsic_text* texts, std::size_t n, phsic_rows* rows,
                    char* error, std::size_t error_size) noexcept {
    auto& ours = *static_cast<Instance*>(instance);
    try {
      RowWriter writer(*rows, ours.facts.dimension);
      ours.encoder.encode(texts, n, writer);
      return rows->done == n ? PHSIC_OK : PHSIC_FULL;
    } catch (const BadText& problem) {
      write_error(problem.what(), error, error_size);
      return PHSIC_BAD_TEXT;
    } catch (const std::exception& problem) {
      write_error(problem.what(), error, error_size);
      return PHSIC_FAILED;
    }
  }

  static void close(void* instance) noexcept { delete static_cast<Instance*>(instance); }
};

}  // namespace phsic::plugins

#define PHSIC_ENCODER(E)                                                                      \
  extern "C" __attribute__((visibility("default"))) const phsic_encoder_plugin phsic_encoder; \
  const phsic_encoder_plugin phsic_encoder = phsic::plugins::Plugin<E>::entry()
