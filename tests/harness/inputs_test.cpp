#include "harness/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "harness/npy.hpp"
#include "harness/rounding.hpp"

namespace hilbench {
namespace {

Case small_case(Dtype dtype) {
  return {.sequence_length = 1000, .heads = 4, .kv_heads = 2, .head_dim = 32, .dtype = dtype};
}

TEST(Inputs, DependOnTheSeedAndNotOnTheThreads) {
  const HostTensors one = make_inputs(small_case(Dtype::fp32), {}, 7, 1);
  const HostTensors three = make_inputs(small_case(Dtype::fp32), {}, 7, 3);
  const HostTensors other = make_inputs(small_case(Dtype::fp32), {}, 8, 1);
  EXPECT_EQ(one.q, three.q);
  EXPECT_EQ(one.v, three.v);
  EXPECT_NE(one.q, other.q);
  EXPECT_NE(std::vector<float>(one.q.begin(), one.q.begin() + 100),
            std::vector<float>(one.k.begin(), one.k.begin() + 100));
  EXPECT_EQ(one.q.size(), 1000u * 4 * 32);
  EXPECT_EQ(one.k.size(), 1000u * 2 * 32);
}

TEST(Inputs, AreNormalWithOneOutlierInAThousand) {
  const HostTensors tensors = make_inputs(small_case(Dtype::fp32), {}, 1, 2);
  double sum = 0, squares = 0;
  std::size_t large = 0;
  for (const float value : tensors.q) {
    sum += value;
    squares += double{value} * value;
    if (std::abs(value) > 6) ++large;
  }
  const auto count = static_cast<double>(tensors.q.size());
  EXPECT_NEAR(sum / count, 0.0, 0.02);
  EXPECT_NEAR(squares / count, 1.0 + 0.001 * 99, 0.05);
  // |N(0, 100)| > 6 with probability 0.549; N(0, 1) hardly ever.
  EXPECT_NEAR(static_cast<double>(large) / count, 0.000549, 0.0002);
}

TEST(Inputs, AreRoundedToTheDtype) {
  for (const float value : make_inputs(small_case(Dtype::bf16), {}, 1, 1).k)
    ASSERT_EQ(value, round_to(Dtype::bf16, value));
}

TEST(Inputs, ComeFromFilesWhereAsked) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "inputs_test";
  std::filesystem::create_directories(folder);
  const Case work{.sequence_length = 3, .heads = 1, .kv_heads = 1, .head_dim = 2};
  const std::vector<std::int64_t> shape = {1, 3, 1, 2};
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    write_npy(folder / name, shape, std::vector<float>{1, 2, 3, 4, 5, static_cast<float>(name[0])});
  const Inputs inputs{InputSource::npy, folder / "q.npy", folder / "k.npy", folder / "v.npy"};
  const HostTensors tensors = make_inputs(work, inputs, 1, 1);
  EXPECT_EQ(tensors.q, (std::vector<float>{1, 2, 3, 4, 5, 'q'}));
  EXPECT_EQ(tensors.v, (std::vector<float>{1, 2, 3, 4, 5, 'v'}));
}

}  // namespace
}  // namespace hilbench
