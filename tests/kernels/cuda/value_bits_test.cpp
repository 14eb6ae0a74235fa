#include <gtest/gtest.h>

#include "tests/harness/device/values.hpp"
#include "tests/kernels/cuda/on_gpu.hpp"

namespace hilbench {
namespace {

TEST(CudaValues, AreCountedAndNegated) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  expect_counted_and_negated(*device);
}

}  // namespace
}  // namespace hilbench
