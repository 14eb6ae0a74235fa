#include "harness/plan/site.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(Site, EachProcessOfAHostTakesAGpu) {
  const std::vector<Gpu> four = {{.uuid = "a"}, {.uuid = "b"}, {.uuid = "c"}, {.uuid = "d"}};
  EXPECT_EQ(gpu_of_process(four, 0)->uuid, "a");
  EXPECT_EQ(gpu_of_process(four, 3)->uuid, "d");
  EXPECT_EQ(gpu_of_process(four, 5)->uuid, "b") << "more processes than GPUs share them";
  EXPECT_EQ(gpu_of_process({{.uuid = "c"}}, 2)->uuid, "c") << "the launcher shows each process one";
  EXPECT_FALSE(gpu_of_process({}, 0));
}

}  // namespace
}  // namespace hilbench
