#include "daemon/serving/learn_block.h"

#include <cmath>
#include <span>

namespace phsic {

double time_of(const Request& request, std::size_t row) {
  const auto& times = request.pairs.times;
  const bool has_time = !times.empty() && !std::isnan(times[row]);
  return has_time ? times[row] : request.arrival_time;
}

IdHash id_of(const Request& request, std::size_t row) {
  const auto& ids = request.pairs.ids;
  const bool has_id = !ids.empty() && !ids[row].empty();
  return has_id ? hash_id(ids[row]) : kNoId;
}

std::pair<std::string_view, std::string_view> LearnBlock::texts(std::size_t i) const {
  const std::string_view all = bytes;
  const auto start = i == 0 ? 0 : ends[2 * i - 1];
  return {all.substr(start, ends[2 * i] - start),
          all.substr(ends[2 * i], ends[2 * i + 1] - ends[2 * i])};
}

PairKey key_of(const PairBlock& pairs, std::size_t i, std::string& scratch) {
  if (!pairs.are_vectors) return key_of(pairs.x[i], pairs.y[i], scratch);
  const std::span x = pairs.x_values;
  const std::span y = pairs.y_values;
  return key_of(x.subspan(i * pairs.x_dim, pairs.x_dim), y.subspan(i * pairs.y_dim, pairs.y_dim));
}

bool LearnBlock::add(const Batch& batch, std::size_t row, const Task& task, std::size_t i) {
  if (!items.add(batch, row)) return false;
  const auto& pairs = task.request.pairs;
  times.push_back(time_of(task.request, i));
  ids.push_back(id_of(task.request, i));
  keys.push_back(key_of(pairs, i, scratch));
  rows.push_back(i);
  decisions.push_back(code_of(task.outcome.decision(i)));
  are_vectors.push_back(pairs.are_vectors);
  for (const auto* side : {&pairs.x, &pairs.y}) {
    if (!pairs.are_vectors) bytes.append((*side)[i].substr(0, longest_text));
    ends.push_back(bytes.size());
  }
  return true;
}

void LearnBlock::reject(const Task& task, std::size_t i) {
  rejected.push_back({size(), code_of(task.outcome.decision(i))});
}

void LearnBlock::clear() {
  items.clear();
  times.clear();
  bytes.clear();
  ends.clear();
  are_vectors.clear();
  ids.clear();
  keys.clear();
  rows.clear();
  decisions.clear();
  rejected.clear();
  is_duplicate.clear();
  is_refused = false;
  parts.clear();
  markers.clear();
  charge = {};
}

std::size_t LearnBlock::byte_count() const {
  return sizeof(LearnBlock) + items.byte_count() + bytes.capacity() +
         sizeof(double) * times.capacity() + sizeof(std::size_t) * ends.capacity() +
         sizeof(IdHash) * ids.capacity() + sizeof(Part) * parts.size() +
         sizeof(PairKey) * keys.capacity() + sizeof(std::size_t) * rows.capacity() +
         sizeof(DecisionCode) * decisions.capacity() + sizeof(Rejected) * rejected.capacity() +
         sizeof(Marker) * markers.capacity() + scratch.capacity();
}

}  // namespace phsic
