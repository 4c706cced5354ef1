// The components of pairs: the numbers by which a judge tells good pairs from damaged ones.
//
// First those of each view, as wholes and half by half (core/agreement.h), then those of the texts
// alone (surface.h). A reader is immutable and may be used by any number of threads, each with a
// scratch of its own. A component of a pair depends on that pair alone, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/agreement.h"
#include "core/model.h"
#include "engine/encoder.h"
#include "engine/fluency.h"
#include "engine/judge_scratch.h"
#include "engine/surface.h"
#include "engine/view_items.h"
#include "text/tokenizer.h"

namespace phsic {

// How the words of both sides of a stream follow each other.
struct FluencyPair {
  Fluency x;
  Fluency y;
};

// One view, with the model by which it is asked.
struct JudgedView {
  std::size_t number = 0;  // among the views of the stream
  std::string name;        // empty where there is one
  Encoder x;
  Encoder y;
  std::shared_ptr<const Model<float>> model;
  bool halves = false;  // whether halves are looked at
};

// Cuts texts into the words that a judge counts.
[[nodiscard]] const text::Tokenizer& judge_tokenizer();

class ComponentReader {
 public:
  // What the texts alone say is read if there is `fluency`.
  ComponentReader(std::vector<JudgedView> views, std::shared_ptr<const FluencyPair> fluency,
                  const SurfaceNorm& norm);

  // How many components a pair has.
  [[nodiscard]] std::size_t size() const { return size_; }
  // Name and meaning of component i; a component of one of several views has its name before it.
  [[nodiscard]] std::string name_of(std::size_t i) const;
  [[nodiscard]] std::string_view about(std::size_t i) const;
  [[nodiscard]] const std::vector<JudgedView>& views() const { return views_; }
  [[nodiscard]] const std::shared_ptr<const FluencyPair>& fluency() const { return fluency_; }
  // Whether pairs have to be texts.
  [[nodiscard]] bool reads_texts() const;
  [[nodiscard]] const SurfaceNorm& norm() const { return norm_; }

  // Writes size() values for each pair to `out`, row after row. An item that has a fault counts as
  // nothing. What a learned pair has taught itself is left out.
  // Throws an Error when an encoder fails.
  void read(const PairsToJudge& pairs, double* out, JudgeScratch& scratch) const;

 private:
  [[nodiscard]] std::size_t count_of(const JudgedView& view) const;
  // Rows first .. first + count.
  void read_view(std::size_t v, const PairsToJudge& pairs, std::size_t first, std::size_t count,
                 double* out, JudgeScratch& scratch) const;
  void read_surface(const PairsToJudge& pairs, std::size_t row, double* out,
                    JudgeScratch& scratch) const;

  std::vector<JudgedView> views_;
  std::vector<Agreement> agreements_;  // of each view
  std::shared_ptr<const FluencyPair> fluency_;
  SurfaceNorm norm_;
  std::size_t size_ = 0;
};

}  // namespace phsic
