#include "cli/session/blind_views.h"

#include <fmt/format.h>

#include "engine/view_scores.h"
#include "wire/printable.h"

namespace phsic {

void BlindViews::add(const Batch& batch) {
  if (batch.views.empty()) return;
  views_.resize(batch.views.size());
  pairs_ += batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t v = 0; v < views_.size(); ++v) {
      auto& view = views_[v];
      if ((batch.seen[i] & bit_of(v)) != 0) {
        ++view.seen;
      } else if (view.seen == 0 && view.why.empty()) {
        view.why = why_unasked(batch.views[v], i);
      }
    }
  }
}

std::string BlindViews::describe(const std::vector<ViewFacts>& views) const {
  std::string lines;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const auto name = printable(views[v].name);
    if (v < views_.size() && views_[v].seen == 0) {
      lines += fmt::format("phsic: the view {} could read none of {} pairs: {}\n", name, pairs_,
                           printable(views_[v].why));
    } else if (!views[v].problem.empty()) {
      lines +=
          fmt::format("phsic: the view {} has no model: {}\n", name, printable(views[v].problem));
    }
  }
  return lines;
}

}  // namespace phsic
