#include "engine/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.h"
#include "engine/stream_spec.h"
#include "text/cut_text.h"

namespace phsic {
namespace {

static_assert(PHSIC_MAX_DIMENSION == kMaxDimension, "what an encoder gives, a stream can take");

constexpr std::size_t kErrorSize = 1024;
// Entries that a sparse row is first given room for, on average.
constexpr std::size_t kRoomPerRow = 256;
constexpr std::uint32_t kKnownFlags = PHSIC_ADDITIVE;

// Adds row i of vectors to `sum`.
void add_row(const Items<float>& items, std::size_t i, std::vector<double>& sum) {
  if (const auto* dense = std::get_if<DenseRows<float>>(&items)) {
    for (std::size_t d = 0; d < dense->dim; ++d) sum[d] += dense->row(i)[d];
  } else if (const auto* sparse = std::get_if<SparseRows<float>>(&items)) {
    for (auto k = sparse->start[i]; k < sparse->start[i + 1]; ++k) {
      sum[sparse->index[k]] += sparse->value[k];
    }
  }
}

}  // namespace

struct Encoder::Instance {
  Instance(const EncoderSpec& spec, const EncoderPath& path)
      : library(EncoderLibrary::load(path.find(spec.name))) {
    std::array<char, kErrorSize> error{};
    handle = library->plugin().open(spec.options.c_str(), error.data(), error.size());
    error.back() = '\0';
    if (handle == nullptr) {
      throw Error(fmt::format("encoder {}: {}", spec.name, error.data()));
    }
    library->plugin().describe(handle, &facts);
  }
  ~Instance() { library->plugin().close(handle); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  Instance(Instance&&) = delete;
  Instance& operator=(Instance&&) = delete;

  [[noreturn]] void refuse(const std::string& problem) const { library->refuse(problem); }

  std::shared_ptr<const EncoderLibrary> library;
  void* handle = nullptr;
  phsic_encoder_facts facts{};
  std::mutex turn;  // guards encode() of an encoder that is not concurrent
};

void Encoded::restart(ItemShape shape, std::size_t rows) {
  shape_ = shape;
  rows_ = rows;
  problems_.clear();
  start_.assign(1, 0);
  bytes_.clear();
}

Items<float> Encoded::view() const {
  switch (shape_.kind) {
    case ItemKind::kDense: return DenseRows<float>{values_.data(), rows_, shape_.dim};
    case ItemKind::kSparse:
      return SparseRows<float>{start_.data(), indices_.data(), values_.data(), rows_, shape_.dim};
    case ItemKind::kText: break;
  }
  return TextRows{start_.data(), bytes_.data(), rows_};
}

void Encoded::take(const DenseRows<float>& rows) {
  restart({ItemKind::kDense, static_cast<std::uint32_t>(rows.dim)}, rows.rows);
  values_.assign(rows.data, rows.data + rows.rows * rows.dim);
}

// State from before texts were cut is taken for state with the default bound.
Encoder::Encoder(std::size_t longest)
    : shape_{ItemKind::kText, 0},
      identity_(longest == kWhole || longest == StreamSpec::kTextBytes
                    ? "text"
                    : fmt::format("text of up to {} bytes", longest)),
      longest_(longest) {}

Encoder::Encoder(const EncoderSpec& spec, const EncoderPath& path)
    : instance_(std::make_shared<Instance>(spec, path)) {
  const auto& facts = instance_->facts;
  if (facts.dimension == 0 || facts.dimension > PHSIC_MAX_DIMENSION) {
    instance_->refuse(fmt::format("says that its dimension is {}, expected 1 to {}",
                                  facts.dimension, PHSIC_MAX_DIMENSION));
  }
  if (facts.layout != PHSIC_DENSE && facts.layout != PHSIC_SPARSE) {
    instance_->refuse(fmt::format("says that its layout is {}, expected {} (dense) or {} (sparse)",
                                  facts.layout, static_cast<int>(PHSIC_DENSE),
                                  static_cast<int>(PHSIC_SPARSE)));
  }
  if (facts.identity == nullptr || *facts.identity == '\0') {
    instance_->refuse("has no identity, expected a text");
  }
  if ((facts.flags & ~kKnownFlags) != 0) {
    instance_->refuse(fmt::format(
        "says that its flags are {:#x}, expected none but {:#x}: it was made for another "
        "version of phsic, or leaves them undefined",
        facts.flags, kKnownFlags));
  }
  shape_ = {facts.layout == PHSIC_DENSE ? ItemKind::kDense : ItemKind::kSparse, facts.dimension};
  identity_ = facts.identity;
  is_additive_ = (facts.flags & PHSIC_ADDITIVE) != 0;
  require_honest();
  require_repeatable();
  if (is_additive_) require_additive();
}

// Tries two texts in buffers of the size that was promised, with a margin behind it.
void Encoder::require_honest() const {
  constexpr std::size_t kMargin = 2 * std::size_t{PHSIC_MAX_DIMENSION};
  constexpr float kUnwritten = -7.25e30F;  // no sensible encoder gives this
  const std::array<phsic_text, 2> texts = {{{"", 0}, {"a b", 3}}};
  const auto dim = static_cast<std::size_t>(shape_.dim);
  std::vector<float> values(2 * dim + kMargin, kUnwritten);
  std::vector<std::uint32_t> indices(2 * dim + kMargin, 0);
  std::array<std::size_t, 2> ends{};
  const bool dense = shape_.kind == ItemKind::kDense;
  phsic_rows rows{values.data(), dense ? nullptr : indices.data(), dense ? nullptr : ends.data(),
                  dense ? 0 : 2 * dim, 0};
  const auto step = encode_some(texts.data(), texts.size(), rows);
  const auto promised = (dense ? step.done : 2) * dim;
  const auto is_written = [&](float value) { return value != kUnwritten; };
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(promised);
  // A text that was refused may have left its row half written.
  const auto margin = values.begin() + static_cast<std::ptrdiff_t>(2 * dim);
  if (std::any_of(margin, values.end(), is_written)) {
    instance_->refuse(fmt::format("writes beyond its dimension of {}", dim));
  }
  if (dense && !std::all_of(values.begin(), end, is_written)) {
    const auto written = std::count_if(values.begin(), end, is_written);
    instance_->refuse(
        fmt::format("wrote {} values for {} texts, expected {} by its dimension of {}", written,
                    step.done, promised, dim));
  }
  for (std::size_t i = 0; !dense && i < (step.done == 0 ? 0 : ends[step.done - 1]); ++i) {
    if (indices[i] >= dim) {
      instance_->refuse(fmt::format("wrote the index {}, expected less than its dimension of {}",
                                    indices[i], dim));
    }
  }
}

// Tries a text at two places of a batch, and again: an encoder that counts its texts, say, would
// seem to know what belongs together, since x and y come together.
void Encoder::require_repeatable() const {
  const std::array<std::string_view, 3> texts = {"the river", "a b", "the river"};
  std::vector<std::vector<double>> found;
  for (int call = 0; call < 2; ++call) {
    Encoded encoded;
    encode(texts, encoded);
    const auto rows = encoded.view();
    for (const std::size_t row : {std::size_t{0}, std::size_t{2}}) {
      // What is of no use to a stream need not be the same.
      if (!encoded.problems().empty() || inspect(rows, row) != Fault::kNone) return;
      add_row(rows, row, found.emplace_back(shape_.dim));
    }
  }
  if (std::adjacent_find(found.begin(), found.end(), std::not_equal_to<>()) == found.end()) return;
  instance_->refuse(fmt::format(
      "gave \"{}\" another vector the second time, expected the same for the same text", texts[0]));
}

// Tries a text and its two words. The encoder may know neither word, so this finds only careless
// mistakes.
void Encoder::require_additive() const {
  constexpr double kRounding = 1e-4;
  const std::array<std::string_view, 3> texts = {"the river", "the", "river"};
  Encoded encoded;
  encode(texts, encoded);
  if (!encoded.problems().empty()) return;
  const auto rows = encoded.view();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (inspect(rows, i) != Fault::kNone) return;  // of no use to any stream
  }
  std::vector<double> whole(shape_.dim);
  std::vector<double> parts(shape_.dim);
  add_row(rows, 0, whole);
  add_row(rows, 1, parts);
  add_row(rows, 2, parts);
  for (std::size_t d = 0; d < shape_.dim; ++d) {
    if (std::abs(whole[d] - parts[d]) <= kRounding * (1 + std::abs(whole[d]))) continue;
    instance_->refuse(
        fmt::format("says that rows add up, but place {} of \"{}\" is {}, expected {} by its words",
                    d, texts[0], whole[d], parts[d]));
  }
}

void Encoder::encode(std::span<const std::string_view> texts, Encoded& out) const {
  out.restart(shape_, texts.size());
  if (instance_ == nullptr) {
    for (const auto text : texts) {
      out.bytes_.append(text::cut_text(text, longest_));
      out.start_.push_back(out.bytes_.size());
    }
    return;
  }
  out.texts_.clear();
  for (const auto text : texts) out.texts_.push_back({text.data(), text.size()});
  std::unique_lock lock(instance_->turn, std::defer_lock);
  if (instance_->facts.concurrent == 0) lock.lock();
  if (shape_.kind == ItemKind::kDense) {
    encode_dense(out);
  } else {
    encode_sparse(out);
  }
}

Encoder::Step Encoder::encode_some(const phsic_text* texts, std::size_t n, phsic_rows& rows) const {
  std::array<char, kErrorSize> error{};
  const int status = instance_->library->plugin().encode(instance_->handle, texts, n, &rows,
                                                         error.data(), error.size());
  error.back() = '\0';
  const bool is_sparse = rows.ends != nullptr;
  if (rows.done > n) {
    instance_->refuse(fmt::format("encoded {} texts of {}", rows.done, n));
  }
  for (std::size_t i = 0; is_sparse && i < rows.done; ++i) {
    if (rows.ends[i] > rows.capacity || (i > 0 && rows.ends[i] < rows.ends[i - 1])) {
      instance_->refuse(fmt::format("says that row {} ends at entry {}, expected {} to {}", i,
                                    rows.ends[i], i > 0 ? rows.ends[i - 1] : 0, rows.capacity));
    }
  }
  switch (status) {
    case PHSIC_OK:
      if (rows.done == n) return {rows.done, false, {}};
      instance_->refuse(fmt::format("encoded {} texts of {} and reports success", rows.done, n));
    case PHSIC_FULL:
      if (is_sparse && rows.done > 0 && rows.done < n) return {rows.done, false, {}};
      instance_->refuse("reports full buffers that are not full");
    case PHSIC_BAD_TEXT:
      if (rows.done < n) return {rows.done, true, error.data()};
      instance_->refuse("reports a bad text after the last one");
    case PHSIC_FAILED: instance_->refuse(error.data());
    default:
      instance_->refuse(fmt::format("returned the status {}, expected 0 to {}", status,
                                    static_cast<int>(PHSIC_FAILED)));
  }
}

void Encoder::encode_dense(Encoded& out) const {
  const auto dim = static_cast<std::size_t>(shape_.dim);
  if (out.values_.size() < out.rows_ * dim) out.values_.resize(out.rows_ * dim);
  for (std::size_t first = 0; first < out.rows_;) {
    phsic_rows rows{out.values_.data() + first * dim, nullptr, nullptr, 0, 0};
    auto step = encode_some(out.texts_.data() + first, out.rows_ - first, rows);
    first += step.done;
    if (!step.is_bad) continue;
    std::fill_n(out.values_.data() + first * dim, dim, 0.F);
    out.problems_.push_back({first++, std::move(step.message)});
  }
}

void Encoder::encode_sparse(Encoded& out) const {
  const auto dim = static_cast<std::size_t>(shape_.dim);
  std::size_t used = 0;
  out.start_.resize(out.rows_ + 1);
  const auto make_room = [&](std::size_t entries) {
    // Dense rows, which have values only, may have been here before.
    if (out.values_.size() < entries) out.values_.resize(entries);
    if (out.indices_.size() < out.values_.size()) out.indices_.resize(out.values_.size());
  };
  make_room(dim + out.rows_ * std::min(kRoomPerRow, dim));
  for (std::size_t first = 0; first < out.rows_;) {
    if (out.values_.size() - used < dim) make_room(2 * out.values_.size() + dim);
    phsic_rows rows{out.values_.data() + used, out.indices_.data() + used,
                    out.start_.data() + first + 1, out.values_.size() - used, 0};
    auto step = encode_some(out.texts_.data() + first, out.rows_ - first, rows);
    for (std::size_t i = 0; i < step.done; ++i) out.start_[first + 1 + i] += used;
    first += step.done;
    used = out.start_[first];
    if (!step.is_bad) continue;
    out.start_[first + 1] = used;
    out.problems_.push_back({first++, std::move(step.message)});
  }
}

}  // namespace phsic
