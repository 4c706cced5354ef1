// Views: the encoders through which a stream sees its pairs, each with a kernel and an estimator of
// its own, as a user writes them.
//
// The value of the option `views` is a JSON list, made of a list in YAML or of several --view. A
// view is the notation of its encoder, or an object:
//
//   ["hashing:dim=2048",{"name":"words","encoder":"wordvec:file=g.vec","ridge":"0.3"}]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phsic {

struct ViewSpec {
  std::string name;
  // What it has instead of what holds for the stream.
  std::vector<std::pair<std::string, std::string>> options;

  bool operator==(const ViewSpec&) const = default;
};

// Whether a stream's option may be another in each view.
[[nodiscard]] bool is_view_option(std::string_view name);

// None of an empty text or list. Ascending by name: the order in which views are written makes no
// difference. A view without a name gets that of its encoder, or the whole of its notation where
// two are named alike. Throws an Error that says what was found and what was expected.
[[nodiscard]] std::vector<ViewSpec> parse_views(std::string_view json);

// One more view, given by its encoder alone, in the value of the option; empty: there is none yet.
void add_view(std::string_view encoder, std::string& json);

}  // namespace phsic
