// Learns a stream of sentence pairs as it arrives, and tells matched pairs from mismatched ones.
//
// Two small made-up languages: a sentence names a few things in the first, its translation names
// them in the second, in another order, with some left out. Now and then the wrong translation is
// attached. Nobody tells the learner which ones: every pair is scored before it is learned, with
// the model of the last refresh.
//
//   learn_stream [--pairs N]     N pairs, 20000 if not said
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/refresh.h"

namespace {

using phsic::Random;

constexpr double kMismatched = 0.15;  // share of wrong translations in the stream
constexpr double kSuspicious = 0.05;  // flagged when random pairing scores as high this often
constexpr std::size_t kRefreshPairs = 1000;
constexpr std::uint32_t kDimension = 512;

// A thing's name in one of the languages: the same syllables every time.
std::string word(std::uint64_t thing, std::uint64_t language) {
  constexpr std::string_view kOnsets[] = {"bdgklmnr", "fhpstvwz"};
  constexpr std::string_view kVowels[] = {"aeio", "auyo"};
  Random random(language, thing);
  std::string result;
  for (int i = 0; i < 3; ++i) {
    result += kOnsets[language][random.below(8)];
    result += kVowels[language][random.below(4)];
  }
  return result;
}

struct Pair {
  std::string x;
  std::string y;
  bool matched;
};

// Sentences about a handful of things that often come together, as in real text.
class TwoLanguages {
 public:
  Pair next() {
    const std::vector<std::uint64_t> things = sentence();
    const bool matched = random_.uniform() >= kMismatched;
    return {spoken(things, 0), spoken(matched ? things : sentence(), 1), matched};
  }

 private:
  std::vector<std::uint64_t> sentence() {
    const std::uint64_t topic = random_.below(40);
    std::vector<std::uint64_t> things;
    for (std::uint64_t n = 4 + random_.below(5); n > 0; --n) {
      const bool usual = random_.uniform() < 0.7;
      things.push_back(usual ? 10 * topic + random_.below(10) : random_.below(400));
    }
    return things;
  }

  std::string spoken(std::vector<std::uint64_t> things, std::uint64_t language) {
    for (std::size_t i = things.size(); i > 1; --i) {
      std::swap(things[i - 1], things[random_.below(i)]);
    }
    std::string text;
    for (const std::uint64_t thing : things) {
      if (random_.uniform() < 0.1) continue;
      if (!text.empty()) text += ' ';
      text += word(thing, language);
    }
    return text;
  }

  Random random_{2018};
};

// A bag of words as a sparse vector: each word has a place and a sign by its hash.
void append_words(std::string_view text, phsic::ItemBlock<float>& block) {
  std::map<std::uint32_t, float> counts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::uint64_t hash = phsic::scatter(std::hash<std::string_view>{}(text.substr(0, end)));
    counts[hash % kDimension] += (hash >> 32) % 2 == 0 ? 1.0F : -1.0F;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<std::uint32_t> index;
  std::vector<float> value;
  for (const auto& [place, count] : counts) {
    index.push_back(place);
    value.push_back(count);
  }
  const std::size_t start[] = {0, index.size()};
  const phsic::SparseRows<float> row{start, index.data(), value.data(), 1, kDimension};
  if (block.append(row, 0) != phsic::Fault::kNone) throw phsic::Error("a sentence was refused");
}

// How the flags of the last pairs agreed with the truth.
struct Tally {
  int mismatched = 0;
  int caught = 0;
  int matched = 0;
  int wrongly_flagged = 0;

  void count(bool is_matched, bool flagged) {
    (is_matched ? matched : mismatched) += 1;
    if (flagged) (is_matched ? wrongly_flagged : caught) += 1;
  }
};

// A few pairs that were flagged and a few that were not.
void show_examples(const std::vector<Pair>& pairs, const std::vector<double>& scores,
                   const phsic::Calibration& calibration) {
  fmt::print("\nsome of the last pairs, as they were scored before they were learned:\n");
  int shown[] = {0, 0};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double p = calibration.p_value(scores[i]).value_or(1);
    const bool flagged = p > kSuspicious;
    if (++shown[flagged ? 1 : 0] > 3) continue;
    fmt::print("  {:>7.2f}  p {:<6.4f}  {:7}  {}\n{:>29}{}\n", scores[i], p,
               flagged ? "FLAGGED" : "", pairs[i].x, "", pairs[i].y);
  }
}

