#include "state/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "state/recovery.h"
#include "state/survey.h"
#include "state/whole_file.h"

namespace phsic {
namespace {

// Calls visit(entry) for every entry, in order. Throws an Error if one is missing or damaged.
template <class Visit>
void read_whole_journal(const StateFile& file, const StreamRecord& record, const Visit& visit) {
  EntryPlace next = {record.id, 1, 0};
  file.read_journal(
      record.id, 0, false, [&](std::uint64_t number, std::uint64_t, std::span<const char> bytes) {
        try {
          if (number != next.number) {
            throw Error(fmt::format("found entry {}, expected {}", number, next.number));
          }
          const auto entry = parse_entry(bytes, next);
          visit(entry);
          ++next.number;
          next.pairs += entry.pairs.size();
        } catch (const DatabaseError&) {
          throw;
        } catch (const Error& problem) {
          throw Error(fmt::format("{}: entry {} of the journal of stream {}: {}", file.file(),
                                  number, record.name, problem.what()));
        }
        return true;
      });
}

std::string describe_journal(const StateFile& file, std::uint32_t stream) {
  const auto journal = file.journal(stream);
  if (journal.entries == 0) return "no journal";
  if (journal.first > 1) return fmt::format("a journal that begins with entry {}", journal.first);
  if (has_gap(file, stream)) {
    return fmt::format("a journal with a gap: {} entries up to {}", journal.entries, journal.last);
  }
  return "a journal that goes on from what was learned elsewhere";
}

void require_whole(const StateFile& file, const StreamRecord& record, const StateMarks& marks) {
  if (!is_journal_whole(file, record.id)) {
    throw Error(fmt::format(
        "{}: stream {}: found {}, expected one with every pair, from entry 1 on. A daemon with "
        "`journal: keep` has one; --from TABLE learns from a table instead.",
        file.file(), record.name, describe_journal(file, record.id)));
  }
  const auto last = file.journal(record.id).last;
  if (const auto mark = marks.find(record); mark && last < mark->number) {
    throw Error(fmt::format("{}: the journal of stream {}: {}", file.file(), record.name,
                            describe_shortfall(last, *mark)));
  }
}

}  // namespace

Rebuild::Rebuild(const Options& options, const EncoderPath& path)
    : to_(options.to),
      made_(name_beside(options.to)),
      name_(options.stream),
      stream_(Stream::open(spec_of(options.options), path)),
      serving_(id_window_of(options.options)),
      decisions_(options.decisions_of ? options.decisions_of(options.options) : nullptr) {
  require_stream_name(name_);
  require_no_file(to_);
  require_no_file(made_);
  try {
    create(options);
  } catch (...) {
    file_ = nullptr;
    remove();
    throw;
  }
}

Rebuild::~Rebuild() {
  journal_.reset();
  if (file_ == nullptr) return;
  file_ = nullptr;
  remove();
}

void Rebuild::create(const Options& options) {
  file_ = std::make_unique<StateFile>(made_, Database::Access::kCreate);
  file_->transact([&] {
    id_ =
        file_->put_stream(name_, identity_text(stream_->identity()), options_json(options.options));
  });
  if (options.keeps_journal) {
    journal_.emplace(EntryPlace{id_, 0, 0}, [this](const EntryPlace& place, std::uint64_t pairs,
                                                   const std::string& bytes) {
      file_->transact([&] { file_->append(place.stream, place.number, pairs, bytes); });
    });
  }
}

void Rebuild::remove() const noexcept {
  try {
    remove_database(made_);
  } catch (const std::filesystem::filesystem_error&) {
    // The file stays, under a name that nobody takes for a state.
  }
}

void Rebuild::learn_journal(const StateFile& file, const StreamRecord& record) {
  const StateMarks marks(file.file());
  file.look([&] {
    require_whole(file, record, marks);
    if (identity_differences(record.identity, identity_text(stream_->identity())).empty()) {
      replay(file, record);
      return;
    }
    read_whole_journal(file, record, [&](const Entry& entry) {
      if (entry.pairs.size() > 0) learn(entry.pairs);
      note_rejected(entry.pairs);
    });
  });
}

void Rebuild::replay(const StateFile& file, const StreamRecord& record) {
  was_replayed_ = true;
  const auto [begun, adopted] = last_adoption(file, record.id);
  Replay replay(*stream_, serving_, begun, adopted, {}, decisions_.get());
  read_whole_journal(file, record, [&](const Entry& entry) {
    replay.apply(entry);
    if (journal_) journal_->put(entry);
  });
  ModelCycle cycle(*stream_, notes(), replay.take_pending());
  complete(cycle);
}

void Rebuild::learn(const EntryPairs& pairs) {
  const auto count = pairs.size();
  x_.assign(count, {});
  y_.assign(count, {});
  if (pairs.are_vectors()) {
    const auto x = stream_->shape_x();
    const auto y = stream_->shape_y();
    if (x != ItemShape{ItemKind::kDense, pairs.x_dim()} ||
        y != ItemShape{ItemKind::kDense, pairs.y_dim()}) {
      throw Error(fmt::format(
          "found vectors of {} and {} dimensions, expected an encoder of such: this one gives {} "
          "and {}",
          pairs.x_dim(), pairs.y_dim(), x.to_string(), y.to_string()));
    }
    stream_->take({pairs.x_values().data(), count, pairs.x_dim()},
                  {pairs.y_values().data(), count, pairs.y_dim()}, batch_);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      x_[i] = pairs.x(i);
      y_[i] = pairs.y(i);
    }
    stream_->encode({x_, y_, {}}, batch_);
  }
  decided_ = pairs.decisions();
  learn_batch(pairs.times(), pairs.ids(), pairs.are_vectors());
  decided_ = {};
}

