#include "daemon/serving/dropped_pairs.h"

#include <algorithm>
#include <utility>

#include "daemon/serving/learn_block.h"
#include "text/cut_text.h"

namespace phsic {
namespace {

std::size_t bytes_of(const DroppedPair& pair) {
  return sizeof(DroppedPair) + pair.id.size() + pair.x.size() + pair.y.size();
}

DroppedPair dropped_of(const Task& task, std::size_t row) {
  const auto& pairs = task.request.pairs;
  const auto& outcome = task.outcome;
  DroppedPair dropped;
  dropped.id = pairs.ids[row];
  dropped.score = outcome.score[row];
  dropped.percentile = outcome.percentile[row];
  dropped.p_value = outcome.p_value[row];
  dropped.decision = outcome.decision(row);
  if (outcome.published != nullptr) {
    dropped.model = outcome.published->number;
    dropped.epoch = outcome.published->epoch();
  }
  dropped.time = time_of(task.request, row);
  dropped.are_vectors = pairs.are_vectors;
  if (pairs.are_vectors) return dropped;
  dropped.x = text::cut_text(pairs.x[row], DroppedPairs::kLongestText);
  dropped.y = text::cut_text(pairs.y[row], DroppedPairs::kLongestText);
  dropped.is_shortened =
      dropped.x.size() < pairs.x[row].size() || dropped.y.size() < pairs.y[row].size();
  return dropped;
}

// Whoever types an id cannot say whether it was a number: a text of the same digits finds it, too.
bool is_of_id(const DroppedPair& pair, std::string_view id) {
  if (pair.id == id) return true;
  return id.size() == pair.id.size() + 2 && id.front() == '"' &&
         id.substr(1, pair.id.size()) == pair.id;
}

}  // namespace

void DroppedPairs::add(const Task& task) {
  const auto& ids = task.request.pairs.ids;
  const auto& outcome = task.outcome;
  if (ids.empty() || outcome.score.empty()) return;
  for (std::size_t row = 0; row < outcome.verdict.size(); ++row) {
    if (ids[row].empty() || outcome.decision(row).verdict != Verdict::kDrop) continue;
    add(dropped_of(task, row));
  }
}

void DroppedPairs::add(DroppedPair pair) {
  const std::lock_guard lock(mutex_);
  pairs_.push_back(std::move(pair));
  bytes_ += bytes_of(pairs_.back());
  while (pairs_.size() > kMostPairs || bytes_ > kMostBytes) {
    bytes_ -= bytes_of(pairs_.front());
    pairs_.pop_front();
  }
}

std::optional<DroppedPair> DroppedPairs::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(pairs_.rbegin(), pairs_.rend(),
                                  [&](const DroppedPair& pair) { return is_of_id(pair, id); });
  if (found == pairs_.rend()) return std::nullopt;
  return *found;
}

}  // namespace phsic
