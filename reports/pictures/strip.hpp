// Pictures of orders beside each other. On a grid: the path through the positions, slot after slot, or the
// footprint of a tile of windows. On a sequence: the slot of each position. Grids of three dimensions are
// drawn plane by plane.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hilbench {

inline constexpr std::int64_t kMostDrawnPositions = std::int64_t{1} << 18;
inline constexpr std::int64_t kDrawnTile = 128;  // rows of a tile; its colour differs from that of the next

// Of a tile of windows: its queries, and the keys that it reads for them.
struct Footprint {
  std::vector<std::int64_t> queries;  // positions, ascending; so are all
  std::vector<std::int64_t> keys;     // that the tile reads
  std::vector<std::int64_t> needed;   // by one query of the tile, that nearest to their middle
  double computed_over_needed = 0;    // pairs, of all tiles
};

struct Panel {
  std::string name;                    // of the order; empty: it stands in the title
  std::vector<std::int64_t> grid;      // extents, the slowest first; empty: a sequence
  std::vector<std::int64_t> slots;     // of each position; not for a footprint
  std::optional<Footprint> footprint;  // in the place of the path
};

struct Strip {
  std::string title;
  std::vector<Panel> panels;  // one at least, all paths or all footprints
  double side = 176;          // of a panel, in pixels
  std::size_t across = 4;     // panels in a row
};

// As SVG. Throws UsageError if a panel has more than kMostDrawnPositions.
std::string strip_svg(const Strip& strip);

// One picture of one order.
inline constexpr double kLoneSide = 520;

// How to read the picture, in words.
std::string strip_caption(const Strip& strip);

}  // namespace hilbench
