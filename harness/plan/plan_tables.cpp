#include "harness/plan/plan_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "harness/plan/expected_time.hpp"
#include "kernels/base/text/share.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string number(const std::optional<double>& value, double unit) {
  return value ? fmt::format("{:.4g}", *value / unit) : "-";
}

std::string pairs_line(const Pairs& pairs) {
  return fmt::format(
      "pairs: {:.4g} needed, {:.4g} computed ({:.2f} times, {:.2f} % of all); {:.1f} % of key blocks masked",
      pairs.needed, pairs.computed, pairs.computed / pairs.needed, 100 * pairs.density,
      100 * pairs.partial_blocks);
}

std::string steady_line(const Plan& plan, const Measure& measure) {
  if (!measure.steady) return "";
  double seconds = 0;
  for (const Comparison& comparison : plan.comparisons)
    seconds += timing_s(measure, comparison) * static_cast<double>(measure.processes);
  return fmt::format(
      "steady: each sample is {:g} s or more of executions back to back; timing takes about {:.0f} s.\n",
      measure.steady_s, seconds);
}

std::string run_line(const Plan& plan, const Measure& measure, std::size_t counter_sets) {
  double all_s = 0, timed_s = 0;
  for (const Comparison& comparison : plan.comparisons) {
    const ExpectedTime time = expected_time(measure, counter_sets, comparison);
    all_s += time.total_s();
    timed_s += time.timing_s(std::numeric_limits<double>::max());
  }
  const auto processes = static_cast<double>(measure.processes);
  return fmt::format("A run takes about {}: at most {} of timing, the rest to prepare, verify and count.\n",
                     duration_text(all_s * processes), duration_text(timed_s * processes));
}

}  // namespace

std::string plan_table(const Plan& plan, const Measure& measure, std::size_t counter_sets) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  std::size_t measured = 0, skipped = 0, width = 32;
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin) width = std::max(width, planned.variant_id.size());
  double seconds = 0;
  fmt::format_to(out, "{:<{}} {:>10} {:>9} {:>9} {:>9} {:>9} {:>10}  {}\n", "case / variant", width + 2,
                 "GFLOP", "min MiB", "MiB", "sent MiB", "between", "est. s", "skip");
  for (const Comparison& comparison : plan.comparisons) {
    fmt::format_to(out, "{}  ({} threads)\n", comparison.case_id, comparison.threads);
    std::string last_skip;  // of one case's rows with the same reason, the first says it
    for (const PlannedVariant& planned : comparison.variants) {
      if (planned.twin) continue;
      const std::string skip = planned.skip.value_or("");
      const bool repeated = std::exchange(last_skip, skip) == skip && !skip.empty();
      fmt::format_to(out, "  {:<{}} {:>10} {:>9} {:>9} {:>9} {:>9} {:>10}  {}\n", planned.variant_id, width,
                     number(planned.flops, 1e9), number(planned.min_bytes, 0x1p20),
                     number(planned.memory_bytes, 0x1p20), number(planned.comm_bytes, 0x1p20),
                     number(planned.comm_bytes_between, 0x1p20), number(planned.seconds, 1),
                     repeated ? "as above" : skip);
      if (planned.pairs) fmt::format_to(out, "    {}\n", pairs_line(*planned.pairs));
      if (planned.held_bytes)
        fmt::format_to(out,
                       "    a step of a training holds {:.1f} MiB between its passes, at most {:.1f} MiB\n",
                       *planned.held_bytes / 0x1p20, *planned.peak_bytes / 0x1p20);
      ++(planned.skip ? skipped : measured);
      if (!planned.skip) seconds += planned.seconds.value_or(0);
    }
  }
  fmt::format_to(out, "{}; {} to measure, {} skipped; one execution of each takes about {:.3g} s\n",
                 plural(plan.comparisons.size(), "case", "cases"), plural(measured, "variant", "variants"),
                 skipped, seconds);
  if (measured > 0) text.append(run_line(plan, measure, counter_sets));
  text.append(steady_line(plan, measure));
  fmt::format_to(out,
                 "Each case also measures a second instance of its reference (its twin), for the noise.\n");
  fmt::format_to(out,
                 "FLOPs: 4 * head_dim for each selected, unmasked (query, key) pair; backward 10, both 14. "
                 "est.: at nominal peak "
                 "rate. between: MiB sent between groups of ranks.\n");
  return fmt::to_string(text);
}

std::string longest_table(const Sweep& sweep, const Site& site) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:<60} {:>12} {:>10}  {}\n", "longest case / variant alone", "positions", "MiB",
                 "skip");
  std::set<std::string> seen;  // cases that differ in more than their length
  for (SweepCase swept : sweep.cases) {
    if (has_windows(swept.work)) {
      fmt::format_to(out, "{:<60} {:>12} {:>10}  {}\n", case_id(swept.work), "-", "-",
                     has_mask_blocks(swept.work) ? "mask: its blocks give the length"
                                                 : "windows: the grid gives the length");
      continue;
    }
    swept.work.sequence_length = 1;
    if (!seen.insert(case_id(swept.work)).second) continue;
    const Comparison comparison = plan_case(sweep, swept, site);
    for (const PlannedVariant& planned : comparison.variants) {
      if (planned.twin) continue;
      Case work = comparison.work;
      const auto threads = static_cast<int>(comparison.threads);
      work.sequence_length = planned.skip ? 0
                                          : longest_sequence(work, sweep.inputs, planned.variant,
                                                             *planned.implementation, threads, site);
      std::optional<double> bytes;
      if (work.sequence_length > 0)
        bytes = (shared_need(work, sweep.inputs) +
                 unplanned_need(work, planned.variant, *planned.implementation, threads, site.gpus))
                    .device;
      fmt::format_to(out, "{:<60} {:>12} {:>10}  {}\n", case_id(work) + "/" + planned.variant_id,
                     work.sequence_length, number(bytes, 0x1p20), planned.skip.value_or(""));
    }
  }
  fmt::format_to(
      out,
      "Lengths are multiples of the pattern's longest segment, or any number of positions if not one segment "
      "fits. Memory is the only limit that counts here.\n");
  return fmt::to_string(text);
}

}  // namespace hilbench
