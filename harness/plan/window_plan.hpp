// What a plan knows of windows on a grid: reasons to skip a variant, and counts of its tiles.
#pragma once

#include <optional>
#include <string>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/implementation.hpp"
#include "kernels/windows/window_tiles.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Why the variant means nothing for the pattern of the case: an option of windows with branches, or the other
// way round.
Refusal why_not_pattern(const Case& work, const Variant& variant);

// What the tiles of windows hold at least, known without counting them: `keys` alone. A tile of kMaskedRows
// queries needs at most that many pairs for each key of its list. If the implementation computes by tiles.
std::optional<TileCounts> fewest_tile_keys(const Case& work, const PatternCounts& counted,
                                           const Implementation& implementation);

// The tiles of windows that the implementation computes by, if it does: those that the variant names, or what
// `auto` means for it.
struct CountedTiles {
  KeyTiles kind = KeyTiles::united;
  TileCounts counts;
};
std::optional<CountedTiles> counted_tiles(const Case& work, const KernelChoice& choice,
                                          const Implementation& implementation);

// Of all heads. `counted`: those of the case.
Pairs pairs_of(const Case& work, const PatternCounts& counted, const TileCounts& tiles);

}  // namespace hilbench
