// Rings and the records of one rank that they are compared with.
#pragma once

#include <optional>
#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct RingRow {
  const Record* record = nullptr;
  std::optional<Measured> speedup;           // over one rank on the same work
  std::optional<Measured> efficiency;        // the same / how many times the resources of one rank
  std::optional<Measured> same_per_rank;     // time of one rank with the work of each rank / of the ring
  const PredictedRing* predicted = nullptr;  // null if there is no prediction
};

// Rows of one piece of work stand together, by ring size. Work that no ring computed is left out.
std::vector<RingRow> ring_rows(const View& view);

}  // namespace hilbench
