#include "text/stream_safe.h"

#include <fmt/format.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>
#include <unicode/utf8.h>

#include <cstdint>
#include <stdexcept>

namespace phsic::text {
namespace {

// ICU's tables of marks. Made once, read by any thread.
class MarkTables {
 public:
  static const MarkTables& get() {
    static const MarkTables kTables;
    return kTables;
  }

  // What a run is made of: characters whose NFKD begins with a mark, and those that do not end one.
  // Halfwidth voiced sound marks are the only ones that NFD does not tell.
  icu::UnicodeSet runs;
  const icu::Normalizer2* nfkd = nullptr;

 private:
  MarkTables() {
    UErrorCode status = U_ZERO_ERROR;
    runs.applyPattern(u"[[:^lccc=0:][:DI:]\\uFF9E\\uFF9F]", status);
    runs.freeze();
    nfkd = icu::Normalizer2::getNFKDInstance(status);
    if (U_FAILURE(status)) {
      throw std::runtime_error(fmt::format("ICU cannot tell marks: {}", u_errorName(status)));
    }
  }
};

// Whether a run of so many bytes, with the character before it, could have too many marks. Marks
// have two bytes or more, and stand for two marks at most; any other character ends in three at
// most.
bool may_be_too_long(std::int32_t bytes) {
  return 3 + 2 * (bytes / 2) > static_cast<std::int32_t>(kMostMarks);
}

bool has_long_run(std::string_view text) {
  const auto& runs = MarkTables::get().runs;
  const char* rest = text.data();
  const char* end = rest + text.size();
  while (rest != end) {
    const auto left = static_cast<std::int32_t>(end - rest);
    const auto others = runs.spanUTF8(rest, left, USET_SPAN_NOT_CONTAINED);
    const auto run = runs.spanUTF8(rest + others, left - others, USET_SPAN_CONTAINED);
    if (may_be_too_long(run)) return true;
    rest += others + run;
  }
  return false;
}

// How many marks a character begins with and ends with in NFKD.
struct Marks {
  std::size_t leading = 0;
  std::size_t trailing = 0;
  bool only = true;
};

Marks marks_of(UChar32 point) {
  icu::UnicodeString parts;
  if (!MarkTables::get().nfkd->getDecomposition(point, parts)) parts.setTo(point);
  Marks marks;
  for (std::int32_t at = 0; at < parts.length();) {
    const auto part = parts.char32At(at);
    at += U16_LENGTH(part);
    if (u_getCombiningClass(part) == 0) {
      marks.only = false;
      marks.trailing = 0;
    } else {
      ++marks.trailing;
      if (marks.only) ++marks.leading;
    }
  }
  return marks;
}

}  // namespace

std::vector<std::size_t> stream_safe_cuts(std::string_view text) {
  std::vector<std::size_t> cuts;
  if (text.size() > INT32_MAX) throw std::length_error("a text is longer than 2 GiB");
  if (!has_long_run(text)) return cuts;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto here = at;
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
    if (u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0) continue;
    const auto marks = marks_of(point);
    if (run + marks.leading > kMostMarks) {
      cuts.push_back(here);
      run = 0;
    }
    run = marks.only ? run + marks.leading : marks.trailing;
  }
  return cuts;
}

}  // namespace phsic::text
