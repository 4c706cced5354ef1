#include "daemon/problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace phsic {
namespace {

constexpr std::size_t kMostProblems = 100;
constexpr std::size_t kLongestTypo = 40;

// One line that a terminal takes for text, whatever is quoted in it.
std::string printable(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

// How many letters to insert, delete, replace or swap with their neighbour.
std::size_t typos_between(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before(width);
  std::vector<std::size_t> above(width);
  std::vector<std::size_t> row(width);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above.back();
}

}  // namespace

void Problems::add(int line, const std::string& path, const std::string& what) {
  const bool set = line == kCommandLine;
  auto text = set ? fmt::format("--set {}: {}", path, what)
                  : fmt::format("{}:{}: {}: {}", file_, line, path, what);
  if (found_.size() >= kMostProblems) {
    ++left_out_;
    return;
  }
  found_.emplace(set, line, printable(text));
}

void Problems::throw_if_any() const {
  if (empty()) return;
  std::vector<std::string_view> lines;
  lines.reserve(found_.size());
  for (const auto& problem : found_) lines.emplace_back(std::get<std::string>(problem));
  auto all = fmt::format("{}", fmt::join(lines, "\n"));
  if (left_out_ > 0) all += fmt::format("\nand {} more", left_out_);
  throw Error(all);
}

std::string expected_key(std::string_view key, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t fewest = 1 + std::max<std::size_t>(1, key.size() / 3);
  for (const auto other : known) {
    if (key.size() > kLongestTypo) break;
    const auto typos = typos_between(key, other);
    if (typos >= fewest) continue;
    fewest = typos;
    nearest = other;
  }
  if (!nearest.empty()) return fmt::format("a known one such as {}", nearest);
  return fmt::format("one of {}", fmt::join(known, ", "));
}

}  // namespace phsic
