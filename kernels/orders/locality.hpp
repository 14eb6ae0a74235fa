// How far a memory layout scatters the rows that one tile reads. Exact counts; no hardware is needed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "kernels/base/text/counter.hpp"

namespace hilbench {

struct Locality {
  double mean_jump = 0;  // mean distance, in rows, of the slots of two rows visited in succession in a tile
  double max_jump = 0;
  double lines_64 = 0;           // distinct 64-byte lines that the rows of a tile touch, mean over tiles
  double lines_128 = 0;          // distinct 128-byte lines
  double token_lines = 0;        // distinct 64-byte lines if a row had 4 bytes, as the analysis counted, mean
  double first_token_lines = 0;  // the same of the first tile
  double pages_4k = 0;           // distinct 4 KiB pages
  double reuse_median = 0;  // distinct other 4 KiB pages between two touches of a page: median of re-touches
  double reuse_p90 = 0;
  double cold_pages = 0;  // pages touched for the first time
};

// The last three members count only the first kReuseVisits row visits, the others all.
inline constexpr std::int64_t kReuseVisits = std::int64_t{1} << 20;

// `visits`: the slots (0 or more) that the tiles read, tile after tile, in visiting sequence. `tile_begin`:
// the index in `visits` at which each tile begins; its last entry is visits.size(). A row is `row_bytes` long
// and begins at slot * row_stride_bytes; a row that spans two pages touches both. Reuse of pages is counted
// across tiles. Percentiles are nearest ranks. A member is 0 if nothing is visited (or re-touched). Throws
// UsageError if row_bytes is not positive or `tile_begin` does not divide `visits`.
Locality measure_locality(std::span<const std::int64_t> visits, std::span<const std::int64_t> tile_begin,
                          std::int64_t row_bytes, std::int64_t row_stride_bytes);

// The members as counters of a record, with source "layout": layout_mean_jump, layout_lines_64_per_tile, ...
std::map<std::string, Counter> locality_counters(const Locality& locality);

}  // namespace hilbench
