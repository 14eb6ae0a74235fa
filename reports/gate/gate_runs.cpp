#include "reports/gate/gate_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/base/text/text.hpp"
#include "reports/gate/lone_cases.hpp"
#include "reports/gate/run_slowdown.hpp"
#include "reports/gate/unlike_runs.hpp"
#include "reports/view/format.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

using Key = std::pair<std::string_view, std::string_view>;  // case and variant
using Found = std::map<Key, const Record*>;

Found records_by_id(const ReportInput& input) {
  Found found;
  for (const Record& record : input.records) found[{record.case_id, record.variant_id}] = &record;
  return found;
}

const Record* find(const Found& records, const std::string& case_id, const std::string& variant_id) {
  const auto at = records.find({case_id, variant_id});
  return at == records.end() ? nullptr : at->second;
}

// Null if it has no times that nobody disturbed.
const Record* find_timed(const Found& records, const std::string& case_id, const std::string& variant_id) {
  const Record* record = find(records, case_id, variant_id);
  return record != nullptr && timed(*record) ? record : nullptr;
}

std::string twin_name(const std::string& variant_id) {
  return variant_id + std::string(kTwinSuffix);
}

bool has_case(const Found& records, const std::string& case_id) {
  const auto at = records.lower_bound({case_id, ""});
  return at != records.end() && at->first.first == case_id;
}

class StoredGate {
 public:
  StoredGate(std::span<const ReportInput> baselines, const ReportInput& candidate,
             const StoredGateOptions& options)
      : options_(options),
        candidate_(records_by_id(candidate)),
        references_(reference_names(candidate.records)) {
    for (const ReportInput& baseline : baselines) baselines_.push_back(records_by_id(baseline));
    for (const Record& record : candidate.records) add_row(record);
    judge();
    note_missing();
    note_new();
  }

  GateResult result{.stored = true};

 private:
  bool kept(const Record& record) const {
    if (!options_.cases.empty() && !options_.cases.contains(record.case_id)) return false;
    return !record.twin && options_.filter.finds(record.case_id, record.variant_id);
  }

  void add_row(const Record& record) {
    if (!kept(record)) return;
    GateRow row;
    row.case_id = record.case_id;
    row.variant_id = record.variant_id;
    const bool rival = record.kind == ImplementationKind::baseline;
    const std::string reference_name = reference_of(record.case_id);
    row.reference = record.variant_id == reference_name;
    row.judged = !row.reference && (!rival || options_.rivals == Rivals::judged);
    bool worked = false, has_times = false;
    std::vector<std::vector<double>> runs;
    const bool with_reference = any_has(record.case_id, reference_name);
    const bool with_twin = with_reference && all_have_twins(record.case_id, reference_name);
    const auto ratios = [&](const Found& run, const Record& of) {
      if (!with_reference) return log_times(of);
      const Record* reference = find_timed(run, of.case_id, reference_name);
      if (reference == nullptr) return std::vector<double>();
      const Record* twin = with_twin ? find_timed(run, of.case_id, twin_name(reference_name)) : nullptr;
      return row.reference ? log_times(of, twin) : log_ratios(of, *reference, twin);
    };
    for (const Found& baseline : baselines_) {
      const Record* before = find(baseline, record.case_id, record.variant_id);
      if (before == nullptr) continue;
      worked = worked || before->status == Status::ok;
      if (!timed(*before)) continue;
      has_times = true;
      if (std::vector<double> logs = ratios(baseline, *before); !logs.empty())
        runs.push_back(std::move(logs));
    }
    if (worked && (record.status == Status::failed || record.status == Status::invalid)) {
      row.broken = true;
      row.reason = fmt::format("{}: {}", to_string(record.status), one_line(record.reason, 200));
    } else if (!timed(record) || !has_times) {
      return;  // it has no time on both sides
    } else if (const std::vector<double> after = ratios(candidate_, record); after.empty() || runs.empty()) {
      row.reason = "the reference lacks times in one of the runs";
    } else {
      row.processes = after.size();
      row.slowdown = slowdown_of(after, runs);
      std::size_t before = 0;
      for (const std::vector<double>& run : runs) before += run.size();
      row.processes = std::min(row.processes, before);
    }
    result.rows.push_back(row);
  }

  // Whether the reference has times in any run.
  bool any_has(const std::string& case_id, const std::string& reference_name) const {
    const auto has = [&](const Found& run) { return find_timed(run, case_id, reference_name) != nullptr; };
    return has(candidate_) || std::any_of(baselines_.begin(), baselines_.end(), has);
  }

  // Whether every run that has times of the reference has as many of its twin: otherwise one run would be
  // divided by both, and another by the reference alone.
  bool all_have_twins(const std::string& case_id, const std::string& reference_name) const {
    const auto has = [&](const Found& run) {
      const Record* reference = find_timed(run, case_id, reference_name);
      const Record* twin = find_timed(run, case_id, twin_name(reference_name));
      return reference == nullptr ||
             (twin != nullptr && log_times(*twin).size() == log_times(*reference).size());
    };
    return has(candidate_) && std::all_of(baselines_.begin(), baselines_.end(), has);
  }

