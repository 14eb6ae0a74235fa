#include "reports/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/text/text.hpp"
#include "reports/check/rules.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestLine = 400;

std::size_t count_not_ok(const std::vector<Finding>& findings) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::not_ok;
  }));
}

const char* name_of(FindingKind kind) {
  if (kind == FindingKind::ok) return "ok";
  return kind == FindingKind::note ? "note" : "not ok";
}

}  // namespace

void add_ok(Findings& findings, std::string text) {
  findings.push_back({FindingKind::ok, std::move(text), ""});
}

void add_note(Findings& findings, std::string text, std::string limit) {
  findings.push_back({FindingKind::note, std::move(text), std::move(limit)});
}

void add_not_ok(Findings& findings, std::string text, std::string limit) {
  findings.push_back({FindingKind::not_ok, std::move(text), std::move(limit)});
}

std::vector<Finding> check_results(const ReportInput& input, const PrivateNames& names) {
  Findings findings;
  for (const auto rule : {check_schema, check_names, check_failed, check_verification, check_clocks,
                          check_twins, check_controls, check_processes, check_rounds, check_injected,
                          check_build, check_machine, check_quiet, check_processors, check_noise})
    rule(input.records, findings);
  check_private(input, names, findings);
  return findings;
}

std::vector<std::string> limits_of(const std::vector<Record>& records) {
  Findings findings;
  for (const auto rule : {check_injected, check_processes, check_quiet, check_processors, check_noise,
                          check_rounds, check_controls})
    rule(records, findings);
  std::vector<std::string> limits;
  for (Finding& finding : findings)
    if (!finding.limit.empty()) limits.push_back(std::move(finding.limit));
  return limits;
}

bool may_be_published(const std::vector<Finding>& findings) {
  return count_not_ok(findings) == 0;
}

std::string check_text(const std::vector<Finding>& findings, const std::string& source) {
  std::string text;
  for (const Finding& finding : findings)
    text += fmt::format("{:<8}{}\n", name_of(finding.kind), one_line(finding.text, kLongestLine));
  const std::size_t wrong = count_not_ok(findings);
  if (wrong == 0) return text + fmt::format("{} may be published\n", one_line(source));
  return text +
         fmt::format("{} may not be published: {}\n", one_line(source), plural(wrong, "finding", "findings"));
}

}  // namespace hilbench