void Rebuild::learn(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  x_.assign(pairs.x.begin(), pairs.x.end());
  y_.assign(pairs.y.begin(), pairs.y.end());
  stream_->encode(pairs, batch_);
  problems = batch_.problems;
  no_times_.assign(x_.size(), 0);
  no_ids_.assign(x_.size(), kNoId);
  learn_batch(pairs.times.empty() ? std::span<const double>(no_times_) : pairs.times, no_ids_,
              false);
}

void Rebuild::learn_batch(std::span<const double> times, std::span<const IdHash> ids,
                          bool are_vectors) {
  const auto& usable = batch_.usable;
  left_out_ += static_cast<std::uint64_t>(std::count(usable.begin(), usable.end(), false));
  for (auto begin = std::find(usable.begin(), usable.end(), true); begin != usable.end();) {
    const auto end = std::find(begin, usable.end(), false);
    learn_run(static_cast<std::size_t>(begin - usable.begin()),
              static_cast<std::size_t>(end - usable.begin()), times, ids, are_vectors);
    begin = std::find(end, usable.end(), true);
  }
}

void Rebuild::learn_run(std::size_t first, std::size_t last, std::span<const double> times,
                        std::span<const IdHash> ids, bool are_vectors) {
  auto learn_batch = items_to_learn(batch_, first, last - first);
  learn_batch.times = times.data() + first;
  learn_batch.x_texts = x_.data() + first;
  learn_batch.y_texts = y_.data() + first;
  ModelCycle cycle(*stream_, notes());
  for (std::size_t row = 0; row < learn_batch.size();) {
    const auto before = stream_->pairs();
    const auto done = cycle.learn(learn_batch, row);
    left_out_ += done - row - (stream_->pairs() - before);
    for (; row < done; ++row) note(first + row, times[first + row], ids[first + row], are_vectors);
    if (!cycle.is_due()) continue;
    cycle.begin(PairExtent::kWithoutHeldBack);
    complete(cycle);
  }
}

void Rebuild::note(std::size_t row, double time, const IdHash& id, bool is_vector) {
  serving_.ids.add(id);
  const auto decision = decided_.empty() ? DecisionCode{} : decided_[row];
  if (!is_vector) {
    if (decisions_ != nullptr) decisions_->learned(x_[row], y_[row], decision);
    if (journal_) journal_->add(x_[row], y_[row], time, id, decision);
    return;
  }
  const auto values = [row](const Items<float>& items) {
    const auto& rows = std::get<DenseRows<float>>(items);
    return std::span<const float>(rows.row(row), rows.dim);
  };
  const auto x = values(batch_.x.view());
  const auto y = values(batch_.y.view());
  if (decisions_ != nullptr) decisions_->learned(x, y, decision);
  if (journal_) journal_->add(x, y, time, id, decision);
}

// They stay rejected. Where among the pairs of their entry they came does not matter any more.
void Rebuild::note_rejected(const EntryPairs& pairs) {
  for (const auto& rejected : pairs.rejected()) {
    if (decisions_ != nullptr) decisions_->rejected(rejected.decision);
    if (journal_) journal_->reject(rejected.decision);
  }
}

void Rebuild::complete(ModelCycle& cycle) {
  if (cycle.pending() == nullptr || cycle.complete()) return;
  if (decisions_ != nullptr) decisions_->adopted();
}

void Rebuild::finish() {
  if (stream_->pairs() == 0) {
    throw Error(fmt::format(
        "stream {}: found no pair that could be learned, expected at least one; a text with itself "
        "is only learned with learn-identical: true",
        name_));
  }
  if (decisions_ != nullptr) decisions_->save(serving_.parts);
  EntryPlace last = {id_, 0, stream_->pairs()};
  if (journal_) {
    journal_->flush();
    last = journal_->last();
  }
  file_->transact([&] {
    file_->put_snapshot(id_, last.number, last.pairs,
                        seal_snapshot(last, serving_, *stream_->state()), {1, true});
  });
  require_no_file(to_);
  journal_.reset();
  try {
    file_->settle();
    file_ = nullptr;
    move_into_place(made_, to_);
  } catch (...) {
    file_ = nullptr;
    remove();
    throw;
  }
}

}  // namespace phsic
