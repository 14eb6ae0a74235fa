#include "harness/measure/disturbance.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace hilbench {
namespace {

void spin(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (volatile bool spinning = true; spinning && std::chrono::steady_clock::now() < end;) continue;
}

TEST(Disturbance, OwnWorkIsNotThatOfOthers) {
  const Disturbance disturbance;
  spin(std::chrono::milliseconds(300));
  const nlohmann::json seen = disturbance.seen();
  EXPECT_GE(seen.at("seconds"), 0.3);
  EXPECT_GE(seen.at("involuntary_switches"), 0);
  EXPECT_TRUE(seen.at("load_average").is_number());
  EXPECT_EQ(seen.at("time").get<std::string>().size(), 20u);
  ASSERT_TRUE(seen.at("steal_s").is_number());
  // A whole core of this process would show as 1. Other tests may be running.
  const double cores = std::thread::hardware_concurrency();
  EXPECT_LE(seen.at("other_busy_cores"), cores - 0.8);
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