void learn_stream(std::size_t total) {
  phsic::StreamConfig config;
  config.x = {{phsic::ItemKind::kSparse, kDimension}, phsic::Kernel::cosine(), 0};
  config.y = config.x;
  phsic::Learner<float> learner(config);
  phsic::EstimatorSpec spec;
  spec.kind = phsic::EstimatorKind::kGaussianPmi;
  const auto extent = phsic::Learner<float>::Extent::kWithoutHeldBack;
  auto model = refresh(learner, spec, extent).model;

  fmt::print("a stream of sentence pairs in two languages, {:.0f}% of them mismatched\n\n",
             100 * kMismatched);
  fmt::print("{:>8} {:>9} {:>9} {:>7} {:>10} {:>15} {:>9}\n", "pairs", "self-AUC", "HSIC", "ridge",
             "caught", "wrongly flagged", "mismatched");
  TwoLanguages languages;
  phsic::ScoreScratch<float> scratch;
  std::vector<Pair> pairs;
  std::vector<double> scores;
  for (std::size_t done = 0; done < total; done += pairs.size()) {
    pairs.clear();
    phsic::ItemBlock<float> x(config.x.items);
    phsic::ItemBlock<float> y(config.y.items);
    for (std::size_t i = 0; i < std::min(kRefreshPairs, total - done); ++i) {
      pairs.push_back(languages.next());
      append_words(pairs.back().x, x);
      append_words(pairs.back().y, y);
    }
    scores.resize(pairs.size());
    model->score(x.view(), y.view(), scores.data(), nullptr, scratch);
    Tally tally;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto p = model->calibration().p_value(scores[i]);
      if (p) tally.count(pairs[i].matched, *p > kSuspicious);
    }
    if (tally.mismatched > 0) {
      const phsic::ModelFacts& facts = model->facts();
      fmt::print("{:>8} {:>9.3f} {:>9.2g} {:>7} {:>9.1f}% {:>14.1f}% {:>9.1f}%\n",
                 done + pairs.size(), facts.accuracy->auc, facts.dependence.hsic, facts.ridge,
                 100.0 * tally.caught / tally.mismatched,
                 100.0 * tally.wrongly_flagged / std::max(tally.matched, 1),
                 100 * model->calibration().random_share().value_or(0));
    }
    std::fflush(stdout);
    if (done + pairs.size() >= total && !model->calibration().is_empty()) {
      show_examples(pairs, scores, model->calibration());
    }
    learner.learn(x.view(), y.view(), nullptr, nullptr, nullptr);
    model = refresh(learner, spec, extent).model;
  }
  fmt::print(
      "\nself-AUC, HSIC, ridge, mismatched: what the model that scored these pairs says of itself; "
      "the"
      "\n  last is its own estimate of the share of random pairings.\n"
      "caught, wrongly flagged: flagged among the mismatched and among the matched of the last {} "
      "pairs.\np: how often a random pairing scores as high; flagged above {}.\n",
      kRefreshPairs, kSuspicious);
  if (total <= kRefreshPairs) {
    fmt::print("The first {} pairs are only learned: there is no model yet to score them.\n",
               kRefreshPairs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t pairs = 20000;
  if (argc > 1) {
    const std::string_view option = argv[1];
    const std::string_view value = argc == 3 ? argv[2] : "";
    const auto end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, pairs);
    if (option != "--pairs" || argc != 3 || read.ec != std::errc() || read.ptr != end) {
      fmt::print(stderr, "usage: learn_stream [--pairs N]\n");
      return 2;
    }
  }
  try {
    learn_stream(pairs);
  } catch (const std::exception& error) {
    fmt::print(stderr, "learn_stream: {}\n", error.what());
    return 1;
  }
  return 0;
}
