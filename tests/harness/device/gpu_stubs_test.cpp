// What stands in for GPU code in a build for CI.
#include <gtest/gtest.h>

#include "harness/run/build_info.hpp"
#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/flush_l2.hpp"

namespace hilbench {
namespace {

TEST(GpuStubs, RefuseToLaunchAndNameTheirSource) {
  if (!build_info().has_gpu_stubs) GTEST_SKIP() << "this build has the GPU code";
  for (const auto& [launch, source] :
       {std::pair<void (*)(), const char*>{[] { cuda::hold(1, nullptr); }, "blocking_kernel.cu"},
        {[] { cuda::read_through(nullptr, 0, nullptr); }, "flush_l2.cu"}}) {
    try {
      launch();
      ADD_FAILURE() << source << " launched";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(source), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace hilbench
