#include "harness/costs/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hilbench {
namespace {

// What first differs; empty if the costs may be compared.
std::string difference(const CostBasis& accepted, const CostBasis& now) {
  for (const auto& [name, value] : accepted) {
    const auto found = now.find(name);
    const std::string here = found == now.end() ? "unknown" : found->second;
    if (here != value) return fmt::format("accepted with {} '{}', here it is '{}'", name, value, here);
  }
  return accepted.size() == now.size() ? "" : "taken with more here than what was accepted";
}

// Why one kind of cost is not judged here; empty if it is.
std::string why_not_judged(const CostBasis& accepted, const CostBasis& now, const std::string& absence) {
  if (accepted.empty()) return "no costs were accepted";
  if (now.empty()) return absence;
  return difference(accepted, now);
}

// What is not as it was, by its first difference; empty if nothing, or if it was not accepted or not
// compiled.
std::string change(const DeviceCode& accepted, const DeviceCode& now) {
  if (accepted.sources.empty() || now.sources.empty() || now == accepted) return "";
  if (now.compiler != accepted.compiler) return "its compiler";
  if (now.flags != accepted.flags) return "its flags";
  std::set<std::string> files;
  std::map<std::string, std::string> lost = accepted.sources;
  for (const auto& [file, hash] : now.sources) {
    const auto found = lost.find(file);
    if (found == lost.end() || found->second != hash) files.insert(file);
    lost.erase(file);
  }
  for (const auto& [file, hash] : lost) files.insert(file);
  return files.size() == 1 ? *files.begin()
                           : fmt::format("{} and {} others", *files.begin(), files.size() - 1);
}

class Comparing {
 public:
  Comparing(const CostTable& accepted, const CostTable& now, const ExpectedRow& expected)
      : accepted_(accepted), now_(now), expected_(expected) {}

  CostVerdict verdict() {
    no_instructions_ = why_not_judged(accepted_.instructions.taken_with, now_.instructions.taken_with,
                                      now_.instructions.absence);
    compare_rows(accepted_.variants, now_.variants, expected_);
    const std::string no_kernels = why_not_judged(accepted_.kernels_basis.taken_with,
                                                  now_.kernels_basis.taken_with, now_.kernels_basis.absence);
    if (no_kernels.empty())
      compare_rows(accepted_.kernels, now_.kernels,
                   [this](const CostRow& row) { return expected_(row) && is_built_for(row.group); });
    else if (!accepted_.kernels.empty() || !now_.kernels.empty())
      verdict_.not_judged.insert("GPU kernels: " + no_kernels);
    verdict_.changed_code = change(accepted_.device_code, now_.device_code);
    return std::move(verdict_);
  }

 private:
  // A build may be for fewer architectures than the accepted one.
  bool is_built_for(const std::string& architecture) const {
    return std::ranges::find(now_.kernels, architecture, &CostRow::group) != now_.kernels.end();
  }

  void compare_rows(const std::vector<CostRow>& accepted, const std::vector<CostRow>& now,
                    const ExpectedRow& expected) {
    const auto same = [](const std::vector<CostRow>& rows, const CostRow& row) {
      return std::ranges::find_if(
          rows, [&](const CostRow& each) { return each.group == row.group && each.name == row.name; });
    };
    for (const CostRow& row : accepted) {
      const auto found = same(now, row);
      if (found != now.end())
        compare_row(row, *found);
      else if (expected(row))
        add({.change = CostChange::lacks, .row = row.text(), .reason = "it is not there any more"});
    }
    for (const CostRow& row : now)
      if (same(accepted, row) == accepted.end()) add({.change = CostChange::appeared, .row = row.text()});
  }

  void compare_row(const CostRow& accepted, const CostRow& now) {
    if (!now.skip.empty() && now.needs_a_gpu) {
      verdict_.not_judged.insert(fmt::format("{}: {}", now.text(), now.skip));
      return;
    }
    const auto has_value = [](const auto& cost) { return cost.second.value.has_value(); };
    if (!now.skip.empty()) {
      if (!std::ranges::any_of(accepted.costs, has_value)) return;  // it was skipped then too
      add({.change = CostChange::lacks, .row = now.text(), .reason = now.skip});
      return;
    }
    for (const auto& [name, cost] : accepted.costs) compare_cost(now, name, cost);
    for (const auto& [name, cost] : now.costs)
      if (cost.value && !is_accepted(accepted, name))
        add({.change = CostChange::appeared, .row = now.text(), .cost = name});
  }

