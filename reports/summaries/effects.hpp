// Variants of kernels against the reference of their case, which is linear order as a rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A variant of a kernel that was compared with the reference of its case.
struct VariantPair {
  const CaseView* where = nullptr;
  const Record* record = nullptr;  // has a speedup
  const Record* reference = nullptr;
};
std::vector<VariantPair> variant_pairs(const View& view);

// Bytes of K and V together.
double kv_bytes(const Case& work);
// Keys that a query reads: of its longest branch; of windows, what it sees far from the edges of the grid. Of
// a mask of blocks 0, because each query has its own number.
std::int64_t keys_read(const Case& work);

// A row for each variant that is faster or slower in some case: in how many, by how much, at which dilations.
Table effects_table(const View& view);
// What the table cannot say: in how many cases there is one, how often the random control gains too, and what
// walking keys in stored order changes. None if nothing was compared.
std::vector<std::string> effects_sentences(const View& view);
// A row for each case without windows: its size, and the speedup of each variant.
Table ratios_table(const View& view);

}  // namespace hilbench
