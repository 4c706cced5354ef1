// The workers of a lane: what they hand on to the learner.
#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "daemon/serving/lane.h"
#include "daemon/serving/worker_scratch.h"
#include "engine/reason.h"

namespace phsic {
namespace {

double time_of(const Job& job, std::size_t i) {
  const bool has_time = !job.pairs.times.empty() && !std::isnan(job.pairs.times[i]);
  return has_time ? job.pairs.times[i] : job.arrival_time;
}

IdHash id_of(const Job& job, std::size_t i) {
  const bool has_id = !job.pairs.ids.empty() && !job.pairs.ids[i].empty();
  return has_id ? hash_id(job.pairs.ids[i]) : kNoId;
}

// Decides what becomes of each row. `is_known` tells of an id whether it has been learned.
template <class IsKnown>
void choose(const std::vector<Slice>& slices, const Batch& batch, const IsKnown& is_known,
            WorkerScratch& scratch) {
  scratch.fates.clear();
  for (const auto& [job, first, count] : slices) {
    for (std::size_t i = first; i < first + count; ++i) {
      auto fate = Fate::kAside;
      if (job->learns) fate = batch.usable[scratch.fates.size()] ? Fate::kNew : Fate::kRefused;
      const auto id = fate == Fate::kNew ? id_of(*job, i) : kNoId;
      if (id != kNoId && (is_known(id) || !scratch.ids.insert(id).second)) fate = Fate::kDuplicate;
      scratch.fates.push_back(fate);
    }
  }
}

// Notes what the first `rows` rows of a batch taught.
void note_taught(const std::vector<Slice>& slices, std::size_t rows, WorkerScratch& scratch) {
  std::size_t row = 0;
  for (const auto& slice : slices) {
    Taught taught{slice.job.get()};
    for (std::size_t k = 0; k < slice.count && row < rows; ++k, ++row) {
      taught.learned += scratch.fates[row] == Fate::kNew ? 1 : 0;
      taught.duplicates += scratch.fates[row] == Fate::kDuplicate ? 1 : 0;
      taught.refused += scratch.fates[row] == Fate::kRefused ? 1 : 0;
    }
    scratch.taught.push_back(taught);
  }
}

// Does the learner answer it? Its last rows, or an order.
bool waits_for_learner(const Slice& slice) {
  const auto& job = *slice.job;
  if (job.operation == Operation::kRefresh || job.operation == Operation::kSnapshot) return true;
  return (job.waits || job.durable) && slice.first + slice.count == job.pairs.size();
}

// What is to be learned of a batch, into a draft.
void gather(LearnQueue::Turn& turn, WorkerScratch& scratch) {
  scratch.drafts = turn.draft();
  auto& draft = scratch.drafts.front();
  for (std::size_t k = 0; k < scratch.groups_used; ++k) {
    const auto& [slices, batch] = scratch.groups[k];
    choose(
        slices, batch, [&](const IdHash& id) { return turn.is_known(id); }, scratch);
    std::size_t row = 0;
    for (const auto& [job, first, count] : slices) {
      for (std::size_t i = first; i < first + count; ++i, ++row) {
        auto& fate = scratch.fates[row];
        if (fate != Fate::kNew) continue;
        const auto id = id_of(*job, i);
        if (!draft.add(batch, row, *job, i, time_of(*job, i), id)) fate = Fate::kRefused;
      }
    }
    note_taught(slices, row, scratch);
  }
}

// For those who wait for the learner. Nothing has changed if it throws.
void add_markers(LearnQueue::Turn& turn, const FairQueue::Taken& taken, WorkerScratch& scratch) {
  const auto count = std::count_if(taken.slices.begin(), taken.slices.end(), waits_for_learner);
  if (count == 0) return;
  if (scratch.drafts.empty()) scratch.drafts = turn.draft();
  auto& draft = scratch.drafts.back();
  draft.markers.reserve(static_cast<std::size_t>(count));
  for (const auto& slice : taken.slices) {
    if (waits_for_learner(slice)) draft.markers.push_back({draft.size(), slice.job});
  }
}

}  // namespace

// Where the counts are the model, the pairs of those who teach are learned as they are scored. All
// that may fail for want of memory comes before; what was learned is then only noted down.
void Lane::score_one_by_one(const std::vector<Slice>& slices, Batch& batch,
                            WorkerScratch& scratch) {
  scratch.ids.clear();
  choose(
      slices, batch, [&](const IdHash& id) { return learn_queue_.is_known(id); }, scratch);
  auto draft = learn_queue_.draft();
  draft.front().is_learned = true;
  scratch.times.clear();
  for (const auto& [job, first, count] : slices) {
    for (std::size_t i = first; i < first + count; ++i) {
      const auto row = scratch.times.size();
      scratch.times.push_back(time_of(*job, i));
      batch.usable[row] = scratch.fates[row] == Fate::kNew;
      if (!batch.usable[row]) continue;
      static_cast<void>(draft.front().add(batch, row, *job, i, scratch.times[row], id_of(*job, i)));
    }
  }
  learn_queue_.reserve_ids(draft.front().size());
  scratch.taught.reserve(scratch.taught.size() + slices.size());
  const auto done = stream_->counter()->score_and_learn(batch, scratch.times.data());
  note_taught(slices, done, scratch);
  const auto learned = static_cast<std::size_t>(
      std::count(scratch.fates.begin(), scratch.fates.begin() + static_cast<std::ptrdiff_t>(done),
                 Fate::kNew));
  learned_ += learned;
  draft.front().truncate(learned);
  for (const auto& id : draft.front().ids) learn_queue_.note_id(id);
  if (journal_ != nullptr && learned > 0) scratch.drafts.splice(scratch.drafts.end(), draft);
  if (done < batch.size()) fail_from(done, slices, batch);
}

// There was no memory for this row of a batch. Neither it nor any after it was scored or learned.
void Lane::fail_from(std::size_t row, const std::vector<Slice>& slices, Batch& batch) {
  std::fill(batch.scores.begin() + static_cast<std::ptrdiff_t>(std::min(row, batch.scores.size())),
            batch.scores.end(), std::numeric_limits<double>::quiet_NaN());
  std::size_t end = 0;
  for (const auto& slice : slices) {
    end += slice.count;
    if (end > row) fail(slice, reason(std::bad_alloc()));
  }
}

// Hands what is usable to the learner, in the order in which it was taken. Even when there is
// nothing: the next one waits for this turn.
void Lane::teach(FairQueue::Taken& taken, WorkerScratch& scratch) {
  const bool is_learned = stream_->counter() != nullptr;
  LearnQueue::Turn turn(learn_queue_, taken.ticket);
  bool has_marked = false;
  try {
    if (!is_learned) gather(turn, scratch);
    add_markers(turn, taken, scratch);
    turn.hand_in(scratch.drafts);
    has_marked = true;
  } catch (const std::exception& problem) {
    // What was learned as it was scored has to be noted down all the same.
    if (is_learned) {
      turn.hand_in(scratch.drafts);
    } else {
      scratch.taught.clear();
    }
    for (const auto& slice : taken.slices) {
      if (is_learned ? waits_for_learner(slice) : slice.job->learns || waits_for_learner(slice)) {
        fail(slice, reason(problem));
      }
    }
  }
  for (const auto& [job, learned, duplicates, refused] : scratch.taught) {
    job->learned += learned;
    job->duplicates += duplicates;
    duplicates_ += duplicates;
    refused_ += refused;
  }
  // The learner answers, when it has come so far; it comes when the turn is over.
  for (const auto& slice : taken.slices) {
    if (has_marked && waits_for_learner(slice)) ++slice.job->rows_left;
  }
}

}  // namespace phsic
