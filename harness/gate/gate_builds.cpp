#include "harness/gate/gate_builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/gate/paired_measurement.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/gate/lone_cases.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using Subject = PairedMeasurement::Subject;

constexpr const char* kSpent = "the budget was spent";

class Gate {
 public:
  Gate(PairedMeasurement& measurement, const GateOptions& options, const GateProgress& progress)
      : measurement_(measurement), options_(options), progress_(progress) {
    std::size_t judged = 0;
    for (const Subject& subject : measurement_.subjects())
      for (const Record& record : subject.task.records) {
        GateRow& row = rows_.emplace_back();
        row.case_id = record.case_id;
        row.variant_id = record.variant_id;
        row.judged = record.kind == ImplementationKind::kernel;
        judged += row.judged;
      }
    rule_ = gate_rule(options.threshold, judged);
  }

  void run() {
    round("round 1", [](const GateRow& row) { return row.judged && row.verdict == GateVerdict::undecided; });
    std::vector<std::string> alarmed;  // cases
    for (GateRow& row : rows_)
      if (row.judged && row.verdict == GateVerdict::slower) {
        row.second_round = true;
        row.verdict = GateVerdict::undecided;
        alarmed.push_back(row.case_id);
      }
    if (alarmed.empty()) return;
    for (Subject& subject : measurement_.subjects())
      if (std::find(alarmed.begin(), alarmed.end(), subject.task.records.front().case_id) != alarmed.end())
        subject.slowdowns.clear();
    round("round 2, to confirm",
          [](const GateRow& row) { return row.second_round && row.verdict == GateVerdict::undecided; });
    for (GateRow& row : rows_)
      if (row.second_round && row.judged && !row.broken && row.verdict != GateVerdict::slower) {
        row.verdict = GateVerdict::undecided;
        row.reason = row.reason == kSpent ? fmt::format("slower in the first round, then {}", kSpent)
                                          : "slower in the first round, which the second did not confirm";
      }
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  const GateRule& rule() const { return rule_; }
  const std::vector<GateRow>& rows() const { return rows_; }

 private:
  // Two looks; the second only at cases with a row that is still open.
  template <class Open>
  void round(const char* name, const Open& open) {
    for (std::size_t look = 1; look <= kLooks; ++look) {
      const std::size_t wanted = look * options_.processes;
      for (std::size_t pair = (look - 1) * options_.processes; pair < wanted; ++pair) {
        progress_(fmt::format("{}: pair {} of {}", name, pair + 1, wanted));
        for (Subject& subject : measurement_.subjects()) {
          if (!any_open(subject, open)) continue;
          if (seconds() >= options_.budget_s) return judge(open, kSpent);
          measurement_.measure_pair(subject);
          note_failures(subject);
        }
      }
      judge(open, look == kLooks ? "the processes differ too much" : "");
    }
  }

  template <class Open>
  bool any_open(const Subject& subject, const Open& open) const {
    const std::string& case_id = subject.task.records.front().case_id;
    return std::any_of(rows_.begin(), rows_.end(), [&](const GateRow& row) {
      return row.case_id == case_id && !row.broken && open(row);
    });
  }

  template <class Open>
  void judge(const Open& open, const std::string& why_undecided) {
    for (Subject& subject : measurement_.subjects())
      for (GateRow& row : rows_) {
        if (row.case_id != subject.task.records.front().case_id) continue;
        if (note_failure(row)) continue;
        const bool is_open = open(row);
        if (row.judged && !is_open) continue;
        const Slowdowns& slowdowns = subject.slowdowns[row.variant_id];
        if (!slowdowns.empty()) {
          row.slowdown = mean_of(slowdowns);
          row.processes = slowdowns.size();
          row.seen = smallest_seen(row.slowdown, rule_);
        }
        if (!row.judged) continue;
        // Too few pairs, which a spent budget leaves, tell nothing of how pairs differ.
        row.verdict =
            slowdowns.size() < options_.processes ? GateVerdict::undecided : decide(row.slowdown, rule_);
        row.reason = row.verdict == GateVerdict::undecided ? why_undecided : "";
      }
  }

  // A case without a row that can still be judged is not measured again: a build that crashes or hangs costs
  // one pair.
  void note_failures(const Subject& subject) {
    for (GateRow& row : rows_)
      if (row.case_id == subject.task.records.front().case_id) note_failure(row);
  }

  // True if a build could not measure the row.
  bool note_failure(GateRow& row) {
    if (row.broken) return true;
    const Record* before = find(measurement_.baseline(), row);
    const Record* after = find(measurement_.candidate(), row);
    if (before == nullptr || after == nullptr) return false;
    const bool before_ok = before->status == Status::ok, after_ok = after->status == Status::ok;
    if (before_ok && after_ok) return false;
    row.processes = 0;
    row.broken = before_ok && row.judged;
    row.verdict = GateVerdict::undecided;
    const Record& bad = before_ok ? *after : *before;
    const char* where = before_ok ? "candidate" : after_ok ? "baseline" : "baseline and the candidate";
    row.reason = fmt::format("{} in the {}: {}", to_string(bad.status), where, bad.reason);
    if (after_ok) row.judged = false;  // the candidate lost nothing
    return true;
  }

  static const Record* find(const MeasuredSide& side, const GateRow& row) {
    for (const Record& record : side.records(row.case_id))
      if (record.variant_id == row.variant_id) return &record;
    return nullptr;
  }

  PairedMeasurement& measurement_;
  const GateOptions& options_;
  const GateProgress& progress_;
  GateRule rule_;
  std::vector<GateRow> rows_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Cases of the sweep that cannot be measured here are missing in the comparison; single variants of others
// are noted. What the sweep itself leaves out is neither.
void note_skipped(const Plan& plan, GateResult& result) {
  LoneCases cases, variants;
  std::string why_case, why_variant;
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants) {
      if (!planned.skip || planned.twin || planned.variant.is_baseline() || !planned.measured_as.empty())
        continue;
      if (planned.skip->starts_with("skip_when: ")) continue;
      const bool whole = !comparison.runnable();
      (whole ? cases : variants).add(comparison.case_id, planned.variant_id, whole);
      std::string& why = whole ? why_case : why_variant;
      if (why.empty()) why = *planned.skip;
    }
  const auto sentence = [](const LoneCases& skipped, const std::string& why) {
    return fmt::format("{} cannot be measured here: {}; the first: {}",
                       plural(skipped.variants(), "variant", "variants"), skipped.names(), why);
  };
  if (!cases.empty()) result.missing.push_back(sentence(cases, why_case));
  if (!variants.empty()) result.notes.push_back(sentence(variants, why_variant));
}

}  // namespace

