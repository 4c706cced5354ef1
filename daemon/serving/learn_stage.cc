#include "daemon/serving/learn_stage.h"

#include <algorithm>
#include <span>
#include <utility>

namespace phsic {
namespace {

// Pairs learned before the learner looks whether a model is there.
constexpr std::size_t kPiece = 256;

// REQUIRES: one dense item.
std::span<const float> row_of(const Items<float>& items) {
  const auto& rows = std::get<DenseRows<float>>(items);
  return {rows.data, rows.dim};
}

}  // namespace

LearnStage::LearnStage(const StreamLearner& stream, DecisionKeeper& decisions, LearnQueue& queue,
                       ModelBuilder& builder, Snapshots& snapshots, LearnedTasks& tasks,
                       LaneCounters& counters, WaitingSources& sources)
    : stream_(stream),
      decisions_(decisions),
      queue_(queue),
      builder_(builder),
      snapshots_(snapshots),
      tasks_(tasks),
      counters_(counters),
      sources_(sources) {}

void LearnStage::run() {
  LearnBlocks blocks;
  while (queue_.take(blocks, next_look())) {
    builder_.follow_schedule();
    decisions_.follow_plan();
    for (auto& block : blocks) learn(block);
    queue_.give_back(blocks);
    sources_.tell();
    do_what_is_due();
  }
  builder_.finish();
  tasks_.flush();
  snapshots_.finish();
}

std::chrono::steady_clock::time_point LearnStage::next_look() const {
  // No snapshot is taken while a model is on its way.
  const auto refresh = builder_.next_look();
  return builder_.is_building() ? refresh : std::min(refresh, snapshots_.next_look());
}

void LearnStage::do_what_is_due() {
  if (builder_.is_built()) adopt();
  builder_.begin_by_time();
  // The state of a stream has no place for a model that is being built.
  if (!builder_.is_building()) snapshots_.take_if_due();
}

// A snapshot that is due comes before the next model is begun, which may be at once.
void LearnStage::adopt() {
  builder_.adopt();
  if (!builder_.is_building()) snapshots_.take_if_due();
  builder_.begin_asked();
}

void LearnStage::learn(LearnBlock& block) {
  sources_.tell();
  std::size_t row = 0;
  rejected_noted_ = block.is_refused ? block.rejected.size() : 0;
  for (const auto& marker : block.markers) {
    learn_rows(block, row, marker.row);
    row = marker.row;
    note_rejected(block, row);
    pass(marker.task);
  }
  learn_rows(block, row, block.size());
  note_rejected(block, block.size());
  tasks_.flush();
}

// Learns those of the rows that are new.
void LearnStage::learn_rows(LearnBlock& block, std::size_t first, std::size_t last) {
  if (block.is_refused) return;
  const auto& is_duplicate = block.is_duplicate;
  while (first < last) {
    const auto from = is_duplicate.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = is_duplicate.begin() + static_cast<std::ptrdiff_t>(last);
    const auto run = static_cast<std::size_t>(std::find(from, to, true) - from);
    learn_run(block, first, first + run);
    first = std::min(last, first + run + 1);
  }
}

void LearnStage::learn_run(LearnBlock& block, std::size_t first, std::size_t last) {
  while (first < last) {
    const auto done = learn_piece(block, first, std::min(kPiece, last - first));
    note(block, first, first + done);
    first += done;
    sources_.tell();
    if (builder_.is_built()) adopt();
    builder_.begin_if_due();
  }
}

// Learns up to `count` rows, and returns how many.
std::size_t LearnStage::learn_piece(LearnBlock& block, std::size_t first, std::size_t count) {
  x_.clear();
  y_.clear();
  for (std::size_t i = first; i < first + count; ++i) {
    const auto [x, y] = block.texts(i);
    x_.push_back(x);
    y_.push_back(y);
  }
  auto batch = block.items.view(first, count);
  batch.times = block.times.data() + first;
  batch.x_texts = x_.data();
  batch.y_texts = y_.data();
  const auto before = stream_.pairs();
  const auto done = builder_.learn(batch, 0);
  const auto learned = stream_.pairs() - before;
  counters_.learned += learned;
  counters_.clipped = stream_.clipped();
  counters_.refused += done - learned;
  queue_.note_done(block, done);
  return done;
}

// Notes down that these rows were learned, and before each row the pairs rejected before it.
void LearnStage::note(const LearnBlock& block, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    note_rejected(block, i);
    if (block.are_vectors[i]) {
      const auto pair = block.items.view(i, 1);
      decisions_.learned(row_of(pair.x), row_of(pair.y), block.keys[i], block.times[i],
                         block.ids[i], block.decisions[i]);
    } else {
      const auto [x, y] = block.texts(i);
      decisions_.learned(x, y, block.keys[i], block.times[i], block.ids[i], block.decisions[i]);
    }
  }
}

// Notes down the pairs that were rejected up to this place.
void LearnStage::note_rejected(const LearnBlock& block, std::size_t place) {
  const auto& all = block.rejected;
  for (; rejected_noted_ < all.size() && all[rejected_noted_].place <= place; ++rejected_noted_) {
    decisions_.rejected(all[rejected_noted_].decision);
  }
}

// Passes a task on. All pairs before it have been learned.
void LearnStage::pass(const std::shared_ptr<Task>& task) {
  const auto& request = task->request;
  if (request.operation == Operation::kSnapshot) {
    snapshots_.add(task);
  } else if (request.operation == Operation::kRefresh) {
    builder_.add(task);
  } else if (request.waits && builder_.is_building()) {
    builder_.wait_with(task);
  } else {
    tasks_.add(task);
  }
}

}  // namespace phsic
