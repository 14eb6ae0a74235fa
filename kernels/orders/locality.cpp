#include "kernels/orders/locality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kPageBytes = 4096;

// Counts of marked times in a Fenwick tree: prefix sums and updates take logarithmic time.
class MarkedTimes {
 public:
  explicit MarkedTimes(std::size_t times) : sums_(std::bit_ceil(times + 1), 0) {}
  void add(std::size_t time, std::int32_t count) {
    for (std::size_t i = time + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += count;
  }
  // Number of marks at times 0..time.
  std::int64_t up_to(std::size_t time) const {
    std::int64_t sum = 0;
    for (std::size_t i = time + 1; i > 0; i &= i - 1) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::int32_t> sums_;
};

struct Rows {
  std::int64_t bytes = 0;
  std::int64_t stride = 0;
  std::int64_t first(std::int64_t slot, std::int64_t unit) const { return slot * stride / unit; }
  std::int64_t last(std::int64_t slot, std::int64_t unit) const { return (slot * stride + bytes - 1) / unit; }
};

// Number of distinct units of `unit` bytes that the rows at the slots `sorted` touch.
std::int64_t distinct_units(std::span<const std::int64_t> sorted, const Rows& rows, std::int64_t unit) {
  std::int64_t count = 0;
  std::int64_t next = 0;  // first unit not counted yet
  for (const std::int64_t slot : sorted) {
    const std::int64_t begin = std::max(next, rows.first(slot, unit));
    next = std::max(next, rows.last(slot, unit) + 1);
    count += std::max<std::int64_t>(0, next - begin);
  }
  return count;
}

// Exact LRU stack distances of pages (Bennett and Kruskal 1975). The latest touch of every page is marked;
// the distance of a re-touch is the number of marks after the page's own mark.
struct Reuse {
  std::vector<std::int64_t> distances;
  std::int64_t cold = 0;
};
Reuse page_reuse(std::span<const std::int64_t> visits, const Rows& rows) {
  std::size_t touches = 0;
  for (const std::int64_t slot : visits)
    touches += static_cast<std::size_t>(rows.last(slot, kPageBytes) - rows.first(slot, kPageBytes) + 1);
  MarkedTimes marked(touches);
  std::unordered_map<std::int64_t, std::size_t> latest;
  Reuse reuse;
  std::size_t time = 0;
  std::int64_t previous = -1;
  for (const std::int64_t slot : visits) {
    for (std::int64_t page = rows.first(slot, kPageBytes); page <= rows.last(slot, kPageBytes); ++page) {
      if (page == previous) {
        reuse.distances.push_back(0);
        continue;
      }
      previous = page;
      const auto [entry, is_new] = latest.try_emplace(page, time);
      if (!is_new) {
        const auto pages = static_cast<std::int64_t>(latest.size());
        reuse.distances.push_back(pages - marked.up_to(entry->second));
        marked.add(entry->second, -1);
        entry->second = time;
      }
      marked.add(time++, 1);
    }
  }
  reuse.cold = static_cast<std::int64_t>(latest.size());
  return reuse;
}

// Nearest rank: the smallest value such that at least `share` of all values do not exceed it.
double percentile(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(rank)]);
}

void require_tiles(std::span<const std::int64_t> visits, std::span<const std::int64_t> tile_begin,
                   const Rows& rows) {
  const bool divides = tile_begin.empty()
                           ? visits.empty()
                           : tile_begin.front() == 0 &&
                                 tile_begin.back() == static_cast<std::int64_t>(visits.size()) &&
                                 std::is_sorted(tile_begin.begin(), tile_begin.end());
  if (!divides || rows.bytes < 1 || rows.stride < 0)
    throw UsageError({"tiles that do not divide the visits, or empty rows", "locality",
                      fmt::format("{} visits, {} tile bounds, rows of {} bytes every {}", visits.size(),
                                  tile_begin.size(), rows.bytes, rows.stride),
                      ""});
}

}  // namespace

Locality measure_locality(std::span<const std::int64_t> visits, std::span<const std::int64_t> tile_begin,
                          std::int64_t row_bytes, std::int64_t row_stride_bytes) {
  const Rows rows{row_bytes, row_stride_bytes};
  require_tiles(visits, tile_begin, rows);
  Locality result;
  if (visits.empty()) return result;
  constexpr Rows kTokens{.bytes = 4, .stride = 4};
  double jumps = 0;
  std::vector<std::int64_t> sorted;
  for (std::size_t i = 0; i + 1 < tile_begin.size(); ++i) {
    const auto begin = static_cast<std::size_t>(tile_begin[i]);
    const auto tile = visits.subspan(begin, static_cast<std::size_t>(tile_begin[i + 1]) - begin);
    for (std::size_t v = 1; v < tile.size(); ++v, ++jumps) {
      const auto jump = static_cast<double>(std::abs(tile[v] - tile[v - 1]));
      result.mean_jump += jump;
      result.max_jump = std::max(result.max_jump, jump);
    }
    sorted.assign(tile.begin(), tile.end());
    std::sort(sorted.begin(), sorted.end());
    result.lines_64 += static_cast<double>(distinct_units(sorted, rows, 64));
    result.lines_128 += static_cast<double>(distinct_units(sorted, rows, 128));
    const auto token_lines = static_cast<double>(distinct_units(sorted, kTokens, 64));
    if (i == 0) result.first_token_lines = token_lines;
    result.token_lines += token_lines;
    result.pages_4k += static_cast<double>(distinct_units(sorted, rows, kPageBytes));
  }
  const auto tiles = static_cast<double>(tile_begin.size() - 1);
  result.mean_jump /= std::max(jumps, 1.0);
  result.lines_64 /= tiles;
  result.lines_128 /= tiles;
  result.token_lines /= tiles;
  result.pages_4k /= tiles;
  Reuse reuse = page_reuse(visits.first(std::min<std::size_t>(visits.size(), kReuseVisits)), rows);
  result.reuse_median = percentile(reuse.distances, 0.5);
  result.reuse_p90 = percentile(reuse.distances, 0.9);
  result.cold_pages = static_cast<double>(reuse.cold);
  return result;
}

std::map<std::string, Counter> locality_counters(const Locality& locality) {
  const auto counter = [](double value, const char* unit) {
    return Counter{.value = value, .unit = unit, .source = "layout", .passes = 0, .reason = ""};
  };
  return {{"layout_mean_jump", counter(locality.mean_jump, "rows")},
          {"layout_max_jump", counter(locality.max_jump, "rows")},
          {"layout_lines_64_per_tile", counter(locality.lines_64, "lines")},
          {"layout_lines_128_per_tile", counter(locality.lines_128, "lines")},
          {"layout_token_lines_per_tile", counter(locality.token_lines, "lines")},
          {"layout_token_lines_first_tile", counter(locality.first_token_lines, "lines")},
          {"layout_pages_4k_per_tile", counter(locality.pages_4k, "pages")},
          {"layout_reuse_median", counter(locality.reuse_median, "pages")},
          {"layout_reuse_p90", counter(locality.reuse_p90, "pages")},
          {"layout_cold_pages", counter(locality.cold_pages, "pages")}};
}

}  // namespace hilbench
