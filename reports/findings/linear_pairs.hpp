// Orders against linear order, which is raster order on a grid.
#pragma once

#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct LinearPair {
  const CaseView* where = nullptr;
  const Record *linear = nullptr, *ordered = nullptr;
  Measured ratio;  // time of linear order / time of the other
};

// Each kernel in another order beside the same kernel in linear order, with equal tiles and traversal; case
// by case. Twins, and pairs without a ratio, are left out.
std::vector<LinearPair> linear_pairs(const View& view);

}  // namespace hilbench
