// What several views say of the pairs of a batch, as one score for each.
//
// A view finds something in a pair if its encoder does in both texts. A pair is scored by those
// views that do, as much as they count. Where none of those that count does, it is scored by the
// best of the others that does (ViewedModel::others), and if there is none, by all that count.
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

// Why one view by itself, which finds nothing in a row or cannot read it, was not asked. Candidates
// have a problem of their x, too.
[[nodiscard]] std::string_view why_unasked(const Batch& view, std::size_t row);

// Finds out which views see which pairs, when all views have encoded them.
void mark_seen(Batch& batch);
// In which candidates a view finds something that has ranked them. To be called for each that is
// asked; they were none before.
void mark_candidates(std::size_t view, std::size_t candidates, Batch& batch);

// Has none of the views asked so far found something in the row and scored it?
[[nodiscard]] bool is_open(const Batch& batch, std::size_t row);

// Blends the scores that the views asked have given by batch.published. Nothing is allocated for a
// pair that a view finds nothing in.
void blend_scores(Batch& batch);
// The same for so many candidates, which the views asked have ranked.
void blend_candidates(Batch& batch, std::size_t candidates);

// Adds what Batch::unasked says of rows first .. first + count, which are called `as` and so on.
void add_left_out(const Batch& batch, std::size_t first, std::size_t count, std::size_t as,
                  std::vector<LeftOut>& to);

}  // namespace phsic
