// The worker with variants that compute wrongly, crash, or claim too many FLOPs. This program has its own
// table of implementations instead of baselines/table.cpp. It is also the worker that the supervisor starts.
#include "harness/worker/worker.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "baselines/peak/peak.hpp"
#include "baselines/table.hpp"
#include "harness/run/settle.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/machine/huge_pages.hpp"
#include "kernels/ring/ring.hpp"
#include "tests/fakes/own_implementations.hpp"

namespace hilbench {
namespace {

std::atomic<int> g_runs = 0;  // executions of spoiled variants in this process

using Spoil = void (*)(const Case& work, const Operands& operands);

// Runs dilated_cpu, then spoils its output.
class Spoiled final : public Execution {
 public:
  Spoiled(const Case& work, const Variant& variant, int threads, Spoil spoil)
      : work_(work), right_(kDilatedCpu.prepare(work, variant, threads)), spoil_(spoil) {}
  void run(const Operands& operands, const Index& index) override {
    ++g_runs;
    right_->run(operands, index);
    spoil_(work_, operands);
  }

 private:
  Case work_;
  std::unique_ptr<Execution> right_;
  Spoil spoil_;
};

float* output(const Operands& operands) {
  return static_cast<float*>(operands.o);
}
std::size_t rows(const Case& work) {
  return static_cast<std::size_t>(work.batch * work.sequence_length * work.heads);
}

void one_value_off(const Case&, const Operands& operands) {
  output(operands)[37] += 0.01f;
}
void last_row_unwritten(const Case& work, const Operands& operands) {
  const auto row = static_cast<std::size_t>(work.head_dim);
  std::memset(output(operands) + (rows(work) - 1) * row, 0xff, row * sizeof(float));
}
void lse_off(const Case&, const Operands& operands) {
  operands.lse[0] += 0.01f;
}
void crash(const Case&, const Operands&) {
  ::raise(SIGSEGV);
}
void crash_when_timed(const Case&, const Operands&) {
  static std::atomic<int> runs = 0;
  if (++runs > 2) ::raise(SIGSEGV);  // after verification and key probe
}
// Puts O on 4 KiB pages, as a system does that has no memory in one piece.
void splits_pages(const Case& work, const Operands& operands) {
  constexpr std::uintptr_t kPage = 4096;
  const auto o = reinterpret_cast<std::uintptr_t>(operands.o), begin = o / kPage * kPage;
  const std::size_t bytes = o - begin + rows(work) * static_cast<std::size_t>(work.head_dim) * sizeof(float);
  void* const memory = reinterpret_cast<void*>(begin);
  const std::vector<char> kept(static_cast<char*>(memory), static_cast<char*>(memory) + bytes);
  ASSERT_EQ(::madvise(memory, bytes, MADV_NOHUGEPAGE), 0);
  ASSERT_EQ(::madvise(memory, bytes, MADV_DONTNEED), 0);
  std::memcpy(memory, kept.data(), bytes);
}
void splits_pages_when_timed(const Case& work, const Operands& operands) {
  static std::atomic<int> runs = 0;
  if (++runs == 4) splits_pages(work, operands);  // after verification, check of the pages and key probe
}
void throw_something(const Case&, const Operands&) {
  throw std::runtime_error("the kernel refuses");
}
void no_memory(const Case&, const Operands&) {
  throw std::bad_alloc();
}
// The first rank that computes throws; the others wait for its data.
void one_rank_throws(const Case&, const Operands&) {
  static std::atomic<bool> thrown = false;
  if (!thrown.exchange(true)) throw std::runtime_error("this rank refuses");
}
// The first rank that computes never ends; the others wait for its data.
void one_rank_hangs(const Case&, const Operands&) {
  static std::atomic<bool> hung = false;
  if (!hung.exchange(true)) std::this_thread::sleep_for(std::chrono::hours(1));
}
void nothing(const Case&, const Operands&) {}
std::vector<std::vector<float>> g_seen;  // Q and V of every execution
void notes_inputs(const Case& work, const Operands& operands) {
  const auto* q = static_cast<const float*>(operands.q);
  const auto* v = static_cast<const float*>(operands.v);
  const std::size_t size = rows(work) * static_cast<std::size_t>(work.head_dim);
  g_seen.emplace_back(q, q + size);
  g_seen.back().insert(g_seen.back().end(), v, v + size);
}

// Runs dilated_cpu with an index that is wrong in a tile.
using Misread = void (*)(Index& index);
class Misreading final : public Execution {
 public:
  Misreading(const Case& work, const Variant& variant, int threads, Misread misread)
      : right_(kDilatedCpu.prepare(work, variant, threads)), misread_(misread) {}
  void run(const Operands& operands, const Index& index) override {
    Index wrong = index;
    misread_(wrong);
    right_->run(operands, wrong);
  }

