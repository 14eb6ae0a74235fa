// A windowed case with orders and a rival, and dense attention on the same tokens, in memory.
#pragma once

#include <string>
#include <vector>

#include "kernels/case/windows.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench::sample {

Case windowed();

// `name` in qkv order with `computed` pairs for each needed one; its time is `factor` times the standard.
Record ordered(std::string_view name, double computed, double factor, double phase);

// Raster order, Hilbert order (half of its pairs and time) and random order; FlexAttention; dense attention.
std::vector<Record> windowed_records();

}  // namespace hilbench::sample
