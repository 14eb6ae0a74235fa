// The worker with rings of ranks that are right, refuse, hang or die.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/run/settle.hpp"
#include "kernels/machine/huge_pages.hpp"
#include "kernels/ring/ring.hpp"
#include "tests/harness/worker/stories.hpp"

namespace hilbench {
namespace {

// The task on a ring of 3 ranks.
ComparisonTask ring_task_of(const std::vector<std::string>& kernels) {
  ComparisonTask task = task_of(kernels);
  for (Record& record : task.records) record.work.ring_size = 3;
  return task;
}

TEST(WorkerRing, MeasuresAndCountsWhatIsSent) {
  ComparisonTask task = ring_task_of({"dilated_cpu"});
  const Ring ring(task.records[0].work, task.records[0].variant);
  task.records[0].comm_bytes = ring.sent_bytes();
  const Record record = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_TRUE(record.time);
  EXPECT_EQ(record.time->timer, "steady_clock");
  EXPECT_GT(ring.sent_bytes(), 0);
  EXPECT_EQ(record.counters.at("ring_bytes").value, ring.sent_bytes());
  const Counter& overlap = record.counters.at("ring_overlap");
  EXPECT_NE(overlap.value.has_value(), !overlap.reason.empty());
  EXPECT_GE(overlap.value.value_or(0), 0);
  EXPECT_LE(overlap.value.value_or(0), 1);
  double most = 0;
  for (std::int64_t rank = 0; rank < 3; ++rank) most = std::max(most, ring.memory(rank).total());
  EXPECT_EQ(record.counters.at("ring_rank_memory").value, most);
}

TEST(WorkerRing, CountsOnEveryRank) {
  ComparisonTask task = ring_task_of({"dilated_cpu"});
  task.counters = {"software", "default", "l2"};
  for (const CacheState cache : {CacheState::warm, CacheState::cold}) {
    task.measure.cache = cache;
    const Record record = story_of(task).record("dilated_cpu/linear");
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    for (const auto& [name, counter] : record.counters)
      EXPECT_NE(counter.value.has_value(), !counter.reason.empty()) << name;
    EXPECT_NE(record.counters.at("l2_read_sectors").reason.find("the CPU"), std::string::npos);
    const Counter& clock = record.counters.at("task_clock");
    if (!clock.value) GTEST_SKIP() << "software events are refused here: " << clock.reason;
    ASSERT_EQ(clock.ranks.size(), 3u);
    for (const double ns : clock.ranks) EXPECT_GT(ns, 0);
    EXPECT_DOUBLE_EQ(*clock.value, clock.ranks[0] + clock.ranks[1] + clock.ranks[2]);
  }
}

TEST(WorkerRing, FailsWhatSendsOtherBytesThanPlanned) {
  ComparisonTask task = ring_task_of({"dilated_cpu"});
  task.records[0].comm_bytes = 1;
  const Record record = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_NE(record.reason.find("not the planned 1"), std::string::npos) << record.reason;
}

// Four ranks in two groups: the bytes of both levels are counted.
ComparisonTask grouped_task_of(const std::vector<std::string>& kernels, RingAlgorithm algorithm) {
  ComparisonTask task = task_of(kernels);
  for (Record& record : task.records) {
    record.work.ring_size = record.work.heads = record.work.kv_heads = 4;
    record.variant.ring.algorithm = algorithm;
    record.ring_groups = record.variant.ring.groups = 2;
  }
  return task;
}

class GroupedRing : public testing::TestWithParam<RingAlgorithm> {};

TEST_P(GroupedRing, CountsWhatIsSentBetweenGroups) {
  ComparisonTask task = grouped_task_of({"dilated_cpu"}, GetParam());
  const Ring ring(task.records[0].work, task.records[0].variant);
  task.records[0].comm_bytes = ring.sent_bytes();
  task.records[0].comm_bytes_between = ring.level_bytes().between;
  const Record record = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_EQ(record.counters.at("ring_bytes").value, ring.sent_bytes());
  task.records[0].comm_bytes_between = 1;
  const Record other = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(other.status, Status::failed);
  EXPECT_NE(other.reason.find("bytes between its groups, not the planned 1"), std::string::npos)
      << other.reason;
}

TEST_P(GroupedRing, EndsIfARankFails) {
  for (const auto& [kernel, reason] : {std::pair{"throw_something", "of 4: the kernel refuses"},
                                       std::pair{"no_memory", "of 4: out of memory"}}) {
    const Story story = story_of(grouped_task_of({"dilated_cpu", kernel}, GetParam()));
    const Record& faulty = story.record(std::string(kernel) + "/linear");
    EXPECT_EQ(faulty.status, Status::failed);
    EXPECT_NE(faulty.reason.find(reason), std::string::npos) << faulty.reason;
    EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, GroupedRing,
                         testing::Values(RingAlgorithm::ring, RingAlgorithm::hierarchical,
                                         RingAlgorithm::hierarchical_packed, RingAlgorithm::ulysses));

// What crosses an emulated link is counted as ever, and the record says that it is emulated.
TEST_P(GroupedRing, SaysThatItsLinkIsEmulated) {
  ComparisonTask task = grouped_task_of({"dilated_cpu"}, GetParam());
  task.records[0].variant.ring.outer_link = OuterLink::emulated_host;
  const Ring ring(task.records[0].work, task.records[0].variant);
  task.records[0].comm_bytes_between = ring.level_bytes().between;
  const Record record = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_EQ(record.environment->at("transport").at("outer_link").at("emulated"), true);
  EXPECT_GT(record.counters.at("ring_link_between").value.value_or(0), 0);
  EXPECT_GT(record.counters.at("ring_link_inside").value.value_or(0), 0);
}

// In a real worker process: the rank costs its variant, and neither the others nor what comes next.
TEST_P(GroupedRing, EndsIfARankHangsOrDies) {
  for (const auto& [kernel, reason] :
       {std::pair{"one_rank_hangs", "no progress for 3 s"}, std::pair{"crash", "the worker "}}) {
    ComparisonTask task = grouped_task_of({"dilated_cpu", kernel, "boaster"}, GetParam());
    task.measure.timeout_s = 3;
    const auto records = measure_process(task, {}, 0, [](const TaskEvent&) {});
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[1].status, Status::failed) << kernel;
    EXPECT_NE(records[1].reason.find(reason), std::string::npos) << records[1].reason;
    for (const std::size_t other : {0u, 2u}) {
      EXPECT_EQ(records[other].status, Status::ok) << kernel << ": " << records[other].reason;
      EXPECT_TRUE(records[other].time);
    }
    ComparisonTask next = grouped_task_of({"dilated_cpu"}, GetParam());
    EXPECT_EQ(measure_process(next, {}, 0, [](const TaskEvent&) {}).front().status, Status::ok);
  }
}

class FaultyRank : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(FaultyRank, FailsItsVariantAlone) {
  const auto [kernel, reason] = GetParam();
  const Story story = story_of(ring_task_of({"dilated_cpu", kernel}));
  const Record& faulty = story.record(std::string(kernel) + "/linear");
  EXPECT_EQ(faulty.status, Status::failed);
  EXPECT_NE(faulty.reason.find(reason), std::string::npos) << faulty.reason;
  EXPECT_EQ(faulty.reason.find('\n'), std::string::npos);
  EXPECT_FALSE(faulty.time);
  EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultyRank,
                         testing::Values(std::pair{"throw_something", "of 3: the kernel refuses"},
                                         std::pair{"no_memory", "of 3: out of memory"},
                                         std::pair{"one_rank_throws", "of 3: this rank refuses"},
                                         std::pair{"one_value_off", "exceeds the tolerance"}));

TEST(WorkerRing, MeasuresOnThePagesThatTheCaseAsksFor) {
  ComparisonTask task = paged_task_of({"dilated_cpu"}, PageSize::of_4k);
  for (Record& record : task.records) record.work.ring_size = 3;
  EXPECT_EQ(huge_share_in(story_of(task).record("dilated_cpu/linear")), 0);
  if (const auto why = why_not_pages(PageSize::of_2m, inspect_huge_pages())) GTEST_SKIP() << *why;
  for (Record& record : task.records) record.work.pages = PageSize::of_2m;
  const Story story = story_of(task);
  const Record& record = story.record("dilated_cpu/linear");
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_GE(huge_share_in(record), 0.9);
}

}  // namespace
}  // namespace hilbench
