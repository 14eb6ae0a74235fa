#include "kernels/orders/locality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <set>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

using Visits = std::vector<std::int64_t>;

// Lines or pages of `unit` bytes that rows touch, one by one.
std::vector<std::int64_t> touched(std::span<const std::int64_t> visits, std::int64_t bytes,
                                  std::int64_t stride, std::int64_t unit) {
  std::vector<std::int64_t> units;
  for (const std::int64_t slot : visits)
    for (std::int64_t u = slot * stride / unit; u <= (slot * stride + bytes - 1) / unit; ++u)
      units.push_back(u);
  return units;
}

// Distances from a list in order of recency.
std::vector<std::int64_t> stack_distances(const std::vector<std::int64_t>& touches) {
  std::list<std::int64_t> recent;
  std::vector<std::int64_t> distances;
  for (const std::int64_t page : touches) {
    const auto found = std::find(recent.begin(), recent.end(), page);
    if (found != recent.end()) {
      distances.push_back(std::distance(recent.begin(), found));
      recent.erase(found);
    }
    recent.push_front(page);
  }
  return distances;
}

double nearest_rank(std::vector<std::int64_t> values, double share) {
  std::sort(values.begin(), values.end());
  std::size_t rank = 1;
  while (static_cast<double>(rank) < share * static_cast<double>(values.size())) ++rank;
  return static_cast<double>(values[rank - 1]);
}

TEST(Locality, ContiguousTilesByHand) {
  Visits visits(256);
  for (std::size_t i = 0; i < visits.size(); ++i) visits[i] = static_cast<std::int64_t>(i);
  const Locality l = measure_locality(visits, Visits{0, 128, 256}, 256, 256);
  EXPECT_EQ(l.mean_jump, 1);
  EXPECT_EQ(l.max_jump, 1);
  EXPECT_EQ(l.lines_64, 512);
  EXPECT_EQ(l.lines_128, 256);
  EXPECT_EQ(l.token_lines, 8);
  EXPECT_EQ(l.first_token_lines, 8);
  EXPECT_EQ(l.pages_4k, 8);
  EXPECT_EQ(l.reuse_median, 0);
  EXPECT_EQ(l.cold_pages, 16);
}

TEST(Locality, StridedRowsByHand) {
  // Rows 0, 16, 0 of a page each, then row 3 alone: distance 1 for the return to page 0, 0 for row 3 in it.
  const Locality l = measure_locality(Visits{0, 16, 0, 3}, Visits{0, 3, 4}, 64, 256);
  EXPECT_EQ(l.mean_jump, 16);
  EXPECT_EQ(l.max_jump, 16);
  EXPECT_EQ(l.lines_64, 1.5);
  EXPECT_EQ(l.first_token_lines, 2) << "16 keys of 4 bytes fill a line";
  EXPECT_EQ(l.token_lines, 1.5);
  EXPECT_EQ(l.pages_4k, 1.5);
  EXPECT_EQ(l.cold_pages, 2);
  EXPECT_EQ(l.reuse_median, 0);
  EXPECT_EQ(l.reuse_p90, 1);
}

TEST(Locality, EqualsCountingOneByOne) {
  std::mt19937 engine(7);
  for (const auto& [bytes, stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {64, 64}, {100, 100}, {256, 2048}, {3000, 3000}, {5000, 6000}}) {
    Visits visits(500);
    for (auto& v : visits) v = static_cast<std::int64_t>(engine() % 300);
    const Visits begin = {0, 1, 100, 100, 237, 500};
    const Locality l = measure_locality(visits, begin, bytes, stride);
    double lines_64 = 0, lines_128 = 0, pages = 0;
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
      const auto tile = std::span(visits).subspan(static_cast<std::size_t>(begin[i]),
                                                  static_cast<std::size_t>(begin[i + 1] - begin[i]));
      const auto distinct = [&, row = bytes, step = stride](std::int64_t unit) {
        const auto units = touched(tile, row, step, unit);
        return static_cast<double>(std::set<std::int64_t>(units.begin(), units.end()).size());
      };
      lines_64 += distinct(64) / 5;
      lines_128 += distinct(128) / 5;
      pages += distinct(4096) / 5;
    }
    EXPECT_NEAR(l.lines_64, lines_64, 1e-9);
    EXPECT_NEAR(l.lines_128, lines_128, 1e-9);
    EXPECT_NEAR(l.pages_4k, pages, 1e-9);
    const auto touches = touched(visits, bytes, stride, 4096);
    const auto distances = stack_distances(touches);
    EXPECT_EQ(l.reuse_median, nearest_rank(distances, 0.5));
    EXPECT_EQ(l.reuse_p90, nearest_rank(distances, 0.9));
    EXPECT_EQ(l.cold_pages, static_cast<double>(touches.size() - distances.size()));
  }
}

TEST(Locality, LooksAtNoMoreThanTheFirstVisitsForReuse) {
  Visits visits(static_cast<std::size_t>(kReuseVisits) + 10, 0);
  for (std::size_t i = static_cast<std::size_t>(kReuseVisits); i < visits.size(); ++i)
    visits[i] = static_cast<std::int64_t>(i) * 4096;
  const auto count = static_cast<std::int64_t>(visits.size());
  const Locality l = measure_locality(visits, Visits{0, count}, 64, 64);
  EXPECT_EQ(l.cold_pages, 1);
  EXPECT_GT(l.pages_4k, 1);
}

TEST(Locality, NothingVisitedAndBadTiles) {
  EXPECT_EQ(measure_locality({}, {}, 64, 64).lines_64, 0);
  EXPECT_EQ(measure_locality({}, Visits{0, 0}, 64, 64).lines_64, 0);
  EXPECT_THROW(measure_locality(Visits{1, 2}, Visits{0, 1}, 64, 64), UsageError);
  EXPECT_THROW(measure_locality(Visits{1, 2}, Visits{}, 64, 64), UsageError);
  EXPECT_THROW(measure_locality(Visits{1, 2}, Visits{0, 2}, 0, 64), UsageError);
}

TEST(Locality, CountersCarryUnitAndSource) {
  const auto counters = locality_counters({.mean_jump = 2.5, .reuse_p90 = 7});
  EXPECT_EQ(counters.size(), 10u);
  EXPECT_EQ(counters.at("layout_mean_jump").value, 2.5);
  EXPECT_EQ(counters.at("layout_mean_jump").unit, "rows");
  EXPECT_EQ(counters.at("layout_reuse_p90").value, 7);
  EXPECT_EQ(counters.at("layout_reuse_p90").unit, "pages");
  for (const char* name : {"layout_max_jump", "layout_lines_64_per_tile", "layout_lines_128_per_tile",
                           "layout_token_lines_per_tile", "layout_token_lines_first_tile",
                           "layout_pages_4k_per_tile", "layout_reuse_median", "layout_cold_pages"})
    EXPECT_EQ(counters.at(name).source, "layout") << name;
}

}  // namespace
}  // namespace hilbench
