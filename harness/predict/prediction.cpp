#include "harness/predict/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/index/index.hpp"

namespace hilbench {
namespace {

Case one_rank(Case work) {
  work.ring_size = 1;
  return work;
}

// How many times the resources of one rank the ring has. On GPUs: its devices. On a CPU 1: the ranks share
// the threads that one rank has.
double resources(const Case& work) {
  return work.device == DeviceKind::cuda ? static_cast<double>(work.ring_size) : 1;
}

double memory_of_ranks(const Ring& ring) {
  double most = 0;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) most = std::max(most, ring.memory(rank).total());
  return most;
}

}  // namespace

RingQuestion at_ring_size(const Record& record, std::int64_t ranks) {
  RingQuestion question{record.work, record.variant, machine_of(record)};
  // An older record may have had another default.
  if (record.sharding != Sharding::automatic && sharding_of(record.work, record.variant) != record.sharding)
    question.variant.ring.sharding = record.sharding;
  if (!record.transport.empty()) question.variant.ring.transport = transport_named(record.transport);
  if (record.head_moves != HeadMoves::automatic && head_moves_of(question.variant) != record.head_moves)
    question.variant.ring.head_moves = record.head_moves;
  question.work.ring_size = ranks;
  return question;
}

RingPrediction predict(const RingFit& fit, const RingQuestion& question) {
  const Ring ring(question.work, question.variant);
  const RingShape shape = ring_shape(question.work, question.variant, question.machine);
  const RingShape alone = ring_shape(one_rank(question.work), question.variant, question.machine);
  const std::string order = one_rank_id(question.variant);
  RingPrediction made;
  made.fit = &fit;
  made.question = question;
  made.algorithm = to_string(ring.algorithm());
  made.ns = fit.time(shape, order);
  const auto found = fit.orders().find(order);
  const RingShape scaled =
      scaled_computation(shape, found == fit.orders().end() ? 1 : found->second.factor.value);
  made.compute_ns = model_time(scaled, fit.model(), RingPart::computation).ns;
  made.exchange_ns = model_time(scaled, fit.model(), RingPart::exchange).ns;
  made.hidden = hidden_share(made.compute_ns, made.exchange_ns, made.ns.value);
  made.one_rank_ns = fit.time(alone, order);
  made.speedup = made.one_rank_ns.value / made.ns.value;
  made.efficiency = made.speedup / resources(question.work);
  made.sent_bytes = ring.sent_bytes();
  made.rank_bytes = memory_of_ranks(ring);
  return made;
}

std::vector<RingCheck> check(const RingFit& fit) {
  std::map<std::int64_t, RingCheck> by_ranks;
  std::map<std::int64_t, std::vector<double>> errors;
  std::int64_t most_fitted = 0;
  for (const RingSample& sample : fit.samples())
    if (fit.fitted(sample)) most_fitted = std::max(most_fitted, sample.record->work.ring_size);
  for (const RingSample& sample : fit.samples()) {
    const Record& record = *sample.record;
    const std::int64_t ranks = record.work.ring_size;
    if (fit.fitted(sample) || ranks <= most_fitted) continue;
    const Estimate predicted = fit.time(sample.shape, one_rank_id(record.variant));
    RingCheck& held = by_ranks[ranks];
    held.ranks = ranks;
    held.inside += sample.ns >= predicted.ci.low && sample.ns <= predicted.ci.high;
    const double error = std::abs(predicted.value / sample.ns - 1);
    errors[ranks].push_back(error);
    if (error < held.errors.worst) continue;
    held.errors.worst = error;
    held.worst = fmt::format("{}/{}", record.case_id, record.variant_id);
    held.worst_measured_ns = {sample.ns, record.time->ci_ns};
    held.worst_predicted_ns = predicted;
  }
  std::vector<RingCheck> checks;
  for (auto& [ranks, held] : by_ranks) {
    held.errors = errors_of(errors[ranks]);
    checks.push_back(std::move(held));
  }
  return checks;
}

// A piece needs at most the tables and tiles of a one-rank case with the rank's own rows.
double rank_device_bytes(const Case& work, const Variant& variant) {
  const Ring ring(work, variant);
  double most = 0;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    std::size_t pieces = 0;
    for (const RingStep& step : ring.steps(rank)) pieces += step.sources.size();
    Case piece = one_rank(work);
    piece.sequence_length = std::max<std::int64_t>(1, ring.computed_rows(rank));
    const double index = device_index_bytes(piece, variant.kernel(), kPlannedTileRows);
    most = std::max(most, ring.memory(rank).total() + static_cast<double>(pieces) * index);
  }
  return most;
}

std::int64_t longest_on_ranks(Case work, const Variant& variant, double device_bytes) {
  std::vector<bool> whole;
  std::int64_t step = 1;
  for (const Branch& branch : work.pattern) {
    whole.push_back(branch.segment_length >= work.sequence_length);
    if (!whole.back()) step = std::max(step, branch.segment_length);
  }
  step *= work.ring_size;
  const auto fits = [&](std::int64_t steps) {
    work.sequence_length = steps * step;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (whole[i]) work.pattern[i].segment_length = work.sequence_length;
    return rank_device_bytes(work, variant) <= device_bytes;
  };
  std::int64_t low = 0, high = kMostPositions / step + 1;  // fits, does not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low * step;
}

}  // namespace hilbench
