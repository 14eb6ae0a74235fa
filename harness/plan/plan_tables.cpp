#include "harness/plan/plan_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/external/programs.hpp"
#include "harness/plan/expected_time.hpp"
#include "kernels/base/text/share.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string number(const std::optional<double>& value, double unit) {
  return value ? fmt::format("{:.4g}", *value / unit) : "-";
}

std::string pairs_line(const PlannedVariant& planned) {
  const Pairs& pairs = *planned.pairs;
  const bool chosen = planned.variant.kernel().tiles == KeyTiles::automatic;
  return fmt::format(
      "pairs: {:.4g} needed, {:.4g} computed ({:.2f} times, {:.2f} % of all); {:.1f} % of key blocks "
      "masked{}",
      pairs.needed, pairs.computed, pairs.computed / pairs.needed, 100 * pairs.density,
      100 * pairs.partial_blocks, chosen ? fmt::format("; tiles: {}", to_string(planned.key_tiles)) : "");
}

std::string steady_line(const Plan& plan, const Measure& measure) {
  double seconds = 0;
  for (const Comparison& comparison : plan.comparisons)
    seconds += timing_s(measure, comparison) * static_cast<double>(measure.processes);
  return fmt::format(
      "steady: each sample is {:g} s or more of executions back to back; timing takes about {:.0f} s.",
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
  return fmt::format("A run takes about {}: at most {} of timing, the rest to prepare, verify and count.",
                     duration_text(all_s * processes), duration_text(timed_s * processes));
}

constexpr std::size_t kRowIndent = 2, kUnder = 4, kNarrowestName = 16;

struct PlanColumn {
  const char* title;
  std::size_t width;
  std::string (*cell)(const PlannedVariant&);
};

// As wide as the screen allows: bytes that only rings send go first, then the minimum of bytes, then FLOPs.
std::vector<PlanColumn> plan_columns(const Screen& screen) {
  std::vector<PlanColumn> columns = {
      {"GFLOP", 10, [](const PlannedVariant& planned) { return number(planned.flops, 1e9); }},
      {"min MiB", 9, [](const PlannedVariant& planned) { return number(planned.min_bytes, 0x1p20); }},
      {"MiB", 9, [](const PlannedVariant& planned) { return number(planned.memory_bytes, 0x1p20); }},
      {"sent MiB", 9, [](const PlannedVariant& planned) { return number(planned.comm_bytes, 0x1p20); }},
      {"between", 9,
       [](const PlannedVariant& planned) { return number(planned.comm_bytes_between, 0x1p20); }},
      {"est. s", 10, [](const PlannedVariant& planned) { return number(planned.seconds, 1); }}};
  constexpr std::size_t kNameThatFits = 26;
  const auto fits = [&] {
    std::size_t width = kRowIndent + kNameThatFits;
    for (const PlanColumn& column : columns) width += 1 + column.width;
    return screen.width == 0 || width <= screen.width;
  };
  for (const std::string_view title : {"between", "sent MiB", "min MiB", "GFLOP"})
    if (!fits()) std::erase_if(columns, [&](const PlanColumn& column) { return column.title == title; });
  return columns;
}

// The rows of a plan. On a screen a name that is too long has a line of its own, and the reason of a skip
// stands under its row.
class PlanRows {
 public:
  PlanRows(const Plan& plan, const Screen& screen) : screen_(screen), columns_(plan_columns(screen)) {
    for (const Comparison& comparison : plan.comparisons)
      for (const PlannedVariant& planned : comparison.variants)
        if (!planned.twin) name_ = std::max(name_, planned.variant_id.size());
    std::size_t numbers = kRowIndent;
    for (const PlanColumn& column : columns_) numbers += 1 + column.width;
    if (screen.width > 0)
      name_ = std::min(name_, std::max(kNarrowestName, screen.width - std::min(screen.width, numbers)));
  }

  bool shows(std::string_view title) const {
    return std::ranges::any_of(columns_, [&](const PlanColumn& column) { return column.title == title; });
  }
  std::string title() const {
    std::string line = fmt::format("{:<{}}", "case / variant", name_ + kRowIndent);
    for (const PlanColumn& column : columns_) line += fmt::format(" {:>{}}", column.title, column.width);
    return line + (screen_.width == 0 ? "  skip" : "") + "\n";
  }
  std::string of_case(const Comparison& comparison) const {
    return wrapped(fmt::format("{}  ({})", comparison.case_id,
                               plural(static_cast<std::size_t>(comparison.threads), "thread", "threads")),
                   screen_.width, kRowIndent) +
           "\n";
  }
  std::string row(const PlannedVariant& planned, const std::string& skip) const {
    std::string line = fmt::format("{:{}}{:<{}}", "", kRowIndent, planned.variant_id, name_);
    if (planned.variant_id.size() > name_) line += fmt::format("\n{:{}}", "", kRowIndent + name_);
    for (const PlanColumn& column : columns_)
      line += fmt::format(" {:>{}}", column.cell(planned), column.width);
    if (screen_.width == 0) return line + "  " + skip + "\n";
    return line + "\n" + (skip.empty() ? "" : under("skipped: " + skip));
  }
  std::string under(const std::string& text) const {
    return std::string(kUnder, ' ') + wrapped(text, screen_.width, kUnder, kUnder) + "\n";
  }
  std::string sentence(const std::string& text) const { return wrapped(text, screen_.width, 0) + "\n"; }

 private:
  const Screen& screen_;
  std::vector<PlanColumn> columns_;
  std::size_t name_ = 32;
};

}  // namespace

