// What explanations say of single words, and of the expert that speaks, held against what scoring
// and judging by hand give.
#include "engine/word_parts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/learn_items.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic::test {
namespace {

using WordList = std::vector<std::string>;

// Joins all words but one.
std::string joined(const WordList& words, std::size_t left_out = SIZE_MAX) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == left_out) continue;
    if (!text.empty()) text += ' ';
    text += words[i];
  }
  return text;
}

// A stream that has learned pairs of words that belong together, and has a model.
class Wordy {
 public:
  explicit Wordy(const std::map<std::string, std::string>& options, std::size_t count = 500) {
    StreamSpec spec;
    for (const auto& [name, value] : options) spec.set(name, value);
    spec.validate();
    stream_ = phsic::Stream::open(spec, EncoderPath());
    Random random(1);
    for (std::size_t i = 0; i < count; ++i) {
      auto& [x, y] = pairs_.emplace_back();
      for (auto n = 3 + random.below(5); n > 0; --n) {
        const auto word = random.below(40);
        x.push_back("here" + std::to_string(word));
        if (random.uniform() < 0.8) y.push_back("there" + std::to_string(word));
      }
      y.emplace_back("and");
    }
    std::vector<std::string> texts;
    for (const auto& [x, y] : pairs_) {
      texts.push_back(joined(x));
      texts.push_back(joined(y));
    }
    std::vector<std::string_view> x;
    std::vector<std::string_view> y;
    for (std::size_t i = 0; i < count; ++i) {
      x.push_back(texts[2 * i]);
      y.push_back(texts[2 * i + 1]);
    }
    Batch batch;
    stream_->encode({x, y, {}}, batch);
    auto items = items_to_learn(batch, 0, count);
    items.x_texts = x.data();
    items.y_texts = y.data();
    stream_->learn(items, 0, false);
    ModelCycle(*stream_).refresh(PairExtent::kWithoutHeldBack);
  }

  struct Pair {
    WordList x;
    WordList y;
  };

  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  [[nodiscard]] const phsic::Stream& stream() const { return *stream_; }
  [[nodiscard]] double score(std::string_view x, std::string_view y, bool was_learned) const {
    Batch batch;
    stream_->encode({{&x, 1}, {&y, 1}, {}}, batch);
    if (was_learned) batch.was_learned = {1};
    stream_->score(batch);
    return batch.scores.front();
  }
  [[nodiscard]] PairExplanation explain(std::string_view x, std::string_view y,
                                        bool was_learned = false, std::size_t top = 1000) const {
    auto found = stream_->explain(x, y, {.top = top, .was_learned = was_learned});
    REQUIRE(found);
    CHECK(found->problem.empty());
    REQUIRE(found->words);
    return *found;
  }

 private:
  std::unique_ptr<phsic::Stream> stream_;
  std::vector<Pair> pairs_;
};

using Options = std::map<std::string, std::string>;
const Options kHashed = {{"encoder", "hashing:dim=64"}, {"rank", "24"}};
const Options kLetters = {{"kernel", "spectrum:n=2"}, {"pivots", "32"}};
const Options kBoth = {{"rank", "24"}, {"views", R"([
    {"name":"words","encoder":"hashing:dim=64"},
    {"name":"twos","kernel":"spectrum:n=2","pivots":"16"}])"}};

// By place; what is told as raising and what as lowering have to be so.
std::map<std::size_t, SideWords::Part> by_place(const SideWords& side) {
  std::map<std::size_t, SideWords::Part> parts;
  for (const auto& part : side.raise) {
    CHECK(part.contribution > 0);
    parts[part.place] = part;
  }
  for (const auto& part : side.lower) {
    CHECK(part.contribution < 0);
    parts[part.place] = part;
  }
  CHECK(parts.size() == side.raise.size() + side.lower.size());
  return parts;
}

std::string left_of(std::string_view text, std::size_t i) {
  return without_word(text, text::TextUnits(text), i);
}

TEST_CASE("A word is left out with the white space on one side of it") {
  CHECK(left_of("one two three", 0) == "two three");
  CHECK(left_of("one two three", 1) == "one three");
  CHECK(left_of("one two three", 2) == "one two");
  CHECK(left_of("one", 0).empty());
  CHECK(left_of(" one ", 0) == "  ");
  CHECK(left_of("\tone  two\n three ", 0) == "\ttwo\n three ");
  CHECK(left_of("\tone  two\n three ", 1) == "\tone\n three ");
  CHECK(left_of("\tone  two\n three ", 2) == "\tone  two ");
}

