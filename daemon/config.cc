#include "daemon/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "core/error.h"
#include "daemon/config_options.h"
#include "daemon/net/endpoint.h"
#include "daemon/override.h"
#include "daemon/problems.h"
#include "engine/stream_yaml.h"
#include "engine/yaml_tree.h"

namespace phsic {
namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t kMostStreams = 1024;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestList = 256;

// The state file of a service: it lies in the folder that systemd gives the daemon. Empty where the
// daemon is no service.
std::string default_state() {
  const char* folder = std::getenv("STATE_DIRECTORY");
  return folder == nullptr || *folder == '\0' ? std::string() : fmt::format("{}/phsicd.db", folder);
}

// Reads a tree and tells all that is wrong with it. An option that cannot be read keeps its
// default, so that the others are checked all the same.
class ConfigReader {
 public:
  explicit ConfigReader(Problems& problems) : problems_(problems) {}

  Config read(const YamlNode& root);

 private:
  // An option of a stream, and who said so.
  struct Chosen {
    const YamlEntry* entry;
    std::string path;
  };
  struct Bound {
    std::string path;
    std::optional<int> line;  // none: a default
    std::string text;
  };

  using Entries = std::vector<const YamlEntry*>;

  // The entries of a mapping, or of nothing, without those that are unknown or repeated.
  Entries known_entries(const YamlNode& mapping, int line, const std::string& path,
                        std::span<const std::string_view> known);
  bool has_few_items(const YamlEntry& list, const std::string& path);
  void read_daemon(const YamlNode& root);
  void read_subscriptions(const YamlEntry& list);
  void read_subscription(const YamlNode& node, const std::string& path);
  std::vector<Chosen> choose(const YamlNode& mapping, int line, const std::string& path);
  void read_defaults(const YamlEntry& entry);
  void read_streams(const YamlEntry& entry);
  void read_stream(const YamlEntry& entry);
  void apply(std::vector<Chosen> chosen, StreamSettings& stream);
  void set_stream_option(const Chosen& option, StreamSettings& stream);
  void set_decide_option(const DecideOption& known, const Chosen& option, StreamSettings& stream);
  template <class Target>
  std::string set_option(const ConfigOption<Target>& option, const YamlEntry& entry,
                         const std::string& path, Target& target);
  void check_endpoints();
  void check_promises();
  void check_subscriptions();

  Problems& problems_;
  Config config_;
  std::vector<Chosen> defaults_;
  std::vector<Bound> bound_;
  std::vector<std::pair<int, std::string>> subscribed_;  // line and path of each subscription
};

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : fmt::format("{}.{}", path, key);
}

ConfigReader::Entries ConfigReader::known_entries(const YamlNode& mapping, int line,
                                                  const std::string& path,
                                                  std::span<const std::string_view> known) {
  Entries entries;
  if (mapping.kind != Kind::kNothing && mapping.kind != Kind::kMapping) {
    problems_.add(line, path.empty() ? "the file" : path,
                  fmt::format("found {}, expected KEY: VALUE lines", mapping.describe()));
    return entries;
  }
  if (mapping.entries.size() > kLongestList) {
    problems_.add(line, path.empty() ? "the file" : path,
                  fmt::format("found {} keys, expected one of each", mapping.entries.size()));
    return entries;
  }
  const auto of_stream = stream_option_names();
  std::set<std::string_view> seen;
  for (const auto& entry : mapping.entries) {
    const auto place = join_path(path, entry.key);
    const bool is_known = std::find(known.begin(), known.end(), entry.key) != known.end();
    if (!seen.insert(entry.key).second) {
      problems_.add(entry.line, place, "found again, expected once");
    } else if (is_known) {
      entries.push_back(&entry);
    } else if (const auto advice = advice_for(entry.key); !advice.empty()) {
      problems_.add(entry.line, place, std::string(advice));
    } else if (const auto* const option = find_decide_option(entry.key);
               option != nullptr && !option->is_served) {
      problems_.add(entry.line, place, kNotServed);
    } else if (path.empty() &&
               std::find(of_stream.begin(), of_stream.end(), entry.key) != of_stream.end()) {
      problems_.add(entry.line, place,
                    "found an option of a stream, expected it in defaults or streams.NAME");
    } else {
      problems_.add(
          entry.line, place,
          fmt::format("found an unknown key, expected {}", expected_key(entry.key, known)));
    }
  }
  return entries;
}