  void judge() {
    const auto judged =
        std::count_if(result.rows.begin(), result.rows.end(), [](const GateRow& row) { return row.judged; });
    result.rule = stored_rule(options_.threshold, static_cast<std::size_t>(judged));
    std::vector<std::string> moved;  // references
    for (GateRow& row : result.rows) {
      if (row.broken) continue;
      row.seen = smallest_seen(row.slowdown, result.rule);
      const GateVerdict verdict = decide(row.slowdown, result.rule);
      if (row.judged) {
        row.verdict = verdict;
        if (verdict == GateVerdict::undecided && row.reason.empty())
          row.reason = row.slowdown.freedom > 0 ? "the processes differ too much"
                                                : "needs several processes in both runs";
      } else if (row.reference && (verdict == GateVerdict::slower || verdict == GateVerdict::faster)) {
        row.reason = "the others are divided by it and its twin, so its own change does not show in them";
        moved.push_back(fmt::format("{} of {} ({:+.1f} %)", row.variant_id, row.case_id,
                                    100 * std::expm1(row.slowdown.value)));
      }
    }
    note_moved(moved);
    if (judged > 0) return;
    result.disturbed = "no variant has a time in both";
    result.disturbances.push_back(result.disturbed);
  }

  std::string reference_of(const std::string& case_id) const {
    const auto found = references_.find(case_id);
    return found == references_.end() ? std::string() : std::string(found->second);
  }

  void note_moved(std::vector<std::string> moved) {
    constexpr std::size_t kNamed = 5;
    if (moved.empty()) return;
    const std::size_t rest = moved.size() > kNamed ? moved.size() - kNamed : 0;
    moved.resize(moved.size() - rest);
    result.disturbed = "the reference itself changed";
    result.disturbances.push_back(
        fmt::format("the time of the reference itself changed: {}{}; the machine or the program changed, and "
                    "ratios to it cannot show which",
                    fmt::join(moved, ", "), rest > 0 ? fmt::format(" and {} more", rest) : ""));
  }

  void note_missing() {
    LoneCases missing;
    for (const Found& baseline : baselines_)
      for (const auto& [key, record] : baseline) {
        if (!kept(*record) || !timed(*record)) continue;
        const Record* after = find(candidate_, record->case_id, record->variant_id);
        const bool failed =
            after != nullptr && (after->status == Status::failed || after->status == Status::invalid);
        if (after == nullptr || (!timed(*after) && !failed))
          missing.add(record->case_id, record->variant_id, !has_case(candidate_, record->case_id));
      }
    if (!missing.empty())
      result.missing.push_back(fmt::format("the candidate has no time for {} that the baseline has: {}",
                                           plural(missing.variants(), "variant", "variants"),
                                           missing.names()));
  }

  void note_new() {
    LoneCases added, only_now;
    for (const auto& found : candidate_) {
      const auto& record = found.second;
      if (!kept(*record)) continue;
      const auto has = [&](const Found& run) {
        return find(run, record->case_id, record->variant_id) != nullptr;
      };
      const auto has_time = [&](const Found& run) {
        return find_timed(run, record->case_id, record->variant_id) != nullptr;
      };
      const auto has_any = [&](const Found& run) { return has_case(run, record->case_id); };
      if (std::none_of(baselines_.begin(), baselines_.end(), has))
        added.add(record->case_id, record->variant_id,
                  std::none_of(baselines_.begin(), baselines_.end(), has_any));
      else if (timed(*record) && std::none_of(baselines_.begin(), baselines_.end(), has_time))
        only_now.add(record->case_id, record->variant_id, false);
    }
    if (!only_now.empty())
      result.notes.push_back(
          fmt::format("the baseline has no time for {} that the candidate has, not judged: {}",
                      plural(only_now.variants(), "variant", "variants"), only_now.names()));
    if (!added.empty())
      result.notes.push_back(fmt::format("only the candidate has {}, not judged: {}",
                                         plural(added.variants(), "variant", "variants"), added.names()));
  }

  const StoredGateOptions& options_;
  const Found candidate_;
  const ReferenceNames references_;  // of each case
  std::vector<Found> baselines_;
};

}  // namespace

GateResult gate_runs(std::span<const ReportInput> baselines, const ReportInput& candidate,
                     const ComparedRuns& first, const StoredGateOptions& options) {
  GateResult result = StoredGate(baselines, candidate, options).result;
  std::vector<std::string> names;
  for (const ReportInput& baseline : baselines) {
    names.push_back(printable(baseline.source.string()));
    note_busy(baseline, names.back(), result);
  }
  result.sweep = first.b.sweep;
  result.baseline = fmt::format("{}", fmt::join(names, ", "));
  result.candidate = printable(candidate.source.string());
  note_busy(candidate, result.candidate, result);
  note_unlike(first, options.unlike, result);
  for (const ReportInput& further : baselines.subspan(1))
    note_unlike(compare_runs(further, candidate), options.unlike, result);
  withhold_changes(result);
  return result;
}

}  // namespace hilbench
