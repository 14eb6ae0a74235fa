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

// The case that the projection of lengths starts from: the first row of claim scaling-max-sequence.
Case projected_case() {
  Case work{.sequence_length = 425984,
            .pattern = {{2048, 1}, {4096, 2}, {8192, 4}},
            .dtype = Dtype::fp16,
            .device = DeviceKind::cuda};
  work.kv_heads = work.heads;
  return work;
}

void answer_length(ClaimPrediction& answer) {
  const auto memory_bytes = nominal_memory_bytes(answer.claim.device);
  if (!memory_bytes) {
    answer.says = fmt::format("not predicted: the memory size of '{}' is not known", answer.claim.device);
    return;
  }
  Case work = projected_case();
  work.ring_size = answer.claim.ring_size.value_or(1);
  Site site;
  site.gpu = Gpu{.memory_bytes = *memory_bytes};
  const double usable = usable_memory(work, site).device;
  const Variant variant{KernelChoice{.name = "dilated"}};
  const std::int64_t longest = longest_on_ranks(work, variant, usable);
  work.sequence_length = static_cast<std::int64_t>(*answer.claim.claimed);
  const double share = static_cast<double>(longest) / *answer.claim.claimed;
  answer.predicted = fmt::format("{} [exact, by the memory plan]", longest);
  answer.says =
      fmt::format("{}: {} of the claimed length; the claimed one takes {} of {} on each device. {}",
                  share >= 1 ? "fits" : "does not fit", number_text(share, 3) + " times",
                  bytes_text(rank_device_bytes(work, variant)), bytes_text(usable),
                  "Forward pass, fp16, 8 heads of 64, segments 2048, 4096, 8192; not tested on that device");
}

// The pattern at another length: segments that cover the whole sequence cover it there too.
std::vector<Branch> stretched(const Case& work, std::int64_t length) {
  std::vector<Branch> pattern = work.pattern;
  for (Branch& branch : pattern)
    if (branch.segment_length >= work.sequence_length) branch.segment_length = length;
  return pattern;
}

// Hilbert over linear, for each pattern of the records, at the claim's length and ring size.
struct Span {
  std::vector<double> values;
  Interval ci{1e300, 0};
  std::set<std::string> patterns;
  void add(const Estimate& estimate) {
    values.push_back(estimate.value);
    ci = {std::min(ci.low, estimate.ci.low), std::max(ci.high, estimate.ci.high)};
  }
};

// One question for each pattern and mask of the samples in Hilbert order, with the options that
// the claims mean.
template <class Take>
void for_hilbert_patterns(const RingFit& fit, const ClaimRow& claim, const Take& take) {
  std::set<std::string> seen;
  for (const RingSample& sample : fit.samples()) {
    if (sample.record->variant.kernel().order != "hilbert") continue;
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

// The rules of the claims (docs/claims.md) for a predicted interval, which holds all that is not known.
std::string speedup_verdict(double claimed, const Interval& predicted) {
  const double most = 1 + kDefaultMargin, least = 1 / most;
  if (predicted.low > most)
    return predicted.high >= claimed && predicted.low > 1 + (claimed - 1) / 2 ? "as claimed"
           : predicted.high < claimed                                         ? "smaller than claimed"
                                      : "a gain, but too wide to compare";
  if (predicted.high < least) return "slower than linear order";
  if (predicted.high >= claimed)
    return "these records do not decide: the interval reaches from no difference to the claim";
  return predicted.low >= least && predicted.high <= most
             ? "within 1 % of linear order, below the claim"
             : "below the claim; too wide to tell from linear order";
}

void answer_speedup(ClaimPrediction& answer, const std::vector<RingFit>& fits) {
  Span span;
  std::size_t pairs = 0;
  for (const RingFit& fit : fits)
    for_hilbert_patterns(fit, answer.claim, [&](const RingQuestion& question) {
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
  answer.predicted = ratio_text(median(span.values), span.ci);
  const double low = answer.claim.claimed_range ? answer.claim.claimed_range->low : *answer.claim.claimed;
  answer.says = fmt::format(
      "{}; over {} pattern{}, from {} pairs with linear order at the fitted ring sizes. The claim states no "
      "pattern",
      speedup_verdict(low, span.ci), span.patterns.size(), span.patterns.size() == 1 ? "" : "s", pairs);
}

void answer_memory(ClaimPrediction& answer, const std::vector<RingFit>& fits) {
  std::vector<double> ratios;
  for (const RingFit& fit : fits)
    for_hilbert_patterns(fit, answer.claim, [&](const RingQuestion& question) {
      const Implementation* kernel = find_implementation(fit.group().kernel, question.work.device);
      if (kernel == nullptr || kernel->tile_rows == nullptr) return;
      Variant linear = question.variant;
      linear.change().order = "linear";
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
  answer.says = *high <= 1
                    ? "contradicted by the plan: Hilbert order needs a permuted copy and tables of slots, "
                      "linear order does not"
                    : "needs less by the plan";
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
    if (claim.claim_id == "scaling-projection" && claim.claimed)
      answer_length(answer);
    else if (claim.claim_id == "analysis-projection" && claim.quantity == Quantity::speedup)
      answer_speedup(answer, fits);
    else if (claim.claim_id == "analysis-projection" && claim.quantity == Quantity::memory)
      answer_memory(answer, fits);
    else
      continue;
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace hilbench