  static bool is_accepted(const CostRow& accepted, const std::string& name) {
    const auto found = accepted.costs.find(name);
    return found != accepted.costs.end() && found->second.value.has_value();
  }

  void compare_cost(const CostRow& now, const std::string& name, const CostValue& accepted) {
    if (!accepted.value) return;
    const bool instructions = name == cost::kInstructions;
    if (instructions && !no_instructions_.empty()) {
      verdict_.not_judged.insert("instructions: " + no_instructions_);
      return;
    }
    const auto found = now.costs.find(name);
    if (found == now.costs.end() || !found->second.value) {
      add({.change = CostChange::lacks,
           .row = now.text(),
           .cost = name,
           .reason = found == now.costs.end() ? "this build does not know it" : found->second.reason});
      return;
    }
    ++verdict_.judged;
    const double before = *accepted.value, after = *found->second.value;
    const double allowed = instructions ? accepted_.instructions.tolerance * before : 0;
    if (after > before + allowed)
      add({CostChange::grew, now.text(), name, before, after, ""});
    else if (after < before - allowed)
      add({CostChange::shrank, now.text(), name, before, after, ""});
  }

  void add(CostFinding finding) { verdict_.findings.push_back(std::move(finding)); }

  const CostTable& accepted_;
  const CostTable& now_;
  const ExpectedRow& expected_;
  std::string no_instructions_;
  CostVerdict verdict_;
};

bool is_worse(const CostFinding& finding) {
  return finding.change == CostChange::grew || finding.change == CostChange::lacks;
}

std::string line_of(const CostFinding& finding) {
  const std::string what = finding.cost.empty() ? finding.row : finding.row + " " + finding.cost;
  switch (finding.change) {
    case CostChange::grew:
    case CostChange::shrank: {
      const bool grew = finding.change == CostChange::grew;
      const std::string share =
          finding.accepted > 0
              ? fmt::format(" ({:+.3g} %)", 100 * (finding.now - finding.accepted) / finding.accepted)
              : "";
      return fmt::format("{}: {} {} from {:.15g} to {:.15g}{}\n", grew ? "worse" : "better", what,
                         grew ? "grew" : "shrank", finding.accepted, finding.now, share);
    }
    case CostChange::lacks:
      return fmt::format("lacks: {}: {}\n", what, finding.reason);
    case CostChange::appeared:
      return fmt::format("new: {}\n", what);
  }
  return "";
}

}  // namespace

CostVerdict compare_costs(const CostTable& accepted, const CostTable& now, const ExpectedRow& expected) {
  return Comparing(accepted, now, expected).verdict();
}

ExitCode exit_code(const CostVerdict& verdict) {
  if (std::ranges::any_of(verdict.findings, is_worse)) return ExitCode::failed;
  return verdict.judged == 0 ? ExitCode::inconclusive : ExitCode::done;
}

std::string verdict_text(const CostVerdict& verdict, const std::string& accepted_file) {
  std::string text;
  std::size_t worse = 0;
  for (const CostFinding& finding : verdict.findings) {
    text += line_of(finding);
    worse += is_worse(finding) ? 1 : 0;
  }
  for (const std::string& reason : verdict.not_judged) text += fmt::format("not judged: {}\n", reason);
  if (!verdict.changed_code.empty())
    text += fmt::format(
        "GPU code has changed since these costs were accepted: {}; CI compiles all of it until "
        "`--accept` has written the new state\n",
        verdict.changed_code);
  text += fmt::format("{} costs held against {}: ", verdict.judged, accepted_file);
  if (worse > 0) return text + fmt::format("{} are worse or lack\n", worse);
  if (verdict.judged == 0) return text + "nothing could be judged here\n";
  if (!verdict.findings.empty())
    return text + "none is worse; `--accept` makes what is better or new the accepted costs\n";
  return text + "all are as accepted\n";
}

}  // namespace hilbench
