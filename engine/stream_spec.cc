#include "engine/stream_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/refresh.h"
#include "engine/judge_fit.h"
#include "engine/option_value.h"

namespace phsic {
namespace {

// "5000" pairs, or "30s", "15m", "2h", "7d".
Forgetting span_of(std::string_view text, Forgetting::Mode pairs, Forgetting::Mode seconds) {
  constexpr std::string_view kExpected =
      "a number of pairs such as 50000, a time such as 30s, 15m, 2h or 7d, or never";
  if (text == "never") return {};
  const bool by_time = has_time_unit(text);
  Forgetting forgetting;
  forgetting.mode = by_time ? seconds : pairs;
  forgetting.span = by_time ? seconds_value(text, kExpected) : number_value(text, kExpected);
  if (forgetting.span <= 0 || (!by_time && forgetting.span < 1)) refuse_value(text, kExpected);
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
    refuse_value(text, "phsic, whitened, gaussian-pmi, auto or pmi");
  }
}

void set_ridge(StreamSpec& spec, std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0, or auto";
  spec.estimator.ridge.reset();
  if (text == "auto") return;
  spec.estimator.ridge = number_value(text, kExpected);
  if (*spec.estimator.ridge <= 0) refuse_value(text, kExpected);
}

void set_rank(StreamSpec& spec, std::string_view text) {
  spec.estimator.rank = whole_value<std::uint32_t>(text, 0, kMaxDimension);
  spec.estimator.phsic_at_rank = spec.estimator.rank > 0;
}

void set_pivot_rule(StreamSpec& spec, std::string_view text) {
  if (text != "random" && text != "greedy") refuse_value(text, "random or greedy");
  spec.pivot_rule = text == "random" ? PivotRule::kRandom : PivotRule::kGreedy;
}

void set_judge(StreamSpec& spec, std::string_view text) {
  if (text != "true" && text != "false" && text != "exchanged") {
    refuse_value(text, "true, false or exchanged");
  }
  spec.judges = text != "false";
  spec.judges_by_exchange = text == "exchanged";
}

void set_judge_halves(StreamSpec& spec, std::string_view text) {
  if (text != "true" && text != "false" && text != "auto") {
    refuse_value(text, "true, false or auto");
  }
  spec.judges_halves.reset();
  if (text != "auto") spec.judges_halves = text == "true";
}

// Every so many pairs; 0: `auto`.
void set_refresh(StreamSpec& spec, std::string_view text) {
  spec.refresh_pairs = text == "auto" ? 0 : whole_value<std::uint64_t>(text, 1, INT64_MAX);
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
    {"text-bytes", "SIZE", "4KiB",
     "how much of each text a kernel on the text itself looks at; the rest is left out",
     [](StreamSpec& spec, std::string_view text) {
       spec.text_bytes = bytes_value(text, 16, 1U << 20U);
     }},
    {"estimator", "NAME", "auto",
     "phsic, whitened, gaussian-pmi, pmi (counts texts as they are), or auto: whichever tells "
     "held-back pairs from shuffled ones best",
     set_estimator},
    {"pivots", "N", "0",
     "texts that stand for all others under a kernel without explicit features; 0: 128, or none "
     "where none are needed",
     [](StreamSpec& spec, std::string_view text) {
       spec.pivots = whole_value<std::uint32_t>(text, 0, kMaxDimension);
     }},
    {"pivot-rule", "NAME", "random", "how pivots are chosen: random or greedy", set_pivot_rule},
    {"rank", "N", "256", "directions that a score is made of; 0: all", set_rank},
    {"ridge", "NUMBER", "auto", "smoothing of whitened and gaussian-pmi; auto: by self-measurement",
     set_ridge},
    {"centered", "true|false", "true", "whether phsic takes its features about their means",
     [](StreamSpec& spec, std::string_view text) { spec.estimator.centered = flag_value(text); }},
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
       spec.reservoir = whole_value<std::uint32_t>(text, 0, 1U << 20U);
     }},
    {"held-back", "N", "1024", "newest pairs, at most, that are measured before they are learned",
     [](StreamSpec& spec, std::string_view text) {
       spec.held_back = whole_value<std::uint32_t>(text, 0, 1U << 20U);
     }},
    {"refresh", "auto|N", "auto",
     "a new model whenever so many more pairs were learned; auto: whenever a third more has been; "
     "the first of 160 pairs at least",
     set_refresh},
    {"judge", "NAME", "false",
     "whether each pair is told how likely it is to be good, and what damage it looks like: true, "
     "false, or exchanged (only whether y belongs to x; no text is encoded but the pairs' own)",
     set_judge},
    {"judge-halves", "NAME", "auto",
     "whether a judge looks at the halves of texts: true, false, or auto (where the encoder is "
     "additive and the kernel has no pivots, but not with `judge: exchanged`)",
     set_judge_halves},
    {"learn-identical", "true|false", "false",
     "whether to learn from pairs whose x and y are the same text",
     [](StreamSpec& spec, std::string_view text) { spec.learns_identical = flag_value(text); }},
    {"views", "list", "[]",
     "several encoders through which each pair is seen; how much each counts is found by "
     "self-measurement",
     [](StreamSpec& spec, std::string_view text) { spec.views = parse_views(text); }},
    {"seed", "N", "1", "of everything random; the same seed gives the same scores",
     [](StreamSpec& spec, std::string_view text) {
       spec.seed = whole_value<std::uint64_t>(text, 0, INT64_MAX);
     }},
};

