// Rings against one rank.
#pragma once

#include <string>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record of work that some ring computed: time, bytes, overlap, and the efficiency against
// one rank on the same work and on as much work as each rank has.
Table rings_table(const View& view);
Table rings_page_table(const View& view);  // without columns that no ring has
// Speedup of the fastest ring of each case over one rank, by ring size; empty if no such pair was measured.
std::string rings_sentence(const View& view);

}  // namespace hilbench
