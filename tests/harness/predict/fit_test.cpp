#include "harness/predict/fit.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/harness/predict/records.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

RingFit fit_of(const std::vector<Record>& records, std::set<std::int64_t> ranks = {1, 2}) {
  auto groups = ring_samples(records);
  EXPECT_EQ(groups.size(), 1u);
  return {groups.begin()->first, std::move(groups.begin()->second), ranks};
}

Case ring_case(std::int64_t length, std::int64_t ranks) {
  return {.sequence_length = length,
          .pattern = {{length, 1}},
          .heads = 1,
          .kv_heads = 1,
          .head_dim = 64,
          .dtype = Dtype::bf16,
          .ring_size = ranks,
          .device = DeviceKind::cuda};
}

double priced(const RingModel& model, Coefficient which) {
  return model.ns[static_cast<std::size_t>(which)];
}

TEST(RingModel, AddsUpWhatTheRanksDoByHand) {
  const RingShape shape = ring_shape(ring_case(1024, 2), {.kernel = "dilated"}, 1);
  RingModel model{.ns = {100, 0.001, 0.01, 0.1, 1000, 0.5, 9}};
  // A piece: 512 queries, 512 keys. A shard of K and V: 512 rows of 2 x 64 elements of 2 bytes.
  const double flops = 0.001 * 4 * 64 * 512 * 512, others = 100 + 0.01 * 64 * 512;
  const double piece = others + flops;
  const double exchange = 1000 + 0.5 * 2 * 512 * 64 * 2;
  EXPECT_NEAR(model_time(shape, model, RingPart::computation).ns, 2 * piece, 1e-6);
  EXPECT_NEAR(model_time(shape, model, RingPart::exchange).ns, exchange, 1e-6);
  EXPECT_NEAR(model_time(shape, model).ns, 2 * piece + exchange, 1e-6) << "nothing hidden";
  model.hidden = 1;
  EXPECT_NEAR(model_time(shape, model).ns, std::max(piece, exchange) + piece, 1e-6) << "all hidden";
  EXPECT_NEAR(model_time(ring_shape(ring_case(1024, 1), {.kernel = "dilated"}, 1), model).ns,
              100 + 0.001 * 4 * 64 * 1024 * 1024 + 0.01 * 64 * 1024, 1e-6);
  model.ns[static_cast<std::size_t>(Coefficient::tile)] = 3;
  EXPECT_NEAR(model_time(shape, model, RingPart::computation).ns, 2 * (others + 3 * 64 * 512), 1e-6)
      << "a tile walks longer than all of them at the device's rate";
  Case on_cpu = ring_case(1024, 2);
  on_cpu.device = DeviceKind::cpu;
  EXPECT_NEAR(model_time(ring_shape(on_cpu, {.kernel = "dilated"}, 2), model, RingPart::computation).ns,
              2 * (others + flops + 3 * 64 * 512), 1e-6);
}

// Every second row of a shard of 512, K and V.
TEST(RingModel, PacksBeforeItSends) {
  Case work = ring_case(1024, 2);
  work.pattern = {{1024, 2}};
  const Variant packed{.kernel = "dilated", .ring_algorithm = RingAlgorithm::ring_packed};
  const RingModel model{.ns = {100, 0, 0, 0, 1000, 0.5, 9}};
  const double bytes = 256 * 2 * 64 * 2;
  EXPECT_NEAR(model_time(ring_shape(work, packed, 1), model, RingPart::exchange).ns,
              9 * bytes + 2 * 100 + 1000 + 0.5 * bytes, 1e-6);
  work.device = DeviceKind::cpu;
  EXPECT_NEAR(model_time(ring_shape(work, packed, 2), model, RingPart::exchange).ns,
              9 * bytes + 1000 + 0.5 * bytes, 1e-6);
}

