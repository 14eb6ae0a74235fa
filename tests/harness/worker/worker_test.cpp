// The worker with variants that compute wrongly, crash, or claim too many FLOPs.
#include "harness/worker/worker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/run/settle.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/machine/huge_pages.hpp"
#include "tests/harness/worker/spoiled_variants.hpp"
#include "tests/harness/worker/stories.hpp"

namespace hilbench {
namespace {

class WrongVariant : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrongVariant, IsFailedAndNeverTimed) {
  const auto [kernel, reason] = GetParam();
  const std::string id = std::string(kernel) + "/linear";
  g_spoiled_runs = 0;
  const Story story = story_of(task_of({"dilated_cpu", kernel}));
  EXPECT_EQ(g_spoiled_runs, 1) << "once, to be verified";
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

// Each is right when it is verified before the timing.
class PretendingVariant : public testing::TestWithParam<const char*> {};

TEST_P(PretendingVariant, IsFailedAndLosesItsTimes) {
  const std::string id = std::string(GetParam()) + "/linear";
  const Story story = story_of(task_of({"dilated_cpu", GetParam()}));
  EXPECT_EQ(story.record(id).status, Status::failed);
  EXPECT_FALSE(story.record(id).time);
  const Record& right = story.record("dilated_cpu/linear");
  EXPECT_EQ(right.status, Status::ok) << right.reason;
  EXPECT_TRUE(right.time && right.verify && right.verify->after);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PretendingVariant,
                         testing::Values("skips_from_the_fourth", "works_every_second_time",
                                         "keeps_its_first_output", "keeps_an_output_for_each_query"));

// The lines that the analysis counted, 32 and 16 (its program, 8192 tokens, segments of 512, dilation 2); a
// permutation reads as many as linear order.
TEST(Worker, CountsTheLinesOfAMapThatItRejects) {
  ComparisonTask task = task_of({"dilated_cpu", "dilated_cpu", "dilated_cpu", "dilated_cpu"});
  const std::array orders = {"linear", "seed_zeros", "hilbert", "seed_d2xy"};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    Record& record = task.records[i];
    record.work = {.sequence_length = 8192, .pattern = {{512, 2}}, .heads = 1, .kv_heads = 1, .head_dim = 16};
    record.work.device = DeviceKind::cpu;
    record.work.head_offset = HeadOffset::none;
    record.case_id = case_id(record.work);
    record.variant.change().order = orders[i];
    record.variant.change().order_chunk = 4096;  // a square, as their curve is
    record.variant_id = variant_id(record.variant);
    record.flops = flops(record.work);
  }
  const Story story = story_of(task);
  const auto lines = [&](const std::string& order, const char* counter) {
    return counter_value(story.record("dilated_cpu/" + order), counter);
  };
  EXPECT_EQ(lines("linear", "layout_token_lines_first_tile"), 32);
  EXPECT_EQ(lines("seed_zeros", "layout_token_lines_first_tile"), 16);
  EXPECT_EQ(lines("hilbert", "layout_token_lines_first_tile"), 32);
  EXPECT_EQ(lines("linear", "layout_lines_64_per_tile"), 256) << "a line for each key";
  EXPECT_EQ(lines("hilbert", "layout_lines_64_per_tile"), 256);
  EXPECT_LT(lines("seed_zeros", "layout_lines_64_per_tile"), 256);
  EXPECT_EQ(story.record("dilated_cpu/seed_zeros").status, Status::invalid);
  EXPECT_FALSE(story.record("dilated_cpu/seed_zeros").time);
  EXPECT_TRUE(story.record("dilated_cpu/seed_d2xy").counters.empty()) << "it leads out of the sequence";
}

TEST(Worker, TunesOnceBeforeTheFirstRunAndRecordsTheChoice) {
  const Story story = story_of(task_of({"dilated_cpu", "tuned"}));
  const Record& record = story.record("tuned/linear");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  nlohmann::json with_choice = (*story.record("dilated_cpu/linear").environment)["library"];
  with_choice["plan"] = "1 after 0";
  EXPECT_EQ((*record.environment)["library"], with_choice);
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
    // Unless a drawn row is nearer to its tolerance than the missing key: then verification alone finds it.
    if (dtype == Dtype::bf16) {
      EXPECT_TRUE(missed.find("sees 4096 keys, its LSE counts 4095") != std::string::npos ||
                  missed.find(" of LSE in the row") != std::string::npos)
          << missed;
    }
  }
}

