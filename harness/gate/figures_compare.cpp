#include "harness/gate/figures_compare.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hilbench {
namespace {

// What first differs; empty if the figures may be compared.
std::string difference(const FigureBasis& accepted, const FigureBasis& now) {
  for (const auto& [name, value] : accepted) {
    const auto found = now.find(name);
    const std::string here = found == now.end() ? "unknown" : found->second;
    if (here != value) return fmt::format("accepted with {} '{}', here it is '{}'", name, value, here);
  }
  return accepted.size() == now.size() ? "" : "taken with more here than what was accepted";
}

// Why one kind of figure is not judged here; empty if it is.
std::string why_not_judged(const FigureBasis& accepted, const FigureBasis& now, const std::string& absence) {
  if (accepted.empty()) return "no figures were accepted";
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
  Comparing(const FigureTable& accepted, const FigureTable& now, const ExpectedRow& expected)
      : accepted_(accepted), now_(now), expected_(expected) {}

  FigureVerdict verdict() {
    no_instructions_ = why_not_judged(accepted_.instructions.taken_with, now_.instructions.taken_with,
                                      now_.instructions.absence);
    compare_rows(accepted_.variants, now_.variants, expected_);
    const std::string no_kernels = why_not_judged(accepted_.kernels_basis.taken_with,
                                                  now_.kernels_basis.taken_with, now_.kernels_basis.absence);
    if (no_kernels.empty())
      compare_rows(accepted_.kernels, now_.kernels,
                   [this](const FigureRow& row) { return expected_(row) && is_built_for(row.group); });
    else if (!accepted_.kernels.empty() || !now_.kernels.empty())
      verdict_.not_judged.insert("GPU kernels: " + no_kernels);
    verdict_.changed_code = change(accepted_.device_code, now_.device_code);
    return std::move(verdict_);
  }

 private:
  // A build may be for fewer architectures than the accepted one.
  bool is_built_for(const std::string& architecture) const {
    return std::ranges::find(now_.kernels, architecture, &FigureRow::group) != now_.kernels.end();
  }

  void compare_rows(const std::vector<FigureRow>& accepted, const std::vector<FigureRow>& now,
                    const ExpectedRow& expected) {
    const auto same = [](const std::vector<FigureRow>& rows, const FigureRow& row) {
      return std::ranges::find_if(
          rows, [&](const FigureRow& each) { return each.group == row.group && each.name == row.name; });
    };
    for (const FigureRow& row : accepted) {
      const auto found = same(now, row);
      if (found != now.end())
        compare_row(row, *found);
      else if (expected(row))
        add({.change = FigureChange::lacks, .row = row.text(), .reason = "it is not there any more"});
    }
    for (const FigureRow& row : now)
      if (same(accepted, row) == accepted.end()) add({.change = FigureChange::appeared, .row = row.text()});
  }

  void compare_row(const FigureRow& accepted, const FigureRow& now) {
    if (!now.skip.empty() && now.needs_a_gpu) {
      verdict_.not_judged.insert(fmt::format("{}: {}", now.text(), now.skip));
      return;
    }
    const auto has_value = [](const auto& figure) { return figure.second.value.has_value(); };
    if (!now.skip.empty()) {
      if (!std::ranges::any_of(accepted.figures, has_value)) return;  // it was skipped then too
      add({.change = FigureChange::lacks, .row = now.text(), .reason = now.skip});
      return;
    }
    for (const auto& [name, figure] : accepted.figures) compare_figure(now, name, figure);
    for (const auto& [name, figure] : now.figures)
      if (figure.value && !is_accepted(accepted, name))
        add({.change = FigureChange::appeared, .row = now.text(), .figure = name});
  }

  static bool is_accepted(const FigureRow& accepted, const std::string& name) {
    const auto found = accepted.figures.find(name);
    return found != accepted.figures.end() && found->second.value.has_value();
  }

  void compare_figure(const FigureRow& now, const std::string& name, const FigureValue& accepted) {
    if (!accepted.value) return;
    const bool instructions = name == figure::kInstructions;
    if (instructions && !no_instructions_.empty()) {
      verdict_.not_judged.insert("instructions: " + no_instructions_);
      return;
    }
    const auto found = now.figures.find(name);
    if (found == now.figures.end() || !found->second.value) {
      add({.change = FigureChange::lacks,
           .row = now.text(),
           .figure = name,
           .reason = found == now.figures.end() ? "this build does not know it" : found->second.reason});
      return;
    }
    ++verdict_.judged;
    const double before = *accepted.value, after = *found->second.value;
    const double allowed = instructions ? accepted_.instructions.tolerance * before : 0;
    if (after > before + allowed)
      add({FigureChange::grew, now.text(), name, before, after, ""});
    else if (after < before - allowed)
      add({FigureChange::shrank, now.text(), name, before, after, ""});
  }

  void add(FigureFinding finding) { verdict_.findings.push_back(std::move(finding)); }

  const FigureTable& accepted_;
  const FigureTable& now_;
  const ExpectedRow& expected_;
  std::string no_instructions_;
  FigureVerdict verdict_;
};

bool is_worse(const FigureFinding& finding) {
  return finding.change == FigureChange::grew || finding.change == FigureChange::lacks;
}

std::string line_of(const FigureFinding& finding) {
  const std::string what = finding.figure.empty() ? finding.row : finding.row + " " + finding.figure;
  switch (finding.change) {
    case FigureChange::grew:
    case FigureChange::shrank: {
      const bool grew = finding.change == FigureChange::grew;
      const std::string share =
          finding.accepted > 0
              ? fmt::format(" ({:+.3g} %)", 100 * (finding.now - finding.accepted) / finding.accepted)
              : "";
      return fmt::format("{}: {} {} from {:.15g} to {:.15g}{}\n", grew ? "worse" : "better", what,
                         grew ? "grew" : "shrank", finding.accepted, finding.now, share);
    }
    case FigureChange::lacks:
      return fmt::format("lacks: {}: {}\n", what, finding.reason);
    case FigureChange::appeared:
      return fmt::format("new: {}\n", what);
  }
  return "";
}

}  // namespace

FigureVerdict compare_figures(const FigureTable& accepted, const FigureTable& now,
                              const ExpectedRow& expected) {
  return Comparing(accepted, now, expected).verdict();
}

ExitCode exit_code(const FigureVerdict& verdict) {
  if (std::ranges::any_of(verdict.findings, is_worse)) return ExitCode::failed;
  return verdict.judged == 0 ? ExitCode::inconclusive : ExitCode::done;
}

std::string verdict_text(const FigureVerdict& verdict, const std::string& accepted_file) {
  std::string text;
  std::size_t worse = 0;
  for (const FigureFinding& finding : verdict.findings) {
    text += line_of(finding);
    worse += is_worse(finding) ? 1 : 0;
  }
  for (const std::string& reason : verdict.not_judged) text += fmt::format("not judged: {}\n", reason);
  if (!verdict.changed_code.empty())
    text += fmt::format(
        "GPU code has changed since these figures were accepted: {}; CI compiles all of it until "
        "`--accept` has written the new state\n",
        verdict.changed_code);
  text += fmt::format("{} figures held against {}: ", verdict.judged, accepted_file);
  if (worse > 0) return text + fmt::format("{} are worse or lack\n", worse);
  if (verdict.judged == 0) return text + "nothing could be judged here\n";
  if (!verdict.findings.empty())
    return text + "none is worse; `--accept` makes what is better or new the accepted figures\n";
  return text + "all are as accepted\n";
}

}  // namespace hilbench
