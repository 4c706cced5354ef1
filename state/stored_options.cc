#include "state/stored_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "engine/option_value.h"
#include "state/seen_ids.h"

namespace phsic {
namespace {

constexpr std::size_t kUsualIdWindow = 65536;

bool is_engine_option(std::string_view name) { return order_of(name) < stream_options().size(); }

// As in a configuration: what holds for both sides replaces what was said of one.
bool replaces(std::string_view option, std::string_view value, std::string_view earlier) {
  if (option == earlier) return true;
  if (option == "encoder") {
    return earlier == "x-encoder" || earlier == "y-encoder" || earlier == "views";
  }
  if (option == "views" && !value.empty() && value != "[]") return earlier.ends_with("encoder");
  if (option == "kernel") return earlier == "x-kernel" || earlier == "y-kernel";
  return value != "never" && ((option == "half-life" && earlier == "window") ||
                              (option == "window" && earlier == "half-life"));
}

}  // namespace

StoredOptions parse_options(std::string_view json) {
  const auto root = nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) throw Error("options: found no JSON object, expected one");
  StoredOptions options;
  for (const auto& [name, value] : root.items()) {
    if (!value.is_string()) {
      throw Error(
          fmt::format("options: found a {} for {}, expected a text", value.type_name(), name));
    }
    options.emplace_back(name, value.get<std::string>());
  }
  return options;
}

std::string options_json(const StoredOptions& options) {
  auto root = nlohmann::ordered_json::object();
  for (const auto& [name, value] : options) root[name] = value;
  return root.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

StoredOptions engine_options(const StoredOptions& options) {
  auto kept = options;
  std::erase_if(kept, [](const auto& option) { return !is_engine_option(option.first); });
  return kept;
}

void override_options(StoredOptions& options, const StoredOptions& later) {
  for (const auto& [name, value] : later) {
    std::erase_if(options, [&, &option = name, &text = value](const auto& earlier) {
      return replaces(option, text, earlier.first);
    });
  }
  options.insert(options.end(), later.begin(), later.end());
}

StreamSpec spec_of(const StoredOptions& options) {
  auto sorted = engine_options(options);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return order_of(a.first) < order_of(b.first);
  });
  StreamSpec spec;
  for (const auto& [name, value] : sorted) spec.set(name, value);
  return spec;
}

std::size_t id_window_of(const StoredOptions& options) {
  for (const auto& [name, value] : options) {
    if (name == "id-window") return whole_value<std::size_t>(value, 0, SeenIds::kMaxCapacity);
  }
  return kUsualIdWindow;
}

}  // namespace phsic
