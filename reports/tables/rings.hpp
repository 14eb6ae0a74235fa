// Rings against one rank, by ring size.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Every ring size of a piece of work that some ring computed: time, bytes, overlap, and the efficiency
// against one rank on the same work and on the work of one rank.
Table rings_table(const View& view);
// What the fastest variant of each case gains over one rank, by ring size; empty where no ring has one beside
// it.
std::string rings_sentence(const View& view);

}  // namespace hilbench
