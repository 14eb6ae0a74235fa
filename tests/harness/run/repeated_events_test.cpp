#include "harness/run/repeated_events.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace hilbench {
namespace {

constexpr std::chrono::milliseconds kEvery{20};

TEST(RepeatedEvents, TellTheLastOneAgainWithoutItsRecord) {
  std::atomic<int> calls = 0, records = 0, at_once = 0;
  std::vector<std::string> told;
  const std::function<void(const TaskEvent&)> progress = [&](const TaskEvent& event) {
    EXPECT_EQ(++at_once, 1) << "calls do not overlap";
    if (told.size() < 3) std::this_thread::sleep_for(2 * kEvery);  // longer than the silence
    told.push_back(event.variant_id);
    records += event.record.has_value();
    ++calls;
    --at_once;
  };
  const auto wait_for_calls = [&](int wanted) {
    for (int i = 0; i < 1000 && calls < wanted; ++i) std::this_thread::sleep_for(kEvery / 4);
    EXPECT_GE(calls, wanted);
  };
  {
    RepeatedEvents events(progress, kEvery);
    std::this_thread::sleep_for(3 * kEvery);
    EXPECT_EQ(calls, 0) << "nothing is known yet";
    events.pass({.phase = Phase::verify, .variant_id = "first", .record = Record{}});
    wait_for_calls(2);
    events.pass({.phase = Phase::verify, .variant_id = "first"});
    wait_for_calls(4);
    events.pass({.phase = Phase::verify, .variant_id = "second"});
    wait_for_calls(calls + 2);
  }
  const int after = calls;
  std::this_thread::sleep_for(3 * kEvery);
  EXPECT_EQ(calls, after) << "the task is over";
  EXPECT_EQ(records, 1);
  ASSERT_GE(told.size(), 5u);
  EXPECT_EQ(told[2], "first");
  EXPECT_EQ(told.back(), "second");
}

}  // namespace
}  // namespace hilbench
