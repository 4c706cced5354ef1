// Pairs on their way through a stream: encoded, scored, ready to be learned.
//
// A Batch is memory for one thread to work in, kept from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/feature_block.h"
#include "engine/encoder.h"
#include "engine/judge_scratch.h"
#include "engine/view_items.h"

namespace phsic {

class Calibration;
template <class T>
class Model;

// Texts stay the caller's, valid during the call. REQUIRES: as many x as y, and times or none.
struct TextPairs {
  std::span<const std::string_view> x;
  std::span<const std::string_view> y;
  std::span<const double> times;  // seconds
};

// A pair that could not be used, and why.
struct PairProblem {
  // Of the one x of a rank.
  static constexpr std::size_t kNoRow = SIZE_MAX;

  std::size_t row = 0;
  std::string message;
};

struct ModelFacts;
struct ViewedModel;
class Judge;

// A pair of which one view of the stream could not be asked, and why.
struct LeftOut {
  std::size_t row = 0;
  std::string view;
  std::string message;
};

// A model in use. Immutable.
struct PublishedModel {
  std::uint64_t number = 0;                   // 0: before the first
  std::shared_ptr<const Model<float>> model;  // null: the stream counts, or has several views
  bool is_whole = false;      // learned the held-back pairs, too, after they had calibrated it
  double seconds = 0;         // how long building it took
  std::optional<double> cut;  // the lowest score that is kept; none: nobody can tell
  // Null: the stream has one view, or counts.
  std::shared_ptr<const ViewedModel> viewed = nullptr;
  // Null: nobody can tell how good a pair is.
  std::shared_ptr<const Judge> judge = nullptr;
  bool cuts_by_quality = false;  // the cut is the lowest quality that is kept, not a score

  // What its scores mean; empty when that is not known.
  [[nodiscard]] const Calibration& calibration() const;
  // What scoring a pair of vectors costs (Model::multiply_adds()).
  [[nodiscard]] std::uint64_t multiply_adds() const;
  [[nodiscard]] std::uint64_t epoch() const;
  // What is known of it besides; null where the stream counts.
  [[nodiscard]] const ModelFacts* facts() const;
  // How many pairs the model was built from; none where the stream counts.
  [[nodiscard]] std::optional<std::uint64_t> model_pairs() const;
  // What scores are made by: "gaussian-pmi", "pmi" where the stream counts; empty before the first.
  [[nodiscard]] std::string estimator() const;
};

inline constexpr std::size_t kMostViews = 8;
// The bit of a view among those that read a pair, or find something in it.
[[nodiscard]] constexpr std::uint8_t bit_of(std::size_t view) {
  return static_cast<std::uint8_t>(1U << view);
}

struct Batch {
  Encoded x;  // of a stream with one view
  Encoded y;
  std::vector<PairProblem> problems;  // ascending, one for a row
  std::vector<bool> usable;           // which pairs to learn from
  // How often the model in use has learned each pair, whose own share is then taken out of its
  // score; empty: none. To be set after encode() and take(), which clear it.
  std::vector<std::uint8_t> was_learned;
  std::vector<double> scores;                       // NaN for a pair in `problems`
  std::shared_ptr<const PublishedModel> published;  // what scored them
  // Of a stream with several views: the batch of each, and for each pair a bit for each view that
  // can read it, and so learns it, and for each that finds something in it, and so scores it; else
  // empty.
  std::vector<Batch> views;
  std::vector<std::uint8_t> readable;
  std::vector<std::uint8_t> seen;
  // Views that count, and cannot read a pair or find nothing in it; ascending by row.
  // engine/view_scores.h says why.
  struct Unasked {
    std::size_t row = 0;
    std::size_t view = 0;
  };
  std::vector<Unasked> unasked;
  std::uint8_t asked = 0;  // a bit for each view that has scored the pairs
  // The texts, which stay the caller's until they are scored; empty: the pairs are vectors.
  std::vector<std::string_view> x_texts;
  std::vector<std::string_view> y_texts;
  std::vector<Judgement> judgements;  // of each pair; empty: the model has no judge
  // Whether scoring leaves what a judge goes on with: the coordinates of the pairs.
  bool keeps_coordinates = false;
  PairCoordinates<float> coordinates;

  // What the judge says of a pair; null: there is none.
  [[nodiscard]] const Judgement* judgement(std::size_t row) const {
    return judgements.empty() ? nullptr : &judgements[row];
  }
  [[nodiscard]] std::size_t size() const {
    return views.empty() ? y.size() : views.front().y.size();
  }

  // Scratch.
  std::vector<Fault> faults;
  std::vector<double> own_shares;  // of the pairs in the model that scored them; empty: none
  ScoreScratch<float> scratch;
  JudgeScratch judging;
};

// Pairs to learn: items without fault, in order. Everything stays the caller's.
struct LearnBatch {
  Items<float> x;  // of a stream with one view
  Items<float> y;
  const double* times = nullptr;  // null: none
  // Null: the pairs are vectors, or nobody needs their texts.
  const std::string_view* x_texts = nullptr;
  const std::string_view* y_texts = nullptr;
  bool explains = true;  // whether scores may be explained with these texts
  // Of a stream with several views, instead of x and y: the items of each, and for each pair a bit
  // for each view that can read it. What a view cannot read may be anything.
  std::vector<ViewItems> views = {};
  const std::uint8_t* readable = nullptr;

  [[nodiscard]] std::size_t size() const { return row_count(views.empty() ? x : views.front().x); }
};

// The items of rows first .. first + count of what was encoded.
[[nodiscard]] LearnBatch items_to_learn(const Batch& batch, std::size_t first, std::size_t count);

}  // namespace phsic
