#include "cli/verbs/eval.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session/describe_views.h"
#include "cli/session/left_out_tally.h"
#include "cli/session/session.h"
#include "cli/table/pair_table.h"
#include "cli/verbs/choices.h"
#include "core/measure.h"
#include "core/random.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWarmUp = 0.2;  // the share of a stream that is learned before it is judged
constexpr std::size_t kOthers = 9;
constexpr std::size_t kFewRows = 256;
constexpr double kWorst = 1e9;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

void print_self(const StreamFacts& facts) {
  fmt::print("{:<14} {}\n", "estimator",
             facts.estimator.empty() ? "none" : printable(facts.estimator));
  if (facts.ridge > 0) fmt::print("{:<14} {:g}\n", "ridge", facts.ridge);
  if (!facts.views.empty()) fmt::print("{:<14} {}\n", "views", describe_views(facts.views));
  if (facts.accuracy) {
    fmt::print("{:<14} {:.4f}\n{:<14} {:.4f}\n", "self-AUC", facts.accuracy->auc, "self-MRR",
               facts.accuracy->mrr);
  }
  if (facts.clipped > 0) fmt::print("{:<14} {}\n", "clipped", facts.clipped);
}

Json self_auc(const StreamFacts& facts) {
  return facts.accuracy ? number_or_null(facts.accuracy->auc) : Json();
}

// Null where there is nothing to compare.
Json auc_of(const std::vector<double>& positives, const std::vector<double>& negatives) {
  if (positives.empty() || negatives.empty()) return {};
  return area_under_curve(positives, negatives);
}

// Scores in their order, each with a label.
class LabelledScores {
 public:
  void add(std::string_view label, double score) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    labels_.push_back(numbers_.try_emplace(std::string(label), next).first->second);
    scores_.push_back(score);
  }

  // Throws unless there is a pair with the label `good`.
  void print(const std::string& good, bool as_json, const StreamFacts& facts) const {
    require(good);
    const auto first = static_cast<std::size_t>(kWarmUp * static_cast<double>(scores_.size()));
    std::vector<std::vector<double>> by_label(numbers_.size());
    for (std::size_t i = first; i < scores_.size(); ++i) {
      by_label[labels_[i]].push_back(scores_[i]);
    }
    const auto& sound = by_label[numbers_.at(good)];
    std::vector<double> damaged;
    Json auc;
    auc["all"] = nullptr;  // comes first
    for (const auto& [name, number] : numbers_) {
      if (name == good) continue;
      damaged.insert(damaged.end(), by_label[number].begin(), by_label[number].end());
      auc[name == "all" ? "label all" : name] = auc_of(sound, by_label[number]);
    }
    auc["all"] = auc_of(sound, damaged);
    const auto judged = scores_.size() - first;
    if (as_json) {
      Json out;
      out["auc"] = auc;
      out["self_auc"] = self_auc(facts);
      if (!facts.views.empty()) out["views"] = views_json(facts.views);
      out["pairs"] = judged;
      fmt::print("{}\n", for_output(out.dump(-1, ' ', false, Json::error_handler_t::replace)));
      return;
    }
    fmt::print("{:<14} {}, {} of them {}\n", "pairs judged", judged, sound.size(), good);
    for (const auto& [name, value] : auc.items()) {
      fmt::print("{:<14} {}\n", fmt::format("AUC {}", printable(name)),
                 value.is_null() ? "none to compare" : fmt::format("{:.4f}", value.get<double>()));
    }
    print_self(facts);
  }

 private:
  void require(const std::string& good) const {
    if (numbers_.contains(good)) return;
    if (numbers_.empty()) throw Error("found no pair, expected labelled ones");
    std::vector<std::string> names;
    for (const auto& [name, number] : numbers_) names.push_back(printable(name));
    throw Error(
        fmt::format("--good: found no pair labelled \"{}\" among {} pairs, expected one of "
                    "the labels {}",
                    good, scores_.size(), fmt::join(names, ", ")));
  }

  std::map<std::string, std::uint32_t> numbers_;  // of labels
  std::vector<std::uint32_t> labels_;
  std::vector<double> scores_;
};

// The true candidate of each line stands first.
class Ranking {
 public:
  void add(const double* scores, std::size_t count) {
    Trial trial;
    trial.matched = {scores[0]};
    trial.null.assign(scores + 1, scores + count);
    trial.shuffles = count - 1;
    ranks_.push_back(ranks_of(trial).front());
    truths_.push_back(scores[0]);
    others_.insert(others_.end(), scores + 1, scores + count);
  }

  [[nodiscard]] std::size_t lines() const { return ranks_.size(); }

