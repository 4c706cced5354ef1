#include "daemon/serving/learn_queue.h"

#include <utility>

#include "engine/sampled_texts.h"

namespace phsic {
namespace {

// Memory that is kept for blocks to come.
constexpr std::size_t kMostSpare = 4;
constexpr std::size_t kLargestSpare = 2U << 20U;  // bytes

}  // namespace

void LearnQueue::Block::clear() {
  x.clear();
  y.clear();
  times.clear();
  bytes.clear();
  ends.clear();
  are_vectors.clear();
  ids.clear();
  markers.clear();
  is_learned = false;
}

std::size_t LearnQueue::Block::byte_count() const {
  return sizeof(Block) + x.byte_count() + y.byte_count() + bytes.capacity() +
         sizeof(double) * times.capacity() + sizeof(std::size_t) * ends.capacity() +
         sizeof(IdHash) * ids.capacity() + sizeof(Marker) * markers.capacity();
}

std::pair<std::string_view, std::string_view> LearnQueue::Block::texts(std::size_t i) const {
  const std::string_view all = bytes;
  const auto start = i == 0 ? 0 : ends[2 * i - 1];
  return {all.substr(start, ends[2 * i] - start),
          all.substr(ends[2 * i], ends[2 * i + 1] - ends[2 * i])};
}

bool LearnQueue::Block::add(const Batch& batch, std::size_t row, const Job& job, std::size_t i,
                            double time, const IdHash& id) {
  if (!is_learned) {
    if (x.append(batch.x.view(), row) != Fault::kNone) return false;
    if (y.append(batch.y.view(), row) != Fault::kNone) {
      x.drop_back();
      return false;
    }
  }
  times.push_back(time);
  ids.push_back(id);
  are_vectors.push_back(job.pairs.are_vectors);
  for (const auto* side : {&job.pairs.x, &job.pairs.y}) {
    // No more of a text than is wanted.
    if (!job.pairs.are_vectors) bytes.append((*side)[i].substr(0, longest));
    ends.push_back(bytes.size());
  }
  return true;
}

void LearnQueue::Block::truncate(std::size_t size) {
  if (size >= times.size()) return;
  times.resize(size);
  ids.resize(size);
  are_vectors.resize(size);
  ends.resize(2 * size);
  bytes.resize(ends.empty() ? 0 : ends.back());
}

LearnQueue::LearnQueue(ItemShape x, ItemShape y, bool whole_texts, SeenIds seen, Backlog& backlog)
    : x_(x),
      y_(y),
      longest_(whole_texts ? SIZE_MAX : SampledTexts::kLongest + 4),
      backlog_(backlog),
      seen_(std::move(seen)) {}

LearnQueue::Turn::Turn(LearnQueue& learn_queue, std::uint64_t ticket)
    : learn_queue_(learn_queue), lock_(learn_queue.mutex_) {
  learn_queue_.turn_.wait(lock_, [&] { return learn_queue_.next_ticket_ == ticket; });
}

LearnQueue::Turn::~Turn() {
  ++learn_queue_.next_ticket_;
  lock_.unlock();
  learn_queue_.turn_.notify_all();
  learn_queue_.filled_.notify_one();
}

void LearnQueue::Turn::hand_in(Blocks& drafts) {
  drafts.remove_if([](const Block& block) { return block.size() == 0 && block.markers.empty(); });
  std::size_t pairs = 0;
  for (const auto& block : drafts) pairs += block.is_learned ? 0 : block.size();
  if (pairs > 0) learn_queue_.seen_.reserve(pairs);
  for (auto& block : drafts) {
    if (!block.is_learned) {
      for (const auto& id : block.ids) learn_queue_.seen_.add(id);
    }
    block.charge_ = {block.is_learned ? 0 : block.size(), block.byte_count()};
    learn_queue_.backlog_.add(block.charge_);
  }
  learn_queue_.blocks_.splice(learn_queue_.blocks_.end(), drafts);
}

// REQUIRES: mutex_ is held.
LearnQueue::Blocks LearnQueue::make_draft() {
  Blocks draft;
  if (!spare_.empty()) {
    draft.splice(draft.end(), spare_, spare_.begin());
    return draft;
  }
  auto& block = draft.emplace_back();
  block.x = ItemBlock<float>(x_);
  block.y = ItemBlock<float>(y_);
  block.longest = longest_;
  return draft;
}

LearnQueue::Blocks LearnQueue::draft() {
  const std::lock_guard lock(mutex_);
  return make_draft();
}

bool LearnQueue::is_known(const IdHash& id) {
  const std::lock_guard lock(mutex_);
  return seen_.contains(id);
}

void LearnQueue::reserve_ids(std::size_t more) {
  const std::lock_guard lock(mutex_);
  seen_.reserve(more);
}

void LearnQueue::note_id(const IdHash& id) {
  const std::lock_guard lock(mutex_);
  seen_.add(id);
}

void LearnQueue::take_now(Blocks& blocks) {
  const std::lock_guard lock(mutex_);
  blocks.splice(blocks.end(), blocks_);
}

bool LearnQueue::take(Blocks& blocks, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, deadline, [&] { return closed_ || woken_ || !blocks_.empty(); });
  woken_ = false;
  if (blocks_.empty()) return !closed_;
  blocks.splice(blocks.end(), blocks_, blocks_.begin());
  return true;
}

void LearnQueue::note_learned(Block& block, std::size_t pairs) {
  block.charge_.pairs -= pairs;
  backlog_.remove({pairs, 0});
}

void LearnQueue::give_back(Blocks& blocks) {
  for (auto& block : blocks) {
    backlog_.remove(block.charge_);
    block.clear();
  }
  const std::lock_guard lock(mutex_);
  while (!blocks.empty()) {
    if (spare_.size() < kMostSpare && blocks.front().byte_count() <= kLargestSpare) {
      spare_.splice(spare_.end(), blocks, blocks.begin());
    } else {
      blocks.pop_front();
    }
  }
}

void LearnQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

void LearnQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
}

}  // namespace phsic
