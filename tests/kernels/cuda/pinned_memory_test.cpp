#include "kernels/cuda/runtime/pinned_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench::cuda {
namespace {

std::vector<std::int32_t> read(const DeviceMemory<std::int32_t>& memory) {
  std::vector<std::int32_t> values(memory.size());
  HILBENCH_CUDA(
      cudaMemcpy(values.data(), memory.data(), values.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost));
  return values;
}

// One part, several, and a last one that is smaller.
TEST(UploadParts, CopiesEveryElement) {
  if (const std::string absence = survey_gpus().absence; !absence.empty()) GTEST_SKIP() << absence;
  const auto device = open_cuda_device(0);
  for (const std::size_t count : {0, 1, 1000, 1001, 100'000}) {
    std::size_t next = 0;
    const auto memory =
        upload_parts<std::int32_t>(count, 1000, [&](std::size_t first, std::size_t size, std::int32_t* to) {
          EXPECT_EQ(first, next);
          EXPECT_LE(size, 1000u);
          for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::int32_t>(3 * (first + i));
          next += size;
        });
    EXPECT_EQ(next, count);
    const std::vector<std::int32_t> values = read(memory);
    ASSERT_EQ(values.size(), count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], static_cast<std::int32_t>(3 * i)) << count;
  }
}

TEST(CudaDevice, HostMemoryIsPinnedAndHoldsWhatIsCopied) {
  if (const std::string absence = survey_gpus().absence; !absence.empty()) GTEST_SKIP() << absence;
  const auto device = open_cuda_device(0);
  Buffer on_device = device->allocate(3), host = device->allocate_host(3);
  cudaPointerAttributes attributes{};
  HILBENCH_CUDA(cudaPointerGetAttributes(&attributes, host.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  std::memcpy(host.data(), "abc", 3);
  device->upload(host.data(), on_device);
  std::memset(host.data(), 0, 3);
  device->download(on_device, host.data());
  EXPECT_EQ(std::memcmp(host.data(), "abc", 3), 0);
}

}  // namespace
}  // namespace hilbench::cuda