TEST_CASE(
    "Where words are not set apart a character is left out, and white space beside it stays") {
  CHECK(left_of("你好吗", 1) == "你吗");
  CHECK(left_of("你好吗", 0) == "好吗");
  CHECK(left_of("你好吗", 2) == "你好");
  CHECK(left_of("你 好吗", 1) == "你 吗");
  CHECK(left_of("你好 吗", 1) == "你 吗");
}

TEST_CASE("What a word contributes is what the score loses without it") {
  for (const auto& options : {kHashed, kLetters, kBoth}) {
    const Wordy wordy(options);
    for (const bool was_learned : {false, true}) {
      for (std::size_t i = 0; i < 6; ++i) {
        const auto& x = wordy.pairs()[i].x;
        const auto& y = wordy.pairs()[i % 2 == 0 ? i : i + 1].y;
        const auto found = wordy.explain(joined(x), joined(y), was_learned);
        const double whole = wordy.score(joined(x), joined(y), was_learned);
        CHECK(found.score == Approx(whole).margin(1e-4));
        auto of_x = by_place(found.words->x);
        auto of_y = by_place(found.words->y);
        CHECK(found.words->x.count == x.size());
        CHECK(found.words->y.count == y.size());
        CHECK(found.words->x.unexamined + found.words->y.unexamined == 0);
        for (std::size_t k = 0; k < x.size(); ++k) {
          const double without = wordy.score(joined(x, k), joined(y), was_learned);
          CHECK(of_x[k].contribution == whole - without);
          CHECK(of_x[k].word == x[k]);
        }
        for (std::size_t k = 0; k < y.size(); ++k) {
          const double without = wordy.score(joined(x), joined(y, k), was_learned);
          CHECK(of_y[k].contribution == whole - without);
        }
      }
    }
  }
}

TEST_CASE("Where rows add up, what words contribute adds up to what the text does") {
  const Wordy wordy({{"encoder", "hashing:dim=64"}, {"kernel", "linear"}, {"estimator", "phsic"}});
  for (std::size_t i = 0; i < 6; ++i) {
    const auto x = joined(wordy.pairs()[i].x);
    const auto y = joined(wordy.pairs()[i].y);
    const auto found = wordy.explain(x, y);
    const double whole = wordy.score(x, y, false);
    const auto sum = [](const SideWords& side) {
      double total = 0;
      for (const auto& [place, part] : by_place(side)) total += part.contribution;
      return total;
    };
    CHECK(sum(found.words->x) == Approx(whole - wordy.score("", y, false)).epsilon(1e-3));
    CHECK(sum(found.words->y) == Approx(whole - wordy.score(x, "", false)).epsilon(1e-3));
  }
}

TEST_CASE("The words that matter most are told, the strongest first") {
  const Wordy wordy(kHashed);
  const auto x = joined(wordy.pairs()[3].x) + " weather here1 here2";
  const auto y = joined(wordy.pairs()[3].y) + " bridge there7";
  const auto all = wordy.explain(x, y);
  const auto two = wordy.explain(x, y, false, 2);
  for (const auto* parts : {&all.words->x.raise, &all.words->y.raise, &all.words->x.lower}) {
    CHECK(std::is_sorted(parts->begin(), parts->end(), [](const auto& a, const auto& b) {
      return std::abs(a.contribution) > std::abs(b.contribution);
    }));
  }
  REQUIRE(all.words->x.raise.size() > 2);
  REQUIRE(two.words->x.raise.size() == 2);
  CHECK(two.words->x.raise[1].place == all.words->x.raise[1].place);
  CHECK(two.words->x.lower.size() <= 2);
}

TEST_CASE("Of a pair that was learned its own share, and the pair itself, are told no more") {
  for (const auto& options : {kHashed, kLetters, kBoth}) {
    const Wordy wordy(options);
    const auto x = joined(wordy.pairs()[5].x);
    const auto y = joined(wordy.pairs()[5].y);
    const auto has_itself = [&](const PairExplanation& found) {
      return std::any_of(found.raise.begin(), found.raise.end(),
                         [&](const auto& part) { return part.x == x && part.y == y; });
    };
    const auto with = wordy.explain(x, y);
    const auto without = wordy.explain(x, y, true);
    CHECK(has_itself(with));
    CHECK_FALSE(has_itself(without));
    CHECK(with.own_share == 0);
    CHECK(without.own_share > 0);
    CHECK(without.score == Approx(wordy.score(x, y, true)).margin(1e-4));
    CHECK(without.score + without.own_share == Approx(with.score).margin(1e-4));
  }
}

