// An order as a picture: on a grid the path through the positions, slot after slot; on a sequence the slot of
// each position. Colours change with every tile of rows that a kernel computes together.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/case/windows.hpp"

namespace hilbench {

inline constexpr std::int64_t kMostDrawnPositions = 128 * 128;
inline constexpr std::int64_t kDrawnTile = 128;  // rows of a tile

// SVG on a light ground of its own. `grid`: its two dimensions; none: a sequence. Throws UsageError if there
// are more than kMostDrawnPositions, or three dimensions.
std::string order_picture(const std::string& title, std::span<const WindowDimension> grid,
                          std::span<const std::int64_t> slots);

}  // namespace hilbench
