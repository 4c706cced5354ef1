#include "engine/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "core/spectrum.h"

namespace phsic {
namespace {

// Thrown while yaml-cpp is at work; its own exceptions carry a line as well.
[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) {
  throw YAML::ParserException(mark, problem);
}

// Builds the tree from the events of one document. yaml-cpp's own nodes would follow aliases, and
// drop keys that repeat.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "found a second document, expected one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(mark, YamlNode::Kind::kNothing, {}, false);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "found an alias, expected what it stands for");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    require_no_tag(mark, tag);
    if (value.size() > kMaxYamlText) {
      refuse(mark, fmt::format("found a text of {} bytes, expected at most {}", value.size(),
                               kMaxYamlText));
    }
    add(mark, YamlNode::Kind::kText, value, tag == "!");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    require_no_tag(mark, tag);
    open(mark, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    require_no_tag(mark, tag);
    open(mark, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Open {
    YamlNode* node;
    bool has_key;  // of a mapping: the value is next
  };

  // "?" is a plain text's, "!" one in quotes.
  static void require_no_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, fmt::format("found the tag {}, expected none", tag));
  }

  // The result is valid until anything is added beside it.
  YamlNode* add(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& text, bool quoted) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.text = text;
    node.quoted = quoted;
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    auto& [parent, has_key] = open_.back();
    if (parent->kind == YamlNode::Kind::kList) {
      return &parent->items.emplace_back(std::move(node));
    }
    has_key = !has_key;
    if (!has_key) {
      parent->entries.back().value = std::move(node);
      return &parent->entries.back().value;
    }
    if (kind != YamlNode::Kind::kText) {
      refuse(mark, fmt::format("found {} for a key, expected a text", node.describe()));
    }
    parent->entries.push_back({text, node.line, {}});
    return nullptr;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (open_.size() >= kMaxYamlDepth) {
      refuse(mark, fmt::format("found more than {} levels, expected fewer", kMaxYamlDepth));
    }
    open_.push_back({add(mark, kind, {}, false), false});
  }

  YamlNode root_;
  // Pointers stay good: while a node is open, nothing is added beside it or its ancestors.
  std::vector<Open> open_;
  int documents_ = 0;
};

void require_plain(std::string_view text, const std::string& name) {
  if (text.size() > kMaxYamlBytes) {
    throw Error(fmt::format("{}: found more than {} bytes, expected a YAML file of at most that",
                            name, kMaxYamlBytes));
  }
  // yaml-cpp would take zeros for UTF-16.
  if (is_utf8(text) && text.find('\0') == std::string_view::npos) return;
  int number = 1;
  for (std::size_t begin = 0; begin <= text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    if (!is_utf8(line) || line.find('\0') != std::string_view::npos) break;
    begin = end + 1;
  }
  throw Error(fmt::format("{}:{}: found bytes that are no text, expected UTF-8", name, number));
}

}  // namespace

std::string YamlNode::describe() const {
  switch (kind) {
    case Kind::kNothing: return "nothing";
    case Kind::kText: return fmt::format("\"{}\"", text);
    case Kind::kList: return items.empty() ? "an empty list" : "a list";
    case Kind::kMapping: return entries.empty() ? "an empty mapping" : "a mapping";
  }
  return "nothing";
}

YamlNode parse_yaml(std::string_view text, const std::string& name) {
  require_plain(text, name);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& problem) {
    const bool ours = problem.msg.starts_with("found ");
    throw Error(fmt::format(
        "{}:{}: {}", name, problem.mark.line + 1,
        ours ? problem.msg
             : fmt::format("found broken YAML ({}), expected KEY: VALUE lines", problem.msg)));
  }
  return builder.take();
}

YamlNode read_yaml(const std::string& file) {
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) {
    throw Error(fmt::format("{}: found a folder, expected a YAML file", file));
  }
  std::ifstream stream(file, std::ios::binary);
  // One byte more than there may be, so that too much shows, even where a file never ends.
  std::string text(kMaxYamlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) {
    throw Error(fmt::format("{}: cannot be read ({}), expected a YAML file", file,
                            std::generic_category().message(errno)));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_yaml(text, file);
}

}  // namespace phsic