TEST_CASE(
    "Texts of one word, of none, of no language and of a megabyte are explained within bounds") {
  const Wordy wordy(kHashed);
  const auto y = joined(wordy.pairs()[0].y);
  const auto one = wordy.explain("here1", y);
  CHECK(by_place(one.words->x)[0].contribution ==
        wordy.score("here1", y, false) - wordy.score("", y, false));
  for (const char* nothing : {"", "   \n"}) {
    const auto none = wordy.explain(nothing, y);
    CHECK(none.words->x.count == 0);
    CHECK(none.words->x.unexamined == 0);
    CHECK(by_place(none.words->x).empty());
  }
  const auto odd = wordy.explain("\xff\xfe \x80 here1 \xc3", "\xf0\x9f there1");
  CHECK(odd.words->x.count == 4);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "here" + std::to_string(i) + ' ';
  const auto first = wordy.explain(many, y);
  CHECK(first.words->x.count == 200);
  CHECK(first.words->x.unexamined == 200 - kMostExaminedWords);
  CHECK(by_place(first.words->x).size() <= kMostExaminedWords);
  CHECK(by_place(first.words->x).rbegin()->first < kMostExaminedWords);
  CHECK(first.words->y.unexamined == 0);
  std::string long_text;
  while (long_text.size() < (1U << 20U)) long_text += many;
  const auto few = wordy.explain(long_text, y);
  const auto examined = few.words->x.count - few.words->x.unexamined;
  CHECK(examined <= kMostExaminedBytes / long_text.size());
  CHECK(few.words->x.count > 5000);
  CHECK(few.words->x.count < kLongestCutUp / 4);
  // A word may be as long as its text, and there may be no room to examine any.
  const auto huge = wordy.explain(std::string(3U << 20U, 'a') + " b c", y);
  CHECK(huge.words->x.count == kLongestCutUp);
  CHECK(huge.words->x.unexamined == kLongestCutUp);
  std::string word = "a b c d e f g h i j k l m n o p q r s t u v w here1";
  word += std::string(5000, 'x');
  for (int i = 0; i < 60; ++i) word += " here";
  for (int i = 0; i < 400; ++i) word += " a";
  for (const auto& [place, part] : by_place(wordy.explain(word, y).words->x)) {
    CHECK(part.word.size() <= kLongestToldWord);
  }
}

TEST_CASE("The rest of a text that nothing can read is not examined") {
  const Wordy wordy(kLetters);
  const auto y = joined(wordy.pairs()[0].y);
  // One character has no two neighbours to compare.
  const auto found = wordy.explain("a", y);
  CHECK(found.words->x.count == 1);
  CHECK(found.words->x.unexamined + by_place(found.words->x).size() <= 1);
}

TEST_CASE(
    "The expert that speaks is that of the damage a pair looks most like, by its components") {
  for (auto options : {kHashed, kBoth}) {
    options["judge"] = "true";
    const Wordy wordy(options);
    const auto& judge = *wordy.stream().published()->judge;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto x = joined(wordy.pairs()[i].x);
      const auto y = joined(wordy.pairs()[i + 7].y);
      const auto found = wordy.explain(x, y);
      REQUIRE(found.expert);
      REQUIRE(found.judgement);
      const auto& kind = damage_kinds()[found.judgement->kind];
      CHECK(found.expert->damage == kind.name);
      CHECK(found.expert->about == kind.about);
      const std::string_view one = x;
      const std::string_view other = y;
      Batch batch;
      wordy.stream().encode({{&one, 1}, {&other, 1}, {}}, batch);
      wordy.stream().score(batch);
      std::vector<double> row(judge.reader().size());
      judge.reader().read({batch.x_texts, batch.y_texts, batch.judging.views}, row.data(),
                          batch.judging);
      judge.fitted().standardiser.apply(row.data(), row.data());
      const auto& experts = judge.fitted().experts;
      const auto own = std::find_if(experts.begin(), experts.end(),
                                    [&](const Expert& each) { return each.kind == &kind; });
      REQUIRE(own != experts.end());
      for (const auto& [of, model, name] : experts) {
        CHECK(name.log_odds(row.data()) <= own->name.log_odds(row.data()));
        if (of != &kind) continue;
        CHECK(model.log_odds(row.data()) == found.expert->log_odds);
        double lowering = 0;
        for (std::size_t c = 0; c < row.size(); ++c) {
          lowering += std::min(0.0, model.weights[c] * row[c]);
        }
        double told = 0;
        for (const auto& component : found.expert->components) {
          CHECK(component.contribution < 0);
          CHECK(std::abs(component.deviations) <= Standardiser::kMostDeviations);
          CHECK_FALSE(component.name.empty());
          CHECK_FALSE(component.about.empty());
          told += component.contribution;
        }
        CHECK(told == Approx(lowering));
      }
      CHECK(wordy.explain(x, y, false, 2).expert->components.size() == 2);
    }
  }
}

}  // namespace
}  // namespace phsic::test
