#include "harness/plan/window_plan.hpp"

#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

bool computes_by_tiles(const Case& work, const Implementation& implementation) {
  return has_windows(work) && implementation.windows && implementation.tile_rows != nullptr;
}

}  // namespace

Refusal why_not_pattern(const Case& work, const Variant& variant) {
  if (has_windows(work) && work.ring_size > 1) return "windows: a ring exchanges the keys of branches only";
  if (variant.is_baseline()) return std::nullopt;
  if (Refusal why = why_not_order(work, variant.kernel())) return why;
  if (!has_windows(work) && variant.kernel().tiles != KeyTiles::automatic)
    return "tiles: only windows have tiles of keys";
  if (has_windows(work) && variant.kernel().key_visit == KeyVisit::slot)
    return "key_visit: tiles of windows always read their keys by slot";
  return std::nullopt;
}

std::optional<TileCounts> fewest_tile_keys(const Case& work, const PatternCounts& counted,
                                           const Implementation& implementation) {
  if (!computes_by_tiles(work, implementation)) return std::nullopt;
  const double heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  return TileCounts{.keys = static_cast<std::int64_t>(counted.pairs / heads / kMaskedRows)};
}

std::optional<TileCounts> counted_tiles(const Case& work, const Variant& variant,
                                        const Implementation& implementation) {
  if (!computes_by_tiles(work, implementation)) return std::nullopt;
  return count_tiles(WindowTiles(work, variant.kernel()));
}

Pairs pairs_of(const Case& work, const PatternCounts& counted, const TileCounts& tiles) {
  const double heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  const auto positions = static_cast<double>(work.sequence_length);
  return {.needed = counted.pairs,
          .computed = heads * tiles.computed,
          .density = tiles.computed / (positions * positions),
          .partial_blocks = static_cast<double>(tiles.partial_blocks) / static_cast<double>(tiles.blocks)};
}

}  // namespace hilbench
