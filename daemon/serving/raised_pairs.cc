#include "daemon/serving/raised_pairs.h"

#include <algorithm>
#include <utility>

#include "daemon/serving/learn_block.h"
#include "text/cut_text.h"

namespace phsic {
namespace {

std::size_t bytes_of(const RaisedPair& pair) {
  return sizeof(RaisedPair) + pair.id.size() + pair.x.size() + pair.y.size();
}

RaisedPair raised_of(const Task& task, std::size_t row) {
  const auto& pairs = task.request.pairs;
  const auto& outcome = task.outcome;
  RaisedPair raised;
  raised.id = pairs.ids[row];
  raised.score = outcome.score[row];
  raised.percentile = outcome.percentile[row];
  raised.p_value = outcome.p_value[row];
  raised.decision = outcome.decision(row);
  if (outcome.published != nullptr) {
    raised.model = outcome.published->number;
    raised.epoch = outcome.published->epoch();
  }
  raised.time = time_of(task.request, row);
  raised.are_vectors = pairs.are_vectors;
  if (pairs.are_vectors) return raised;
  raised.x = text::cut_text(pairs.x[row], RaisedPairs::kLongestText);
  raised.y = text::cut_text(pairs.y[row], RaisedPairs::kLongestText);
  raised.is_shortened =
      raised.x.size() < pairs.x[row].size() || raised.y.size() < pairs.y[row].size();
  return raised;
}

// Whoever types an id cannot say whether it was a number: a text of the same digits finds it, too.
bool is_of_id(const RaisedPair& pair, std::string_view id) {
  if (pair.id == id) return true;
  return id.size() == pair.id.size() + 2 && id.front() == '"' &&
         id.substr(1, pair.id.size()) == pair.id;
}

}  // namespace

void RaisedPairs::add(const Task& task) {
  const auto& ids = task.request.pairs.ids;
  const auto& outcome = task.outcome;
  if (ids.empty() || outcome.score.empty()) return;
  for (std::size_t row = 0; row < outcome.verdict.size(); ++row) {
    if (ids[row].empty() || outcome.decision(row).verdict != Verdict::kDrop) continue;
    add(raised_of(task, row));
  }
}

void RaisedPairs::add(RaisedPair pair) {
  const std::lock_guard lock(mutex_);
  pairs_.push_back(std::move(pair));
  bytes_ += bytes_of(pairs_.back());
  while (pairs_.size() > kMostPairs || bytes_ > kMostBytes) {
    bytes_ -= bytes_of(pairs_.front());
    pairs_.pop_front();
  }
}

std::optional<RaisedPair> RaisedPairs::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(pairs_.rbegin(), pairs_.rend(),
                                  [&](const RaisedPair& pair) { return is_of_id(pair, id); });
  if (found == pairs_.rend()) return std::nullopt;
  return *found;
}

}  // namespace phsic
