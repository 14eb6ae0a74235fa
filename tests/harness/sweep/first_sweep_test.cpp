#include "harness/sweep/first_sweep.hpp"

#include <gtest/gtest.h>

#include "harness/sweep/sweep.hpp"

namespace hilbench {
namespace {

const FirstSweepMachine kLarge = {.device = "a GPU",
                                  .cache_bytes = 50 << 20,
                                  .flops_per_s = 500e12,
                                  .dtype = "bf16",
                                  .baselines = {"peak"}};

std::int64_t bytes_of_keys(std::int64_t length, std::int64_t element_bytes) {
  return 2 * length * 8 * 64 * element_bytes;
}

TEST(FirstSweep, HasLengthsOnBothSidesOfTheCache) {
  const FirstLengths lengths = first_lengths(kLarge);
  EXPECT_LE(bytes_of_keys(lengths.inside, 2), kLarge.cache_bytes / 2);
  EXPECT_GT(bytes_of_keys(2 * lengths.inside, 2), kLarge.cache_bytes / 2);
  EXPECT_GE(bytes_of_keys(lengths.beyond, 2), 4 * kLarge.cache_bytes);
}

TEST(FirstSweep, ASlowMachineGetsLengthsThatItCanTime) {
  FirstSweepMachine slow = kLarge;
  slow.dtype = "fp32";
  slow.flops_per_s = 20e9;
  const FirstLengths lengths = first_lengths(slow);
  EXPECT_LT(lengths.beyond, first_lengths(kLarge).beyond);
  EXPECT_GE(lengths.inside, 4096) << "two of the longest segments of its shorter pattern";
  EXPECT_GT(lengths.beyond, lengths.inside);
  slow.cache_bytes = 0;
  slow.flops_per_s = 0;
  EXPECT_GT(first_lengths(slow).inside, 0) << "nothing is known";
}

TEST(FirstSweep, IsASweepThatEveryMachineCanRead) {
  for (const std::vector<std::string>& baselines : {std::vector<std::string>{"peak", "gemm"}, {}}) {
    FirstSweepMachine machine = kLarge;
    machine.baselines = baselines;
    const std::string text = first_sweep("mine", machine);
    const Sweep sweep = parse_sweep(text, "mine.yaml");
    EXPECT_EQ(sweep.name, "mine");
    EXPECT_FALSE(sweep.question.empty());
    EXPECT_EQ(sweep.cases.size(), 6u);
    EXPECT_EQ(sweep.cases[0].work.dtype, Dtype::bf16);
    EXPECT_EQ(sweep.variants.size(), 4 + baselines.size());
    EXPECT_NE(text.find("# A first sweep, fitted to this machine: a GPU."), std::string::npos);
  }
}

}  // namespace
}  // namespace hilbench
