// Counting by CUPTI's Event API, with tests/fakes/ in place of driver and CUPTI: a chip of Pascal's kind
// without a GPU. The numbers expected here follow from tests/fakes/pascal_chip.hpp.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_library.hpp"
#include "kernels/base/process/library.hpp"

namespace hilbench {
namespace {

// A driver that counts on Pascal, with a GPU that this thread uses.
void use_fake_driver() {
  ::setenv("HILBENCH_STUB_INIT", "0", 1);
  ::setenv("HILBENCH_STUB_DEVICES", "1", 1);
  ::setenv("HILBENCH_STUB_VERSION", "12090", 1);
  ::setenv("HILBENCH_STUB_DRIVER", "575.57.08", 1);
  ASSERT_TRUE(CudaDriver::get().make_context()) << CudaDriver::get().unavailable();
}

class CuptiEvents : public testing::Test {
 protected:
  static void SetUpTestSuite() { use_fake_driver(); }
  ~CuptiEvents() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
    EXPECT_EQ(left(), left_before_) << "groups that count on, or were not destroyed";
  }

  void set(const std::string& name, const std::string& value) {
    set_.insert("HILBENCH_STUB_" + name);
    ::setenv(("HILBENCH_STUB_" + name).c_str(), value.c_str(), 1);
  }
  static int left() { return LoadedLibrary({"libcupti.so.12"}).find<int()>("hilbench_fake_left")(); }

  static const CounterSet& default_set() { return *find_counter_set("default", 61); }
  static CounterSet set_of(const std::string& event, const std::string& unit) {
    return {.name = "one", .backend = "cupti_events", .events = {{"it", event, unit}}};
  }
  // Counts the set around no work, and says how often the work was done.
  std::map<std::string, Counter> counted(const CounterSet& set) {
    executions_ = 0;
    return count(
        set, 1, [] {}, [this] { ++executions_; });
  }
  Counter counted(const std::string& event, const std::string& unit) {
    return counted(set_of(event, unit)).at("it");
  }
  // Every counter of the default set is absent, with a reason that starts so.
  void expect_none(const std::string& start) {
    for (const auto& [name, counter] : counted(default_set())) {
      EXPECT_FALSE(counter.value) << name;
      const std::string needs = counter.reason.starts_with("needs ") ? counter.reason.substr(6) : "";
      const std::string reason = needs.empty() ? counter.reason : needs.substr(needs.find(": ") + 2);
      EXPECT_TRUE(reason.starts_with(start)) << name << ": " << counter.reason;
      EXPECT_EQ(counter.reason.find('\n'), std::string::npos);
    }
  }

  int executions_ = 0;
  int left_before_ = left();

