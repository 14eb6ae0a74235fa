#include "harness/launched/agree.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(LaunchedRun, EachProcessOfAHostTakesAGpu) {
  const std::vector<Gpu> four = {{.uuid = "a"}, {.uuid = "b"}, {.uuid = "c"}, {.uuid = "d"}};
  EXPECT_EQ(gpu_of_process(four, 0)->uuid, "a");
  EXPECT_EQ(gpu_of_process(four, 3)->uuid, "d");
  EXPECT_EQ(gpu_of_process(four, 5)->uuid, "b") << "more processes than GPUs share them";
  EXPECT_EQ(gpu_of_process({{.uuid = "c"}}, 2)->uuid, "c") << "the launcher shows each process one";
  EXPECT_FALSE(gpu_of_process({}, 0));
}

Host host_with(const std::vector<std::string>& uuids) {
  Host host;
  count_own_gpus(uuids, host);
  return host;
}

TEST(LaunchedRun, CountsProcessesWithAGpuOfTheirOwn) {
  EXPECT_EQ(host_with({"a", "b", "c"}).gpus, 3);
  EXPECT_EQ(host_with({"a", "b", "c"}).no_further_gpu, "");
  EXPECT_EQ(host_with({}).gpus, 0);
  const Host shared = host_with({"a", "b", "b", "c"});  // what comes after the gap is in no ring
  EXPECT_EQ(shared.gpus, 2);
  EXPECT_EQ(shared.no_further_gpu, "rank 2 of 4 has the GPU of rank 1; start one process for each GPU");
}

}  // namespace
}  // namespace hilbench
