// What a user says of a stream: encoders, kernels, estimator, how it forgets.
//
// One table holds every option with its default and meaning. The command's flags, its help and the
// configuration file are all made from it, so that they never differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimator_spec.h"
#include "core/items.h"
#include "core/stream_config.h"
#include "engine/encoder_spec.h"
#include "engine/view_spec.h"

namespace phsic {

struct StreamSpec {
  EncoderSpec x_encoder;
  EncoderSpec y_encoder;
  Kernel x_kernel = Kernel::cosine();
  Kernel y_kernel = Kernel::cosine();
  bool counts = false;  // estimator `pmi`: counting instead of kernels
  EstimatorSpec estimator = choosing();
  // How much of a text a kernel on texts is given.
  static constexpr std::size_t kTextBytes = 4096;
  std::size_t text_bytes = kTextBytes;
  std::uint32_t pivots = 0;
  PivotRule pivot_rule = PivotRule::kRandom;
  Forgetting forgetting;
  std::uint32_t reservoir = 4096;
  std::uint32_t held_back = 1024;
  std::uint64_t refresh_pairs = 0;  // a new model after so many; 0: when a third more was learned
  std::uint64_t seed = 1;
  // Empty: the stream has one view, which is what is said above.
  std::vector<ViewSpec> views;
  // Whether its models have a judge (judge.h); whether it sees only if y belongs to x; whether it
  // looks at halves, by default where that costs little.
  bool judges = false;
  bool judges_by_exchange = false;
  std::optional<bool> judges_halves;
  // A text with itself is a copy, not a pair that tells what belongs together.
  bool learns_identical = false;

  bool operator==(const StreamSpec&) const = default;

  // Throws an Error that names the option, what was found and what was expected.
  void set(std::string_view option, std::string_view value);

  // Throws when it makes no sense, as far as that can be told without opening encoders.
  void validate() const;

  // What a stream with only this view is. REQUIRES: v < views.size(), and options that set() takes.
  [[nodiscard]] StreamSpec of_view(std::size_t v) const;

  // All that the stream opens.
  [[nodiscard]] std::vector<EncoderSpec> encoders() const;

  // The core's configuration, for items of these shapes. Throws when it makes no sense.
  [[nodiscard]] StreamConfig config(ItemShape x, ItemShape y) const;

 private:
  [[nodiscard]] static EstimatorSpec choosing();  // estimator `auto`
};

struct StreamOption {
  std::string_view name;
  std::string_view value;     // what is expected, in a word
  std::string_view fallback;  // the default, in words
  std::string_view about;
  void (*set)(StreamSpec& spec, std::string_view value);
};

[[nodiscard]] std::span<const StreamOption> stream_options();
// The place of an option in the table, or the table's length. Options are to be set in this order:
// what holds for both sides stands before what holds for one.
[[nodiscard]] std::size_t order_of(std::string_view option);

}  // namespace phsic
