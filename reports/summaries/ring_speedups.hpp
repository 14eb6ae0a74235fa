// Rings beside one rank, and beside what the model of rings predicted.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each case of a ring: time of one rank on the same work / time of the ring, a column a variant.
Table ring_speedups_table(const View& view);

// A row for each algorithm: rings of more ranks than the model was fitted on, against its prediction.
Table predicted_rings_table(const View& view);

}  // namespace hilbench
