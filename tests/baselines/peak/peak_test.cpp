#include "baselines/peak/peak.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "kernels/machine/host.hpp"
#include "tests/kernels/every_product.hpp"

namespace hilbench {
namespace {

// No core does more than two 512-bit FMAs a cycle at 6.5 GHz.
constexpr double kHighestFlops = 64 * 6.5e9;

TEST(Peak, LiesInsideWhatACoreCanDo) {
  const Peak peak = measure_peak(1, 0.2);
  EXPECT_GT(peak.fp32_fma_flops, 1e9);
  EXPECT_LT(peak.fp32_fma_flops, kHighestFlops);
  EXPECT_GT(peak.copy_bytes_per_s, 1e8);
  EXPECT_LT(peak.copy_bytes_per_s, 1e12);
}

// Best of several tries: other work on the machine can keep two threads from running together.
TEST(Peak, TwoThreadsDoMoreThanOneButNotMoreThanTwice) {
  if (inspect_host().cores < 2) GTEST_SKIP() << "one core";
  double one = 0, two = 0;
  for (int i = 0; i < 40 && (two <= one || two > 2.2 * one); ++i) {
    one = std::max(one, measure_peak(1, 0.05).fp32_fma_flops);
    two = std::max(two, measure_peak(2, 0.05).fp32_fma_flops);
  }
  double load = 0;
  if (two < one && getloadavg(&load, 1) == 1 && load > inspect_host().cores)
    GTEST_SKIP() << "other work keeps the cores busy: load " << load;
  EXPECT_GE(two / one, 1.0);
  EXPECT_LE(two / one, 2.2);
}

TEST(Peak, CopiesAreLeftOutOfShortMeasurements) {
  EXPECT_EQ(measure_peak(1, 0.01).copy_bytes_per_s, 0);
}

// The FLOPs that the variant states for a run, divided by the time of a run, must not exceed the measured
// peak by more than noise. They would if the compiler had removed work.
TEST(PeakVariant, RunsTheFlopsItClaims) {
  const Case work;
  const auto execution = kPeak.prepare(work, {}, 1);
  execution->run({}, {});
  double best_s = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    execution->run({}, {});
    best_s =
        std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double rate = kPeak.own_flops(work, 1) / best_s;
  EXPECT_LT(rate, kHighestFlops);
  EXPECT_NEAR(rate / measure_peak(1, 0.1).fp32_fma_flops, 1, 0.25);
  EXPECT_EQ(kPeak.own_flops(work, 2), 2 * kPeak.own_flops(work, 1));
  EXPECT_FALSE(kPeak.has_output);
}

// A vdpbf16ps takes twice the products of an FMA at half its rate or at the same; a core's tile unit makes
// 512 products a cycle. A higher rate means that work was left out.
TEST(PeakVariant, MultipliesBf16AsTheKernelDoes) {
  Case work;
  work.dtype = Dtype::bf16;
  const double fp32 = measure_peak(1, 0.2).fp32_fma_flops;
  for (const Bf16Products products : available_bf16_products()) {
    SCOPED_TRACE(name_of(products));
    const Bf16Wish wish(products);
    EXPECT_EQ(kPeak.peak_unit(work), unit_of(products));
    EXPECT_EQ(kPeak.own_flops(work, 2), 2 * kPeak.own_flops(work, 1));
    const double rate = measure_bf16_flops(products, 1, 0.2);
    EXPECT_GT(rate, 0.3 * fp32);
    EXPECT_LT(rate, products == Bf16Products::amx_bf16 ? 1024 * 6.5e9 : 2.6 * fp32);
  }
}

}  // namespace
}  // namespace hilbench
