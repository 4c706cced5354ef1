// YAML as a plain tree that remembers its lines.
//
// A narrow YAML: one document of UTF-8, keys are texts, no aliases, no tags, and bounds on size and
// depth, so that no file, however made, takes more than a moment and some memory. Keys may repeat;
// the reader of the tree has to check.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace phsic {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNothing, kText, kList, kMapping };
  Kind kind = Kind::kNothing;
  int line = 0;                    // from 1
  std::string text;                // of a text
  bool quoted = false;             // a text in quotes, whatever it looks like
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a mapping

  // What it is, for messages: `"abc"`, `a list`.
  [[nodiscard]] std::string describe() const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlNode value;
};

inline constexpr std::size_t kMaxYamlBytes = 1U << 20U;
inline constexpr std::size_t kMaxYamlText = 16384;  // of one key or value
inline constexpr std::size_t kMaxYamlDepth = 16;

// Throws an Error with `name`, the line and what is wrong. An empty document is kNothing.
[[nodiscard]] YamlNode parse_yaml(std::string_view text, const std::string& name);
[[nodiscard]] YamlNode read_yaml(const std::string& file);

}  // namespace phsic
