#include "reports/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/text/text.hpp"
#include "reports/check/rules.hpp"
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
  for (const auto rule : {check_schema, check_names, check_failed, check_verification, check_clocks,
                          check_twins, check_controls, check_processes, check_rounds, check_injected,
                          check_build, check_machine, check_quiet, check_processors, check_noise})
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
