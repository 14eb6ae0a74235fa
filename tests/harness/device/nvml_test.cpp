// The state of a GPU in a record, with tests/fakes/nvml.cpp in place of the driver's library.
#include "harness/device/nvml.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

class Nvml : public testing::Test {
 protected:
  ~Nvml() override {
    for (const char* name : {"HILBENCH_STUB_NO_ENERGY", "HILBENCH_STUB_MIG", "HILBENCH_STUB_NO_ECC",
                             "HILBENCH_STUB_THROTTLE", "HILBENCH_STUB_PIDS"})
      ::unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  static nlohmann::json state(const std::string& uuid = "GPU-1") {
    GpuMonitor monitor(uuid);
    monitor.observe();
    return monitor.summary();
  }
};

TEST_F(Nvml, TellsClocksTemperatureAndPower) {
  const nlohmann::json expected = {{"sm_mhz", {1980.0, 1980.0}},
                                   {"memory_mhz", {3201.0, 3201.0}},
                                   {"temperature_c", {45.0, 45.0}},
                                   {"power_w", {120.5, 120.5}},
                                   {"throttle", nlohmann::json::array()},
                                   {"foreign_processes", 0},
                                   {"mig", false},
                                   {"driver", "580.1-fake"},
                                   {"power_limit_w", 700.0},
                                   {"ecc", true},
                                   {"reason", nullptr}};
  EXPECT_EQ(state(), expected);
}

TEST_F(Nvml, TakesWhatASliceLacksFromTheWholeGpu) {
  set("HILBENCH_STUB_MIG", "1");
  const nlohmann::json slice = state("MIG-1");
  EXPECT_EQ(slice["mig"], true);
  EXPECT_EQ(slice["sm_mhz"], nlohmann::json({1980.0, 1980.0}));
  EXPECT_EQ(slice["power_w"], nlohmann::json({120.5, 120.5}));
  EXPECT_EQ(slice["power_limit_w"], 700.0);
}

TEST_F(Nvml, LeavesOutWhatAGpuDoesNotTell) {
  set("HILBENCH_STUB_NO_ECC", "1");
  EXPECT_TRUE(state().at("ecc").is_null());
  EXPECT_TRUE(state("nothing").at("driver").is_null());
}

TEST_F(Nvml, CountsTheEnergyOfAWholeGpu) {
  const GpuMonitor monitor("GPU-1");
  const EnergyReading before = monitor.energy(), after = monitor.energy();
  EXPECT_EQ(before.source, "nvml");
  EXPECT_EQ(before.reason, "");
  EXPECT_DOUBLE_EQ(*energy_between(before, after, 2).joules, 2.5);
  set("HILBENCH_STUB_NO_ENERGY", "3");
  EXPECT_NE(monitor.energy().reason.find("compute capability 7.0 and up"), std::string::npos);
  EXPECT_TRUE(monitor.energy().counts.empty());
  set("HILBENCH_STUB_NO_ENERGY", "15");
  EXPECT_EQ(monitor.energy().reason, "NVML does not give the energy (error 15)");
  EXPECT_NE(GpuMonitor("nothing").energy().reason.find("NVML does not know"), std::string::npos);
  set("HILBENCH_STUB_MIG", "1");
  EXPECT_NE(GpuMonitor("MIG-1").energy().reason.find("a slice (MIG)"), std::string::npos);
}

TEST_F(Nvml, NamesWhatHeldTheClocksBack) {
  set("HILBENCH_STUB_THROTTLE", "0x64");
  EXPECT_EQ(state()["throttle"], nlohmann::json({"hardware thermal", "power cap", "software thermal"}));
  set("HILBENCH_STUB_THROTTLE", "0x3");  // idle, and clocks that the user set
  EXPECT_EQ(state()["throttle"], nlohmann::json::array());
}

TEST_F(Nvml, CountsProcessesThatAreNotOfThisRun) {
  set("HILBENCH_STUB_PIDS", std::to_string(::getpid()));
  EXPECT_EQ(state()["foreign_processes"], 0);
  set("HILBENCH_STUB_PIDS", std::to_string(::getpid()) + "," + std::to_string(::getppid()));
  EXPECT_EQ(state()["foreign_processes"], 0) << "the supervisor";
  set("HILBENCH_STUB_PIDS", std::to_string(::getpid()) + ",1");
  EXPECT_EQ(state()["foreign_processes"], 1);
  set("HILBENCH_STUB_PIDS", "1,999999999," + std::to_string(::getpid()));
  EXPECT_EQ(state()["foreign_processes"], 2);
}

// Process ids may be those of another namespace: one that comes with our context is ours, what was there is
// not.
TEST_F(Nvml, KnowsItsOwnByWhenItCameWhereIdsAreForeign) {
  GpuMonitor monitor("GPU-1");
  set("HILBENCH_STUB_PIDS", "999999998");
  monitor.observe();
  EXPECT_EQ(monitor.summary()["foreign_processes"], 0);
  set("HILBENCH_STUB_PIDS", "999999998,999999999");
  monitor.observe();
  EXPECT_EQ(monitor.summary()["foreign_processes"], 1);
}

TEST_F(Nvml, RemembersTheMostThatWereThereAtOnce) {
  GpuMonitor monitor("GPU-1");
  set("HILBENCH_STUB_PIDS", std::to_string(::getpid()) + ",1");
  monitor.observe();
  set("HILBENCH_STUB_PIDS", std::to_string(::getpid()));
  monitor.observe();
  EXPECT_EQ(monitor.summary()["foreign_processes"], 1);
}

TEST_F(Nvml, SaysThatItDoesNotKnowADevice) {
  const nlohmann::json unknown = state("nothing");
  EXPECT_EQ(unknown["reason"], "NVML does not know nothing (error 6)");
  EXPECT_TRUE(unknown["foreign_processes"].is_null());
  EXPECT_TRUE(unknown["mig"].is_null());
}

}  // namespace
}  // namespace hilbench