bool ConfigReader::has_few_items(const YamlEntry& list, const std::string& path) {
  const auto count = list.value.items.size();
  if (count <= kLongestList) return true;
  problems_.add(list.line, path,
                fmt::format("found a list of {}, expected at most {}", count, kLongestList));
  return false;
}

// Sets it and gives its value as it was written, in one line.
template <class Target>
std::string ConfigReader::set_option(const ConfigOption<Target>& option, const YamlEntry& entry,
                                     const std::string& path, Target& target) {
  const bool is_list = entry.value.kind == Kind::kList && option.texts != nullptr;
  if (option.texts != nullptr) (target.*option.texts).clear();
  std::string written;
  const auto set_one = [&](const YamlNode& node, int line, const std::string& place) {
    try {
      if (node.kind != Kind::kText) {
        throw Error(fmt::format("found {}, expected {}", node.describe(),
                                option.texts == nullptr ? "a text"
                                : is_list               ? "a text in the list"
                                                        : "a text or a list of texts"));
      }
      option.set(target, node.text);
      if (option.form == ConfigOption<Target>::Form::kEndpoints) {
        bound_.push_back({place, line, node.text});
      }
      written += (written.empty() ? "" : ",") + node.text;
    } catch (const Error& problem) {
      problems_.add(line, place, problem.what());
    }
  };
  if (!is_list) {
    set_one(entry.value, entry.line, path);
    return written;
  }
  if (!has_few_items(entry, path)) return written;
  for (std::size_t i = 0; i < entry.value.items.size(); ++i) {
    const auto& item = entry.value.items[i];
    // Who writes a list on the command line sees one text.
    set_one(item, item.line, entry.line > 0 ? fmt::format("{}[{}]", path, i) : path);
  }
  return written;
}

void ConfigReader::read_daemon(const YamlNode& root) {
  std::vector<std::string_view> known;
  for (const auto& option : daemon_options()) known.push_back(option.name);
  const auto entries = known_entries(root, 1, "", known);
  const auto find = [&](std::string_view name) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto* entry) { return entry->key == name; });
    return found == entries.end() ? nullptr : *found;
  };
  for (const auto& option : daemon_options()) {
    const auto* entry = find(option.name);
    if (option.set == nullptr) continue;
    if (entry != nullptr) {
      set_option(option, *entry, entry->key, config_);
    } else if (option.form == DaemonOption::Form::kEndpoints) {
      for (const auto& text : config_.*option.texts) {
        bound_.push_back({std::string(option.name), std::nullopt, text});
      }
    }
  }
  if (find("state") == nullptr) config_.state = default_state();
  const auto* service = find("service");
  if (service != nullptr && service->value.kind == Kind::kList && service->value.items.empty()) {
    problems_.add(service->line, "service", "found none, expected at least one endpoint");
  }
  if (const auto* entry = find("defaults")) read_defaults(*entry);
  if (const auto* entry = find("streams")) {
    read_streams(*entry);
  } else if (root.kind == Kind::kMapping || root.kind == Kind::kNothing) {
    problems_.add(1, "streams", "found none, expected a mapping with at least one stream");
  }
  if (const auto* entry = find("subscribe")) read_subscriptions(*entry);
}

void ConfigReader::read_subscriptions(const YamlEntry& list) {
  if (list.value.kind == Kind::kNothing) return;
  if (list.value.kind != Kind::kList) {
    problems_.add(list.line, list.key,
                  fmt::format("found {}, expected a list of mappings with endpoint and stream",
                              list.value.describe()));
    return;
  }
  if (!has_few_items(list, list.key)) return;
  for (std::size_t i = 0; i < list.value.items.size(); ++i) {
    read_subscription(list.value.items[i], fmt::format("subscribe[{}]", i));
  }
}

void ConfigReader::read_subscription(const YamlNode& node, const std::string& path) {
  constexpr std::string_view kKnown[] = {"endpoint", "topic", "stream"};
  if (node.kind != Kind::kMapping) {
    problems_.add(
        node.line, path,
        fmt::format("found {}, expected a mapping with endpoint and stream", node.describe()));
    return;
  }
  Subscription subscription;
  std::set<std::string_view> given;
  int line = node.line;
  for (const auto* entry : known_entries(node, node.line, path, kKnown)) {
    const auto place = join_path(path, entry->key);
    given.insert(entry->key);
    try {
      if (entry->value.kind != Kind::kText) {
        throw Error(fmt::format("found {}, expected a text", entry->value.describe()));
      }
      const auto& text = entry->value.text;
      if (entry->key == "endpoint") {
        static_cast<void>(Endpoint::to_connect(text));
        subscription.endpoint = text;
      } else if (entry->key == "topic") {
        subscription.topic = text;
      } else {
        subscription.stream = text;
        line = entry->line;
      }
    } catch (const Error& problem) {
      problems_.add(entry->line, place, problem.what());
    }
  }
  for (const auto* key : {"endpoint", "stream"}) {
    if (given.count(key) == 0) {
      problems_.add(node.line, join_path(path, key), "found none, expected one");
    }
  }
  config_.subscribe.push_back(std::move(subscription));
  subscribed_.emplace_back(line, path);
}

