#include "tests/text/random_texts.h"

#include <span>
#include <string_view>

namespace phsic::test {
namespace {

constexpr std::string_view kSpaces[] = {" ", " ", " ", "  ", "\n", "\u00A0", "\u3000", "\u2028"};
constexpr std::string_view kLatin[] = {"a", "b", "c", "d", "E", "F", "1", "\u00E9", "'", ","};
constexpr std::string_view kCyrillic[] = {"а", "б", "в", "г", "ё", "ж"};
constexpr std::string_view kArabic[] = {"ا", "ب", "ت", "م\u064E", "ن\u0651\u064E"};
constexpr std::string_view kChinese[] = {"中", "国", "人", "大", "学", "。", "\U00020000"};
constexpr std::string_view kThai[] = {"ก", "ที่", "น้ำ", "ไ", "ปั", "ๆ"};
constexpr std::string_view kMarked[] = {"e\u0301", "o\u0308\u0323", "n",
                                        "\u0301",  "\u200D",        "👍🏽"};

using Letters = std::span<const std::string_view>;
constexpr Letters kScripts[] = {kLatin, kCyrillic, kArabic, kChinese, kThai, kMarked};
constexpr std::size_t kMixed = std::size(kScripts);
constexpr std::size_t kOneWord = kMixed + 1;
constexpr std::size_t kBlank = kMixed + 2;
constexpr std::size_t kBroken = kMixed + 3;
static_assert(kBroken + 1 == kTextSorts);

std::string_view draw(Letters letters, Random& random) {
  return letters[random.below(letters.size())];
}

std::string random_bytes(Random& random) {
  // Those that begin, continue and end sequences, and white space.
  constexpr std::string_view kBytes = "a \xE4\xB8\xAD\xF0\x9F\xC2\xA0\xE2\x80\x80\xCC\x81\xFF";
  std::string bytes(random.below(40), ' ');
  for (auto& byte : bytes) byte = kBytes[random.below(kBytes.size())];
  return bytes;
}

}  // namespace

std::string random_text(std::size_t sort, Random& random) {
  if (sort == kBroken) return random_bytes(random);
  const std::size_t longest = sort == kOneWord || random.below(4) == 0 ? 1 : 12;
  std::string text;
  if (random.below(8) == 0) text += draw(kSpaces, random);
  for (auto words = sort == kBlank ? 0 : 1 + random.below(longest); words > 0; --words) {
    const auto script = sort < kMixed ? sort : random.below(kMixed);
    for (auto letters = 1 + random.below(9); letters > 0; --letters) {
      text += draw(kScripts[script], random);
    }
    if (words > 1) text += draw(kSpaces, random);
  }
  if (random.below(8) == 0) text += draw(kSpaces, random);
  return text;
}

}  // namespace phsic::test
