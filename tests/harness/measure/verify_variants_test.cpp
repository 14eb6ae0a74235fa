// The variants of this program pass their verification, over random cases: a false failure is as bad as a
// fault that is missed.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "baselines/table.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/orders/order.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Record planned(const Case& work, Variant variant) {
  Record record;
  record.sweep = "verify";
  record.work = work;
  record.kernel = variant.name();
  record.kind = variant.is_baseline() ? ImplementationKind::baseline : ImplementationKind::kernel;
  record.variant_id = variant_id(variant);
  record.case_id = case_id(work);
  record.threads = 2;
  record.variant = std::move(variant);
  return record;
}

Variant random_variant(Random& random, bool ring) {
  Variant variant{KernelChoice{.name = "dilated_cpu"}};
  KernelChoice& kernel = variant.change();
  kernel.order = one_of<std::string>(random, {"linear", "snake", "morton", "gray", "hilbert", "moore",
                                              "residue", "bitrev_residue", "random"});
  kernel.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  kernel.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  kernel.buffers = one_of(random, {Buffers::pooled, Buffers::fresh});
  kernel.index = one_of(random, {IndexUse::cached, IndexUse::computed});
  if (ring) {
    variant.ring.sharding = one_of(random, {Sharding::contiguous, Sharding::zigzag, Sharding::striped});
    variant.ring.algorithm =
        one_of(random, {RingAlgorithm::allgather, RingAlgorithm::ring, RingAlgorithm::ring_packed});
  } else if (between(random, 0, 3) == 0) {
    kernel.order_scope = one_of(random, {OrderScope::tokens, OrderScope::keys});
    kernel.order_tensors = OrderTensors::qkv;
  }
  return variant;
}

ComparisonTask random_task(Random& random, std::uint64_t seed) {
  Case work = random_case(random, one_of<std::int64_t>(random, {40, 150, 300}));
  work.threads = 2;
  const bool ring = between(random, 0, 3) == 0;
  if (ring) work.ring_size = between(random, 2, 4);
  ComparisonTask task;
  task.measure = {.budget_s = 0.001, .min_rounds = 1, .seed = seed, .timeout_s = 60};
  for (int i = 0; i < 3; ++i) {
    const Record record = planned(work, random_variant(random, ring));
    bool there = false;
    for (const Record& other : task.records) there |= other.variant_id == record.variant_id;
    if (!there) task.records.push_back(record);
  }
  if (!ring && work.head_dim >= 16) task.records.push_back(planned(work, {BaselineName{"gemm"}}));
  task.reference = 0;
  return task;
}

class RightVariants : public testing::TestWithParam<int> {};

TEST_P(RightVariants, PassVerificationAndKeyProbe) {
  double worst = 0;
  int passed = 0;
  for (int i = 0; i < 15; i += kSanitized ? 8 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 15 + i);
    Random random(seed);
    const ComparisonTask task = random_task(random, seed);
    run_task(task, [&](const TaskEvent& event) {
      if (!event.record) return;
      const Record& record = *event.record;
      if (record.status == Status::skipped || record.status == Status::invalid) return;
      EXPECT_EQ(record.status, Status::ok)
          << "seed " << seed << ", " << record.case_id << ", " << record.variant_id << ": " << record.reason;
      ASSERT_TRUE(record.verify && record.verify->before.worst && record.verify->probed_rows);
      worst = std::max(worst, *record.verify->before.worst);
      EXPECT_GT(*record.verify->probed_rows, 0);
      ++passed;
    });
  }
  EXPECT_GT(passed, 0) << "all were skipped";
  RecordProperty("worst", std::to_string(worst));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RightVariants, testing::Range(0, 4));

// Whatever the inputs are like. Half of all combinations, in which every two values meet.
class RightVariantsOfData : public testing::TestWithParam<DataKind> {};

TEST_P(RightVariantsOfData, PassVerificationAndKeyProbe) {
  const std::vector<std::vector<Branch>> patterns = {{{1000, 1}}, {{96, 1}, {300, 3}}};
  int passed = 0;
  unsigned number = 0;
  for (const double scale : {0.1, 1.0, 4.0, 20.0})
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
      for (const std::int64_t head_dim : {16, 64, 128})
        for (const Mask mask : {Mask::full, Mask::causal})
          for (const std::vector<Branch>& pattern : patterns) {
            if (std::popcount(number++) % 2 != 0) continue;
            if (kSanitized && (head_dim != 16 || pattern.size() == 1)) continue;
            const Case work{.sequence_length = 450,
                            .pattern = pattern,
                            .heads = 2,
                            .kv_heads = 1,
                            .head_dim = head_dim,
                            .dtype = dtype,
                            .mask = mask,
                            .device = DeviceKind::cpu,
                            .threads = 2,
                            .score_scale = scale,
                            .data = GetParam()};
            ComparisonTask task;
            task.measure = {.budget_s = 0.001, .min_rounds = 1, .seed = 5, .timeout_s = 60};
            task.records = {planned(work, {KernelChoice{.name = "dilated_cpu", .order = "linear"}}),
                            planned(work, {KernelChoice{.name = "dilated_cpu", .order = "hilbert"}}),
                            planned(work, {BaselineName{"gemm"}})};
            task.reference = 0;
            run_task(task, [&](const TaskEvent& event) {
              if (!event.record) return;
              const Record& record = *event.record;
              EXPECT_TRUE(record.status == Status::ok || record.status == Status::invalid)
                  << record.case_id << ", " << record.variant_id << ": " << record.reason;
              ASSERT_TRUE(record.verify && record.verify->probed_rows) << record.case_id;
              ++passed;
            });
          }
  EXPECT_EQ(passed, kSanitized ? 24 : 144);
}
INSTANTIATE_TEST_SUITE_P(Kinds, RightVariantsOfData,
                         testing::Values(DataKind::normal, DataKind::heavy_tails, DataKind::dominating_key,
                                         DataKind::equal_rows));

}  // namespace
}  // namespace hilbench