std::vector<ConfigReader::Chosen> ConfigReader::choose(const YamlNode& mapping, int line,
                                                       const std::string& path) {
  const auto names = stream_option_names();
  std::vector<Chosen> chosen;
  for (const auto* entry : known_entries(mapping, line, path, names)) {
    chosen.push_back({entry, join_path(path, entry->key)});
  }
  return chosen;
}

void ConfigReader::read_defaults(const YamlEntry& entry) {
  defaults_ = choose(entry.value, entry.line, entry.key);
  std::erase_if(defaults_, [&](const Chosen& option) {
    if (option.entry->key != "ingest") return false;
    problems_.add(option.entry->line, option.path,
                  "found endpoints for all streams, expected them in a stream");
    return true;
  });
  // Checks the defaults here, too: every stream may replace them.
  StreamSettings unused;
  apply(defaults_, unused);
}

void ConfigReader::read_streams(const YamlEntry& entry) {
  const auto& node = entry.value;
  if (node.kind != Kind::kMapping || node.entries.empty()) {
    problems_.add(
        entry.line, entry.key,
        fmt::format("found {}, expected a mapping with at least one stream", node.describe()));
    return;
  }
  if (node.entries.size() > kMostStreams) {
    problems_.add(
        entry.line, entry.key,
        fmt::format("found {} streams, expected at most {}", node.entries.size(), kMostStreams));
    return;
  }
  for (const auto& stream : node.entries) read_stream(stream);
}

// A name is a feed's topic and part of a path.
bool is_stream_name(std::string_view name) {
  const bool has_length = !name.empty() && name.size() <= kLongestName;
  return has_length && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

void ConfigReader::read_stream(const YamlEntry& entry) {
  const auto path = fmt::format("streams.{}", entry.key);
  if (!is_stream_name(entry.key)) {
    problems_.add(entry.line, path,
                  fmt::format("found the name \"{}\", expected 1 to {} of the letters a-z and A-Z, "
                              "digits, - _ and ., not beginning with .",
                              entry.key, kLongestName));
  }
  StreamSettings stream;
  stream.name = entry.key;
  for (const auto& other : config_.streams) {
    if (other.name == stream.name) {
      problems_.add(entry.line, path, "found again, expected once");
      return;
    }
  }
  auto chosen = defaults_;
  const auto own = choose(entry.value, entry.line, path);
  for (const auto& option : own) {
    std::erase_if(chosen, [&](const Chosen& earlier) {
      return replaces(option.entry->key, option.entry->value, earlier.entry->key);
    });
  }
  chosen.insert(chosen.end(), own.begin(), own.end());
  apply(std::move(chosen), stream);
  try {
    stream.spec.validate();
    static_cast<void>(stream.plan());
  } catch (const Error& problem) {
    problems_.add(entry.line, path, problem.what());  // one option alone is not to blame
  }
  config_.streams.push_back(std::move(stream));
}

void ConfigReader::apply(std::vector<Chosen> chosen, StreamSettings& stream) {
  const auto names = stream_option_names();
  const auto order = [&](const Chosen& option) {
    return std::find(names.begin(), names.end(), option.entry->key) - names.begin();
  };
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const auto& option : chosen) set_stream_option(option, stream);
}

void ConfigReader::set_stream_option(const Chosen& option, StreamSettings& stream) {
  const auto& entry = *option.entry;
  for (const auto& known : serving_options()) {
    if (known.name != entry.key) continue;
    stream.options.emplace_back(entry.key, set_option(known, entry, option.path, stream));
    return;
  }
  if (const auto* const known = find_decide_option(entry.key)) {
    set_decide_option(*known, option, stream);
    return;
  }
  const auto& known = stream_options()[order_of(entry.key)];
  try {
    const auto notation = notation_of(entry);
    StreamSpec alone;
    known.set(alone, notation);
    try {
      alone.validate();
    } catch (const Error& problem) {
      // "x pivots: found ...": the path says of what.
      const std::string what = problem.what();
      const auto found = what.find(": found ");
      throw Error(found == std::string::npos ? what : what.substr(found + 2));
    }
    known.set(stream.spec, notation);
    stream.options.emplace_back(entry.key, notation);
  } catch (const Error& problem) {
    problems_.add(line_of_problem(entry), option.path, problem.what());
  }
}

