// How far a layout scatters the rows that one tile reads: exact counts, no hardware needed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "kernels/base/counter.hpp"

namespace hilbench {

struct Locality {
  double mean_jump = 0;  // |slot difference| of rows visited one after the other inside a tile, in rows
  double max_jump = 0;
  double lines_64 = 0;   // distinct 64-byte lines that a tile's rows touch, mean over tiles
  double lines_128 = 0;  // distinct 128-byte lines
  double pages_4k = 0;   // distinct 4 KiB pages
  double reuse_median =
      0;  // distinct other 4 KiB pages between two touches of a page, median over re-touches
  double reuse_p90 = 0;
  double cold_pages = 0;  // pages touched for the first time
};

// Row visits that the three last members look at; the others look at all.
inline constexpr std::int64_t kReuseVisits = std::int64_t{1} << 20;

// `visits`: the slots (0 or more) that each tile reads, one tile after another, in visiting sequence;
// `tile_begin`: where each tile starts in it (its last entry is visits.size()). A row is `row_bytes` long and
// begins at slot * row_stride_bytes; a row that spans two pages touches both. Reuse of pages goes on from
// tile to tile. Percentiles are nearest ranks. All is 0 where nothing is visited (or re-touched). Throws
// UsageError for a row of no bytes or a tile_begin that does not divide `visits`.
Locality measure_locality(std::span<const std::int64_t> visits, std::span<const std::int64_t> tile_begin,
                          std::int64_t row_bytes, std::int64_t row_stride_bytes);

// The same as counters of a record, source "layout": layout_mean_jump, layout_lines_64_per_tile, ...
std::map<std::string, Counter> locality_counters(const Locality& locality);

}  // namespace hilbench
