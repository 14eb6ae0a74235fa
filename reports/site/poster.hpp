// The picture of all results: what was claimed of Hilbert order beside what was measured.
#pragma once

#include <string>
#include <vector>

#include "reports/site/overview.hpp"

namespace hilbench {

// Beside the index.
inline constexpr const char *kPosterFile = "poster.svg", *kPosterPreview = "poster.png";

// SVG on a light ground of its own. A row for each claimed speedup of at least 1.1 that the claim's own sweep
// tested, the largest first; a mark with its 95 % interval for each machine, filled in the dtype of the
// claim, hollow in others. "" if no claim is tested.
std::string poster_svg(const std::vector<MachineOverview>& machines);

}  // namespace hilbench