void ConfigReader::set_decide_option(const DecideOption& known, const Chosen& option,
                                     StreamSettings& stream) {
  const auto& entry = *option.entry;
  try {
    const auto text = decide_notation(known, entry.value);
    known.set(stream.decide, text);
    stream.options.emplace_back(entry.key, text);
  } catch (const Error& problem) {
    problems_.add(entry.line, option.path, problem.what());
  }
}

void ConfigReader::check_endpoints() {
  std::vector<std::pair<Endpoint, const Bound*>> seen;
  for (const auto& bound : bound_) {
    const auto endpoint = Endpoint::to_bind(bound.text);
    if (!endpoint.is_local() && !config_.exposed) {
      problems_.add(bound.line.value_or(1), bound.path,
                    fmt::format("found \"{}\", expected a loopback address such as 127.0.0.1: "
                                "anyone who reaches the port can read and teach; exposed: true "
                                "allows it",
                                bound.text));
    }
    if (endpoint.is_any()) continue;
    const auto twin = std::find_if(seen.begin(), seen.end(),
                                   [&](const auto& other) { return other.first == endpoint; });
    if (twin == seen.end()) {
      seen.emplace_back(endpoint, &bound);
      continue;
    }
    // A default is not to blame for what was written.
    const auto* other = twin->second;
    const auto& blamed = bound.line ? bound : *other;
    problems_.add(blamed.line.value_or(1), blamed.path,
                  fmt::format("found \"{}\", which is an endpoint of {} already, expected another",
                              bound.text, bound.line ? other->path : bound.path));
  }
}

void ConfigReader::check_subscriptions() {
  for (std::size_t i = 0; i < config_.subscribe.size(); ++i) {
    const auto& subscription = config_.subscribe[i];
    const auto& [line, path] = subscribed_[i];
    const bool exists =
        std::any_of(config_.streams.begin(), config_.streams.end(),
                    [&](const auto& stream) { return stream.name == subscription.stream; });
    if (!subscription.stream.empty() && !exists) {
      problems_.add(line, path + ".stream",
                    fmt::format("found \"{}\", expected one of the streams", subscription.stream));
    }
    const bool is_own =
        !subscription.endpoint.empty() &&
        std::any_of(config_.feed.begin(), config_.feed.end(), [&](const auto& feed) {
          return Endpoint::to_connect(subscription.endpoint).leads_to(Endpoint::to_bind(feed));
        });
    if (is_own) {
      problems_.add(
          line, path + ".endpoint",
          fmt::format("found \"{}\", which is the feed of this daemon, expected another's",
                      subscription.endpoint));
    }
    const auto here = config_.subscribe.begin() + static_cast<std::ptrdiff_t>(i);
    if (!here->endpoint.empty() && std::find(config_.subscribe.begin(), here, *here) != here) {
      problems_.add(line, path, "found the same subscription again, expected it once");
    }
  }
}

// Nothing can be promised that cannot be kept.
void ConfigReader::check_promises() {
  if (!config_.state.empty()) return;
  for (const auto& stream : config_.streams) {
    if (!stream.promise.value_or(false)) continue;
    problems_.add(1, fmt::format("streams.{}.promise", stream.name),
                  "found durable, expected it only with a state");
  }
}

Config ConfigReader::read(const YamlNode& root) {
  read_daemon(root);
  check_endpoints();
  check_promises();
  check_subscriptions();
  return std::move(config_);
}

Config config_of(YamlNode root, const std::string& name, const std::vector<Override>& overrides) {
  Problems problems(name);
  apply_overrides(root, overrides, problems);
  auto config = ConfigReader(problems).read(root);
  problems.throw_if_any();
  return config;
}

}  // namespace

Config read_config(const std::string& file, const std::vector<Override>& overrides) {
  return config_of(read_yaml(file), file, overrides);
}

Config parse_config(std::string_view text, const std::string& name,
                    const std::vector<Override>& overrides) {
  return config_of(parse_yaml(text, name), name, overrides);
}

}  // namespace phsic
