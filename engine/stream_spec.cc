#include "engine/stream_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace phsic {
namespace {

[[noreturn]] void refuse(std::string_view found, std::string_view expected) {
  throw Error(fmt::format("found \"{}\", expected {}", found, expected));
}

double number(std::string_view text, std::string_view expected) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    refuse(text, expected);
  }
  return value;
}

template <class Integer>
Integer whole(std::string_view text, Integer most) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    refuse(text, fmt::format("a whole number from 0 to {}", most));
  }
  return value;
}

// "5000" pairs, or "30s", "15m", "2h", "7d".
Forgetting span_of(std::string_view text, Forgetting::Mode pairs, Forgetting::Mode seconds) {
  constexpr std::string_view kExpected =
      "a number of pairs such as 50000, a time such as 30s, 15m, 2h or 7d, or never";
  if (text == "never") return {};
  double unit = 0;
  switch (text.empty() ? '\0' : text.back()) {
    case 's': unit = 1; break;
    case 'm': unit = 60; break;
    case 'h': unit = 3600; break;
    case 'd': unit = 86400; break;
    default: break;
  }
  const auto value = number(unit > 0 ? text.substr(0, text.size() - 1) : text, kExpected);
  if (value <= 0 || (unit == 0 && value < 1)) refuse(text, kExpected);
  Forgetting forgetting;
  forgetting.mode = unit > 0 ? seconds : pairs;
  forgetting.span = unit > 0 ? value * unit : value;
  return forgetting;
}

void set_forgetting(StreamSpec& spec, bool window, const Forgetting& chosen) {
  const bool has_other =
      spec.forgetting.mode != Forgetting::Mode::kNever && spec.forgetting.is_window() != window;
  if (has_other && chosen.mode == Forgetting::Mode::kNever) return;
  if (has_other) throw Error("found a half-life and a window, expected one of them");
  spec.forgetting = chosen;
}

void set_estimator(StreamSpec& spec, std::string_view text) {
  spec.counts = text == "pmi";
  if (text == "auto" || text == "pmi") {
    spec.estimator.kind.reset();
  } else if (text == "phsic") {
    spec.estimator.kind = EstimatorKind::kPhsic;
  } else if (text == "whitened") {
    spec.estimator.kind = EstimatorKind::kWhitened;
  } else if (text == "gaussian-pmi") {
    spec.estimator.kind = EstimatorKind::kGaussianPmi;
  } else {
    refuse(text, "phsic, whitened, gaussian-pmi, auto or pmi");
  }
}

void set_ridge(StreamSpec& spec, std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0, or auto";
  spec.estimator.ridge.reset();
  if (text == "auto") return;
  spec.estimator.ridge = number(text, kExpected);
  if (*spec.estimator.ridge <= 0) refuse(text, kExpected);
}

void set_rank(StreamSpec& spec, std::string_view text) {
  spec.estimator.rank = whole<std::uint32_t>(text, kMaxDimension);
  spec.estimator.phsic_at_rank = spec.estimator.rank > 0;
}

void set_pivot_rule(StreamSpec& spec, std::string_view text) {
  if (text != "random" && text != "greedy") refuse(text, "random or greedy");
  spec.pivot_rule = text == "random" ? PivotRule::kRandom : PivotRule::kGreedy;
}

bool flag(std::string_view text) {
  if (text != "true" && text != "false") refuse(text, "true or false");
  return text == "true";
}

