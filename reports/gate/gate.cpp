#include "reports/gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::size_t count(const GateResult& result, GateVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(),
                    [&](const GateRow& row) { return row.judged && !row.broken && row.verdict == verdict; }));
}

std::size_t broken(const GateResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(), [](const GateRow& row) { return row.broken; }));
}

// The worst gets the smallest number.
int badness(const GateRow& row) {
  if (row.broken) return 0;
  if (!row.judged) return 5;
  switch (row.verdict) {
    case GateVerdict::slower:
      return 1;
    case GateVerdict::undecided:
      return 2;
    case GateVerdict::ok:
      return 3;
    case GateVerdict::faster:
      return 4;
  }
  return 5;
}

}  // namespace

ExitCode exit_code(const GateResult& result) {
  if (broken(result) > 0) return ExitCode::failed;
  if (!result.disturbances.empty()) return ExitCode::inconclusive;
  if (count(result, GateVerdict::slower) > 0) return ExitCode::failed;
  return count(result, GateVerdict::undecided) > 0 || !result.missing.empty() ? ExitCode::inconclusive
                                                                              : ExitCode::done;
}

std::string headline(const GateResult& result) {
  const auto judged = static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(), [](const GateRow& row) { return row.judged; }));
  const std::size_t slower = count(result, GateVerdict::slower), failed = broken(result);
  std::string answer = failed > 0                            ? std::string("failed")
                       : !result.disturbances.empty()        ? "undecided, because " + result.disturbed
                       : slower > 0                          ? "slower"
                       : exit_code(result) == ExitCode::done ? std::string("ok")
                       : !result.missing.empty()             ? "undecided, because not all could be compared"
                                                             : "undecided";
  answer += fmt::format(": of {} variants, {} slower by more than {:g} %, {} undecided, {} ok, {} faster",
                        judged, slower, 100 * result.rule.threshold, count(result, GateVerdict::undecided),
                        count(result, GateVerdict::ok), count(result, GateVerdict::faster));
  if (failed > 0) answer += fmt::format(", {} failed", failed);
  return answer;
}

void withhold_changes(GateResult& result) {
  if (result.disturbances.empty()) return;
  std::string why = ", but withheld: " + result.disturbances.front();
  if (const std::size_t more = result.disturbances.size() - 1; more > 0)
    why += fmt::format(" (and {})", plural(more, "more reason", "more reasons"));
  for (GateRow& row : result.rows) {
    if (row.verdict != GateVerdict::slower && row.verdict != GateVerdict::faster) continue;
    row.reason = std::string(to_string(row.verdict)) + why;
    row.verdict = GateVerdict::undecided;
  }
}

std::vector<GateRow> worst_first(const GateResult& result) {
  std::vector<GateRow> rows = result.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const GateRow& a, const GateRow& b) {
    if (badness(a) != badness(b)) return badness(a) < badness(b);
    return a.slowdown.value > b.slowdown.value;
  });
  return rows;
}

}  // namespace hilbench