// Verified on the first inputs, then on those of the key probe, then timed on others, of which only the sign
// of V changes, and verified again.
TEST(Worker, TimesOtherInputsThanItVerifiedAndVerifiesThem) {
  for (const OrderTensors tensors : {OrderTensors::kv, OrderTensors::qkv})
    for (const char* order : {"linear", "hilbert"}) {
      ComparisonTask task = task_of({"notes_inputs"});
      task.records[0].variant.change().order = order;
      task.records[0].variant.change().order_tensors = tensors;
      task.records[0].variant_id = variant_id(task.records[0].variant);
      g_seen.clear();
      const Record record = *story_of(task).events.back().record;
      EXPECT_EQ(record.status, Status::ok) << record.reason;
      ASSERT_TRUE(record.verify && record.verify->after);
      EXPECT_GE(record.verify->after->rows, record.verify->before.rows);
      EXPECT_GE(record.verify->poisoned_rounds, 1);
      EXPECT_FALSE(record.verify->once);
      ASSERT_EQ(record.verify->entropy.size(), 1u);
      EXPECT_EQ(record.verify->entropy[0].size(), 33u) << record.verify->entropy[0];
      ASSERT_GT(g_seen.size(), 5u);
      const std::size_t half = g_seen[0].size() / 2;
      for (std::size_t i = 0; i < half; ++i) {
        EXPECT_EQ(g_seen[1][i], 0);
        EXPECT_EQ(std::abs(g_seen[1][half + i]), 1);
      }
      const std::vector<float>&timed = g_seen[2], &last = g_seen.back();
      for (std::size_t i = 0; i < half; ++i) {
        EXPECT_NE(timed[i], g_seen[0][i]);
        EXPECT_NE(timed[half + i], g_seen[0][half + i]);
      }
      EXPECT_EQ(g_seen[3], timed) << "warm-up";
      for (std::size_t run = 3; run < g_seen.size(); ++run) {
        const float sign = g_seen[run][half] == timed[half] ? 1 : -1;
        for (std::size_t i = 0; i < half; ++i) {
          ASSERT_EQ(g_seen[run][i], timed[i]) << order;
          ASSERT_EQ(g_seen[run][half + i], sign * timed[half + i]) << order;
        }
      }
      EXPECT_EQ(last, g_seen[g_seen.size() - 2]) << "the last two executions are compared";
    }
}

TEST(Worker, VerifiesAfterTheTimingAloneIfAsked) {
  ComparisonTask task = task_of({"notes_inputs"});
  task.verify = Verify::after;
  g_seen.clear();
  const Record record = *story_of(task).events.back().record;
  EXPECT_EQ(record.status, Status::ok);
  ASSERT_TRUE(record.verify && record.verify->after);
  EXPECT_EQ(record.verify->before.rows, 0);
  EXPECT_GT(record.verify->after->rows, 0);
  EXPECT_FALSE(record.time->samples_ns.empty());
  ASSERT_FALSE(g_seen.empty());
  for (const auto& seen : g_seen) EXPECT_EQ(seen[0], g_seen[0][0]) << "no inputs of the key probe";
}

TEST(Worker, MeasuresNothingWhereTheReferenceIsWrongButTheOthers) {
  const Story story = story_of(task_of({"one_value_off", "dilated_cpu"}));
  EXPECT_EQ(story.record("one_value_off/linear").status, Status::failed);
  EXPECT_EQ(story.record("dilated_cpu/linear").status, Status::ok);
}

