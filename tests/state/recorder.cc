#include "tests/state/recorder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace phsic::test {

namespace {

std::filesystem::path folder_in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code missing;
  return std::filesystem::is_directory(memory, missing) ? memory
                                                        : std::filesystem::temp_directory_path();
}

}  // namespace

StateFolder::StateFolder() : Folder(folder_in_memory()) {}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.is_open());
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(bool(file.flush()));
}

std::string state_of(const Stream& stream) {
  Writer writer;
  stream.state()->save(writer);
  return writer.bytes();
}

std::unique_ptr<Stream> open_stream(const StoredOptions& options) {
  return Stream::open(spec_of(options), EncoderPath());
}

std::pair<std::string, std::string> PairMaker::next() {
  std::string x;
  std::string y;
  for (int k = 0; k < 3; ++k) {
    const auto word = random.below(30);
    x += "wort" + std::to_string(word) + " ";
    y += "слово" + std::to_string(29 - word) + " ";
  }
  return {x, y};
}

std::vector<double> scores_of(const Stream& stream, std::uint64_t seed) {
  PairMaker maker(seed);
  std::vector<std::string> owned;
  for (int i = 0; i < 40; ++i) {
    auto [x, y] = maker.next();
    owned.push_back(std::move(x));
    owned.push_back(std::move(y));
  }
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  for (std::size_t i = 0; i < owned.size(); i += 2) {
    x.emplace_back(owned[i]);
    y.emplace_back(owned[i + 1]);
  }
  Batch batch;
  stream.encode({x, y, {}}, batch);
  stream.score(batch);
  return batch.scores;
}

Recorder::Recorder(const StoredOptions& options, std::uint64_t seed, std::string name,
                   std::uint32_t id)
    : options_(options),
      random_(seed),
      maker_(seed + 1),
      stream_(open_stream(options)),
      name_(std::move(name)),
      last_{id, 0, 0} {}

double Recorder::next_time() {
  time_ += random_.uniform() * 0.2;
  return time_;
}

// Some of them come again.
IdHash Recorder::next_id() {
  return random_.below(3) == 0 ? kNoId : hash_id(std::to_string(random_.below(200)));
}

void Recorder::append(std::uint64_t pairs, std::string bytes) {
  ++last_.number;
  last_.pairs += pairs;
  journal_.push_back({pairs, std::move(bytes)});
}

void Recorder::note(Entry entry) {
  entry.place = {last_.stream, last_.number + 1, last_.pairs};
  append(0, serialise(entry));
}

void Recorder::learn(EntryPairs& pairs, Batch& batch) {
  std::vector<std::string_view> x(pairs.size());
  std::vector<std::string_view> y(pairs.size());
  for (std::size_t i = 0; !pairs.are_vectors() && i < pairs.size(); ++i) {
    x[i] = pairs.x(i);
    y[i] = pairs.y(i);
  }
  if (!pairs.are_vectors()) stream_->encode({x, y, {}}, batch);
  const LearnBatch learn_batch{batch.x.view(), batch.y.view(), pairs.times().data(), x.data(),
                               y.data()};
  // In two goes: how pairs come together makes no difference.
  const auto half = pairs.size() / 2;
  LearnBatch first = learn_batch;
  first.x = slice(learn_batch.x, 0, half);
  first.y = slice(learn_batch.y, 0, half);
  if (half > 0) stream_->learn(first, 0, false);
  stream_->learn(learn_batch, half, false);
  for (const auto& id : pairs.ids()) serving_.ids.add(id);
  append(pairs.size(), seal_pairs({last_.stream, last_.number + 1, last_.pairs}, pairs));
}

void Recorder::learn(std::size_t pairs) {
  EntryPairs entry;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto [x, y] = maker_.next();
    entry.add(x, y, next_time(), next_id());
  }
  Batch batch;
  learn(entry, batch);
}

