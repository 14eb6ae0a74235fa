#include "harness/measure/disturbance.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "kernels/machine/processor_limits.hpp"
#include "tests/harness/measure/busy_core.hpp"

namespace hilbench {
namespace {

// Seconds for which a core ("cpu3"), or all cores together, were busy since the machine started.
double busy_s(const std::string& core = "cpu") {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
  while (stat >> name && name != core) stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  stat >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
  return (user + nice + system + irq + softirq) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST(Disturbance, OwnWorkIsNotThatOfOthers) {
  const double busy_before = busy_s();
  const std::clock_t own_before = std::clock();
  const Disturbance disturbance;
  spin(std::chrono::milliseconds(300));
  const nlohmann::json seen = disturbance.seen();
  EXPECT_GE(seen.at("seconds"), 0.3);
  EXPECT_GE(seen.at("involuntary_switches"), 0);
  EXPECT_TRUE(seen.at("load_average").is_number());
  EXPECT_EQ(seen.at("time").get<std::string>().size(), 20u);
  ASSERT_TRUE(seen.at("steal_s").is_number());
  // A whole core of this process would show as 1. Other programs may be running, and are seen here too.
  const double own_s = static_cast<double>(std::clock() - own_before) / CLOCKS_PER_SEC;
  const double others = (busy_s() - busy_before - own_s) / seen.at("seconds").get<double>();
  EXPECT_NEAR(seen.at("other_busy_cores"), std::max(0.0, others), 0.3);
}

TEST(Disturbance, WorkOfAnotherProcessIsSeen) {
  const Disturbance disturbance;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    spin(std::chrono::milliseconds(500));
    ::_exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_GE(disturbance.seen().at("other_busy_cores"), 0.3);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

TEST(Disturbance, WorkOnCoresThatThisProcessMayNotUseDoesNotCount) {
  const std::vector<int> cores = allowed_core_numbers();
  if (cores.size() < 2) GTEST_SKIP() << "one core";
  const OnCore here(cores[0]);
  const double busy_before = busy_s(fmt::format("cpu{}", cores[0]));
  const std::clock_t own_before = std::clock();
  const Disturbance disturbance;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const OnCore there(cores[1]);
    spin(std::chrono::milliseconds(500));
    ::_exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const nlohmann::json seen = disturbance.seen();
  const double own_s = static_cast<double>(std::clock() - own_before) / CLOCKS_PER_SEC;
  const double others =
      (busy_s(fmt::format("cpu{}", cores[0])) - busy_before - own_s) / seen.at("seconds").get<double>();
  EXPECT_NEAR(seen.at("other_busy_cores"), std::max(0.0, others), 0.3);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

TEST(Disturbance, WhatHappensInAPauseDoesNotCount) {
  Disturbance disturbance;
  disturbance.pause();
  spin(std::chrono::milliseconds(200));
  EXPECT_LT(disturbance.seen().at("seconds"), 0.1);
  disturbance.resume();
  disturbance.resume();
  spin(std::chrono::milliseconds(200));
  disturbance.pause();
  disturbance.pause();
  const nlohmann::json seen = disturbance.seen();
  EXPECT_GE(seen.at("seconds"), 0.2);
  EXPECT_LT(seen.at("seconds"), 0.39);
}

}  // namespace
}  // namespace hilbench
