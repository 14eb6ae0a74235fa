// The orders that a sweep compares, as strips.
#pragma once

#include <string>
#include <vector>

#include "reports/pictures/strip.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// "boxes.8.16": the order as ids write it.
std::string order_text(const KernelChoice& choice);

// None for a sweep with fewer than two orders. Windows on a grid: the paths, on a part of the grid if it is
// large, and the footprints in the first case that has most orders. Sequences: position and slot in 1024
// positions, with the dilation of the case. Orders of files and more than 12 are left out.
std::vector<Strip> order_strips(const View& view);

// The same as pictures of the report.
void add_order_pictures(ReportInput& input);

}  // namespace hilbench
