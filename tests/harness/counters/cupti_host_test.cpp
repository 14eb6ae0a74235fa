// What can be checked of the GPU counters without a GPU: CUPTI's host library knows every chip.
#include <gtest/gtest.h>

#include <array>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"

namespace hilbench {
namespace {

constexpr std::array<const char*, 7> kSets = {"default", "l1", "stores", "l2", "shared", "stalls", "pipes"};
constexpr std::array<CounterTarget, 2> kWithNvlink = {80, 90};
constexpr std::array<const char*, 2> kOfHopper = {"coalescer", "policy"};

// Whether the host library answers at all here; else why not.
std::string host_library_absence() {
  return check_cupti_set(*find_counter_set("default", 90), "GH100").unavailable;
}

TEST(CuptiSets, AreTheSameOnEveryDevice) {
  for (const CounterTarget target : {61, 75, 80, 90})
    for (const char* name : kSets)
      EXPECT_NE(find_counter_set(name, target), nullptr) << name << " " << target;
}

TEST(CuptiSets, AreAcceptedByTheHostLibraryInThePassesThatTheySay) {
  if (const std::string why = host_library_absence(); !why.empty()) GTEST_SKIP() << why;
  int checked = 0;
  for (const CounterSet& set : counter_sets()) {
    if (set.backend != "cupti_range") continue;
    ASSERT_FALSE(set.passes.empty()) << set.name;
    for (const auto& [chip, passes] : set.passes) {
      const HostCheck check = check_cupti_set(set, chip);
      EXPECT_EQ(check.unavailable, "") << set.name << " " << chip;
      EXPECT_EQ(check.unknown, std::vector<std::string>()) << set.name << " " << chip;
      EXPECT_EQ(check.passes, passes) << set.name << " " << chip;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 3 * static_cast<int>(kSets.size()) + static_cast<int>(kWithNvlink.size()) +
                         static_cast<int>(kOfHopper.size()));
}

TEST(CuptiSets, OfTheCoalescerAreThoseOfHopper) {
  for (const char* name : kOfHopper) {
    EXPECT_NE(find_counter_set(name, 90), nullptr) << name;
    for (const CounterTarget target : {61, 75, 80})
      EXPECT_EQ(find_counter_set(name, target), nullptr) << name;
  }
}

// CUPTI counts the links in no execution in which it counts caches or memory.
TEST(CuptiHost, NvlinkIsASetOfItsOwn) {
  if (const std::string why = host_library_absence(); !why.empty()) GTEST_SKIP() << why;
  for (const CounterTarget target : kWithNvlink) {
    ASSERT_NE(find_counter_set("nvlink_packets", target), nullptr) << target;
    CounterSet set = *find_counter_set("nvlink_packets", target);
    const std::string chip = set.passes.begin()->first;
    for (const CounterEvent& event : set.events) EXPECT_EQ(event.event.substr(0, 3), "nvl") << event.event;
    set.events.push_back({"dram_read_bytes", "dram__bytes_read.sum", "B"});
    EXPECT_NE(check_cupti_set(set, chip).unavailable, "") << chip;
  }
  for (const CounterTarget target : {61, 80, 90, 121})
    EXPECT_EQ(counter_set("nvlink", target).backend, "nvml") << target;
  EXPECT_NE(counter_set("nvlink", kCpuTarget).unavailable, "");
}

TEST(CuptiSets, OfADeviceNameItsChip) {
  EXPECT_TRUE(find_counter_set("default", 75)->passes.contains("TU102"));
  EXPECT_TRUE(find_counter_set("default", 80)->passes.contains("GA100"));
  EXPECT_TRUE(find_counter_set("default", 90)->passes.contains("GH100"));
}

TEST(CuptiHost, FindsWrongNames) {
  if (const std::string why = host_library_absence(); !why.empty()) GTEST_SKIP() << why;
  const CounterSet set{.name = "made_up",
                       .backend = "cupti_range",
                       .events = {{"good", "dram__bytes_read.sum", "B"},
                                  {"misspelt", "dram__bytes_reat.sum", "B"},
                                  {"rollup", "dram__bytes_read.total", "B"},
                                  {"bare", "dram__bytes_read", "B"}}};
  const HostCheck check = check_cupti_set(set, "GH100");
  EXPECT_EQ(check.unknown,
            (std::vector<std::string>{"dram__bytes_reat.sum", "dram__bytes_read.total", "dram__bytes_read"}));
  EXPECT_EQ(check.passes, 1);
  EXPECT_NE(check_cupti_set(set, "GX999").unavailable, "");
}

TEST(CuptiCounters, WithoutADeviceAreAbsentWithTheReason) {
  if (counter_target(DeviceKind::cuda) >= 0) GTEST_SKIP() << "there is a CUDA device here";
  EXPECT_FALSE(CudaDriver::get().unavailable().empty());
  for (const CounterTarget target : {61, 90}) {
    int executed = 0;
    for (const auto& [name, counter] : count(
             *find_counter_set("default", target), 1, [] {}, [&] { ++executed; })) {
      EXPECT_FALSE(counter.value) << name;
      EXPECT_NE(counter.reason, "") << name;
    }
    EXPECT_EQ(executed, 0) << target;
  }
}

}  // namespace
}  // namespace hilbench