// An encoder of its own is there to be used.
void require_vectors(const ViewSpec& view, const StreamSpec& spec) {
  for (const auto& [name, value] : view.options) {
    const bool is_x = name == "encoder" || name == "x-encoder";
    const bool is_y = name == "encoder" || name == "y-encoder";
    const auto* ignores = is_x && spec.x_kernel.takes_texts()   ? &spec.x_kernel
                          : is_y && spec.y_kernel.takes_texts() ? &spec.y_kernel
                                                                : nullptr;
    if (ignores == nullptr) continue;
    throw Error(
        fmt::format("kernel: found {}, which looks at the text itself, beside the {} {}; "
                    "expected one of them",
                    ignores->to_string(), name, value));
  }
}

}  // namespace

std::span<const StreamOption> stream_options() { return kOptions; }

std::size_t order_of(std::string_view option) {
  const auto* known = std::find_if(std::begin(kOptions), std::end(kOptions),
                                   [&](const auto& other) { return other.name == option; });
  return static_cast<std::size_t>(known - std::begin(kOptions));
}

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

StreamSpec StreamSpec::of_view(std::size_t v) const {
  auto view = *this;
  view.views.clear();
  for (const auto& [name, value] : views[v].options) view.set(name, value);
  return view;
}

std::vector<EncoderSpec> StreamSpec::encoders() const {
  std::vector<EncoderSpec> all;
  if (counts) return all;
  for (std::size_t v = 0; v < views.size(); ++v) {
    for (auto& encoder : of_view(v).encoders()) all.push_back(std::move(encoder));
  }
  if (!views.empty()) return all;
  if (!x_kernel.takes_texts()) all.push_back(x_encoder);
  if (!y_kernel.takes_texts()) all.push_back(y_encoder);
  return all;
}

void StreamSpec::validate() const {
  if (counts && judges) {
    throw Error("judge: found one for a stream that counts (estimator pmi), expected false");
  }
  if (judges && held_back < kFewestJudged) {
    throw Error(fmt::format("held-back: found {}, expected {} or more with a judge", held_back,
                            kFewestJudged));
  }
  if (judges_halves && !judges) {
    throw Error("judge-halves: found it without a judge, expected one; say `judge: true`");
  }
  if (counts && !views.empty()) {
    throw Error("estimator: found pmi with views, expected one that needs no counts");
  }
  if (views.size() > 1 && held_back < kFewestHeldBack) {
    throw Error(fmt::format(
        "held-back: found {} with several views, expected {} at least: these pairs tell how much "
        "each view counts",
        held_back, kFewestHeldBack));
  }
  if (!views.empty() && (x_encoder != EncoderSpec() || y_encoder != EncoderSpec())) {
    throw Error("encoder: found one beside views, expected it as one of the views");
  }
  for (std::size_t v = 0; v < views.size(); ++v) {
    try {
      const auto view = of_view(v);
      if (view.counts) throw Error("estimator: found pmi, expected one that needs no counts");
      require_vectors(views[v], view);
      view.validate();
    } catch (const Error& problem) {
      throw Error(fmt::format("views: {}: {}", views[v].name, problem.what()));
    }
  }
  // The encoder decides which vectors a kernel gets; any shape serves to check the rest.
  const auto shape_for = [](const Kernel& kernel) {
    return kernel.takes_texts() ? ItemShape{ItemKind::kText, 0} : ItemShape{ItemKind::kDense, 1};
  };
  static_cast<void>(config(shape_for(x_kernel), shape_for(y_kernel)));
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