TEST(RingModel, CarriesTheLinearFunctionThatGivesItsTime) {
  const RingModel model = known_model();
  for (const std::int64_t ranks : {1, 2, 4, 7}) {
    Case work = ring_case(100'000, ranks);
    work.mask = Mask::causal;
    const ModelTime time = model_time(ring_shape(work, {.kernel = "dilated"}, 1), model);
    double sum = 0;
    for (std::size_t i = 0; i < kCoefficients; ++i) sum += time.amounts[i] * model.ns[i];
    EXPECT_NEAR(sum, time.ns, 1e-9 * time.ns);
  }
}

TEST(RingModel, RanksThatShareCoresTakeTurns) {
  Case work = ring_case(4096, 4);
  work.device = DeviceKind::cpu;
  const RingModel model{.ns = {0, 0.01, 0, 0, 0, 0, 0}};
  const double whole = 0.01 * 4 * 64 * 4096 * 4096;
  EXPECT_NEAR(model_time(ring_shape(work, {.kernel = "dilated"}, 2), model).ns, whole / 2, 1e-3);
  EXPECT_NEAR(model_time(ring_shape(work, {.kernel = "dilated"}, 4), model).ns, whole / 4, 1e-3);
  EXPECT_NEAR(model_time(ring_shape(work, {.kernel = "dilated"}, 8), model).ns, whole / 8, 1e-3);
}

TEST(RingFit, FindsTheModelThatMadeTheRecords) {
  const RingModel truth = known_model();
  const RingFit fit = fit_of(ring_records({1, 2}, truth, {}));
  for (std::size_t i = 0; i < kCoefficients; ++i)
    EXPECT_NEAR(fit.model().ns[i], truth.ns[i], 0.02 * truth.ns[i]) << coefficient_table()[i].name;
  EXPECT_NEAR(fit.model().hidden, truth.hidden, 0.02);
  EXPECT_LT(fit.left_out().worst, 0.01);
  for (const std::int64_t ranks : {4, 8, 16}) {
    const RingShape shape = ring_shape(ring_case(1 << 20, ranks), {.kernel = "dilated"}, 1);
    const double ns = model_time(shape, truth).ns;
    EXPECT_NEAR(fit.time(shape, "dilated/linear").value, ns, 0.01 * ns) << ranks;
  }
}

// Few tiles on a large device: the time of a piece does not fall if each rank has fewer tiles.
TEST(RingFit, TellsThatFewTilesDoNotFillAGpu) {
  RingModel truth = known_model();
  truth.ns[static_cast<std::size_t>(Coefficient::tile)] *= 4;
  const RingFit fit = fit_of(ring_records({1, 2}, truth, {}));
  Case work = ring_case(4096, 8);
  work.heads = work.kv_heads = 4;
  work.head_dim = 128;
  const RingShape shape = ring_shape(work, {.kernel = "dilated"}, 1);
  const double ns = model_time(shape, truth, RingPart::computation).ns;
  RingModel filled = truth;
  filled.ns[static_cast<std::size_t>(Coefficient::tile)] = 0;
  ASSERT_GT(ns, 1.3 * model_time(shape, filled, RingPart::computation).ns) << "the case is one of few tiles";
  EXPECT_NEAR(model_time(shape, fit.model(), RingPart::computation).ns, ns, 0.02 * ns);
}

// Where a tile's walk is never the longer part, nothing is made of it.
TEST(RingFit, LeavesOutWhatTheTimesDoNotTell) {
  RingModel truth = known_model();
  truth.ns[static_cast<std::size_t>(Coefficient::tile)] = 0;
  const RingFit fit = fit_of(ring_records({1, 2}, truth, {}));
  EXPECT_LT(fit.left_out().worst, 0.01);
}

TEST(RingFit, ItsIntervalsHoldTheTruthUnderNoise) {
  const RingModel truth = known_model();
  int held = 0, asked = 0;
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 1 : 5); ++seed) {
    Noise noise{.relative = 0.05};
    noise.random.seed(seed);
    const RingFit fit = fit_of(ring_records({1, 2}, truth, noise));
    EXPECT_GT(fit.left_out().median, 0.005) << "noise shows in what is predicted from the others";
    EXPECT_LT(fit.left_out().median, 0.15);
    for (const Coefficient which : {Coefficient::flop, Coefficient::byte}) {
      const Estimate estimate = fit.coefficient(which);
      held += estimate.ci.low <= priced(truth, which) && priced(truth, which) <= estimate.ci.high;
      ++asked;
    }
    for (const std::int64_t ranks : {4, 8}) {
      const RingShape shape = ring_shape(ring_case(1 << 18, ranks), {.kernel = "dilated"}, 1);
      const Estimate estimate = fit.time(shape, "dilated/linear");
      const double ns = model_time(shape, truth).ns;
      held += estimate.ci.low <= ns && ns <= estimate.ci.high;
      EXPECT_LT(estimate.ci.high / estimate.ci.low, 2) << "an interval that says something";
      ++asked;
    }
  }
  EXPECT_GE(held, asked * 85 / 100) << "of " << asked;
}

