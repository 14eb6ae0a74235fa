// Counters on a CUDA device of compute capability 7.5 and up, against kernels whose traffic is known.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "harness/counters/backends.hpp"
#include "harness/device/device.hpp"
#include "harness/device/kernel_times.hpp"
#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "tests/kernels/cuda/traffic.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr double kTolerance = 0.02;
constexpr double kSectorBytes = 32;

class Counted : public testing::Test {
 protected:
  void SetUp() override {
    target_ = counter_target(DeviceKind::cuda);
    if (target_ < 75) GTEST_SKIP() << "needs a CUDA device of compute capability 7.5 or up";
    HILBENCH_CUDA(cudaFree(nullptr));
    buffer_ = cuda::DeviceMemory<unsigned char>(512 * kMiB);
    other_ = cuda::DeviceMemory<unsigned char>(512 * kMiB);
    HILBENCH_CUDA(cudaMemset(buffer_.data(), 0x3f, 512 * kMiB));
    HILBENCH_CUDA(cudaMemset(other_.data(), 0x3e, 512 * kMiB));
    HILBENCH_CUDA(cudaDeviceSynchronize());
  }

  // Reads something else, several times the L2: nothing of earlier work is left, and no dirty lines.
  void evict() {
    cuda::streaming_read(other_.data(), 512 * kMiB, nullptr);
    HILBENCH_CUDA(cudaDeviceSynchronize());
  }

  std::map<std::string, Counter> count_cold(const char* set, const std::function<void()>& work) {
    return count(
        counter_set(set, target_), 1, [this] { evict(); }, work);
  }

  static double value(const std::map<std::string, Counter>& counters, const char* name) {
    const Counter& counter = counters.at(name);
    EXPECT_TRUE(counter.value) << name << ": " << counter.reason;
    return counter.value.value_or(-1);
  }
  static void expect_near(const std::map<std::string, Counter>& counters, const char* name, double expected) {
    EXPECT_NEAR(value(counters, name), expected, kTolerance * expected) << name;
  }
  static void expect_traffic(const std::map<std::string, Counter>& counters, const cuda::Traffic& expected) {
    expect_near(counters, "l1_load_requests", expected.l1_requests);
    expect_near(counters, "l1_load_sectors", expected.l1_sectors);
    expect_near(counters, "l2_read_sectors", expected.l2_sectors);
    expect_near(counters, "dram_read_bytes", expected.dram_bytes);
  }

  CounterTarget target_ = -1;
  cuda::DeviceMemory<unsigned char> buffer_, other_;
};

TEST_F(Counted, StreamingRead) {
  cuda::Traffic expected;
  const auto counters =
      count_cold("default", [&] { expected = cuda::streaming_read(buffer_.data(), 512 * kMiB, nullptr); });
  expect_traffic(counters, expected);
  expect_near(counters, "l1_sectors_per_load", 16);
  EXPECT_LT(value(counters, "l1_load_hit_rate"), 0.01);
  EXPECT_LT(value(counters, "l2_read_hit_rate"), 0.01);
  EXPECT_EQ(counters.at("l2_read_sectors").source, "cupti_range");
  EXPECT_GT(value(counters, "gpu_time"), 1e3);
}

TEST_F(Counted, RepeatedReadInsideL2) {
  constexpr int kTimes = 8;
  cuda::Traffic expected;
  const auto counters = count_cold(
      "default", [&] { expected = cuda::repeated_read(buffer_.data(), 8 * kMiB, kTimes, nullptr); });
  expect_traffic(counters, expected);
  EXPECT_NEAR(value(counters, "l2_read_hit_rate"), 1 - 1.0 / kTimes, kTolerance);
}

// The second execution finds everything, with nothing but the first to warm the cache.
TEST_F(Counted, WarmL2StaysWarmBetweenPasses) {
  const auto work = [&] { cuda::repeated_read(buffer_.data(), 8 * kMiB, 4, nullptr); };
  work();
  const auto counters = count(
      counter_set("default", target_), 1, [] {}, work);
  EXPECT_NEAR(value(counters, "l2_read_hit_rate"), 1, 0.001);
  EXPECT_LT(value(counters, "dram_read_bytes"), kTolerance * 8 * kMiB);
}

// The L2 of Hopper keeps what was read often, whatever is read through it afterwards.
TEST_F(Counted, EvictedCachesHoldNothingThatWasReadOften) {
  const std::unique_ptr<Device> device = open_cuda_device(0);
  const auto counters = count(
      counter_set("default", target_), 1,
      [&] {
        for (int i = 0; i < 20; ++i) cuda::repeated_read(buffer_.data(), 16 * kMiB, 8, nullptr);
        device->evict_caches();
      },
      [&] { cuda::streaming_read(buffer_.data(), 16 * kMiB, nullptr); });
  expect_near(counters, "dram_read_bytes", 16 * kMiB);
}

