// A session with a stream in this process: learns and refreshes while the caller waits.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/blind_views.h"
#include "cli/session/session.h"
#include "decide/decision_memory.h"
#include "decide/learned_pairs.h"
#include "decide/rules.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic {

class LocalSession : public Session {
 public:
  // Goes on with what the memory has, and with its cut if it has one. `learned` are the pairs that
  // the stream learned before.
  LocalSession(std::unique_ptr<Stream> stream, DecisionMemory memory, std::size_t threads,
               LearnedPairs learned = {});

  void score(const TextPairs& pairs, PairResults& results) override;
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  void score_then_learn(const TextPairs& pairs, PairResults& results) override;
  void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  [[nodiscard]] std::size_t until_refresh() const override { return stream_->until_refresh(); }
  void finish() override;
  void rank(std::string_view x, std::span<const std::string_view> candidates, double* scores,
            std::vector<PairProblem>& problems, std::vector<LeftOut>& left_out) const override;
  [[nodiscard]] StreamFacts facts() const override;
  [[nodiscard]] std::string blind_views() const override {
    return blind_views_.describe(facts().views);
  }
  [[nodiscard]] const DecidePlan& plan() const override { return memory_.plan(); }
  [[nodiscard]] const Calibration& calibration() const override {
    return stream_->published()->calibration();
  }
  [[nodiscard]] std::optional<double> cut() const override { return stream_->published()->cut; }

  // Why the model in use scores a pair as it does; what it has learned of the pair itself is taken
  // out, as score() does it. None if the model has no texts to explain with.
  [[nodiscard]] std::optional<PairExplanation> explain(std::string_view x, std::string_view y,
                                                       std::size_t top) const;

  // From now on texts are learned too, so that scores can be explained with them.
  void keep_texts() { keeps_texts_ = true; }
  // From now on pairs that are learned are remembered, and unless `is_kept` score() takes out of a
  // pair's score what the pair itself has taught. The model of finish() then leaves out the
  // held-back pairs, so that it is the model which they calibrate; else it has learned all pairs.
  void set_own_share(bool is_kept);
  // The model of finish() is going to judge pairs that it has learned.
  void will_judge_learned() { stream_->will_judge_learned(); }
  // The model of finish() has as many directions as one that judges pairs it has learned.
  void take_all_directions() { stream_->will_judge_learned(); }

  [[nodiscard]] const DecisionMemory& memory() const { return memory_; }
  [[nodiscard]] const LearnedPairs& learned_pairs() const { return learned_; }
  [[nodiscard]] const Stream& stream() const { return *stream_; }
  // Gives the stream away; the session is of no use afterwards.
  [[nodiscard]] std::unique_ptr<Stream> release() { return std::move(stream_); }

 private:
  // Some pairs, in memory for one thread.
  struct Chunk {
    Batch batch;
    std::vector<ReasonCode> broken;  // the rule that each pair breaks
    std::vector<PairKey> keys;       // empty where none are needed
    RuleScratch rule_scratch;
    std::string key_scratch;
  };
  enum class Keys : bool { kNone, kAll };

  // Does `work` with each chunk of the pairs, encoded and held against the rules, in parallel.
  template <class Work>
  void for_each_chunk(const TextPairs& pairs, Keys keys, const Work& work);
  void find_keys(const TextPairs& pairs, Chunk& chunk) const;
  void score_and_count(const TextPairs& pairs, PairResults& results);
  void learn_all(const TextPairs& pairs, std::vector<PairProblem>& problems);
  // Decides about row `row` of chunk k, which may teach, and remembers it. Makes the row unusable
  // if it must not be learned. REQUIRES: rows come in order.
  [[nodiscard]] Decision settle(const TextPairs& pairs, std::size_t k, std::size_t row,
                                const Decision& by_score);
  // Learns what is usable of the encoded pairs, in order.
  void learn_encoded(const TextPairs& pairs);
  void report(std::vector<PairProblem>& problems) const;
  void report_left_out(PairResults& results) const;
  // Looks for views of no use in the pairs at hand. A run that learns is told of what it learns.
  void watch_views(bool learns);

  std::unique_ptr<Stream> stream_;
  DecisionMemory memory_;
  LearnedPairs learned_;
  ModelCycle cycle_;
  std::size_t threads_;
  BlindViews blind_views_;
  bool has_taught_ = false;  // pairs of this run
  bool keeps_texts_ = false;
  bool notes_learned_ = false;
  bool discounts_ = false;
  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;
};

}  // namespace phsic
