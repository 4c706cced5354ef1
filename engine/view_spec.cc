#include "engine/view_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/encoder_spec.h"
#include "engine/stream_spec.h"

namespace phsic {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 200;  // bytes
constexpr std::string_view kViewOptions[] = {
    "encoder",   "x-encoder", "y-encoder",  "kernel", "x-kernel", "y-kernel", "text-bytes",
    "estimator", "pivots",    "pivot-rule", "rank",   "ridge",    "centered"};

// The last part of a path to a plugin, without its ending.
std::string short_name(const std::string& notation) {
  auto name = EncoderSpec::parse(notation).name;
  name.erase(0, name.rfind('/') + 1);
  return name.ends_with(".so") ? name.substr(0, name.size() - 3) : name;
}

const std::string* find_option(const ViewSpec& view, std::string_view name) {
  for (const auto& [option, value] : view.options) {
    if (option == name) return &value;
  }
  return nullptr;
}

// How a view without a name is called: by its encoders.
template <class Call>
std::string call(const ViewSpec& view, const Call& name_of) {
  if (const auto* both = find_option(view, "encoder")) return name_of(*both);
  const auto* x = find_option(view, "x-encoder");
  const auto* y = find_option(view, "y-encoder");
  if (x == nullptr || y == nullptr) {
    throw Error(
        "found a view without an encoder, expected encoder, or x-encoder and y-encoder, or a name");
  }
  return name_of(*x) + "/" + name_of(*y);
}

// For who writes a view as an encoder is written: {name: wordvec, file: g.vec}.
std::string advice_for_encoder(const Json& view, const std::string& option) {
  const auto name = view.find("name");
  if (name == view.end() || !name->is_string() || view.contains("encoder")) return {};
  return fmt::format("; if {} is an encoder, write {{encoder: {{name: {}, {}: ...}}}}",
                     name->get<std::string>(), name->get<std::string>(), option);
}

ViewSpec parse_view(const Json& json) {
  ViewSpec view;
  if (json.is_string()) {
    view.options.emplace_back("encoder", json.get<std::string>());
    return view;
  }
  if (!json.is_object()) {
    throw Error(fmt::format("found a {}, expected views with encoders", json.type_name()));
  }
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) {
      throw Error(fmt::format("found a {} for {}, expected a text", value.type_name(), name));
    }
    if (name == "name") {
      view.name = value.get<std::string>();
    } else if (is_view_option(name)) {
      view.options.emplace_back(name, value.get<std::string>());
    } else {
      throw Error(fmt::format("a view has no option {}, expected name or one of {}{}", name,
                              fmt::join(kViewOptions, ", "), advice_for_encoder(json, name)));
    }
  }
  std::stable_sort(view.options.begin(), view.options.end(), [](const auto& a, const auto& b) {
    return order_of(a.first) < order_of(b.first);
  });
  return view;
}

void give_names(std::vector<ViewSpec>& views) {
  std::vector<std::string> names;
  names.reserve(views.size());
  for (const auto& view : views) {
    names.push_back(view.name.empty() ? call(view, short_name) : view.name);
  }
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!views[v].name.empty()) continue;
    const bool is_taken = std::count(names.begin(), names.end(), names[v]) > 1;
    const auto whole = [](const std::string& notation) { return notation; };
    views[v].name = is_taken ? call(views[v], whole) : names[v];
  }
}

}  // namespace

bool is_view_option(std::string_view name) {
  return std::find(std::begin(kViewOptions), std::end(kViewOptions), name) !=
         std::end(kViewOptions);
}

std::vector<ViewSpec> parse_views(std::string_view json) {
  if (json.empty()) return {};
  const auto list = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) {
    throw Error(fmt::format("found \"{}\", expected a list of views", json));
  }
  if (list.size() > kMostViews) {
    throw Error(fmt::format("found {} views, expected {} at most", list.size(), kMostViews));
  }
  std::vector<ViewSpec> views;
  views.reserve(list.size());
  for (const auto& one : list) views.push_back(parse_view(one));
  give_names(views);
  std::sort(views.begin(), views.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (views[v].name.size() > kLongestName) {
      throw Error(fmt::format("found a view whose name has {} bytes, expected a name of {} at most",
                              views[v].name.size(), kLongestName));
    }
    if (v == 0 || views[v].name != views[v - 1].name) continue;
    if (views[v] == views[v - 1]) {
      throw Error(fmt::format("found the view {} twice, expected it once", views[v].name));
    }
    throw Error(fmt::format("found two views named {}, expected a name for each of its own",
                            views[v].name));
  }
  return views;
}

void add_view(std::string_view encoder, std::string& json) {
  auto list = json.empty() ? Json::array() : Json::parse(json);
  list.push_back({{"encoder", std::string(encoder)}});
  json = list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace phsic
