// What several views say of the pairs of a batch, as one score for each.
//
// A view finds something in a pair if its encoder does in both texts. A pair is scored by those
// views that do, as much as they count; where none of those that count does, by all that count.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/items.h"
#include "engine/batch.h"

namespace phsic {

inline constexpr std::string_view kNothingKnown = "nothing in it that the encoder knows";

// Is there anything in row i of x and in row j of y? In a text there always is.
[[nodiscard]] bool finds_something(const Items<float>& x, std::size_t i, const Items<float>& y,
                                   std::size_t j);

// Finds out which views see which pairs, when all views have encoded them.
void mark_seen(Batch& batch);

// Blends the scores that the views have given by batch.published. Nothing is allocated for a pair
// that a view finds nothing in.
void blend_scores(Batch& batch);
// The same for so many candidates, which all views that count have ranked; where none counts, all.
void blend_candidates(Batch& batch, std::size_t candidates);

// Adds what Batch::unasked says of rows first .. first + count, which are called `as` and so on.
void add_left_out(const Batch& batch, std::size_t first, std::size_t count, std::size_t as,
                  std::vector<LeftOut>& to);

}  // namespace phsic
