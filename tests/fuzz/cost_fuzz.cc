// The cost of reading a text, be it to encode it, to decide about it or to judge it, grows with its
// length, not with its square, for any text that repeats a short input.
//
// The first byte chooses a reader, the second how much of the input stands once, before the rest is
// repeated. Time is that of the thread, and only a cost that is far from linear at two sizes
// counts.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/spectrum.h"
#include "decide/language_profile.h"
#include "decide/rules.h"
#include "engine/damage.h"
#include "engine/fluency.h"
#include "engine/surface.h"
#include "plugins/number_list.h"
#include "plugins/plugin.h"
#include "tests/fuzz/check_state.h"
#include "tests/plugins/model_files.h"
#include "text/halves.h"
#include "text/letter_case.h"
#include "text/letters_only.h"
#include "text/tokenizer.h"

namespace {

using namespace phsic::plugins;
using namespace phsic::text;

using Reader = std::function<void(const std::string& text)>;

Reader splitting(const std::string& cut, Normalization normalization) {
  return [tokenizer = std::make_shared<Tokenizer>(cut, normalization, Signs::kKept)](
             const std::string& text) {
    Tokens tokens;
    tokenizer->split(text, tokens);
  };
}

void read_in_cases(const std::string& text) {
  std::string form;
  for (const auto letters : {LetterCase::kLower, LetterCase::kCapitalised, LetterCase::kUpper}) {
    write_in_case(text, letters, form);
  }
}

void read_numbers(const std::string& text) {
  float value = 0;
  try {
    read_number_list(text, 1, &value);
  } catch (const BadText&) {
    return;
  }
}

void read_grams(const std::string& text) {
  if (phsic::is_utf8(text)) phsic::ProfileMaker(3).make(text);
}

// Knows enough of two languages to judge by them.
phsic::LanguageProfile taught_profile() {
  phsic::LanguageProfile profile;
  for (int i = 0; i < 400; ++i) profile.learn("the weather is fine", "das Wetter ist sch\u00f6n");
  return profile;
}

// Each rule by itself: of several, the first that is broken ends the work.
void read_by_rules(const std::string& text) {
  static const phsic::LanguageProfile kProfile = taught_profile();
  phsic::RuleScratch scratch;
  for (const auto& rule : phsic::rule_table()) {
    auto rules = phsic::RuleSet::none();
    rules.set(rule, true);
    static_cast<void>(phsic::broken_rule(rules, text, text + "!", &kProfile, scratch));
  }
}

void read_letters(const std::string& text) {
  std::string left;
  append_letters(text, left);
}

void read_languages(const std::string& text) { phsic::LanguageProfile().learn(text, text + "!"); }

void read_halves(const std::string& text) { static_cast<void>(halves_of(text)); }

void read_surface(const std::string& text) {
  static const auto kTokenizer = phsic::make_surface_tokenizer();
  static phsic::Fluency fluency;
  phsic::SurfaceScratch scratch;
  scratch.x.read(text, kTokenizer);
  fluency.learn(scratch.x.words());
  static_cast<void>(fluency.read(scratch.x.words(), scratch.fluency));
}

// Damages the text in each way, and lends it to another pair.
void read_by_damage(const std::string& text) {
  phsic::Random random(1);
  phsic::DamagedPair damaged;
  const std::string other = "another text of a few words";
  for (const auto& kind : phsic::damage_kinds()) {
    static_cast<void>(kind.damage({text, text}, {other, other}, random, damaged));
    static_cast<void>(kind.damage({other, other}, {text, text}, random, damaged));
  }
}

// encoder_seeds.cc has seeds for each, by its place.
const std::vector<Reader>& readers() {
  static const phsic::tests::TestFolder kFolder;
  static const std::vector<Reader> kReaders = [] {
    const auto model = kFolder / "pieces.model";
    phsic::tests::make_pieces_model(model);
    return std::vector<Reader>{splitting("icu", Normalization::kNfc),
                               splitting("icu", Normalization::kNfkcCasefold),
                               splitting("whitespace", Normalization::kNfc),
                               splitting(model, Normalization::kNfkcCasefold),
                               read_in_cases,
                               read_numbers,
                               read_grams,
                               read_by_rules,
                               read_letters,
                               read_languages,
                               read_halves,
                               read_surface,
                               read_by_damage};
  }();
  return kReaders;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double cost(const Reader& reader, const std::string& head, const std::string& unit,
            std::size_t bytes) {
  auto text = head;
  while (text.size() < bytes) text += unit;
  const double begin = thread_seconds();
  reader(text);
  return thread_seconds() - begin;
}

}  // namespace

// Long texts are made and freed all the time. A quarantine of freed memory would fill the machine.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "quarantine_size_mb=16";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 64;
  if (size < 3 || size > kLongest) return 0;
  const auto& reader = readers()[data[0] % readers().size()];
  const std::string rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto once = data[1] % rest.size();
  const auto head = rest.substr(0, once);
  const auto unit = rest.substr(once);
  // Eight times the length: linear is eight times the cost, quadratic 64 times. A cost that looks
  // steep is measured again, twice, at eight times the length.
  constexpr double kMost = 16;
  constexpr double kMoment = 1e-3;
  constexpr std::size_t kShort = 1U << 13U;
  const auto is_steep = [&](std::size_t bytes) {
    const double less = std::max(cost(reader, head, unit, bytes), kMoment);
    return cost(reader, head, unit, 8 * bytes) > kMost * less;
  };
  const bool is_quadratic = is_steep(kShort) && is_steep(8 * kShort) && is_steep(8 * kShort);
  phsic::fuzz::require(!is_quadratic, "cost is linear in the text");
  return 0;
}