 private:
  std::set<std::string> set_;
};

TEST_F(CuptiEvents, ADefaultSetTakesTwoPasses) {
  const auto counters = counted(default_set());
  EXPECT_EQ(executions_, 2);
  // 5 of 20 multiprocessors are counted: (1 + ... + 5) * 100 loads there, four times that on all.
  EXPECT_EQ(counters.at("l1_load_sectors").value, 6000);
  EXPECT_EQ(counters.at("l1_load_sectors").source, "cupti_events, scaled, fake");
  EXPECT_EQ(counters.at("l1_load_sectors").passes, 2);
  EXPECT_EQ(counters.at("l1_sectors_per_load").value, 4);
  EXPECT_EQ(counters.at("l1_load_hit_percent").value, 40);
  EXPECT_EQ(counters.at("l1_load_hit_rate").value, 0.4);
  EXPECT_EQ(counters.at("l1_load_hit_rate").source, "cupti_events, scaled, fake");
  // All 8 slices of the L2 and both memory channels are counted.
  EXPECT_EQ(counters.at("l2_read_sectors").value, 1800);
  EXPECT_EQ(counters.at("l2_read_sectors").source, "cupti_events, fake");
  EXPECT_EQ(counters.at("l2_read_hit_percent").value, 60);
  EXPECT_EQ(counters.at("dram_read_bytes").value, 96000);
  EXPECT_EQ(counters.at("dram_write_bytes").value, 48000);
}

TEST_F(CuptiEvents, EveryKindOfNumber) {
  EXPECT_EQ(counted("gld_transactions", "sectors").value, 6000);
  EXPECT_EQ(counted("gld_transactions_per_request", "ratio").value, 4);
  EXPECT_EQ(counted("global_hit_rate", "percent").value, 40);
  EXPECT_GT(counted("dram_read_throughput", "B/s").value, 96000) << "in less than a second";
  EXPECT_EQ(counted("dram_utilization", "level").value, 8);
  EXPECT_EQ(counted("fake_int64", "count").value, -3000);
  EXPECT_EQ(executions_, 1);
  EXPECT_EQ(counted("fake_payload", "").reason, "the metric is not a number");
}

TEST_F(CuptiEvents, ARealZeroIsANumberAndNoneIsAReason) {
  set("EVENTS", "0");
  const auto counters = counted(default_set());
  EXPECT_EQ(counters.at("dram_read_bytes").value, 0);
  EXPECT_FALSE(counters.at("l1_sectors_per_load").value);
  EXPECT_EQ(counters.at("l1_sectors_per_load").reason, "CUPTI returned no number for it");
}

TEST_F(CuptiEvents, MetricsThatTheDeviceLacks) {
  CounterSet set = default_set();
  set.events.push_back({"more", "gld_efficiency", "percent"});
  const auto counters = counted(set);
  EXPECT_EQ(counters.at("more").reason, "this device has no metric gld_efficiency");
  EXPECT_EQ(counters.at("l2_read_sectors").value, 1800);
  EXPECT_EQ(counted("gld_efficiency", "percent").reason, "the device has none of the metrics of this set");
  EXPECT_EQ(executions_, 0);
}

TEST_F(CuptiEvents, NoInstanceCanBeCounted) {
  set("INSTANCES", "0");
  expect_none("CUPTI counted on 0 of 20 instances of an event, and read 0");
}

TEST_F(CuptiEvents, AReadThatLeavesOutAnInstance) {
  set("SHORT_READ", "1");
  expect_none("CUPTI counted on 5 of 20 instances of an event, and read 4");
}

TEST_F(CuptiEvents, ACounterThatOverflows) {
  for (const char* value : {"0xffffffffffffffff", "0xfffffffffffffffe"}) {
    set("VALUE", value);
    expect_none("an event overflowed its counter, or CUPTI calls it invalid; measure a shorter case");
  }
}

TEST_F(CuptiEvents, TheWorkFails) {
  set("SYNC", "700");
  expect_none("the work that was counted failed: cuCtxSynchronize gives 700");
  EXPECT_EQ(executions_, 1);
}

// What each call may be refused for.
struct Fault {
  const char *fault, *reason;
  int executions;
};
class CuptiEventFaults : public CuptiEvents, public testing::WithParamInterface<Fault> {};

TEST_P(CuptiEventFaults, LeaveNoCounterAndNothingBehind) {
  set("CUPTI", GetParam().fault);
  expect_none(GetParam().reason);
  EXPECT_EQ(executions_, GetParam().executions);
}

constexpr const char* kForbidden = "counters are restricted to administrators; run as root, ";
constexpr const char* kBusy =
    "another profiler holds the counting hardware; end Nsight tools, DCGM profiling ";
constexpr const char* kAttached = "a debugger or profiler is attached to this process; run without it ";
INSTANTIATE_TEST_SUITE_P(
    Calls, CuptiEventFaults,
    testing::Values(
        Fault{"cuptiSetEventCollectionMode=35", kForbidden, 0},
        Fault{"cuptiSetEventCollectionMode=39", kAttached, 0},
        Fault{"cuptiSetEventCollectionMode=27", "this CUPTI does not support the device's architecture", 0},
        Fault{"cuptiMetricGetIdFromName=15", "CUPTI cannot reach the driver: ", 0},
        Fault{"cuptiMetricCreateEventGroupSets=35", kForbidden, 0},
        Fault{"cuptiEventGroupSetAttribute=1", "cuptiEventGroupSetAttribute gives CUPTI error 1", 1},
        Fault{"cuptiEventGroupSetEnable=35", kForbidden, 1}, Fault{"cuptiEventGroupSetEnable=26", kBusy, 1},
        Fault{"cuptiEventGroupSetEnable=26@2", kBusy, 2},
        Fault{"cuptiEventGroupGetAttribute=9", "cuptiEventGroupGetAttribute gives CUPTI error 9", 1},
        Fault{"cuptiDeviceGetEventDomainAttribute=4",
              "cuptiDeviceGetEventDomainAttribute gives CUPTI error 4", 1},
        Fault{"cuptiEventGroupReadEvent=9", "cuptiEventGroupReadEvent gives CUPTI error 9", 1},
        Fault{"cuptiEventGroupReadEvent=9@7", "cuptiEventGroupReadEvent gives CUPTI error 9", 2},
        Fault{"cuptiEventGroupSetDisable=9@1", "cuptiEventGroupSetDisable gives CUPTI error 9", 1},
        Fault{"cuptiMetricGetValue=22", "cuptiMetricGetValue gives CUPTI error 22", 2},
        Fault{"cuptiMetricGetAttribute=16", "the device has no such metric ", 2},
        Fault{"cuptiMetricGetNumEvents=16", "the device has no such metric ", 2},
        Fault{"cuptiMetricEnumEvents=16", "the device has no such metric ", 2}));

TEST_F(CuptiEvents, GroupsThatCannotBeDestroyedCostNoCounter) {
  set("CUPTI", "cuptiEventGroupSetsDestroy=9");
  testing::internal::CaptureStderr();
  EXPECT_EQ(counted("gld_transactions", "sectors").value, 6000);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hilbench: cuptiEventGroupSetsDestroy gives CUPTI error 9\n");
  EXPECT_EQ(left(), left_before_ + 1);
  left_before_ = left();
}

TEST_F(CuptiEvents, AThreadWithoutAContext) {
  std::thread([this] { expect_none("no CUDA device is in use by this thread"); }).join();
  EXPECT_EQ(executions_, 0);
}

TEST_F(CuptiEvents, NoVersion) {
  set("CUPTI", "cuptiGetVersion=999");
  const std::string reason = counted("gld_transactions", "sectors").reason;
  EXPECT_TRUE(reason.ends_with("/libcupti.so.12 is no CUPTI: cuptiGetVersion gives none")) << reason;
}

TEST_F(CuptiEvents, TheCuptiOfAnotherCuda) {
  set("CUPTI_VERSION", "130001");
  expect_none(
      "CUPTI of CUDA 13 (API 130001) is too new for this driver of CUDA 12.9; install a newer driver, or ");
}

// A process loads one CUPTI: what HILBENCH_CUPTI names is tried in others.
class NamedCupti : public testing::Test {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  [[noreturn]] static void tell_why_not(const char* named) {
    ::setenv("HILBENCH_CUPTI", named, 1);
    use_fake_driver();
    std::fprintf(stderr, "%s\n",
                 count(
                     *find_counter_set("default", 61), 1, [] {}, [] {})
                     .at("dram_read_bytes")
                     .reason.c_str());
    std::exit(0);
  }
};

TEST_F(NamedCupti, DoesNotLoad) {
  EXPECT_EXIT(tell_why_not("/nowhere/libcupti.so"), testing::ExitedWithCode(0),
              "^HILBENCH_CUPTI names no library: /nowhere/libcupti.so: cannot open shared object file: ");
}

TEST_F(NamedCupti, IsNoCupti) {
  EXPECT_EXIT(tell_why_not("libm.so.6"), testing::ExitedWithCode(0),
              "libm.so.6 is no CUPTI: cuptiGetVersion gives none; HILBENCH_CUPTI names it\n$");
}

TEST_F(NamedCupti, IsFoundByItsNameAlone) {
  EXPECT_EXIT(tell_why_not("libcupti.so.12"), testing::ExitedWithCode(0), "^\n$") << "it counts";
}

}  // namespace
}  // namespace hilbench
