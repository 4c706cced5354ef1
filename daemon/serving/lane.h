// A lane: one stream at work, in threads of its own.
//
//   I/O thread -> queue -> workers: encode, score -> answer, feed
//                             |
//                             v
//                          learn queue -> learner: learn, freeze, adopt -> journal -> state writer
//                                       |            ^
//                                       v            |
//                                    background: build models, explain, write snapshots
//
// Lanes share nothing but the state writer, so that a slow or broken encoder in one does not delay
// another. offer(), update(), close() and the counters are for the I/O thread; everything goes back
// to it through the LaneListener.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/drift.h"
#include "daemon/config.h"
#include "daemon/serving/backlog.h"
#include "daemon/serving/fair_queue.h"
#include "daemon/serving/job.h"
#include "daemon/serving/learn_queue.h"
#include "daemon/serving/refresh_requests.h"
#include "engine/stream.h"
#include "state/recovery.h"
#include "state/stream_journal.h"

namespace phsic {

// Where a lane's results go. Called from any of its threads.
class LaneListener {
 public:
  LaneListener() = default;
  virtual ~LaneListener() = default;
  LaneListener(const LaneListener&) = delete;
  LaneListener& operator=(const LaneListener&) = delete;
  LaneListener(LaneListener&&) = delete;
  LaneListener& operator=(LaneListener&&) = delete;

  // A job that is done: its reply and its feed are to be sent.
  virtual void deliver(std::shared_ptr<Job> job) = 0;
  // An event for the feed: JSON without its opening brace.
  virtual void announce(Lane& lane, std::string event) = 0;
  // There is room again after offer() had to refuse pairs without a client.
  virtual void make_way(Lane& lane) = 0;
  // Everything accepted is done, and the lane's threads end.
  virtual void closed(Lane& lane) = 0;
};

struct Group;
struct WorkerScratch;

class Lane {
 public:
  // Starts the threads. The stream goes on where `recovery` ended. Without a journal nothing is
  // kept.
  Lane(const StreamSettings& settings, std::unique_ptr<Stream> stream, Recovery recovery,
       std::unique_ptr<StreamJournal> journal, LaneListener& listener);
  // REQUIRES: closed, or nothing to do.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  Lane(Lane&&) = delete;
  Lane& operator=(Lane&&) = delete;

  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const StreamSettings& settings() const { return settings_; }
  [[nodiscard]] const Stream& stream() const { return *stream_; }

  // Takes a job over, or refuses it because too much is waiting already. Throws a RequestError if
  // it does not fit the stream.
  [[nodiscard]] bool offer(const std::shared_ptr<Job>& job);
  // Takes it over in any case.
  void admit(const std::shared_ptr<Job>& job);
  // Scores a few vectors in the I/O thread itself, which saves two changes of threads: where there
  // is nothing to encode, nothing to learn and nobody before them. False: it is not such a job.
  [[nodiscard]] bool score_here(const std::shared_ptr<Job>& job);
  // What may change while it runs.
  void update(const StreamSettings& settings);
  // Whether anybody wants the feed of scores, or of flags.
  void set_audience(bool scores, bool flags);
  // Accepts nothing more, and ends when all that was accepted is done.
  void close();

  // Members of JSON for `stats`.
  void append_stats(std::string& out) const;
  void append_calibration(std::string& out) const;
  [[nodiscard]] std::uint64_t learned() const { return learned_; }
  // How many requests were refused.
  [[nodiscard]] std::uint64_t overloaded() const { return overloaded_; }

 private:
  using Clock = std::chrono::steady_clock;

  void require_fits(const Job& job) const;
  void make_ready(Job& job);
  void correct_times(Job& job);
  void make_promise(Job& job) const;
  void take_over(Recovery& recovery);
  [[nodiscard]] bool offer_work(const std::shared_ptr<Job>& job);
  [[nodiscard]] bool offer_explain(const std::shared_ptr<Job>& job);
  [[nodiscard]] static Backlog::Amount charge(Job& job);
  [[nodiscard]] std::vector<std::pair<std::string, std::atomic<std::uint64_t>*>> counters();

  // Workers.
  void work();
  void process(FairQueue::Taken& taken, WorkerScratch& scratch);
  void score(const FairQueue::Taken& taken, WorkerScratch& scratch);
  void score_group(Group& group, WorkerScratch& scratch);
  void encode_texts(Group& group, WorkerScratch& scratch) const;
  void take_vectors(Group& group, WorkerScratch& scratch) const;
  void rank(const Slice& slice, Batch& batch);
  void score_batch(const std::vector<Slice>& slices, Batch& batch, WorkerScratch& scratch);
  void score_one_by_one(const std::vector<Slice>& slices, Batch& batch, WorkerScratch& scratch);
  void fail_from(std::size_t row, const std::vector<Slice>& slices, Batch& batch);
  void fail(const Slice& slice, const char* message);
  void take_scores(const Slice& slice, std::size_t offset, const Batch& batch);
  void watch_for_drift(const Slice& slice, const PublishedModel& published);
  void teach(FairQueue::Taken& taken, WorkerScratch& scratch);
  void finish_rows(const Slice& slice);
  void finish(const std::shared_ptr<Job>& job);
  void complete(Job& job);
  static void give_up(Job& job);
  void hand_back(const std::shared_ptr<Job>& job);
  [[nodiscard]] std::optional<std::size_t> until_refresh() const;
  void write_feed(Job& job) const;
  void mark_flagged(Job& job);
  void announce_failure(std::string_view message);