GatedBuilds gate_builds(const Sweep& sweep, const Plan& plan, const Site& site, const Build& baseline,
                        const Build& candidate, const GateOptions& options, const GateProgress& progress) {
  if (!options.folder.empty())
    for (const char* side : {"baseline", "candidate"}) refuse_other_results(options.folder / side);
  PairedMeasurement measurement(sweep, plan, site, baseline, candidate, options);
  Gate gate(measurement, options, progress);
  const auto save = [&] {
    if (!options.folder.empty()) measurement.save(options.folder);
  };
  keep_if_stopped([&] { gate.run(); }, save);
  GateResult result{.sweep = sweep.name,
                    .baseline = fmt::format("{} ({})", baseline.program.string(), baseline.version),
                    .candidate = fmt::format("{} ({})", candidate.program.string(), candidate.version),
                    .rule = gate.rule(),
                    .rows = gate.rows(),
                    .disturbances = measurement.disturbances(),
                    .seconds = gate.seconds()};
  if (!options.injections.empty()) result.notes.emplace_back("extra work was injected into the candidate");
  if (measurement.rings_without_injection())
    result.notes.emplace_back("no work was injected into rings, which time themselves");
  note_skipped(plan, result);
  if (std::none_of(result.rows.begin(), result.rows.end(),
                   [](const GateRow& row) { return row.judged || row.broken; })) {
    result.disturbed = "no variant could be judged";
    result.disturbances.push_back(result.disturbed);
  }
  withhold_changes(result);
  try {
    save();
  } catch (const Error&) {
    return {std::move(result), std::current_exception()};
  }
  return {std::move(result), nullptr};
}

}  // namespace hilbench