void Recorder::learn_vectors(std::size_t pairs) {
  EntryPairs entry;
  std::vector<float> x(stream_->shape_x().dim);
  std::vector<float> y(stream_->shape_y().dim);
  for (std::size_t i = 0; i < pairs; ++i) {
    for (auto& value : x) value = static_cast<float>(random_.uniform() - 0.5);
    for (std::size_t k = 0; k < y.size(); ++k) {
      y[k] = x[k % x.size()] + static_cast<float>(0.1 * random_.uniform());
    }
    entry.add(x, y, next_time(), next_id());
  }
  Batch batch;
  stream_->take({entry.x_values().data(), pairs, entry.x_dim()},
                {entry.y_values().data(), pairs, entry.y_dim()}, batch);
  learn(entry, batch);
}

void Recorder::freeze(Stream::Extent extent) {
  refresh_ = stream_->freeze(extent);
  if (refresh_ == nullptr) return;
  Entry entry;
  entry.kind = EntryKind::kFreeze;
  entry.extent = extent;
  note(std::move(entry));
}

void Recorder::adopt() {
  refresh_->build();
  Entry entry;
  entry.kind = EntryKind::kAdopt;
  entry.adoption = refresh_->adoption();
  stream_->adopt(*refresh_);
  refresh_ = nullptr;
  note(std::move(entry));
}

void Recorder::abandon() {
  refresh_ = nullptr;
  Entry entry;
  entry.kind = EntryKind::kAbandon;
  note(std::move(entry));
}

void Recorder::refresh_every(std::uint64_t pairs) {
  if (!stream_->refresh_every(pairs)) return;
  Entry entry;
  entry.kind = EntryKind::kEvery;
  entry.every = pairs;
  note(std::move(entry));
}

void Recorder::do_something() {
  const auto chance = random_.below(10);
  if (refresh_ != nullptr && chance < 3) {
    adopt();
  } else if (refresh_ != nullptr && chance == 3) {
    abandon();
  } else if (refresh_ == nullptr && chance < 2) {
    freeze(chance == 0 ? Stream::Extent::kAll : Stream::Extent::kWithoutHeldBack);
  } else if (chance == 9) {
    refresh_every(random_.below(3) * 100);
  } else if (stream_->shape_x().kind == ItemKind::kDense && random_.below(2) == 0) {
    learn_vectors(1 + random_.below(200));
  } else if (stream_->shape_x().kind != ItemKind::kDense) {
    learn(1 + random_.below(200));
  } else {
    EntryPairs entry;
    const auto list = [&] {
      std::string numbers;
      for (std::size_t k = 0; k < stream_->shape_x().dim; ++k) {
        numbers += std::to_string(random_.uniform()) + " ";
      }
      return numbers;
    };
    for (int i = 0; i < 30; ++i) entry.add(list(), list(), next_time(), next_id());
    Batch batch;
    learn(entry, batch);
  }
}

void Recorder::take_snapshot() {
  if (refresh_ != nullptr) return;
  serving_.counters["scored"] = last_.pairs;
  snapshots_[last_.number] = {last_.pairs, seal_snapshot(last_, serving_, *stream_->state())};
}

void Recorder::write(StateFile& file, std::uint64_t snapshot, bool whole) const {
  file.transact([&] {
    auto options = options_;
    options.emplace_back("id-window", std::to_string(kIdWindow));
    REQUIRE(file.put_stream(name_, identity_text(stream_->identity()), options_json(options)) ==
            last_.stream);
    for (std::size_t i = 0; i < journal_.size(); ++i) {
      if (!whole && i < snapshot) continue;
      file.append(last_.stream, i + 1, journal_[i].pairs, journal_[i].bytes);
    }
    if (snapshot == 0) return;
    const auto& taken = snapshots_.at(snapshot);
    file.put_snapshot(last_.stream, snapshot, taken.pairs, taken.bytes, {3, true});
  });
}

}  // namespace phsic::test