  void print(bool as_json, const StreamFacts& facts) const {
    const double auc = area_under_curve(truths_, others_);
    const auto mean = [&](const auto& of_rank) {
      double sum = 0;
      for (const double rank : ranks_) sum += of_rank(rank);
      return sum / static_cast<double>(ranks_.size());
    };
    const double mrr = mean([](double rank) { return 1 / rank; });
    std::map<int, double> recall;
    for (const int k : {1, 2, 5}) {
      recall[k] = mean([k](double rank) { return rank <= k ? 1.0 : 0.0; });
    }
    if (as_json) {
      Json out;
      out["auc"] = auc;
      out["mrr"] = mrr;
      for (const auto& [k, share] : recall) out[fmt::format("recall@{}", k)] = share;
      out["self_auc"] = self_auc(facts);
      if (!facts.views.empty()) out["views"] = views_json(facts.views);
      out["lines"] = lines();
      fmt::print("{}\n", for_output(out.dump(-1, ' ', false, Json::error_handler_t::replace)));
      return;
    }
    fmt::print("{:<14} {}\n{:<14} {:.4f}\n{:<14} {:.4f}\n", "lines", lines(), "AUC", auc, "MRR",
               mrr);
    for (const auto& [k, share] : recall) {
      fmt::print("{:<14} {:.4f}\n", fmt::format("Recall@{}", k), share);
    }
    print_self(facts);
  }

 private:
  std::vector<double> ranks_;
  std::vector<double> truths_;
  std::vector<double> others_;
};

// The y's of some earlier pairs, to draw from.
class EarlierTexts {
 public:
  void add(std::string_view text) {
    if (texts_.size() < kKept) {
      texts_.emplace_back(text);
    } else {
      texts_[next_] = text;
      next_ = (next_ + 1) % kKept;
    }
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  // None of them is `own`, unless all are.
  void draw(std::string_view own, Random& random, std::vector<std::string_view>& out) const {
    for (std::size_t k = 0; k < kOthers; ++k) {
      std::string_view text = own;
      for (int tries = 0; tries < 100 && text == own; ++tries) {
        text = texts_[random.below(texts_.size())];
      }
      out.push_back(text);
    }
  }

 private:
  static constexpr std::size_t kKept = 4096;

  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

// The pairs of a table in their order, and the stream that judges them and learns them.
class EvalPass {
 public:
  template <class Arguments>
  explicit EvalPass(const Arguments& arguments, const std::vector<std::string>& extra = {})
      : stream_(arguments.model.open(arguments.table, &spec_)),
        table_(arguments.input, arguments.table, extra),
        learns_(!arguments.model.is_fixed()) {
    if (learns_ && !spec_.learns_identical) table_.expect_two_texts();
  }

  // The next pairs: no more than there are before the next model, or `most` where nothing is
  // learned. False at the end.
  bool next(std::size_t most) {
    return table_.read(batch_, learns_ ? std::min(kBatchRows, stream_->until_refresh()) : most);
  }
  // The pairs of the last next().
  [[nodiscard]] const PairBatch& batch() const { return batch_; }
  // Tells what was wrong with them.
  void report(const std::vector<PairProblem>& problems) { table_.report(batch_, problems); }
  void add_left_out(const std::vector<LeftOut>& left_out) { left_out_.add(left_out); }
  void finish() {
    std::fputs(left_out_.describe().c_str(), stderr);
    std::fputs(stream_->blind_views().c_str(), stderr);
    table_.finish();
  }

  [[nodiscard]] Session& stream() { return *stream_; }
  [[nodiscard]] const StreamSpec& spec() const { return spec_; }
  [[nodiscard]] bool learns() const { return learns_; }

 private:
  StreamSpec spec_;
  std::unique_ptr<Session> stream_;
  PairTable table_;
  const bool learns_;
  PairBatch batch_;
  LeftOutTally left_out_;
};

}  // namespace

namespace {

// What a pair is told apart by. What a rule or a duplicate rejects comes last in a judge's eyes.
double value_by(const std::string& by, const PairResults& results, std::size_t i) {
  if (by == "score") return results.scores[i];
  const bool is_rejected = !results.decisions.empty() && is_rejection(results.decisions[i].reason);
  if (by == "quality") return is_rejected ? 0 : results.qualities[i];
  return is_rejected ? -kWorst : results.soft_minima[i];
}

}  // namespace

void DetectArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", input, "labelled table of pairs, - for standard input (default)");
  verb.add_option("--label", label, "column of the label")->type_name("COL")->required();
  verb.add_option("--good", good, "label of good pairs (default: ok); all others are damage")
      ->type_name("VALUE");
  verb.add_option(
          "--by", by,
          "tell pairs apart by score (default), quality, or judge: the soft minimum of experts")
      ->check(CLI::IsMember({"score", "quality", "judge"}))
      ->type_name("WHAT");
  add_json_flag(verb, json);
  table.add_to(verb, TableUse::kRead);
  model.add_to(verb);
  verb.footer(
      "Each pair is scored before it is learned; the labels are not looked at. Prints the ROC-AUC "
      "of good\npairs against all others and against each label, over the pairs after the first "
      "20%, and beside it what\nthe stream measured of itself. Without --x and --y these are the "
      "first two columns but the label.\n\n"
      "Example:\n"
      "  phsic eval detect --label 1 --x 2 --y 3 labelled.tsv.gz");
}

