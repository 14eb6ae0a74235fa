#include "harness/external/request_clock.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

constexpr double kMs = 1e6;  // in ns

Case work_on(DeviceKind device) {
  Case work{.sequence_length = 8, .pattern = {{8, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  work.device = device;
  return work;
}

// Ten requests for two executions each, after one that does not count.
std::string complaint_of(RequestClock& clock, const RequestTimes& request) {
  try {
    for (int i = 0; i < 11; ++i)
      if (!clock.note(request) && !clock.note(request)) return "not told";
    return "";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

std::string complaint(const RequestTimes& request, DeviceKind device = DeviceKind::cpu) {
  RequestClock clock("x", work_on(device));
  clock.note_empty(0.5 * kMs);
  clock.note_empty(0.3 * kMs);
  EXPECT_EQ(clock.requests().empty_ns, 0.3 * kMs);
  return complaint_of(clock, request);
}

void expect_found(const std::string& complaint, const std::string& part) {
  EXPECT_NE(complaint.find(part), std::string::npos) << complaint;
}

TEST(RequestClock, TimesThatCanBeTrueAreCounted) {
  RequestClock clock("x", work_on(DeviceKind::cpu));
  clock.note_empty(0.3 * kMs);
  const RequestTimes honest{
      .executions = 2, .reported_ns = 5 * kMs, .wall_ns = 6 * kMs, .processor_ns = 5 * kMs};
  EXPECT_EQ(complaint_of(clock, honest), "");
  EXPECT_EQ(clock.requests().count, 10) << "without the first";
  EXPECT_EQ(clock.requests().executions, 20);
  EXPECT_EQ(clock.requests().reported_ns, 50 * kMs);
  EXPECT_EQ(clock.requests().wall_ns, 60 * kMs);
  EXPECT_EQ(clock.requests().processor_ns, 50 * kMs);
}

TEST(RequestClock, NoMoreCanBeReportedThanPassed) {
  expect_found(complaint({.executions = 2, .reported_ns = 1e12, .wall_ns = 6 * kMs, .processor_ns = 5 * kMs}),
               "'x' reports 1e+12 ns for executions between a request and an answer that are 6e+06 ns apart: "
               "more than passed");
}

TEST(RequestClock, AnEighthIsTooLittle) {
  expect_found(
      complaint({.executions = 2, .reported_ns = 1 * kMs, .wall_ns = 9 * kMs, .processor_ns = 8 * kMs}),
      "less than half of what passed in ");
}

// A request waits for a processor before and after what the program times.
TEST(RequestClock, ABusyMachineIsNoLie) {
  EXPECT_EQ(
      complaint({.executions = 2, .reported_ns = 1 * kMs, .wall_ns = 9 * kMs, .processor_ns = 1.2 * kMs}),
      "");
}

TEST(RequestClock, AWrongUnitIsToldBySecondExecution) {
  RequestClock clock("x", work_on(DeviceKind::cpu));
  clock.note_empty(0.3 * kMs);
  const RequestTimes milliseconds{
      .executions = 1, .reported_ns = 2.6, .wall_ns = 3 * kMs, .processor_ns = 2.6 * kMs};
  EXPECT_FALSE(clock.note(milliseconds)) << "parts of the program may have been starting";
  expect_found(complaint_of(clock, milliseconds), "the unit is nanoseconds: are these milliseconds?");
}

// An execution of 10 us on a GPU, between two requests by Python.
TEST(RequestClock, TheHostOfAGpuTakesItsTime) {
  const RequestTimes small{
      .executions = 2, .reported_ns = 2e4, .wall_ns = 0.6 * kMs, .processor_ns = 0.5 * kMs};
  EXPECT_EQ(complaint(small, DeviceKind::cuda), "");
  const RequestTimes large{
      .executions = 2, .reported_ns = 1 * kMs, .wall_ns = 9 * kMs, .processor_ns = 9 * kMs};
  expect_found(complaint(large, DeviceKind::cuda), "less than half of what passed");
}

TEST(RequestClock, FewAndManyExecutionsTakeAsLongEach) {
  const RequestClock clock("x", work_on(DeviceKind::cpu));
  EXPECT_NO_THROW(clock.expect_alike(2 * kMs, 1.2 * kMs, 16));
  EXPECT_THROW(clock.expect_alike(2 * kMs, 0.3 * kMs, 16), EnvironmentError);
}

TEST(RequestClock, AGpuIsBusyForWhatIsReported) {
  RequestClock clock("x", work_on(DeviceKind::cuda));
  EXPECT_NO_THROW(clock.note_busy(200 * kMs, 190 * kMs));
  EXPECT_EQ(clock.requests().busy_ns, 200 * kMs);
  EXPECT_EQ(clock.requests().busy_reported_ns, 190 * kMs);
  EXPECT_THROW(clock.note_busy(200 * kMs, 25 * kMs), EnvironmentError);
  RequestClock lagging("x", work_on(DeviceKind::cuda));
  EXPECT_NO_THROW(lagging.note_busy(20 * kMs, 190 * kMs));
  EXPECT_FALSE(lagging.requests().busy_ns) << "the counter did not follow";
}

}  // namespace
}  // namespace hilbench