TEST_F(Counted, StridedRead) {
  const int granule = target_ == 80 || target_ == 90 ? 64 : 32;  // HBM, else GDDR
  cuda::Traffic expected;
  const auto counters = count_cold(
      "default", [&] { expected = cuda::strided_read(buffer_.data(), 512 * kMiB, granule, nullptr); });
  expect_traffic(counters, expected);
  expect_near(counters, "l1_sectors_per_load", 32);
}

TEST_F(Counted, FillsOfTheL2) {
  const auto counters = count_cold("l2", [&] { cuda::streaming_read(buffer_.data(), 256 * kMiB, nullptr); });
  const double sectors = 256.0 * kMiB / kSectorBytes;
  expect_near(counters, "l2_fill_sectors", sectors);
  expect_near(counters, "l2_first_miss_sectors", sectors);
  expect_near(counters, "dram_read_sectors", sectors);
  EXPECT_LT(value(counters, "l2_first_hit_sectors"), 0.01 * sectors);
}

TEST_F(Counted, EverySetInThePassesThatItSays) {
  for (const char* name : {"default", "l1", "stores", "l2", "shared", "stalls", "pipes"}) {
    const CounterSet set = counter_set(name, target_);
    int executed = 0;
    const auto counters = count(
        set, 1, [] {},
        [&] {
          ++executed;
          cuda::streaming_read(buffer_.data(), 64 * kMiB, nullptr);
        });
    for (const CounterEvent& event : set.events) {
      EXPECT_TRUE(counters.at(event.name).value) << name << ": " << counters.at(event.name).reason;
      EXPECT_EQ(counters.at(event.name).passes, executed) << event.name;
    }
    const bool chip_of_the_file = target_ == 80 || target_ == 90;
    EXPECT_TRUE(!chip_of_the_file || executed == set.passes.begin()->second) << name << " " << executed;
  }
}

TEST_F(Counted, AMetricThatTheChipLacksIsAbsentAlone) {
  CounterSet set = counter_set("default", target_);
  set.events.push_back({"misspelt", "dram__bytes_reat.sum", "B"});
  const auto counters = count(
      set, 1, [] {}, [&] { cuda::streaming_read(buffer_.data(), 64 * kMiB, nullptr); });
  EXPECT_NE(counters.at("misspelt").reason.find("dram__bytes_reat.sum"), std::string::npos);
  expect_near(counters, "l1_load_sectors", 64.0 * kMiB / kSectorBytes);
}

TEST_F(Counted, ASecondCounterIsRefusedAndTheFirstGoesOn) {
  const CounterSet set = counter_set("default", target_);
  const auto first = open_counters(set, 1);
  ASSERT_GT(first->passes(), 0);
  first->begin(0);
  const auto second = count(
      set, 1, [] {}, [] {});
  EXPECT_FALSE(second.at("dram_read_bytes").value);
  EXPECT_NE(second.at("dram_read_bytes").reason, "");
  first->end(0);
  EXPECT_GT(first->passes(), 0);
}

TEST_F(Counted, WorkThatThrowsEndsItsCountOnly) {
  const CounterSet set = counter_set("default", target_);
  const auto fail = [] { throw std::runtime_error("work failed"); };
  EXPECT_THROW(count(
                   set, 1, [] {}, fail),
               std::runtime_error);
  const auto counters = count(
      set, 1, [] {}, [&] { cuda::streaming_read(buffer_.data(), 64 * kMiB, nullptr); });
  expect_near(counters, "l1_load_sectors", 64.0 * kMiB / kSectorBytes);
}

TEST(KernelTimes, LeaveOutTheFirstKernelAndWhatTheHostTakesBetweenTwo) {
  HILBENCH_CUDA(cudaFree(nullptr));
  if (!kernel_times_absence().empty()) GTEST_SKIP() << kernel_times_absence();
  int khz = 0;
  HILBENCH_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  const std::int64_t cycles_of_10_us = khz / 100;
  double shortest_ns = 1e9;
  for (int attempt = 0; attempt < 20; ++attempt)
    shortest_ns = std::min(shortest_ns, kernel_time_ns([&] {
                             cuda::hold(30 * cycles_of_10_us, nullptr);
                             for (int i = 0; i < 3; ++i) cuda::hold(cycles_of_10_us, nullptr);
                             HILBENCH_CUDA(cudaDeviceSynchronize());
                           }));
  EXPECT_GT(shortest_ns, 30e3);
  EXPECT_LT(shortest_ns, 45e3) << "three kernels of 10 us, and little between them";
}

}  // namespace
}  // namespace hilbench
