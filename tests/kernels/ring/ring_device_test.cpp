#include "kernels/ring/ring_device.hpp"

#include <gtest/gtest.h>

#include "harness/ring/rank_resources.hpp"
#include "kernels/machine/host_memory.hpp"
#include "kernels/ring/transport/threads.hpp"

namespace hilbench {
namespace {

TEST(CpuRingDevice, AllocatesZerosOnTheChosenPages) {
  for (const PageSize pages : {PageSize::standard, PageSize::of_4k, PageSize::of_2m}) {
    const auto memory = cpu_ring_device(1, pages)->allocate(1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(static_cast<const char*>(memory.get())[i], 0);
    EXPECT_EQ(huge_share().has_value(), pages != PageSize::standard) << to_string(pages);
  }
}

TEST(CpuRankResources, AllocateOnTheChosenPages) {
  std::vector<std::shared_ptr<Transport>> ends;
  for (auto& end : thread_transports(1, kRingTimeout_s)) ends.push_back(std::move(end));
  const auto resources = cpu_rank_resources(std::move(ends), 1, PageSize::of_4k);
  resources->join(0);
  Buffer tensor = resources->device(0).allocate(std::size_t{3} << 20);
  resources->device(0).fill(tensor, std::byte{1});
  EXPECT_EQ(pages_fault(PageSize::of_4k), std::nullopt);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % (std::size_t{2} << 20), 0u);
  tensor = {};
  EXPECT_EQ(huge_share(), std::nullopt);
  const auto exchanged = resources->ring_device(0).allocate(1000);
  EXPECT_TRUE(huge_share());
}

}  // namespace
}  // namespace hilbench
