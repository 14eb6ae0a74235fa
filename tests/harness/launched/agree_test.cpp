#include "harness/launched/agree.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

Site site_with(const std::vector<std::string>& uuids) {
  Site site;
  count_own_gpus(uuids, site);
  return site;
}

TEST(LaunchedRun, CountsProcessesWithAGpuOfTheirOwn) {
  EXPECT_EQ(site_with({"a", "b", "c"}).gpus, 3);
  EXPECT_EQ(site_with({"a", "b", "c"}).no_further_gpu, "");
  EXPECT_EQ(site_with({}).gpus, 0);
  const Site shared = site_with({"a", "b", "b", "c"});  // what comes after the gap is in no ring
  EXPECT_EQ(shared.gpus, 2);
  EXPECT_EQ(shared.no_further_gpu, "rank 2 of 4 has the GPU of rank 1; start one process for each GPU");
}

}  // namespace
}  // namespace hilbench