void run_eval_detect(const DetectArguments& arguments) {
  EvalPass pass(arguments, {arguments.label});
  PairResults results;
  LabelledScores labelled;
  while (pass.next(kBatchRows)) {
    const auto& batch = pass.batch();
    if (pass.learns()) {
      pass.stream().score_then_learn(batch.pairs(), results);
    } else {
      pass.stream().score(batch.pairs(), results);
    }
    pass.report(results.problems);
    pass.add_left_out(results.left_out);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const double value = value_by(arguments.by, results, i);
      if (std::isnan(value)) continue;
      labelled.add(batch.rows.field(batch.row_of[i], PairTable::kExtra), value);
    }
  }
  pass.finish();
  labelled.print(arguments.good, arguments.json, pass.stream().facts());
}

void EvalRankArguments::add_to(CLI::App& verb) {
  verb.add_option("CHOICES", input,
                  "lines of context, true candidate, other candidates; - for standard input "
                  "(default)");
  verb.add_option("--learn", learn, "table of pairs to learn from, unless there is a --model")
      ->type_name("FILE");
  add_json_flag(verb, json);
  table.add_to(verb, TableUse::kRead);
  model.add_to(verb);
  verb.footer(
      "The first candidate is the true one. Prints the ROC-AUC of true against other candidates, "
      "the mean\nreciprocal rank and Recall@1, 2 and 5 of the true one.\n\n"
      "Example:\n"
      "  phsic eval rank --learn train.tsv.gz choices.tsv.gz --json");
}

void run_eval_rank(const EvalRankArguments& arguments) {
  arguments.model.require_something_to_learn(arguments.learn);
  Ranking ranking;
  const auto facts = score_choices(arguments.learn, arguments.input, arguments.table,
                                   arguments.model, [&](const ScoredChoices& line) {
                                     if (line.scores.size() > 1)
                                       ranking.add(line.scores.data(), line.scores.size());
                                   });
  if (ranking.lines() == 0) {
    throw Error(fmt::format("{}: found no line with two candidates or more, expected one",
                            arguments.input));
  }
  ranking.print(arguments.json, facts);
}

void EvalNextArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", input, "table of pairs in their order, - for standard input (default)");
  add_json_flag(verb, json);
  table.add_to(verb, TableUse::kRead);
  model.add_to(verb);
  verb.footer(
      "Learns the stream in order. Before a pair is learned, its y has to be told from nine others "
      "drawn from\nthe last 4096 pairs. Prints what `eval rank` prints, over the pairs after the "
      "first 20%.\n\n"
      "Example:\n"
      "  phsic eval next chat.jsonl.gz --half-life 20000");
}

void run_eval_next(const EvalNextArguments& arguments) {
  EvalPass pass(arguments);
  std::vector<PairProblem> problems;
  std::vector<LeftOut> left_out;
  EarlierTexts earlier;
  Random random(pass.spec().seed);
  std::vector<std::string_view> candidates;
  std::vector<double> all_scores;  // 1 + kOthers of each pair
  // Pairs of one batch are no earlier ones of each other.
  while (pass.next(kFewRows)) {
    const auto& batch = pass.batch();
    for (std::size_t i = 0; i < batch.size() && earlier.size() > 0; ++i) {
      candidates.assign(1, batch.y[i]);
      earlier.draw(batch.y[i], random, candidates);
      const auto first = all_scores.size();
      all_scores.resize(first + candidates.size());
      pass.stream().rank(batch.x[i], candidates, all_scores.data() + first, problems, left_out);
      pass.add_left_out(left_out);
      if (!problems.empty()) all_scores.resize(first);
    }
    for (const auto text : batch.y) earlier.add(text);
    if (!pass.learns()) continue;
    pass.stream().learn_and_refresh(batch.pairs(), problems);
    pass.report(problems);
  }
  pass.finish();
  constexpr std::size_t kScores = 1 + kOthers;
  const auto pairs = all_scores.size() / kScores;
  const auto first = static_cast<std::size_t>(kWarmUp * static_cast<double>(pairs));
  if (pairs == first) {
    throw Error(fmt::format("{}: found {} pairs to tell from earlier ones, expected one or more",
                            arguments.input, pairs));
  }
  Ranking ranking;
  for (std::size_t i = first; i < pairs; ++i) {
    ranking.add(all_scores.data() + i * kScores, kScores);
  }
  ranking.print(arguments.json, pass.stream().facts());
}

}  // namespace phsic
