#include "cli/session/describe_views.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wire/printable.h"

namespace phsic {

std::string describe_views(const std::vector<ViewFacts>& views) {
  std::string text;
  for (const auto& view : views) {
    text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", printable(view.name), view.weight);
    if (view.accuracy) text += fmt::format(" (self-AUC {:.4f})", view.accuracy->auc);
  }
  return text;
}

nlohmann::ordered_json views_json(const std::vector<ViewFacts>& views) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& view : views) {
    list.push_back({{"name", view.name}, {"weight", view.weight}, {"self_auc", nullptr}});
    if (view.accuracy) list.back()["self_auc"] = view.accuracy->auc;
  }
  return list;
}

}  // namespace phsic
