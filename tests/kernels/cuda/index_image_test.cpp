#include "kernels/cuda/shared/index_image.hpp"

#include <gtest/gtest.h>

namespace hilbench::cuda {
namespace {

std::optional<std::int32_t> stride_of(const std::string& order, KeyRows rows) {
  const Case work{.sequence_length = 64, .pattern = {{32, 4}}, .kv_heads = 8};
  const KernelChoice choice{.name = "dilated", .order = order};
  return slot_stride(build_index(work, choice, 8).branches[0], rows);
}

TEST(SlotStride, IsThatOfLinearAndResidueOrder) {
  EXPECT_EQ(stride_of("linear", KeyRows::automatic), 4);
  EXPECT_EQ(stride_of("residue", KeyRows::automatic), 1);
  EXPECT_EQ(stride_of("hilbert", KeyRows::automatic), std::nullopt);
  EXPECT_EQ(stride_of("random", KeyRows::automatic), std::nullopt);
}

TEST(SlotStride, IsNotUsedWhereTheTableIsAskedFor) {
  for (const char* order : {"linear", "residue", "hilbert", "random"})
    EXPECT_EQ(stride_of(order, KeyRows::gathered), std::nullopt) << order;
}

}  // namespace
}  // namespace hilbench::cuda
