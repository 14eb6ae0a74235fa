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

std::optional<CountedTiles> counted_tiles(const Case& work, const KernelChoice& choice,
                                          const Implementation& implementation) {
  if (!computes_by_tiles(work, implementation)) return std::nullopt;
  const auto counted = [&](KeyTiles tiles) {
    KernelChoice meant = choice;
    meant.tiles = tiles;
    return CountedTiles{tiles, count_tiles(WindowTiles(work, meant))};
  };
  const KeyTiles named = choice.tiles != KeyTiles::automatic ? choice.tiles : implementation.automatic_tiles;
  if (named != KeyTiles::automatic) return counted(named);
  const CountedTiles united = counted(KeyTiles::united), aligned = counted(KeyTiles::aligned);
  return faster_tiles(united.counts, aligned.counts) == KeyTiles::aligned ? aligned : united;
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
