// The sectors that published records counted are those that are derived, without a GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "harness/plan/compared_sectors.hpp"
#include "reports/view/results.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

// Their lists of keys take minutes under a sanitizer.
const std::set<std::string> kLong = {"images", "videos", "sliding-tile", "window-rivals"};

TEST(PublishedSectors, AreDerivedExactly) {
  SectorComparison comparison;
  for (const auto& machine : std::filesystem::directory_iterator(HILBENCH_PUBLISHED)) {
    if (!machine.path().filename().string().starts_with("h")) continue;
    for (const auto& sweep : std::filesystem::directory_iterator(machine.path())) {
      if (!sweep.is_directory() || (kSanitized && kLong.contains(sweep.path().filename().string()))) continue;
      for (const Record& record : read_exported(sweep.path()).records) comparison.add(record);
    }
  }
  const ComparedSectors& found = comparison.found();
  for (const SectorDifference& each : found.differences)
    ADD_FAILURE() << each.record << ": " << each.counter << " " << each.counted << ", derived "
                  << each.derived;
  EXPECT_GE(found.equal.at("dilated_wgmma"), kSanitized ? 700u : 1100u);
  EXPECT_GE(found.equal.at("dilated_simt"), 900u);
  EXPECT_GE(found.equal.at("dilated_mma"), 150u);
}

}  // namespace
}  // namespace hilbench
