#include "harness/measure/processor_use.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernels/machine/processor_limits.hpp"
#include "tests/harness/measure/busy_core.hpp"

namespace hilbench {
namespace {

class ProcessorUseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::ifstream("/proc/self/schedstat"))
      GTEST_SKIP() << "this kernel does not say how long threads waited";
  }
};

TEST_F(ProcessorUseTest, ThreadsThatShareACoreGetHalfOfWhatTheyWant) {
  const OnCore one(allowed_core_numbers().front());
  const ProcessorUse use;
  std::thread other([] { spin(std::chrono::milliseconds(600)); });  // inherits the mask
  spin(std::chrono::milliseconds(400));
  const nlohmann::json seen = use.seen();
  other.join();
  EXPECT_LT(seen.at("processor_share"), 0.65);
  EXPECT_GT(seen.at("processor_s"), 0.05);
  EXPECT_GT(seen.at("waited_s"), 0.3);
  EXPECT_EQ(seen.at("allowed_cores"), 1);
}

TEST_F(ProcessorUseTest, SleepIsNotWaiting) {
  const ProcessorUse use;
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const nlohmann::json seen = use.seen();
  EXPECT_LT(seen.at("processor_s"), 0.1);
  EXPECT_LT(seen.at("waited_s"), 0.3);
  EXPECT_EQ(seen.at("allowed_cores"), allowed_cores());
  EXPECT_EQ(seen.at("quota_cores").is_number(), quota_cores().has_value());
  EXPECT_EQ(seen.at("throttled_s").is_number(), !throttled_s().empty());
}

TEST_F(ProcessorUseTest, WhatHappensInAPauseDoesNotCount) {
  ProcessorUse use;
  use.pause();
  spin(std::chrono::milliseconds(200));
  EXPECT_LT(use.seen().at("processor_s"), 0.05);
  use.resume();
  spin(std::chrono::milliseconds(100));
  use.pause();
  use.pause();
  spin(std::chrono::milliseconds(200));
  const nlohmann::json seen = use.seen();
  EXPECT_GT(seen.at("processor_s"), 0.01);
  EXPECT_LT(seen.at("processor_s"), 0.15);
}

}  // namespace
}  // namespace hilbench