 private:
  std::unique_ptr<Execution> right_;
  Misread misread_;
};

// Runs dilated_cpu; its choice says how often it was tuned, and after how many runs.
class Tuned final : public Execution {
 public:
  Tuned(const Case& work, const Variant& variant, int threads)
      : right_(kDilatedCpu.prepare(work, variant, threads)) {}
  void tune(const Operands& operands) override {
    choice_ = std::to_string(++tunings_) + " after " + std::to_string(runs_);
    operands.lse[0] = 7;  // as is allowed
  }
  std::map<std::string, std::string> choices() const override { return {{"plan", choice_}}; }
  void run(const Operands& operands, const Index& index) override {
    ++runs_;
    right_->run(operands, index);
  }

 private:
  std::unique_ptr<Execution> right_;
  int tunings_ = 0, runs_ = 0;
  std::string choice_;
};

const Implementation& tuned() {
  static const Implementation kTuned = [] {
    Implementation implementation = kDilatedCpu;
    implementation.name = "tuned";
    implementation.prepare = [](const Case& work, const Variant& variant,
                                int threads) -> std::unique_ptr<Execution> {
      return std::make_unique<Tuned>(work, variant, threads);
    };
    return implementation;
  }();
  return kTuned;
}

void misses_a_key(Index& index) {
  IndexTile& tile = index.branches.back().tiles.back();
  --tile.key_count;
  tile.unmasked = tile.key_count;
}
void doubles_a_key(Index& index) {  // in place of its neighbour
  const IndexTile& tile = index.branches.back().tiles.back();
  auto key = index.branches.back().key_slot.begin() + tile.key_begin;
  key[1] = key[0];
}

template <Misread misread>
const Implementation& misreading(std::string_view name) {
  static const Implementation kMisreading = [name] {
    Implementation implementation = kDilatedCpu;
    implementation.name = name;
    implementation.prepare = [](const Case& work, const Variant& variant,
                                int threads) -> std::unique_ptr<Execution> {
      return std::make_unique<Misreading>(work, variant, threads, misread);
    };
    return implementation;
  }();
  return kMisreading;
}

template <Spoil spoil>
const Implementation& spoiled(std::string_view name) {
  static const Implementation kSpoiled = [name] {
    Implementation implementation = kDilatedCpu;
    implementation.name = name;
    implementation.prepare = [](const Case& work, const Variant& variant,
                                int threads) -> std::unique_ptr<Execution> {
      return std::make_unique<Spoiled>(work, variant, threads, spoil);
    };
    return implementation;
  }();
  return kSpoiled;
}

}  // namespace

std::span<const Implementation* const> implementation_table() {
  static const std::array kTable = {&kDilatedCpu,
                                    &kPeak,
                                    &spoiled<one_value_off>("one_value_off"),
                                    &spoiled<last_row_unwritten>("last_row_unwritten"),
                                    &spoiled<lse_off>("lse_off"),
                                    &spoiled<crash>("crash"),
                                    &spoiled<crash_when_timed>("crash_when_timed"),
                                    &spoiled<one_rank_hangs>("one_rank_hangs"),
                                    &spoiled<throw_something>("throw_something"),
                                    &spoiled<splits_pages>("splits_pages"),
                                    &spoiled<splits_pages_when_timed>("splits_pages_when_timed"),
                                    &spoiled<no_memory>("no_memory"),
                                    &spoiled<one_rank_throws>("one_rank_throws"),
                                    &misreading<misses_a_key>("misses_a_key"),
                                    &misreading<doubles_a_key>("doubles_a_key"),
                                    &spoiled<notes_inputs>("notes_inputs"),
                                    &tuned(),
                                    &spoiled<nothing>("boaster")};
  return kTable;
}

namespace {

Record planned(const std::string& kernel) {
  Record record;
  record.sweep = "worker";
  record.work = {
      .sequence_length = 96, .pattern = {{32, 2}, {96, 3}}, .heads = 2, .kv_heads = 2, .head_dim = 16};
  record.work.device = DeviceKind::cpu;
  record.variant.kernel = kernel;
  record.variant.baseline = kernel == kPeak.name;
  record.kernel = kernel;
  record.kind = record.variant.baseline ? ImplementationKind::baseline : ImplementationKind::kernel;
  record.variant_id = variant_id(record.variant);
  record.case_id = case_id(record.work);
  record.threads = 1;
  record.flops = 1e5;
  return record;
}

ComparisonTask task_of(const std::vector<std::string>& kernels) {
  ComparisonTask task;
  for (const std::string& kernel : kernels) task.records.push_back(planned(kernel));
  task.reference = 0;
  task.measure = {.budget_s = 0.02, .min_rounds = 3, .timeout_s = 60};
  return task;
}

struct Story {
  std::vector<TaskEvent> events;
  const Record& record(const std::string& id) const {
    for (const TaskEvent& event : events)
      if (event.record && event.record->variant_id == id) return *event.record;
    throw std::out_of_range(id);
  }
  bool reached(Phase phase, const std::string& id) const {
    for (const TaskEvent& event : events)
      if (event.phase == phase && event.variant_id == id) return true;
    return false;
  }
};

Story story_of(const ComparisonTask& task) {
  Story story;
  run_task(task, [&](const TaskEvent& event) { story.events.push_back(event); });
  return story;
}

class WrongVariant : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrongVariant, IsFailedAndNeverTimed) {
  const auto [kernel, reason] = GetParam();
  const std::string id = std::string(kernel) + "/linear";
  g_runs = 0;
  const Story story = story_of(task_of({"dilated_cpu", kernel}));
  EXPECT_EQ(g_runs, 1) << "once, to be verified";
  EXPECT_EQ(story.record(id).status, Status::failed);
  EXPECT_NE(story.record(id).reason.find(reason), std::string::npos) << story.record(id).reason;
  EXPECT_FALSE(story.record(id).time);
  EXPECT_FALSE(story.reached(Phase::time, id));
  const Record& right = story.record("dilated_cpu/linear");
  EXPECT_EQ(right.status, Status::ok) << right.reason;
  EXPECT_TRUE(right.time);
  EXPECT_TRUE(right.verify);
}

INSTANTIATE_TEST_SUITE_P(Faults, WrongVariant,
                         testing::Values(std::pair{"one_value_off", "exceeds the tolerance"},
                                         std::pair{"last_row_unwritten", "were never written"},
                                         std::pair{"lse_off", "LSE"},
                                         std::pair{"throw_something", "the kernel refuses"}));

TEST(Worker, TunesOnceBeforeTheFirstRunAndRecordsTheChoice) {
  const Story story = story_of(task_of({"dilated_cpu", "tuned"}));
  const Record& record = story.record("tuned/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  nlohmann::json with_choice = story.record("dilated_cpu/linear").environment["library"];
  with_choice["plan"] = "1 after 0";
  EXPECT_EQ(record.environment["library"], with_choice);
}

// A long row hides one key of 4096 from the ordinary inputs in bf16; on the key probe's it shows.
TEST(Worker, FindsOneWrongKeyOfALongRow) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    ComparisonTask task = task_of({"dilated_cpu", "misses_a_key", "doubles_a_key"});
    for (Record& record : task.records) {
      record.work = {
          .sequence_length = 4096, .pattern = {{4096, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 32};
      record.work.dtype = dtype;
      record.work.device = DeviceKind::cpu;
      record.case_id = case_id(record.work);
      record.threads = 2;
      record.flops = flops(record.work);
    }
    const Story story = story_of(task);
    const Record& right = story.record("dilated_cpu/linear");
    EXPECT_EQ(right.status, Status::ok) << right.reason;
    ASSERT_TRUE(right.verify && right.verify->probed_rows);
    EXPECT_EQ(right.verify->probed_rows, 4096);
    for (const char* wrong : {"misses_a_key/linear", "doubles_a_key/linear"})
      EXPECT_EQ(story.record(wrong).status, Status::failed) << wrong;
    const std::string missed = story.record("misses_a_key/linear").reason;
    if (dtype == Dtype::bf16) {
      EXPECT_NE(missed.find("sees 4096 keys, its LSE counts 4095"), std::string::npos) << missed;
    }
  }
}

// Verified on the ordinary inputs, then on those of the key probe, then timed on the ordinary ones.
TEST(Worker, TimesTheInputsThatItVerified) {
  for (const OrderTensors tensors : {OrderTensors::kv, OrderTensors::qkv})
    for (const char* order : {"linear", "hilbert"}) {
      ComparisonTask task = task_of({"notes_inputs"});
      task.records[0].variant.order = order;
      task.records[0].variant.order_tensors = tensors;
      task.records[0].variant_id = variant_id(task.records[0].variant);
      g_seen.clear();
      EXPECT_EQ(story_of(task).events.back().record->status, Status::ok);
      ASSERT_GT(g_seen.size(), 3u);
      const std::size_t half = g_seen[0].size() / 2;
      for (std::size_t i = 0; i < half; ++i) {
        EXPECT_EQ(g_seen[1][i], 0);
        EXPECT_EQ(std::abs(g_seen[1][half + i]), 1);
      }
      for (std::size_t run = 2; run < g_seen.size(); ++run) EXPECT_EQ(g_seen[run], g_seen[0]) << order;
    }
}

TEST(Worker, VerifiesOnlyIfAsked) {
  ComparisonTask task = task_of({"notes_inputs"});
  task.verify = Verify::no;
  g_seen.clear();
  const Record record = *story_of(task).events.back().record;
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_FALSE(record.verify);
  EXPECT_FALSE(record.time->samples_ns.empty());
  ASSERT_FALSE(g_seen.empty());
  for (const auto& seen : g_seen) EXPECT_EQ(seen, g_seen[0]) << "no inputs of the key probe";
}

TEST(Worker, MeasuresNothingWhereTheReferenceIsWrongButTheOthers) {
  const Story story = story_of(task_of({"one_value_off", "dilated_cpu"}));
  EXPECT_EQ(story.record("one_value_off/linear").status, Status::failed);
  EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
}

TEST(Worker, MarksAnOrderThatIsNoMapInvalidWithoutRunningIt) {
  ComparisonTask task = task_of({"dilated_cpu", "boaster"});
  task.records[1].variant.order = "seed_d2xy";
  task.records[1].variant_id = "boaster/seed_d2xy";
  g_runs = 0;
  const Story story = story_of(task);
  EXPECT_EQ(g_runs, 0);
  EXPECT_EQ(story.record("boaster/seed_d2xy").status, Status::invalid);
}

TEST(Worker, DoubtsAFigureAboveThePeak) {
  ComparisonTask task = task_of({"dilated_cpu", "boaster"});
  task.records[1].flops = 1e15;  // as if most of the work had been left out
  const Story story = story_of(task);
  EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
  EXPECT_EQ(story.record("boaster/linear").status, Status::invalid);
  EXPECT_NE(story.record("boaster/linear").reason.find("above the measured fp32_fma peak"),
            std::string::npos);
}

// The task on pages of this size.
ComparisonTask paged_task_of(const std::vector<std::string>& kernels, PageSize pages) {
  ComparisonTask task = task_of(kernels);
  for (Record& record : task.records) record.work.pages = pages;
  return task;
}

double huge_share_in(const Record& record) {
  return record.environment.at("processes").at(0).at("huge_pages");
}

TEST(Worker, MeasuresOnThePagesThatTheCaseAsksFor) {
  const Story ordinary = story_of(paged_task_of({"dilated_cpu", "peak"}, PageSize::of_4k));
  EXPECT_EQ(ordinary.record("dilated_cpu/linear").status, Status::ok);
  EXPECT_EQ(ordinary.record("peak").status, Status::ok);
  EXPECT_EQ(huge_share_in(ordinary.record("dilated_cpu/linear")), 0);
  if (const auto why = why_not_pages(PageSize::of_2m, inspect_huge_pages())) GTEST_SKIP() << *why;
  const Story huge = story_of(paged_task_of({"dilated_cpu"}, PageSize::of_2m));
  const Record& record = huge.record("dilated_cpu/linear");
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_GE(huge_share_in(record), 0.9);
}

TEST(Worker, PassesNothingOffAsMeasuredOnPagesThatItHasNot) {
  if (const auto why = why_not_pages(PageSize::of_2m, inspect_huge_pages())) GTEST_SKIP() << *why;
  const Story without = story_of(paged_task_of({"splits_pages"}, PageSize::of_2m));
  const Record& skipped = without.record("splits_pages/linear");
  EXPECT_EQ(skipped.status, Status::skipped);
  EXPECT_NE(skipped.reason.find("pages 2m: the system put 0 % of a buffer on 2 MiB pages"), std::string::npos)
      << skipped.reason;
  EXPECT_FALSE(skipped.time);
  EXPECT_FALSE(skipped.verify);
  const Story lost = story_of(paged_task_of({"splits_pages_when_timed"}, PageSize::of_2m));
  const Record& invalid = lost.record("splits_pages_when_timed/linear");
  if (invalid.status == Status::skipped) GTEST_SKIP() << invalid.reason;
  EXPECT_EQ(invalid.status, Status::invalid) << invalid.reason;
  EXPECT_NE(invalid.reason.find("pages 2m: the system put 0 % of a buffer"), std::string::npos)
      << invalid.reason;
}

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

TEST(Worker, HasNoVerificationForAVariantWithoutOutput) {
  const Story story = story_of(task_of({"dilated_cpu", "peak"}));
  EXPECT_EQ(story.record("peak").status, Status::ok);
  EXPECT_FALSE(story.record("peak").verify);
  EXPECT_TRUE(story.record("peak").counters.contains("copy_bandwidth"));
}

// The same on a ring of 3 ranks.
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
    record.variant.ring_algorithm = algorithm;
    record.ring_groups = record.variant.ring_groups = 2;
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
  task.records[0].variant.outer_link = OuterLink::emulated_host;
  const Ring ring(task.records[0].work, task.records[0].variant);
  task.records[0].comm_bytes_between = ring.level_bytes().between;
  const Record record = story_of(task).record("dilated_cpu/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_EQ(record.environment.at("transport").at("outer_link").at("emulated"), true);
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

// The most memory of this process in bytes since the last forget_peak(); 0 if the system does not report it.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}
bool forget_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5 << std::flush;
  return clear.good();
}

// Q, K, V and O are each held once in device memory, which is the host's here. Everything else is computed in
// parts.
TEST(WorkerMemory, HoldsNoTensorASecondTime) {
  ComparisonTask task = task_of({"dilated_cpu"});
  Case& work = task.records[0].work;
  work.sequence_length = 1 << 17;
  work.pattern = {{64, 1}};
  work.heads = work.kv_heads = 4;
  work.head_dim = 64;
  work.dtype = Dtype::bf16;
  task.measure.min_rounds = 1;
  const std::int64_t tensor = work.sequence_length * work.heads * work.head_dim * 2;
  if (!forget_peak()) GTEST_SKIP() << "the kernel does not forget the peak";
  const std::int64_t before = peak_bytes();
  const Story story = story_of(task);
  EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
  EXPECT_GT(peak_bytes() - before, 4 * tensor);
  EXPECT_LT(peak_bytes() - before, 5 * tensor);
}

// In a real worker process, one variant crashes and the others are still verified, timed and counted.
class CrashingVariant : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(CrashingVariant, CostsItselfAlone) {
  const auto [kernel, phase] = GetParam();
  const auto records =
      measure_process(task_of({"dilated_cpu", kernel, "boaster"}), {}, 0, [](const TaskEvent&) {});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_EQ(records[1].reason.find(std::string(phase) + ": the worker "), 0u) << records[1].reason;
  EXPECT_FALSE(records[1].time);
  for (const std::size_t other : {0u, 2u}) {
    EXPECT_EQ(records[other].status, Status::ok) << records[other].reason;
    EXPECT_TRUE(records[other].time);
  }
}

INSTANTIATE_TEST_SUITE_P(Moments, CrashingVariant,
                         testing::Values(std::pair{"crash", "verify"},
                                         std::pair{"crash_when_timed", "time"}));

}  // namespace
}  // namespace hilbench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return hilbench::worker_main(std::atoi(argv[2]), std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
