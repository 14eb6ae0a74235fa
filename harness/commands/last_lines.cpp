#include "harness/commands/last_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "harness/plan/expected_time.hpp"
#include "kernels/base/text/share.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/check/check.hpp"
#include "reports/findings/headline.hpp"
#include "reports/view/format.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

// The words of a command, quoted as they are.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char letter : command) {
    if (letter == '\'') quoted = !quoted;
    if (letter == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

// The command that goes on with the run until each case has that many processes.
std::string in_processes(const std::string& command, std::int64_t processes) {
  constexpr std::array<std::string_view, 3> kOnce = {"--fresh", "--append-process", "--retry-failed"};
  std::vector<std::string> kept;
  bool is_count = false;
  for (const std::string& word : words_of(command)) {
    const bool skipped = is_count || word.starts_with("--processes") ||
                         std::find(kOnce.begin(), kOnce.end(), word) != kOnce.end();
    is_count = word == "--processes";
    if (!skipped) kept.push_back(word);
  }
  return fmt::format("{} --processes {}", fmt::join(kept, " "), processes);
}

std::int64_t processes_needed(const Plan& plan) {
  std::size_t needed = 0;
  for (const Comparison& comparison : plan.comparisons)
    if (comparison.runnable())
      needed =
          std::max(needed, comparison.work.device == DeviceKind::cuda ? kProcessesOnGpu : kProcessesOnCpu);
  return static_cast<std::int64_t>(needed);
}

// As people say it: "45 s", "18 min", "2 h 5 min".
std::string price_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : duration_text(seconds);
}

// `text` after `label`, in lines that fit the screen.
std::string labelled(std::string_view label, const std::string& text, const Screen& screen) {
  return fmt::format("{}{}\n", label, wrapped(text, screen.width, label.size(), label.size()));
}

}  // namespace

std::optional<NextRun> next_run(const std::string& command, const Sweep& sweep, const Plan& plan,
                                const Done& done, const Progress& progress) {
  const std::int64_t needed =
      std::min(kMaxProcesses, std::max(processes_needed(plan), done.undecided ? 2 * done.processes : 0));
  if (done.processes >= needed) return std::nullopt;
  Measure measure = sweep.measure;
  measure.processes = needed;  // which share the budget
  double seconds = 0;
  for (const Comparison& comparison : plan.comparisons)
    seconds += progress.seconds(expected_time(measure, sweep.counters.size(), comparison));
  return NextRun{.command = in_processes(command, needed),
                 .seconds = static_cast<double>(needed - done.processes) * seconds};
}

std::string last_lines(const ReportInput& input, const std::filesystem::path& folder,
                       const std::optional<NextRun>& next, const Screen& screen) {
  std::string text;
  const View view = view_of(input);
  if (view.status_counts.contains(Status::ok) || view.status_counts.contains(Status::failed)) {
    const Headline headline = headline_of(view);
    text += labelled("found: ", printable(headline.sentence), screen);
    for (const auto& row : headline.table.rows)
      text += labelled("       ", printable(fmt::format("{}: {}, {}", row[0].text, row[1].text, row[2].text)),
                       screen);
    if (const std::vector<std::string> limits = limits_of(input.records); !limits.empty())
      text += labelled("limits: ", printable(fmt::format("{}", fmt::join(limits, "; "))), screen);
  }
  text += fmt::format("next: hilbench report {}\n", folder.string());
  if (next) text += fmt::format("      {}   (about {})\n", next->command, price_text(next->seconds));
  return text;
}

}  // namespace hilbench
