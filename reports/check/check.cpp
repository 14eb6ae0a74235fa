#include "reports/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/base/text/text.hpp"
#include "reports/check/rules.hpp"
#include "reports/gate/disturbances.hpp"
#include "reports/view/bent_rounds.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestLine = 400;

std::size_t count_not_ok(const std::vector<CheckLine>& lines) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [](const CheckLine& line) { return line.kind == CheckKind::not_ok; }));
}

const char* name_of(CheckKind kind) {
  if (kind == CheckKind::ok) return "ok";
  return kind == CheckKind::note ? "note" : "not ok";
}

}  // namespace

void add_ok(CheckLines& lines, std::string text) {
  lines.push_back({CheckKind::ok, std::move(text), ""});
}

void add_note(CheckLines& lines, std::string text, std::string limit) {
  lines.push_back({CheckKind::note, std::move(text), std::move(limit)});
}

void add_not_ok(CheckLines& lines, std::string text, std::string limit) {
  lines.push_back({CheckKind::not_ok, std::move(text), std::move(limit)});
}

std::vector<CheckLine> check_results(const ReportInput& input, const PrivateNames& names) {
  CheckLines lines;
  for (const auto rule :
       {check_schema, check_names, check_failed, check_verification, check_clocks, check_twins,
        check_controls, check_processes, check_rounds, check_injected, check_build, check_machine,
        check_fakes, check_quiet, check_processors, check_noise})
    rule(input.records, lines);
  check_private(input, names, lines);
  return lines;
}

std::vector<std::string> limits_of(const std::vector<Record>& records) {
  CheckLines lines;
  for (const auto rule : {check_injected, check_processes, check_quiet, check_processors, check_noise,
                          check_rounds, check_controls})
    rule(records, lines);
  std::vector<std::string> limits;
  for (CheckLine& line : lines)
    if (!line.limit.empty()) limits.push_back(std::move(line.limit));
  return limits;
}

std::vector<std::string> doubts_of(const std::vector<Record>& records) {
  std::optional<std::size_t> processes;
  std::optional<BentRounds> worst;
  bool injected = false;
  for (const Record& record : records) {
    if (record.status != Status::ok || !record.time) continue;
    const std::size_t measured_by = processes_of(record);
    processes = std::min(processes.value_or(measured_by), measured_by);
    const auto bent = bent_rounds(record);
    if (bent && (!worst || bent->fewest < worst->fewest)) worst = bent;
    injected = injected || record.injected > 0;
  }
  if (!processes) return {};
  std::vector<std::string> doubts = {plural(*processes, "process", "processes")};
  if (worst) doubts.push_back(fmt::format("{} of {} rounds", worst->fewest, worst->wanted));
  Disturbances seen;
  seen.add(records);
  if (!seen.of_gpu().empty() || !seen.of_host(cores_of(records)).empty()) doubts.push_back("busy machine");
  if (injected) doubts.push_back("injected work");
  return doubts;
}

bool may_be_published(const std::vector<CheckLine>& lines) {
  return count_not_ok(lines) == 0;
}

std::string check_text(const std::vector<CheckLine>& lines, const std::string& source) {
  std::string text;
  for (const CheckLine& line : lines)
    text += fmt::format("{:<8}{}\n", name_of(line.kind), one_line(line.text, kLongestLine));
  const std::size_t wrong = count_not_ok(lines);
  if (wrong == 0) return text + fmt::format("{} may be published\n", one_line(source));
  return text +
         fmt::format("{} may not be published: {}\n", one_line(source), plural(wrong, "fault", "faults"));
}

}  // namespace hilbench