std::vector<std::string> tuning_lines(const Plan& plan) {
  std::map<std::string, std::size_t> cases;  // by the name of the baseline
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.skip && baseline_tuning_s(planned.variant.name()) > 0) ++cases[planned.variant.name()];
  std::vector<std::string> lines;
  for (const auto& [name, count] : cases) {
    const double limit_s = baseline_tuning_s(name);
    lines.push_back(
        fmt::format("{} compiles and tunes {} before they are measured: at most {} each, unless one attempt "
                    "takes longer, and {} in all. What an earlier run kept is taken.",
                    name, plural(count, "case", "cases"), duration_text(limit_s),
                    duration_text(limit_s * static_cast<double>(count))));
  }
  return lines;
}

std::string plan_table(const Plan& plan, const Measure& measure, std::size_t counter_sets,
                       const Screen& screen) {
  const PlanRows rows(plan, screen);
  std::size_t measured = 0, skipped = 0;
  double seconds = 0;
  std::string text = rows.title();
  for (const Comparison& comparison : plan.comparisons) {
    text += rows.of_case(comparison);
    std::string last_skip;  // of one case's rows with the same reason, the first says it
    for (const PlannedVariant& planned : comparison.variants) {
      if (planned.twin) continue;
      const std::string skip = planned.skip.value_or("");
      const bool repeated = std::exchange(last_skip, skip) == skip && !skip.empty();
      text += rows.row(planned, repeated ? "as above" : skip);
      if (planned.pairs) text += rows.under(pairs_line(planned));
      if (planned.held_bytes)
        text += rows.under(
            fmt::format("a step of a training holds {:.1f} MiB between its passes, at most {:.1f} MiB",
                        *planned.held_bytes / 0x1p20, *planned.peak_bytes / 0x1p20));
      ++(planned.skip ? skipped : measured);
      if (!planned.skip) seconds += planned.seconds.value_or(0);
    }
  }
  text +=
      rows.sentence(fmt::format("{}; {} to measure, {} skipped; one execution of each takes about {:.3g} s",
                                plural(plan.comparisons.size(), "case", "cases"),
                                plural(measured, "variant", "variants"), skipped, seconds));
  if (measured > 0) text += rows.sentence(run_line(plan, measure, counter_sets));
  for (const std::string& line : tuning_lines(plan)) text += rows.sentence(line);
  if (measure.steady) text += rows.sentence(steady_line(plan, measure));
  text +=
      rows.sentence("Each case also measures a second instance of its reference (its twin), for the noise.");
  std::string how =
      "FLOPs: 4 * head_dim for each selected, unmasked (query, key) pair; backward 10, both 14. est.: at "
      "nominal peak rate.";
  if (rows.shows("between")) how += " between: MiB sent between groups of ranks.";
  text += rows.sentence(how);
  return text;
}

std::string longest_table(const Sweep& sweep, const Site& site, const Screen& screen) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const auto row = [&](const std::string& name, const std::string& positions, const std::string& memory,
                       const std::string& skip) {
    constexpr std::size_t kName = 60, kNumbers = 24;
    if (screen.width == 0) {
      fmt::format_to(out, "{:<{}} {:>12} {:>10}  {}\n", name, kName, positions, memory, skip);
      return;
    }
    const std::size_t width =
        std::max(kNarrowestName, std::min(kName, screen.width - std::min(screen.width, kNumbers)));
    fmt::format_to(out, "{:<{}}", name, width);
    if (name.size() > width) fmt::format_to(out, "\n{:{}}", "", width);
    fmt::format_to(out, " {:>12} {:>10}\n", positions, memory);
    if (!skip.empty())
      fmt::format_to(out, "{:{}}{}\n", "", kUnder, wrapped("skipped: " + skip, screen.width, kUnder, kUnder));
  };
  row("longest case / variant alone", "positions", "MiB", screen.width == 0 ? "skip" : "");
  std::set<std::string> seen;  // cases that differ in more than their length
  for (SweepCase swept : sweep.cases) {
    if (has_windows(swept.work)) {
      row(case_id(swept.work), "-", "-",
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
      row(case_id(work) + "/" + planned.variant_id, std::to_string(work.sequence_length),
          number(bytes, 0x1p20), planned.skip.value_or(""));
    }
  }
  const char* how =
      "Lengths are multiples of the pattern's longest segment, or any number of positions if not one segment "
      "fits. Memory is the only limit that counts here.";
  fmt::format_to(out, "{}\n", wrapped(how, screen.width, 0));
  return fmt::to_string(text);
}

}  // namespace hilbench
