#include "harness/external/request_clock.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

constexpr double kMs = 1e6;  // in ns

Case work_on(DeviceKind device) {
  Case work{.sequence_length = 8, .pattern = {{8, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  work.device = device;
  return work;
}

RequestTimes empty(double ns) {
  return {.wall_ns = ns, .processor_ns = ns};
}

// `requests` alike, of which the first does not count.
std::string complaint_of(RequestClock& clock, const RequestTimes& request, int requests = 11) {
  try {
    for (int i = 0; i < requests; ++i)
      if (!clock.note(request) && !clock.note(request)) return "not told";
    return "";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

std::string complaint(const RequestTimes& request, DeviceKind device = DeviceKind::cpu) {
  RequestClock clock("x", work_on(device), 1);
  clock.note_empty(empty(0.5 * kMs));
  clock.note_empty(empty(0.3 * kMs));
  EXPECT_EQ(clock.requests().empty_ns, 0.3 * kMs);
  return complaint_of(clock, request);
}

void expect_found(const std::string& complaint, const std::string& part) {
  EXPECT_NE(complaint.find(part), std::string::npos) << complaint;
}

TEST(RequestClock, TimesThatCanBeTrueAreCounted) {
  RequestClock clock("x", work_on(DeviceKind::cpu), 1);
  clock.note_empty(empty(0.3 * kMs));
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
  RequestTimes request{
      .executions = 2, .reported_ns = 1 * kMs, .wall_ns = 9 * kMs, .processor_ns = 1.2 * kMs};
  EXPECT_EQ(complaint(request), "") << "where the system does not report waits";
  request.waited_ns = 7.5 * kMs;
  EXPECT_EQ(complaint(request), "");
  request.waited_ns = 0;
  expect_found(complaint(request), "less than half of what passed in ");  // a child computed, and has ended
}

TEST(RequestClock, OneRequestThatOtherWorkStretchesIsNoLie) {
  RequestClock clock("x", work_on(DeviceKind::cpu), 1);
  clock.note_empty(empty(0.3 * kMs));
  const RequestTimes usual{
      .executions = 2, .reported_ns = 5 * kMs, .wall_ns = 6 * kMs, .processor_ns = 5 * kMs, .waited_ns = 0};
  RequestTimes stretched = usual;
  stretched.wall_ns = stretched.processor_ns = 350 * kMs;
  EXPECT_EQ(complaint_of(clock, usual), "");
  EXPECT_TRUE(clock.note(stretched));
  expect_found(complaint_of(clock, stretched), "less than half of what passed in ");
}

TEST(RequestClock, FewRequestsAreJudgedAtTheEnd) {
  const RequestTimes eighth{.executions = 1,
                            .reported_ns = 20 * kMs,
                            .wall_ns = 160 * kMs,
                            .processor_ns = 160 * kMs,
                            .waited_ns = 0};
  RequestClock clock("x", work_on(DeviceKind::cpu), 1);
  clock.note_empty(empty(0.3 * kMs));
  EXPECT_TRUE(clock.note(eighth));
  EXPECT_NO_THROW(clock.expect_enough_of_few()) << "the first does not count";
  EXPECT_TRUE(clock.note(eighth));
  EXPECT_THROW(clock.expect_enough_of_few(), EnvironmentError);
}

TEST(RequestClock, ASlowRequestWithoutExecutionsHidesNothing) {
  const RequestTimes eighth{
      .executions = 2, .reported_ns = 1 * kMs, .wall_ns = 9 * kMs, .processor_ns = 9 * kMs, .waited_ns = 0};
  for (const double processor_ns : {0.0, 200 * kMs}) {  // it sleeps, or computes
    RequestClock clock("x", work_on(DeviceKind::cpu), 1);
    clock.note_empty({.wall_ns = 200 * kMs, .processor_ns = processor_ns});
    expect_found(complaint_of(clock, eighth), "less than half of what passed in ");
  }
}

TEST(RequestClock, AWrongUnitIsToldBySecondExecution) {
  RequestClock clock("x", work_on(DeviceKind::cpu), 1);
  clock.note_empty(empty(0.3 * kMs));
  const RequestTimes milliseconds{
      .executions = 1, .reported_ns = 2.6, .wall_ns = 3 * kMs, .processor_ns = 2.6 * kMs};
  EXPECT_FALSE(clock.note(milliseconds)) << "parts of the program may have been starting";
  expect_found(complaint_of(clock, milliseconds), "the unit is nanoseconds: are these milliseconds?");
}

// Two executions of 2 ms, of which one is reported.
TEST(RequestClock, AnExecutionThatIsNotReportedIsSaid) {
  const RequestTimes one{
      .executions = 1, .reported_ns = 2 * kMs, .wall_ns = 5 * kMs, .processor_ns = 5 * kMs};
  for (const int untimed : {0, 1}) {
    RequestClock clock("x", work_on(DeviceKind::cuda), 1);
    clock.note_empty(empty(0.3 * kMs));
    clock.expect_untimed(untimed);
    if (untimed == 1) {
      EXPECT_EQ(complaint_of(clock, one), "");
      EXPECT_NO_THROW(clock.expect_enough({one, one, one}));
      expect_found(complaint_of(clock, {.executions = 1, .reported_ns = 1e5, .wall_ns = 5 * kMs}),
                   "less than half of what passed in ");
    } else {
      expect_found(complaint_of(clock, one), "less than half of what passed in ");
    }
  }
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

TEST(RequestClock, RecordsOfKernelsTakeTheHostLonger) {
  const auto complaint_of_records = [](double wall_ns) {
    RequestClock clock("x", work_on(DeviceKind::cuda), 1);
    clock.expect_kernel_records();
    clock.note_empty(empty(0.05 * kMs));
    return complaint_of(clock, {.executions = 1, .reported_ns = 18e3, .wall_ns = wall_ns}, 200);
  };
  EXPECT_EQ(complaint_of_records(0.6 * kMs), "");
  expect_found(complaint_of_records(6 * kMs), "less than half of what passed");
}

TEST(RequestClock, AnExecutionAloneTakesAsLongAsOneBesideOthers) {
  RequestClock clock("x", work_on(DeviceKind::cpu), 1);
  clock.note_empty(empty(0.1 * kMs));
  const auto alone = [](double reported_ns) {
    return std::vector<RequestTimes>(5, {.executions = 1,
                                         .reported_ns = reported_ns,
                                         .wall_ns = 2.2 * kMs,
                                         .processor_ns = 2.1 * kMs,
                                         .waited_ns = 0});
  };
  EXPECT_NO_THROW(clock.expect_alike(alone(20 * kMs), 14 * kMs));
  EXPECT_NO_THROW(clock.expect_alike(alone(0.7 * kMs), 0.1 * kMs)) << "cold caches";
  EXPECT_NO_THROW(clock.expect_enough(alone(2 * kMs)));
  EXPECT_THROW(clock.expect_alike(alone(20 * kMs), 10 * kMs), EnvironmentError)
      << "it computes in one of many";
  EXPECT_THROW(clock.expect_enough(alone(0.3 * kMs)), EnvironmentError) << "it understates all";
  std::vector<RequestTimes> waits = alone(0.3 * kMs);
  for (RequestTimes& each : waits) each.waited_ns = 1.6 * kMs;
  EXPECT_NO_THROW(clock.expect_enough(waits));
  const RequestClock of_gpu("x", work_on(DeviceKind::cuda), 1);
  EXPECT_THROW(of_gpu.expect_alike(alone(0.7 * kMs), 0.1 * kMs), EnvironmentError);
}

TEST(RequestClock, NoMoreCoresAreUsedThanTheCaseHasThreads) {
  const RequestTimes two_cores{
      .executions = 2, .reported_ns = 5 * kMs, .wall_ns = 6 * kMs, .processor_ns = 11 * kMs, .waited_ns = 0};
  for (const auto& [device, threads, fits] :
       {std::tuple(DeviceKind::cpu, 1, false), {DeviceKind::cpu, 2, true}, {DeviceKind::cuda, 1, true}}) {
    RequestClock clock("x", work_on(device), threads);
    EXPECT_EQ(complaint_of(clock, two_cores), "");
    if (fits)
      EXPECT_NO_THROW(clock.expect_cores());
    else
      EXPECT_THROW(clock.expect_cores(), EnvironmentError);
  }
}

TEST(RequestClock, AGpuIsBusyForWhatIsReported) {
  RequestClock clock("x", work_on(DeviceKind::cuda), 1);
  EXPECT_TRUE(clock.note_busy(200 * kMs, 190 * kMs));
  EXPECT_EQ(clock.requests().busy_ns, 200 * kMs);
  EXPECT_EQ(clock.requests().busy_reported_ns, 190 * kMs);
  EXPECT_FALSE(clock.note_busy(200 * kMs, 25 * kMs));
  EXPECT_THROW(clock.expect_busy(), EnvironmentError);
}

// Between the marks of a program another one computes on the same GPU.
TEST(RequestClock, ASharedGpuIsNoLie) {
  RequestClock clock("x", work_on(DeviceKind::cuda), 1);
  clock.allow_for_others([] { return true; });
  RequestTimes request{.executions = 2, .reported_ns = 1 * kMs, .wall_ns = 90 * kMs, .processor_ns = 8 * kMs};
  EXPECT_EQ(complaint_of(clock, request), "");
  EXPECT_NO_THROW(clock.expect_enough({request, request}));
  EXPECT_NO_THROW(clock.expect_alike({request, request}, 0.1 * kMs));
  EXPECT_FALSE(clock.note_busy(200 * kMs, 25 * kMs));
  EXPECT_NO_THROW(clock.expect_busy());
  request.reported_ns = 95 * kMs;
  expect_found(complaint_of(clock, request), "more than passed");

  clock.allow_for_others([] { return false; });
  EXPECT_THROW(clock.expect_busy(), EnvironmentError);
}

TEST(RequestClock, ACounterThatSawEarlierWorkIsForgotten) {
  RequestClock clock("x", work_on(DeviceKind::cuda), 1);
  EXPECT_FALSE(clock.note_busy(270 * kMs, 35 * kMs));
  EXPECT_TRUE(clock.note_busy(36 * kMs, 35 * kMs));
  EXPECT_NO_THROW(clock.expect_busy());
  EXPECT_FALSE(clock.note_busy(270 * kMs, 35 * kMs));
  EXPECT_TRUE(clock.note_busy(2 * kMs, 35 * kMs)) << "the counter did not follow";
  EXPECT_NO_THROW(clock.expect_busy());
  EXPECT_FALSE(clock.requests().busy_ns);
}

}  // namespace
}  // namespace hilbench
