#include "harness/gate/one_build.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iterator>

#include "harness/gate/paired_measurement.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

using Subject = PairedMeasurement::Subject;

constexpr std::size_t kFewestPairs = 6;  // that tell anything of how pairs differ

// Of the variants that have enough.
std::vector<EqualPairs> pairs_of(PairedMeasurement& measurement) {
  std::vector<EqualPairs> pairs;
  for (const Subject& subject : measurement.subjects())
    for (const Record& record : subject.task.records)
      if (const auto found = subject.slowdowns.find(record.variant_id);
          record.kind == ImplementationKind::kernel && found != subject.slowdowns.end() &&
          found->second.size() >= kFewestPairs)
        pairs.push_back({record.case_id, record.variant_id, found->second});
  return pairs;
}

// Throws UsageError if the fewest pairs take longer than a gate may.
void expect_fewest_pairs(std::size_t measured, std::chrono::steady_clock::time_point start,
                         const GateOptions& options) {
  if (measured >= kFewestPairs) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const double pair_s = spent.count() / static_cast<double>(measured);
  const double wanted_s = kFewestPairs * pair_s;
  if (wanted_s <= longest_s(options)) return;
  throw UsageError(
      {.what = fmt::format("a budget of {:.0f} s is too short for these cases", options.budget_s),
       .why =
           fmt::format("a pair of processes takes {:.0f} s, and {} pairs are needed", pair_s, kFewestPairs),
       .remedy = fmt::format("say --budget {:.0f}s, or choose cases by --filter", std::ceil(wanted_s))});
}

}  // namespace

EqualMeasurement measure_equal_pairs(const Sweep& sweep, const Plan& plan, const Site& site,
                                     const Build& build, std::size_t pairs, const GateOptions& options,
                                     const GateProgress& progress) {
  PairedMeasurement measurement(sweep, plan, site, build, build, options);
  const auto start = std::chrono::steady_clock::now();
  const auto measure = [&] {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      progress(fmt::format("equal builds: pair {} of {}", pair + 1, pairs));
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (pair >= kFewestPairs && spent.count() >= options.budget_s) break;
      for (Subject& subject : measurement.subjects()) measurement.measure_pair(subject);
      expect_fewest_pairs(pair + 1, start, options);
    }
  };
  const auto save = [&] {
    const std::vector<EqualPairs> now = pairs_of(measurement);
    if (!options.folder.empty() && !now.empty())
      write_file(options.folder / "self-test.csv", equal_pairs_csv(now));
  };
  keep_if_stopped(measure, save);
  save();
  EqualMeasurement measured{.pairs = pairs_of(measurement), .disturbances = measurement.disturbances()};
  for (const MeasuredSide* side : {&measurement.baseline(), &measurement.candidate()})
    for (const Subject& subject : measurement.subjects())
      for (const Record& record : side->records(subject.task.records.front().case_id))
        if (record.kind == ImplementationKind::kernel && record.status != Status::ok)
          measured.failures.push_back(fmt::format("{} {}: {}: {}", record.case_id, record.variant_id,
                                                  to_string(record.status), record.reason));
  if (measured.pairs.empty() && measured.failures.empty())
    throw UsageError({.what = "no case could be measured", .where = sweep.file.string()});
  return measured;
}

MeasuredCandidate measure_candidate(const Sweep& sweep, const Plan& plan, const Site& site,
                                    const Build& candidate, const GateOptions& options,
                                    const GateProgress& progress) {
  if (!options.folder.empty()) refuse_other_results(options.folder / "candidate");
  PairedMeasurement measurement(sweep, plan, site, candidate, candidate, options);
  MeasuredCandidate measured;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::size_t processes = pairs_at(kSureLooks - 1, options.processes);
  const auto save = [&] {
    if (!options.folder.empty()) measurement.candidate().save(options.folder / "candidate", sweep, site);
  };
  const auto measure = [&] {
    for (std::size_t process = 0; process < processes && !measured.cut_short; ++process) {
      progress(fmt::format("candidate: process {} of {}", process + 1, processes));
      for (Subject& subject : measurement.subjects()) {
        measured.cut_short = process > 0 && seconds() >= options.budget_s;
        if (measured.cut_short) break;
        measurement.measure_candidate(subject);
      }
    }
  };
  keep_if_stopped(measure, save);
  measured.seconds = seconds();
  save();
  for (auto& [case_id, records] : measurement.candidate().finished(site))
    std::move(records.begin(), records.end(), std::back_inserter(measured.records));
  return measured;
}

}  // namespace hilbench