TEST(Worker, MarksAnOrderThatIsNoMapInvalidWithoutRunningIt) {
  ComparisonTask task = task_of({"dilated_cpu", "boaster"});
  task.records[1].variant.change().order = "seed_d2xy";
  task.records[1].variant_id = "boaster/seed_d2xy";
  g_spoiled_runs = 0;
  const Story story = story_of(task);
  EXPECT_EQ(g_spoiled_runs, 0);
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
  EXPECT_GT(story.record("dilated_cpu/linear").judging_peak.value_or(0), 0);
  EXPECT_EQ(story.record("dilated_cpu/linear").judging_peak, story.record("boaster/linear").judging_peak);
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

TEST(Worker, HasNoVerificationForAVariantWithoutOutput) {
  const Story story = story_of(task_of({"dilated_cpu", "peak"}));
  EXPECT_EQ(story.record("peak").status, Status::ok);
  EXPECT_FALSE(story.record("peak").verify);
  EXPECT_TRUE(story.record("peak").counters.contains("copy_bandwidth"));
}

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

std::vector<std::string> last_timed(const Story& story, std::size_t most) {
  std::vector<std::string> ids;
  for (const TaskEvent& event : story.events)
    if (event.phase == Phase::time && !event.record && !event.variant_id.empty())
      ids.push_back(event.variant_id);
  return {ids.end() - static_cast<std::ptrdiff_t>(most), ids.end()};
}

// A warm end runs once before it is timed.
TEST(WorkerProtocols, TimesTheEndsOfAChainInTheSequenceOfTheProtocol) {
  const std::string start = "dilated_cpu/linear", end = "notes_inputs/linear";
  using Ids = std::vector<std::string>;
  for (const auto& [protocol, sequence] :
       {std::pair(Protocol{1, EndTurn::first, CacheState::warm}, Ids{end, end, start, start}),
        {Protocol{5, EndTurn::last, CacheState::cold}, Ids{start, end}},
        {Protocol{2, EndTurn::interleaved, CacheState::cold}, Ids{start, end, start, end}}}) {
    ComparisonTask task = task_of({"dilated_cpu", "tuned", "notes_inputs"});
    task.measure.budget_s = 1e-9;  // one trial of the fewest runs is due all the same
    task.measure.protocols = {protocol, {1000, EndTurn::last, CacheState::warm}};
    task.chain_end = end;
    const Story story = story_of(task);
    EXPECT_EQ(last_timed(story, sequence.size()), sequence) << protocol_text(protocol);
    for (const std::string& id : {start, end}) {
      const std::vector<ProtocolTimes>& found = story.record(id).time.value().protocols;
      ASSERT_EQ(found.size(), 2u) << id;
      EXPECT_EQ(found[0].protocol, protocol);
      EXPECT_EQ(found[0].process_trials, std::vector<std::int64_t>{1});
      EXPECT_GT(found[0].trials_ns.at(0), 0);
      EXPECT_EQ(found[1].process_trials, std::vector<std::int64_t>{0}) << "no time for it is left";
    }
    EXPECT_TRUE(story.record("tuned/linear").time.value().protocols.empty());
  }
}

TEST(WorkerProtocols, TakesFiveTrialsOfEachProtocolIfThereIsTime) {
  ComparisonTask task = task_of({"dilated_cpu", "notes_inputs"});
  task.measure.interval = 0.9;
  task.measure.budget_s = 60;
  task.measure.protocols = {{2, EndTurn::last, CacheState::warm},
                            {3, EndTurn::interleaved, CacheState::warm}};
  task.chain_end = "notes_inputs/linear";
  const Story story = story_of(task);
  for (const ProtocolTimes& times : story.record(task.chain_end).time.value().protocols)
    EXPECT_EQ(times.trials_ns.size(), 5u) << protocol_text(times.protocol);
}

}  // namespace
}  // namespace hilbench
