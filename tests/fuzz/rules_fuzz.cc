// Rules: any two texts are judged, by each rule and by all, and alike the second time. Saved
// profiles of languages are refused or work.
//
// The input is x, a newline, y, and perhaps another newline and a profile. Profiles are larger than
// what the fuzzer makes: a short one is repeated to the length that is expected.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "decide/language_profile.h"
#include "decide/rules.h"
#include "tests/fuzz/check_state.h"

namespace {

using phsic::LanguageProfile;
using phsic::fuzz::require;

std::optional<LanguageProfile> load_or_refuse(const std::string& bytes) {
  try {
    phsic::Reader reader(bytes);
    auto profile = LanguageProfile::load(reader);
    phsic::Writer writer;
    profile.save(writer);
    require(writer.bytes() == bytes.substr(0, writer.bytes().size()),
            "what was loaded is what was saved");
    return profile;
  } catch (const phsic::Error&) {
    return std::nullopt;
  }
}

// A profile whose counts are the bytes, over and over.
std::optional<LanguageProfile> profile_of(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  phsic::Writer writer;
  LanguageProfile().save(writer);
  std::string saved = writer.bytes();
  // The sizes of the four arrays stay as they are, and counts stay small.
  constexpr std::size_t kNumber = 8;
  for (std::size_t i = 0, at = 0; at < saved.size(); at += 4, ++i) {
    const bool is_count = at < kNumber || saved.compare(at, 4, std::string(4, '\0')) == 0;
    if (is_count) saved[at + (at < kNumber ? 1 : 0)] = bytes[i % bytes.size()];
  }
  return load_or_refuse(saved);
}

void check_pair(std::string_view x, std::string_view y, const LanguageProfile* profile) {
  static phsic::RuleScratch scratch;
  bool is_broken = false;
  for (const auto& rule : phsic::rule_table()) {
    auto rules = phsic::RuleSet::none();
    rules.set(rule, true);
    const auto code = phsic::broken_rule(rules, x, y, profile, scratch);
    require(phsic::broken_rule(rules, x, y, profile, scratch) == code, "rules answer alike");
    require(code == phsic::reasons::kNone || phsic::is_rejection(code), "a reason rejects");
    is_broken = is_broken || code != phsic::reasons::kNone;
  }
  const auto all = phsic::broken_rule(phsic::RuleSet::hard(), x, y, profile, scratch);
  require((all != phsic::reasons::kNone) == is_broken, "all rules reject what one rejects");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto first = std::min(input.find('\n'), size);
  const auto x = input.substr(0, first);
  const auto rest = input.substr(std::min(first + 1, size));
  const auto second = std::min(rest.find('\n'), rest.size());
  const auto y = rest.substr(0, second);
  const auto bytes = rest.substr(std::min(second + 1, rest.size()));
  static_cast<void>(load_or_refuse(std::string(bytes)));
  auto profile = profile_of(bytes);
  check_pair(x, y, profile ? &*profile : nullptr);
  if (!profile) return 0;
  profile->learn(x, y);
  profile->merge(LanguageProfile(*profile));
  phsic::Writer writer;
  profile->save(writer);
  const auto again = load_or_refuse(writer.bytes());
  require(again.has_value() && *again == *profile, "a profile comes back as it was");
  return 0;
}
