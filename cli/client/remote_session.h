// A session with a stream in a daemon, over the wire.
//
// As long as nobody else teaches the stream, scores equal those of a stream of one's own: the
// daemon is waited for wherever learning may bring a new model.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/client/connect_arguments.h"
#include "cli/session/session.h"
#include "wire/answer_reader.h"
#include "wire/request_writer.h"

namespace phsic {

class RemoteSession : public Session {
 public:
  // Throws an Error if there is no such daemon or stream. A session that does not learn only
  // scores.
  explicit RemoteSession(const ConnectArguments& daemon, bool learns = true);

  // The daemon's stream, with its options.
  [[nodiscard]] const RemoteStream& stream() const { return stream_; }

  void score(const TextPairs& pairs, PairResults& results) override;
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  void score_then_learn(const TextPairs& pairs, PairResults& results) override;
  void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) override {
    learn(pairs, problems);
  }
  [[nodiscard]] std::size_t until_refresh() const override { return until_refresh_; }
  void finish() override;
  void rank(std::string_view x, std::span<const std::string_view> candidates, double* scores,
            std::vector<PairProblem>& problems, std::vector<LeftOut>& left_out) const override;
  [[nodiscard]] StreamFacts facts() const override;
  [[nodiscard]] const DecidePlan& plan() const override { return plan_; }
  // What becomes of undecided pairs is for each client to say.
  void set_keeps_undecided(bool keeps) { plan_.keeps_undecided = keeps; }
  [[nodiscard]] const Calibration& calibration() const override;
  // Not known: the daemon may have chosen another cut meanwhile.
  [[nodiscard]] std::optional<double> cut() const override { return std::nullopt; }

 private:
  // A client for one thread, given back when that is done with it.
  class Loan;

  // Asks `op` of all pairs, part after part, and waits until they have been learned. Null results:
  // only problems are wanted.
  void ask_in_order(std::string_view op, const TextPairs& pairs, PairResults* results,
                    std::vector<PairProblem>& problems);
  void take_until_refresh(const JsonObject& answer);
  [[nodiscard]] Message stats(bool calibration) const;

  ConnectArguments daemon_;
  mutable std::mutex mutex_;  // guards idle_
  mutable std::vector<std::unique_ptr<Client>> idle_;
  RequestLimits limits_;
  RemoteStream stream_;
  DecidePlan plan_;
  std::size_t until_refresh_ = 1;
  // What calibration() gave last, and of which model.
  mutable Calibration calibration_;
  mutable std::optional<std::uint64_t> calibrated_model_;
};

}  // namespace phsic