TEST(RingFit, TellsRecordsThatFollowAnotherLaw) {
  Noise none;
  std::vector<Record> records = ring_records({1, 2}, known_model(), none);
  const double before = fit_of(records).left_out().median;
  for (Record& record : records) {  // time that grows as the square root of the work
    record.time->median_ns = std::sqrt(record.time->median_ns) * 1e3;
    record.counters.clear();
  }
  EXPECT_GT(fit_of(records).left_out().median, 10 * before + 0.1);
}

TEST(RingFit, TakesAnOrderForAFactorOnTheComputation) {
  const std::vector<Record> records = ring_records({1, 2}, known_model(), {}, "hilbert", 1.25);
  const RingFit fit = fit_of(records);
  ASSERT_TRUE(fit.orders().contains("dilated/hilbert"));
  const OrderFactor& order = fit.orders().at("dilated/hilbert");
  EXPECT_NEAR(order.factor.value, 1.25, 0.01);
  EXPECT_EQ(order.pairs, 32u);
  const RingShape bound = ring_shape(ring_case(1 << 20, 4), {.kernel = "dilated"}, 1);
  EXPECT_NEAR(fit.speedup_over_linear(bound, "dilated/hilbert")->value, 0.8, 0.01) << "computation alone";
  const RingShape sending = ring_shape(ring_case(4096, 16), {.kernel = "dilated"}, 1);
  EXPECT_GT(fit.speedup_over_linear(sending, "dilated/hilbert")->value, 0.9) << "exchange hides the order";
  EXPECT_FALSE(fit.speedup_over_linear(bound, "dilated/random"));
}

std::string refusal(const std::vector<Record>& records, std::set<std::int64_t> ranks = {1, 2}) {
  try {
    fit_of(records, std::move(ranks));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RingFit, RefusesRecordsThatTellNothingOfRings) {
  const RingModel truth = known_model();
  EXPECT_NE(refusal(ring_records({1}, truth, {})).find("no rings to fit on"), std::string::npos);
  EXPECT_NE(refusal(ring_records({1, 4}, truth, {})).find("at ring size 1, 2 exchanged anything"),
            std::string::npos);
  EXPECT_EQ(refusal(ring_records({1, 4}, truth, {}), {1, 4}), "");
  std::vector<Record> few = ring_records({1, 2}, truth, {});
  std::erase_if(few, [&](const Record& record) {
    return record.work.sequence_length != 65536 || record.work.mask == Mask::causal ||
           record.work.pattern[0].dilation > 1;
  });
  EXPECT_NE(refusal(few).find("2 cases are too few"), std::string::npos) << refusal(few);
  few[0].environment["device_state"] = {{"foreign_processes", 1}};
  EXPECT_EQ(ring_samples(few).begin()->second.size(), few.size() - 1);
}

}  // namespace
}  // namespace hilbench
