#include "daemon/serving/model_pipeline.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "daemon/serving/lane_parts.h"
#include "daemon/serving/when_memory.h"
#include "engine/reason.h"
#include "engine/sampled_texts.h"

namespace phsic {
namespace {

// Texts are wanted whole for the journal, and otherwise as much of them as is remembered.
std::size_t longest_text(const LaneParts& parts) {
  return parts.journal != nullptr ? SIZE_MAX : SampledTexts::kLongest + 4;
}

// The model in use may be older than the last pair. Which ones it held back is not known any more.
std::uint64_t pairs_of_model(const LaneParts& parts) {
  const auto pairs = parts.stream->pairs();
  const auto built_of = parts.stream->published()->model_pairs().value_or(pairs);
  return std::min(pairs, built_of + parts.settings.spec.held_back);
}

void mark(const Slice& slice, LearnBlock& block) {
  if (slice.task->waits_for_learner && slice.is_last()) {
    block.markers.push_back({block.size(), slice.task});
  }
}

// The rows of a group that are to be learned or rejected, and who waits for them.
void gather(const Group& group, LearnBlock& block, LaneCounters& counters) {
  std::size_t row = 0;
  for (const auto& slice : group.slices) {
    const auto& request = slice.task->request;
    LearnBlock::Part part{slice.task, slice.count};
    for (std::size_t i = slice.first; i < slice.first + slice.count; ++i, ++row) {
      if (!request.learns) continue;
      const auto decision = slice.task->outcome.decision(i);
      if (is_rejection(decision.reason)) {
        block.reject(*slice.task, i);
        ++part.rejected;
        continue;
      }
      if (group.batch.usable[row] && block.add(group.batch, row, *slice.task, i)) continue;
      ++part.refused;
      if (request.scores) counters.aside.add(decision);
    }
    if (!request.learns) continue;
    part.end = block.size();
    block.parts.push_back(std::move(part));
    mark(slice, block);
  }
}

void gather(const WorkerScratch& scratch, LearnBlock& block, LaneCounters& counters) {
  for (std::size_t k = 0; k < scratch.groups_used; ++k) gather(scratch.groups[k], block, counters);
  for (const auto& slice : scratch.failed) {
    if (!slice.task->request.learns) continue;
    block.parts.push_back({slice.task, slice.count, block.size()});
    mark(slice, block);
  }
  for (const auto& slice : scratch.taken.slices) {
    if (slice.task->request.is_order()) mark(slice, block);
  }
}

}  // namespace

ModelPipeline::ModelPipeline(LaneParts& parts, Recovery recovery)
    : parts_(parts),
      batch_pairs_(parts.settings.batch_pairs),
      own_scratch_(1),
      learn_queue_(longest_text(parts), parts.unlearned),
      tasks_(parts.journal.get(), parts.completion),
      snapshots_(*parts.stream, parts.journal.get(), parts.background, parts.drift, parts.counters,
                 parts.decisions, parts.completion, parts.reporter,
                 [this] { learn_queue_.wake(); }),
      score_(*parts.stream, parts.counters, parts.drift, parts.completion),
      sequence_(std::move(recovery.serving.ids), parts.decisions.memory().recent(), parts.plan,
                learn_queue_, parts.counters, parts.completion),
      builder_(*parts.stream, parts.decisions.notes(), std::move(recovery.pending),
               pairs_of_model(parts), parts.background, parts.counters, tasks_, parts.reporter,
               [this] { learn_queue_.wake(); }),
      learn_(*parts.stream, parts.decisions, learn_queue_, builder_, snapshots_, tasks_,
             parts.counters, parts.sources),
      workers_left_(parts.settings.workers) {
  if (parts_.journal != nullptr) {
    parts_.journal->set_waker([this] { learn_queue_.wake(); });
  }
  builder_.set_schedule(parts_.settings.refresh_seconds, parts_.settings.spec.refresh_pairs);
  start_threads();
}

// If one cannot be started, those that were end again.
void ModelPipeline::start_threads() {
  std::size_t unstarted = parts_.settings.workers;
  try {
    threads_.reserve(unstarted + 1);
    threads_.emplace_back([this] {
      learn_.run();
      parts_.background.close();
    });
    for (; unstarted > 0; --unstarted) threads_.emplace_back([this] { work(); });
  } catch (...) {
    parts_.queue.close();
    for (; unstarted > 0; --unstarted) end_worker();
    join();
    throw;
  }
}

ModelPipeline::~ModelPipeline() { join(); }

void ModelPipeline::join() {
  for (auto& thread : threads_) thread.join();
  parts_.background.close();
  // Whoever built the last model may still be about to wake the learner.
  parts_.background.join();
  if (parts_.journal != nullptr) parts_.journal->set_waker({});
}

void ModelPipeline::update(const StreamSettings& settings) {
  builder_.set_schedule(settings.refresh_seconds, settings.spec.refresh_pairs);
  learn_queue_.wake();
}

void ModelPipeline::work() {
  WorkerScratch scratch(batch_pairs_);
  const auto make_block = [this] { return learn_queue_.make_block(); };
  auto block = when_there_is_memory(make_block);
  while (parts_.queue.take(scratch.taken, {batch_pairs_, kBatchBytes})) {
    parts_.decide.check(scratch.taken.slices, scratch.rules);
    score_.score(scratch);
    parts_.decide.decide(scratch);
    if (scratch.taken.learns) {
      hand_on(scratch, block);
      block = when_there_is_memory(make_block);
    }
    for (const auto& slice : scratch.taken.slices) {
      if (slice.task->request.learns) parts_.unlearned.remove({slice.count, 0});
    }
    for (const auto& slice : scratch.taken.slices) parts_.completion.scored(slice);
    // A task goes with the last who is done with it.
    scratch.taken.slices.clear();
    scratch.clear();
    parts_.sources.tell();
  }
  end_worker();
}

void ModelPipeline::end_worker() {
  if (--workers_left_ == 0) learn_queue_.close();
}

// Hands what is usable on to be learned. Even when there is nothing: those after it wait for it.
void ModelPipeline::hand_on(const WorkerScratch& scratch, LearnBlocks& block) {
  block.front().ticket = scratch.taken.ticket;
  try {
    gather(scratch, block.front(), parts_.counters);
  } catch (const std::exception& problem) {
    auto& completion = parts_.completion;
    block.front().clear();
    sequence_.hand_in(block);
    for (const auto& slice : scratch.taken.slices) {
      const auto& task = slice.task;
      if (!task->request.learns && !task->waits_for_learner) continue;
      completion.fail(slice, reason(problem));
      if (task->request.learns) completion.sequenced(task, slice.count);
      if (task->waits_for_learner && slice.is_last()) completion.learned(task);
    }
    return;
  }
  sequence_.hand_in(block);
}

bool ModelPipeline::score_here(const std::shared_ptr<Task>& task) {
  const auto& request = task->request;
  if (request.operation != Operation::kScore || request.learns || !request.pairs.are_vectors ||
      parts_.queue.depth().pairs > 0 ||
      !is_quick(request.pairs.size(), parts_.stream->published()->multiply_adds())) {
    return false;
  }
  own_scratch_.taken.slices.push_back({task, 0, request.pairs.size()});
  score_.score(own_scratch_);
  parts_.decide.decide(own_scratch_);
  parts_.completion.scored(own_scratch_.taken.slices.front());
  own_scratch_.taken.slices.clear();
  own_scratch_.clear();
  return true;
}

}  // namespace phsic
