// What the table of rings and its sentence are made of: a ring, and one rank to hold it against.
#pragma once

#include <optional>
#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct RingRow {
  const Record* record = nullptr;
  std::optional<Measured> speedup;           // over one rank on the same work
  std::optional<Measured> efficiency;        // the same by what the ring has more of
  std::optional<Measured> same_per_rank;     // one rank on the work of one rank / the ring
  const PredictedRing* predicted = nullptr;  // of this ring, where there is one
};

// All ring sizes of one piece of work side by side, work that no ring computed left out.
std::vector<RingRow> ring_rows(const View& view);

}  // namespace hilbench