  // The learner.
  void run_learner();
  void learn_blocks(LearnQueue::Blocks& blocks);
  void learn_block(LearnQueue::Block& block);
  void learn_rows(LearnQueue::Block& block, std::size_t first, std::size_t last);
  std::size_t learn_piece(LearnQueue::Block& block, std::size_t first, std::size_t count);
  void note_rows(const LearnQueue::Block& block, std::size_t first, std::size_t last);
  void pass_marker(const std::shared_ptr<Job>& job);
  std::string start_refresh(Stream::Extent extent);
  void start_requested();
  void build_in_background();
  void finish_refresh();
  void end_refresh();
  void refresh_by_time();
  void settle(const std::shared_ptr<Job>& job, const std::string& error);
  void ask_state_writer();
  void answer(const std::shared_ptr<Job>& job, const RequestError* error);
  [[nodiscard]] Clock::time_point next_look() const;
  [[nodiscard]] Clock::time_point next_refresh() const;

  // The learner, lane_snapshot.cc.
  void snapshot_if_due();
  void take_snapshot(bool at_once);
  [[nodiscard]] std::unique_lock<std::mutex> note_learned();
  [[nodiscard]] std::unique_ptr<const StreamState> begin_snapshot(StreamJournal::Draft& draft);
  void write_snapshot(const StreamJournal::Draft& draft, const StreamState& state,
                      const std::vector<std::shared_ptr<Job>>& jobs);
  void end_snapshot(const std::vector<std::shared_ptr<Job>>& jobs, const std::string& problem,
                    std::uint64_t pairs, std::uint64_t bytes);
  void end_keeping();

  // The background.
  void run_background();
  void in_background(std::function<void()> task);
  void explain(const std::shared_ptr<Job>& job);

  StreamSettings settings_;  // the I/O thread's
  std::unique_ptr<Stream> stream_;
  LaneListener& listener_;
  std::unique_ptr<StreamJournal> journal_;      // the learner's; null: nothing is kept
  std::unique_ptr<WorkerScratch> own_scratch_;  // the I/O thread's
  FairQueue queue_;
  Backlog backlog_;     // of those who teach: pairs until they are learned, bytes until the answer
  Backlog explaining_;  // requests
  LearnQueue learn_queue_;

  const std::size_t batch_pairs_;
  // What may change while the lane runs.
  std::atomic<double> refresh_seconds_;
  std::atomic<double> flag_p_value_;
  std::atomic<bool> feed_texts_;
  std::atomic<std::uint64_t> refresh_pairs_;
  std::atomic<bool> feeds_scores_{false};
  std::atomic<bool> feeds_flags_{false};

  // Counters.
  std::atomic<std::uint64_t> scored_{0};
  std::atomic<std::uint64_t> ranked_{0};
  std::atomic<std::uint64_t> flagged_{0};
  std::atomic<std::uint64_t> problems_{0};
  std::atomic<std::uint64_t> refused_{0};  // pairs not learned
  std::atomic<std::uint64_t> learned_{0};
  std::atomic<std::uint64_t> clipped_{0};  // vectors
  std::atomic<std::uint64_t> until_refresh_{0};
  std::atomic<std::uint64_t> overloaded_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> refreshes_{0};
  std::atomic<std::uint64_t> drifts_{0};
  std::atomic<std::uint64_t> duplicates_{0};
  std::atomic<std::uint64_t> ahead_{0};  // times too far ahead
  std::uint64_t recovered_ = 0;          // pairs
  std::uint64_t lost_ = 0;
  std::atomic<double> drift_p_value_{1};
  std::atomic<bool> wants_way_{false};

  std::atomic<Clock::rep> last_failure_;  // when one was last announced

  std::mutex drift_mutex_;  // guards the two below
  DriftAlarm drift_;
  std::uint64_t drift_model_ = 0;

  // The learner's.
  std::unique_ptr<Refresh> refresh_;  // on its way; the background works on it until built_
  std::vector<std::shared_ptr<Job>> after_refresh_;
  RefreshRequests refresh_requests_;               // wait until another model may be begun
  std::vector<std::shared_ptr<Job>> to_keep_;      // wait for what was handed to the state writer
  std::vector<std::shared_ptr<Job>> to_snapshot_;  // wait for a snapshot
  std::atomic<bool> snapshotting_{false};          // one is being written
  // Where pairs are learned as they are scored: held by the worker until the learner can have them,
  // and by the learner for a snapshot that has all it was told of.
  std::mutex one_by_one_;
  Clock::time_point last_refresh_;
  std::uint64_t learned_at_refresh_ = 0;
  std::vector<std::string_view> batch_x_;  // scratch
  std::vector<std::string_view> batch_y_;
  std::string refresh_error_;  // the background's until built_
  std::atomic<bool> built_{false};

  std::mutex background_mutex_;  // guards the three below
  std::condition_variable background_filled_;
  std::deque<std::function<void()>> tasks_;
  bool background_closed_ = false;

  std::atomic<std::size_t> workers_left_;
  std::vector<std::thread> threads_;
};

}  // namespace phsic
