#include "harness/gate/gate_builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "harness/gate/paired_measurement.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
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
    for (Subject& subject : measurement_.subjects())
      for (const Record& record : subject.task.records) {
        Judged& each = rows_.emplace_back(Judged{.subject = &subject});
        each.row.case_id = record.case_id;
        each.row.variant_id = record.variant_id;
        each.row.judged = record.kind == ImplementationKind::kernel;
        judged_ += each.row.judged;
      }
    rule_ = gate_rule(options.threshold, judged_);
    threshold_known_ = !options.automatic;
  }

  void run() {
    for (Subject* next = next_subject(); next != nullptr; next = next_subject()) {
      if (seconds() >= options_.budget_s) {
        look_once_more();
        break;
      }
      tell(*next);
      const double begin_s = seconds();
      measurement_.measure_pair(*next);
      spent_[next] += seconds() - begin_s;
      for (Judged& each : rows_) {
        if (each.subject != next) continue;
        if (note_failure(each.row))
          each.closed = true;
        else if (is_open(each) && pairs_of(each) >= pairs_at(each.look, options_.processes))
          look(each);
      }
      if (!threshold_known_ && all_looked(kSureLooks)) find_threshold();
    }
    for (Judged& each : rows_)
      if (!each.row.judged && !each.row.broken) measure(each);  // shown only: all of its pairs
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  const GateRule& rule() const { return rule_; }
  std::string how_found() const {
    const double percent = 100 * rule_.threshold;
    if (unseen_ == 0)
      return fmt::format(
          "the threshold, {:g} %, is the smallest that could be seen in every variant on this "
          "machine, now",
          percent);
    return fmt::format(
        "no threshold could be found: {} before {} had enough pairs; {:g} %, the default, stands", kSpent,
        plural(unseen_, "variant", "variants"), percent);
  }
  std::vector<GateRow> rows() const {
    std::vector<GateRow> rows;
    for (const Judged& each : rows_) rows.push_back(each.row);
    return rows;
  }

 private:
  struct Judged {
    Subject* subject = nullptr;
    GateRow row = {};
    std::size_t begin = 0;  // the first pair of the present round
    std::size_t look = 0;   // the next one of this round
    bool closed = false;    // undecided, and no look is left
  };

  static bool is_open(const Judged& each) {
    return each.row.judged && !each.row.broken && !each.closed && each.row.verdict == GateVerdict::undecided;
  }
  const Slowdowns& slowdowns_of(const Judged& each) const {
    return each.subject->slowdowns[each.row.variant_id];
  }
  std::size_t pairs_of(const Judged& each) const { return slowdowns_of(each).size() - each.begin; }
  bool all_looked(std::size_t looks) const {
    return std::all_of(rows_.begin(), rows_.end(),
                       [&](const Judged& each) { return !is_open(each) || each.look >= looks; });
  }

  void measure(Judged& each) const {
    const Slowdowns& all = slowdowns_of(each);
    const Slowdowns pairs(all.begin() + static_cast<std::ptrdiff_t>(each.begin), all.end());
    if (pairs.empty()) return;
    each.row.slowdown = mean_of(pairs);
    each.row.processes = pairs.size();
    each.row.seen = smallest_seen(each.row.slowdown, rule_.at(std::min(each.look, kLooks.size() - 1)));
  }

  void look(Judged& each) {
    measure(each);
    const std::size_t at = each.look++;
    if (threshold_known_) judge(each, at);
  }

  void judge(Judged& each, std::size_t look) {
    GateRow& row = each.row;
    const GateVerdict verdict = decide(row.slowdown, rule_.at(look));
    if (verdict == GateVerdict::slower && !row.second_round) {  // to be confirmed by other pairs
      row.second_round = true;
      each.begin = slowdowns_of(each).size();
      each.look = 0;
      return;
    }
    const bool refuted =
        row.second_round && verdict != GateVerdict::slower && verdict != GateVerdict::undecided;
    if (!refuted) row.verdict = verdict;
    each.closed = refuted || each.look == kLooks.size();
    if (row.verdict != GateVerdict::undecided || !each.closed) return;
    row.reason = row.second_round ? "slower in the first round, which the second did not confirm"
                                  : "the processes differ too much";
  }

  // Of --threshold auto: what could have been seen everywhere, which does not depend on what was.
  void find_threshold() {
    constexpr double kLeast = 0.01, kStep = 0.001;
    double needed = kLeast;
    for (const Judged& each : rows_) {
      if (!is_open(each)) continue;
      if (each.look > 0 && std::isfinite(each.row.seen))
        needed = std::max(needed, each.row.seen);
      else
        ++unseen_;
    }
    if (unseen_ == 0) rule_ = gate_rule(std::ceil(needed / kStep) * kStep, judged_);
    threshold_known_ = true;
    for (Judged& each : rows_)
      if (is_open(each) && each.look > 0) judge(each, each.look - 1);
  }

  // The budget is spent: what has more pairs than at its last look is judged by them.
  void look_once_more() {
    for (Judged& each : rows_) {
      if (!is_open(each)) continue;
      const std::size_t before = each.look == 0 ? 0 : pairs_at(each.look - 1, options_.processes);
      if (pairs_of(each) >= options_.processes && pairs_of(each) > before)
        look(each);
      else
        measure(each);  // too few pairs tell nothing of how pairs differ: they are shown
    }
    if (!threshold_known_) find_threshold();
    for (Judged& each : rows_)
      if (is_open(each))
        each.row.reason =
            each.row.second_round ? fmt::format("slower in the first round, then {}", kSpent) : kSpent;
  }

  // What is worth a pair now; null if everything is decided. First what all get, so that one variant that
  // scatters much takes nothing from the others: a look at each, one more at each slowdown, by other pairs,
  // and a second one at what is still open. Then what needs the least time to be decided.
  Subject* next_subject() {
    Subject* best = nullptr;
    std::pair<int, double> best_rank;
    for (const Judged& each : rows_) {
      if (!is_open(each)) continue;
      const std::pair<int, double> rank = rank_of(each);
      if (best == nullptr || rank < best_rank) best = each.subject, best_rank = rank;
    }
    return best;
  }
  std::pair<int, double> rank_of(const Judged& each) const {
    const auto pairs = static_cast<double>(pairs_of(each));
    if (each.look == 0) return {each.row.second_round ? 1 : 0, pairs};
    if (each.look < kSureLooks) return {2, pairs};
    const auto found = spent_.find(each.subject);
    const double pair_s =
        found == spent_.end() ? 1 : found->second / static_cast<double>(each.subject->pairs);
    return {3, std::max(pairs * (std::pow(each.row.seen / room_of(each), 2) - 1), 1.0) * pair_s};
  }
  // How much must be told from nothing to decide it: the threshold, or what a slowdown is above it.
  double room_of(const Judged& each) const {
    const double least = 0.01 * rule_.threshold;
    if (!each.row.second_round) return rule_.threshold;
    return std::max(std::expm1(each.row.slowdown.value) - rule_.threshold, least);
  }

  void tell(const Subject& subject) {
    std::size_t open = 0, confirmed = 0;
    bool sure = true;
    for (const Judged& each : rows_) {
      if (!is_open(each)) continue;
      ++open;
      confirmed += each.row.second_round;
      sure = sure && each.look >= kSureLooks;
    }
    const std::size_t sure_pairs = pairs_at(kSureLooks - 1, options_.processes);
    const std::string what =
        confirmed > 0 ? fmt::format("confirming {}", plural(confirmed, "slowdown", "slowdowns"))
        : sure        ? "more pairs where they help most"
                      : fmt::format("pair {} of {}",
                                    std::min<std::size_t>(static_cast<std::size_t>(subject.pairs) + 1, sure_pairs),
                                    sure_pairs);
    const std::string line = fmt::format("{}; {} of {} variants decided", what, judged_ - open, judged_);
    const std::string& news = sure ? line : what;  // in what all get, each pair is told of once
    if (news != std::exchange(told_, news)) progress_(line);
  }

  // True if a build could not measure the row. A case without a row that can still be judged is not measured
  // again: a build that crashes or hangs costs one pair.
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
  bool threshold_known_ = true;
  std::size_t unseen_ = 0;  // variants whose pairs told nothing when the threshold was to be found
  std::size_t judged_ = 0;
  std::vector<Judged> rows_;
  std::map<const Subject*, double> spent_;  // s, of all pairs
  std::string told_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string name_of(const Build& build) {
  if (!build.kernels.empty()) return printable(build.version);
  return printable(fmt::format("{} ({})", build.program.string(), build.version));
}

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
                    .baseline = name_of(baseline),
                    .candidate = name_of(candidate),
                    .rule = gate.rule(),
                    .rows = gate.rows(),
                    .disturbances = measurement.disturbances(),
                    .seconds = gate.seconds()};
  if (options.automatic) result.notes.push_back(gate.how_found());
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