constexpr StreamOption kOptions[] = {
    {"encoder", "NAME[:OPTION=VALUE,...]", "hashing", "how texts become vectors, on both sides",
     [](StreamSpec& spec, std::string_view text) {
       spec.x_encoder = spec.y_encoder = EncoderSpec::parse(text);
     }},
    {"x-encoder", "NAME[:...]", "as encoder", "the same for x alone",
     [](StreamSpec& spec, std::string_view text) { spec.x_encoder = EncoderSpec::parse(text); }},
    {"y-encoder", "NAME[:...]", "as encoder", "the same for y alone",
     [](StreamSpec& spec, std::string_view text) { spec.y_encoder = EncoderSpec::parse(text); }},
    {"kernel", "KERNEL", "cosine",
     "what makes two texts of one side alike: cosine, linear, gaussian:sigma=median, "
     "laplacian:gamma=G, polynomial:degree=D, spectrum:n=N (on the text itself), sum(K,K), "
     "product(K,K)",
     [](StreamSpec& spec, std::string_view text) {
       spec.x_kernel = spec.y_kernel = Kernel::parse(text);
     }},
    {"x-kernel", "KERNEL", "as kernel", "the same for x alone",
     [](StreamSpec& spec, std::string_view text) { spec.x_kernel = Kernel::parse(text); }},
    {"y-kernel", "KERNEL", "as kernel", "the same for y alone",
     [](StreamSpec& spec, std::string_view text) { spec.y_kernel = Kernel::parse(text); }},
    {"estimator", "NAME", "auto",
     "phsic, whitened, gaussian-pmi, pmi (counts texts as they are), or auto: whichever tells "
     "held-back pairs from shuffled ones best",
     set_estimator},
    {"pivots", "N", "0",
     "texts that stand for all others under a kernel without explicit features; 0: 128, or none "
     "where none are needed",
     [](StreamSpec& spec, std::string_view text) {
       spec.pivots = whole<std::uint32_t>(text, kMaxDimension);
     }},
    {"pivot-rule", "NAME", "random", "how pivots are chosen: random or greedy", set_pivot_rule},
    {"rank", "N", "256", "directions that a score is made of; 0: all", set_rank},
    {"ridge", "NUMBER", "auto", "smoothing of whitened and gaussian-pmi; auto: by self-measurement",
     set_ridge},
    {"centered", "true|false", "true", "whether phsic takes its features about their means",
     [](StreamSpec& spec, std::string_view text) { spec.estimator.centered = flag(text); }},
    {"half-life", "SPAN", "never",
     "a pair counts half after so many pairs (50000) or so long (30s, 15m, 2h, 7d)",
     [](StreamSpec& spec, std::string_view text) {
       set_forgetting(
           spec, false,
           span_of(text, Forgetting::Mode::kHalfLifePairs, Forgetting::Mode::kHalfLifeSeconds));
     }},
    {"window", "SPAN", "never", "only the last so many pairs, or so long, count at all",
     [](StreamSpec& spec, std::string_view text) {
       set_forgetting(
           spec, true,
           span_of(text, Forgetting::Mode::kWindowPairs, Forgetting::Mode::kWindowSeconds));
     }},
    {"reservoir", "N", "4096", "pairs kept as a sample, to choose pivots from and to explain with",
     [](StreamSpec& spec, std::string_view text) {
       spec.reservoir = whole<std::uint32_t>(text, 1U << 20U);
     }},
    {"held-back", "N", "1024", "newest pairs, at most, that are measured before they are learned",
     [](StreamSpec& spec, std::string_view text) {
       spec.held_back = whole<std::uint32_t>(text, 1U << 20U);
     }},
    {"learn-identical", "true|false", "false",
     "whether to learn from pairs whose x and y are the same text",
     [](StreamSpec& spec, std::string_view text) { spec.learns_identical = flag(text); }},
    {"seed", "N", "1", "of everything random; the same seed gives the same scores",
     [](StreamSpec& spec, std::string_view text) {
       spec.seed = whole<std::uint64_t>(text, INT64_MAX);
     }},
};

}  // namespace

std::span<const StreamOption> stream_options() { return kOptions; }

void StreamSpec::set(std::string_view option, std::string_view value) {
  for (const auto& known : kOptions) {
    if (known.name != option) continue;
    try {
      known.set(*this, value);
    } catch (const Error& problem) {
      throw Error(fmt::format("{}: {}", option, problem.what()));
    }
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& known : kOptions) names.push_back(known.name);
  throw Error(
      fmt::format("there is no option {}, expected one of {}", option, fmt::join(names, ", ")));
}

EstimatorSpec StreamSpec::choosing() {
  EstimatorSpec spec;
  spec.kind.reset();
  return spec;
}

StreamConfig StreamSpec::config(ItemShape x, ItemShape y) const {
  StreamConfig config;
  config.x = {x, x_kernel, pivots};
  config.y = {y, y_kernel, pivots};
  config.forgetting = forgetting;
  config.pivot_rule = pivot_rule;
  config.reservoir = reservoir;
  config.held_back = held_back;
  config.seed = seed;
  config.validate();
  estimator.validate();
  return config;
}

}  // namespace phsic
