// Rows times a matrix, to bits that depend on nothing but the row and the matrix.
//
// BLAS orders its sums by the size of a block and by the places in it, so the last bits of one
// row's product depend on the rows around it. Here every element is summed over k in ascending
// order, each step fused where the processor can, however many rows there are. So a row gives the
// same bits in any block, at any place and in any thread, on the same type of processor; a sparse
// row whose entries are added one by one (loops::add_multiple) gives them, too. Scoring uses these
// products; learning, which works in blocks, uses BLAS.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/workspace.h"

namespace phsic {

enum class Instructions : std::uint8_t { kPlain, kAvx2, kAvx512 };

// The widest instructions that this processor and this build have.
[[nodiscard]] Instructions widest_instructions();

// c (m x n) = a (m x k) * b (k x n), all row-major with nothing between rows. May be called from
// any thread, each with a workspace of its own. REQUIRES: no wider instructions than the widest.
void multiply_rows(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
                   float* c, Workspace& workspace, Instructions with = widest_instructions());
void multiply_rows(std::size_t m, std::size_t n, std::size_t k, const double* a, const double* b,
                   double* c, Workspace& workspace, Instructions with = widest_instructions());

}  // namespace phsic
