// What a rank of a ring asks of a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/index/row_writes.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

// The rows and heads that a rank computes. It has at least one row here.
Case computed_case(const Ring& ring, std::int64_t rank);

// The case that a kernel is prepared for: the rank's rows, all in one segment. Everything else is in the
// index.
Case piece_case(const Ring& ring, std::int64_t rank, Mask mask);

// Rows of a tile: as the kernel chooses on one rank, because the tiles of all ranks together do the work.
std::int64_t rows_of_tile(const Ring& ring, std::int64_t rank, const Implementation& kernel);

// True if some query does not see all keys of its tile, so that a kernel needs a mask.
bool cuts_keys(const BranchIndex& branch);

// Removes tiles without keys, and notes in `row_writes` [rows, heads] what the other tiles do to their rows.
void note_row_writes(BranchIndex& branch, std::int64_t heads, std::vector<RowWrites>& row_writes);

}  // namespace hilbench
