#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "baselines/table.hpp"
#include "harness/plan/memory.hpp"
#include "harness/predict/prediction.hpp"
#include "reports/claims/named_devices.hpp"
#include "reports/records/stats.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

void answer_length(ClaimPrediction& answer) {
  const auto memory_bytes = nominal_memory_bytes(answer.claim.device);
  if (!memory_bytes) {
    answer.says = fmt::format("not predicted: the memory size of '{}' is not known", answer.claim.device);
    return;
  }
  Case work = *answer.claim.work;
  work.device = DeviceKind::cuda;
  Site site;
  site.gpu = Gpu{.memory_bytes = *memory_bytes};
  const double usable = usable_memory(work, site).device;
  const Variant variant{KernelChoice{.name = "dilated"}};
  const std::int64_t longest = longest_on_ranks(work, variant, usable);
  const double share = static_cast<double>(longest) / *answer.claim.claimed;
  answer.verdict = share >= 1 ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  answer.predicted = fmt::format("{} [exact, by the memory plan]", longest);
  answer.says = fmt::format(
      "{} times the claimed length, which takes {} of {} on each device; forward pass alone, not tested on "
      "that "
      "device",
      number_text(share, 3), bytes_text(rank_device_bytes(work, variant)), bytes_text(usable));
}

// The pattern at another length: segments that cover the whole sequence cover it there too.
std::vector<Branch> stretched(const Case& work, std::int64_t length) {
  std::vector<Branch> pattern = work.pattern;
  for (Branch& branch : pattern)
    if (branch.segment_length >= work.sequence_length) branch.segment_length = length;
  return pattern;
}

// Both orders of the claim, for each pattern of the records, at the claim's length and ring size.
struct Span {
  std::vector<double> values;
  Interval ci{1e300, 0};
  std::set<std::string> patterns;
  void add(const Estimate& estimate) {
    values.push_back(estimate.value);
    ci = {std::min(ci.low, estimate.ci.low), std::max(ci.high, estimate.ci.high)};
  }
};

// One question for each pattern and mask of the samples in the order of the claim, with the options that the
// claims mean.
template <class Take>
void for_claimed_patterns(const RingFit& fit, const ClaimRow& claim, const Take& take) {
  std::set<std::string> seen;
  for (const RingSample& sample : fit.samples()) {
    if (sample.record->variant.kernel().order != claim.compared.variant.order) continue;
    RingQuestion question = at_ring_size(*sample.record, *claim.ring_size);
    question.work.pattern = stretched(sample.record->work, *claim.sequence_length);
    question.work.sequence_length = *claim.sequence_length;
    question.variant.ring.algorithm = RingAlgorithm::ring;
    question.variant.ring.sharding = Sharding::contiguous;  // as the reports had it
    question.variant.ring.order_span = OrderSpan::shard;
    if (seen.insert(case_id(question.work) + one_rank_id(question.variant)).second) take(question);
  }
}

std::string no_hilbert(const std::vector<RingFit>& fits) {
  return fits.empty() ? "not predicted: no records of rings"
                      : "not predicted: these records hold no ring with both Hilbert order and linear order";
}

// What is predicted, to be judged like a measurement. processes 0: it is exact.
Measured predicted_ratio(double ratio, const Interval& ci, std::size_t processes) {
  const double most = 1 + kDefaultMargin, least = 1 / most;
  const Verdict verdict = ci.low > most                        ? Verdict::faster
                          : ci.high < least                    ? Verdict::slower
                          : ci.low >= least && ci.high <= most ? Verdict::equivalent
                                                               : Verdict::inconclusive;
  return {ratio, ci, processes, verdict, kDefaultMargin};
}

void answer_speedup(ClaimPrediction& answer, const std::vector<RingFit>& fits) {
  Span span;
  std::size_t pairs = 0;
  for (const RingFit& fit : fits)
    for_claimed_patterns(fit, answer.claim, [&](const RingQuestion& question) {
      const std::string id = one_rank_id(question.variant);
      const RingShape shape = ring_shape(question.work, question.variant, question.machine);
      if (const auto speedup = fit.speedup_over_linear(shape, id)) {
        span.add(*speedup);
        span.patterns.insert(pattern_text(question.work));
        pairs = std::max(pairs, fit.orders().at(id).pairs);
      }
    });
  if (span.values.empty()) {
    answer.says = no_hilbert(fits);
    return;
  }
  const double ratio = median(span.values);
  answer.predicted = ratio_text(ratio, span.ci);
  answer.verdict = judge_claim(*answer.claim.claimed, predicted_ratio(ratio, span.ci, 1), std::nullopt);
  answer.says = fmt::format(
      "over {}, from {} pairs with linear order at the fitted ring sizes; the claim states no pattern",
      plural(span.patterns.size(), "pattern", "patterns"), pairs);
}

void answer_memory(ClaimPrediction& answer, const std::vector<RingFit>& fits) {
  std::vector<double> ratios;
  for (const RingFit& fit : fits)
    for_claimed_patterns(fit, answer.claim, [&](const RingQuestion& question) {
      const Implementation* kernel = find_implementation(fit.group().kernel, question.work.device);
      if (kernel == nullptr || kernel->tile_rows == nullptr) return;
      Variant linear = question.variant;
      linear.change().order = answer.claim.compared.against.order;
      const auto bytes = [&](const Variant& variant) {
        const auto threads = static_cast<int>(question.machine.threads);
        return unplanned_need(question.work, variant, *kernel, threads, 1).device;
      };
      ratios.push_back(bytes(linear) / bytes(question.variant));
    });
  if (ratios.empty()) {
    answer.says = no_hilbert(fits);
    return;
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  answer.predicted =
      fmt::format("{} to {} [exact, by the plan]", number_text(*low, 3), number_text(*high, 3));
  answer.verdict = judge_claim(*answer.claim.claimed, predicted_ratio(*low, {*low, *high}, 0), std::nullopt);
  if (*high <= 1)
    answer.says = "Hilbert order needs a permuted copy and tables of slots, linear order does not";
}

}  // namespace

std::vector<ClaimPrediction> answer_projections(const std::vector<ClaimRow>& claims,
                                                const std::vector<RingFit>& fits) {
  std::vector<ClaimPrediction> answers;
  for (const ClaimRow& claim : claims) {
    ClaimPrediction answer{.claim = claim};
    answer.claimed = claim.claimed_range ? fmt::format("{} to {}", number_text(claim.claimed_range->low, 3),
                                                       number_text(claim.claimed_range->high, 3))
                     : claim.claimed     ? fmt::format("{:.0f}", *claim.claimed)
                                         : "";
    const bool of_a_ring = claim.any_case && claim.sequence_length && claim.ring_size &&
                           claim.compared.against.order == "linear";  // what speeds are fitted against
    if (claim.quantity == Quantity::longest && claim.work)
      answer_length(answer);
    else if (claim.quantity == Quantity::speedup && of_a_ring)
      answer_speedup(answer, fits);
    else if (claim.quantity == Quantity::memory && of_a_ring)
      answer_memory(answer, fits);
    else
      continue;
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace hilbench
