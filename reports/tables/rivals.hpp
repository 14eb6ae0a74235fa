// Kernels against the baselines that compute the same case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A kernel in linear order against a verified baseline of the same case.
struct RivalPair {
  const CaseView* where = nullptr;
  const Record* kernel = nullptr;
  const Record* rival = nullptr;
  Measured ratio;  // rival's time / kernel's time
};
// What ran, and the ring options of its variant.
std::string kernel_text(const Record& kernel);
// Those of the first `most_kernels` (case, kernel) that have any: each costs a bootstrap.
inline constexpr std::size_t kMostRivalRows = 60;  // of a figure
std::vector<RivalPair> rival_pairs(const View& view, std::size_t most_kernels = SIZE_MAX);

// Kernels in linear order against every baseline that computes the case: rival's time / kernel's time. The
// CSV has a row for each rival, the page a column.
Table rivals_table(const View& view);
Table rivals_page_table(const View& view);

}  // namespace hilbench
