#include "cli/session/describe_views.h"

#include <fmt/format.h>

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

}  // namespace phsic
