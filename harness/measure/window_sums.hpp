// The sums of the key probe for windows on a grid, from sums over boxes: a row costs a few additions for each
// element, whatever the size of its window.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/key_probe.hpp"

namespace hilbench {

// Adds the sums and sizes of all rows of `probe`. `position_of`: of each slot of a `tokens` order; empty:
// the same.
void add_window_sums(const Case& work, const InputTensors& inputs,
                     const std::vector<std::int32_t>& position_of, int threads, KeyProbe& probe);

// With dropout a key has no sum that many rows share: each row adds up its own, so that the probe has as many
// rows as have not too many pairs, from both ends of `rows` and evenly between. Sums are exact, but for their
// common factor.
void leave_few_rows(const Case& work, std::vector<RowId>& rows);
void add_kept_sums(const Case& work, const InputTensors& inputs, int threads, KeyProbe& probe);

}  // namespace hilbench
