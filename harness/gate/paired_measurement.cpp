#include "harness/gate/paired_measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <future>

#include "harness/measure/turns.hpp"
#include "harness/run/environment.hpp"
#include "harness/run/make_task.hpp"
#include "harness/run/settle.hpp"
#include "harness/run/worker_process.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/gate/disturbances.hpp"
#include "reports/records/stats.hpp"
#include "reports/records/store.hpp"

namespace hilbench {
namespace {

// Many short samples of each variant in a process: the median of a pair scatters less than that of few long
// ones that take as long, because what disturbs a shared machine comes and goes.
constexpr std::int64_t kRounds = 16;
constexpr double kSampleNs = 1e6;  // shorter executions are repeated to fill a sample of this length
constexpr const char* kCommand = "hilbench gate";  // in the meta of its stores

bool judged(const Record& record) {
  return record.kind == ImplementationKind::kernel;
}

// Kernels of which there are no two versions would be judged for nothing.
void keep_versions(const Externals& kernels, ComparisonTask& task) {
  if (kernels.empty()) return;
  const std::string reference = task.reference ? task.records[*task.reference].variant_id : "";
  std::erase_if(task.records,
                [&](const Record& record) { return judged(record) && !kernels.contains(record.kernel); });
  task.reference.reset();
  for (std::size_t i = 0; i < task.records.size(); ++i)
    if (task.records[i].variant_id == reference) task.reference = i;
}

ComparisonTask gate_task(const Sweep& sweep, const Comparison& comparison, const Site& site,
                         const Externals& kernels) {
  ComparisonTask task = make_task(sweep, comparison, site, {});
  std::erase_if(task.records, [](const Record& record) { return record.twin; });  // they come last
  keep_versions(kernels, task);
  task.counters.clear();
  task.measure.processes = 1;
  task.measure.protocols.clear();
  task.measure.interval = 1;  // as many rounds as min_rounds says
  task.measure.min_rounds = kRounds;
  task.measure.shortest_sample_ns = kSampleNs;
  return task;
}

// Samples of the last process of the record.
std::vector<double> last_samples(const Record& record) {
  if (record.status != Status::ok || !record.time || record.time->process_rounds.empty()) return {};
  const auto rounds = record.time->process_rounds.back();
  const std::vector<double>& samples = record.time->samples_ns;
  if (rounds > std::ssize(samples)) return {};
  return {samples.end() - rounds, samples.end()};
}

double slowdown_of(const std::vector<double>& before, const std::vector<double>& after) {
  // A process whose partner ended measured the rest of its rounds alone.
  const std::size_t rounds = std::min(before.size(), after.size());
  std::vector<double> slowdowns;
  for (std::size_t i = 0; i < rounds; ++i) slowdowns.push_back(std::log(after[i] / before[i]));
  return hodges_lehmann(slowdowns);
}

// A build that hangs does not take much more than the budget.
double timeout(const Sweep& sweep, const GateOptions& options) {
  constexpr double kLeast_s = 30;  // to prepare a case
  return std::min(sweep.measure.timeout_s, std::max(options.budget_s, kLeast_s));
}

// A baseline that waits for its turn goes on when the candidate is stopped.
constexpr std::chrono::seconds kAfterCandidate{30};

// Nor does one that reports progress for ever.
std::chrono::steady_clock::time_point last_moment(const GateOptions& options) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(longest_s(options)));
}

}  // namespace

double longest_s(const GateOptions& options) {
  constexpr double kLeast_s = 30, kShare = 0.5;
  return options.budget_s + std::max(kLeast_s, kShare * options.budget_s);
}

void refuse_other_results(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "results.sqlite")) return;
  const Store store = Store::open_for_reading(folder);
  const std::map<std::string, std::string> meta = store.meta();
  const auto command = meta.find("command");
  if (command == meta.end() ? store.records().empty() : command->second == kCommand) return;
  throw UsageError({.what = "the gate would replace results that are not a gate's",
                    .where = folder.string(),
                    .remedy = "give another folder with -o"});
}

MeasuredSide::MeasuredSide(const Build& build, double timeout_s, std::chrono::steady_clock::time_point last)
    : build_(build), runner_(in_worker(timeout_s, build.program, last)) {}

std::map<std::string, std::vector<double>> MeasuredSide::measure(const ComparisonTask& task,
                                                                 std::int64_t process) {
  const std::string& case_id = task.records.front().case_id;
  const auto [at, first] = records_.try_emplace(case_id);
  if (first) cases_.push_back(case_id);
  ComparisonTask asked = task;
  for (const auto& [name, kernel] : build_.kernels) asked.externals[name] = kernel;
  asked.verify = first ? Verify::before_and_after : Verify::after;
  // A copy: a stop, which throws, loses nothing.
  int runs = 0;
  const TaskRunner counted = [&](const ComparisonTask& part,
                                 const std::function<void(const TaskEvent&)>& progress) {
    ++runs;
    return runner_(part, progress);
  };
  at->second = measure_process(
      asked, at->second, process, [](const TaskEvent&) {}, counted);
  fail_contradictions(at->second);
  std::map<std::string, std::vector<double>> samples;
  // After a failed variant the others were measured again, out of turn and beside the other process.
  if (runs > 1) return samples;
  for (const Record& record : at->second)
    if (auto last = last_samples(record); !last.empty()) samples[record.variant_id] = std::move(last);
  return samples;
}

const std::vector<Record>& MeasuredSide::records(const std::string& case_id) const {
  static const std::vector<Record> kNone;
  const auto found = records_.find(case_id);
  return found == records_.end() ? kNone : found->second;
}

void MeasuredSide::save(const std::filesystem::path& folder, const Sweep& sweep, const Site& site) const {
  Store store = Store::open_for_writing(folder);
  store.erase_all();
  for (const auto& [key, value] : {std::pair{"sweep", sweep.name},
                                   {"title", sweep.title},
                                   {"question", sweep.question},
                                   {"sweep_file", sweep.file.string()},
                                   {"sweep_text", sweep.text},
                                   {"command", std::string(kCommand)}})
    store.set_meta(key, value);
  for (const auto& [case_id, records] : finished(site)) {
    std::int64_t processes = 0;
    for (const Record& record : records)
      if (record.time) processes = std::max(processes, std::ssize(record.time->process_rounds));
    store.commit(case_id, {.fingerprint = "gate", .processes = processes}, records);
  }
}

std::vector<std::pair<std::string, std::vector<Record>>> MeasuredSide::finished(const Site& site) const {
  std::vector<std::pair<std::string, std::vector<Record>>> all;
  for (const std::string& case_id : cases_) {
    std::vector<Record> records = records_.at(case_id);
    if (records.empty()) continue;  // stopped in its first process
    for (Record& record : records) {
      nlohmann::json environment = environment_json(site, record.work.device);
      environment["build"] = build_.environment;
      if (record.environment->is_object()) environment.update(*record.environment);
      record.environment = std::move(environment);
    }
    all.emplace_back(case_id, std::move(records));
  }
  return all;
}

PairedMeasurement::PairedMeasurement(const Sweep& sweep, const Plan& plan, const Site& site,
                                     const Build& baseline, const Build& candidate,
                                     const GateOptions& options)
    : sweep_(sweep),
      site_(site),
      baseline_(baseline, timeout(sweep, options), last_moment(options) + kAfterCandidate),
      candidate_(candidate, timeout(sweep, options), last_moment(options)) {
  if (sweep.measure.steady)
    throw UsageError({.what = "a gate measures builds in short turns, not in steady samples",
                      .where = sweep.file.string(),
                      .why = "its `measure` has steady: true",
                      .remedy = "run the sweep with both builds, and give the gate their results"});
  for (const Comparison& comparison : plan.comparisons) {
    if (!comparison.runnable()) continue;
    Subject subject{.task = gate_task(sweep, comparison, site, candidate.kernels)};
    if (std::none_of(subject.task.records.begin(), subject.task.records.end(), judged)) continue;
    subject.candidate_task = subject.task;
    for (Record& record : subject.candidate_task.records)
      for (const Injection& injection : options.injections)
        if (judged(record) && injection.filter.finds(record.case_id, record.variant_id))
          inject(record, injection.share);
    subjects_.push_back(std::move(subject));
  }
  if (subjects_.empty())
    throw UsageError({.what = "no case can be measured here",
                      .where = sweep.file.string(),
                      .remedy = "`hilbench plan` gives the reasons"});
  const auto untouched = [](const Subject& subject) {
    return std::none_of(subject.candidate_task.records.begin(), subject.candidate_task.records.end(),
                        [](const Record& record) { return record.injected > 0; });
  };
  if (!options.injections.empty() && std::all_of(subjects_.begin(), subjects_.end(), untouched))
    throw UsageError(
        {.what = "no work would be added to any variant",
         .where = "--inject",
         .why = rings_without_injection_ ? "rings time themselves" : "",
         .remedy = "`hilbench plan` lists cases and variants; the text searched is CASE/VARIANT"});
}

void PairedMeasurement::inject(Record& record, double share) {
  if (record.work.ring_size == 1)
    record.injected += share;
  else
    rings_without_injection_ = true;
}

void PairedMeasurement::measure_candidate(Subject& subject) {
  candidate_.measure(subject.candidate_task, subject.pairs++);
}

void PairedMeasurement::measure_pair(Subject& subject) {
  const std::int64_t number = subject.pairs++;
  // A B, B A, B A, A B, ...: neither build comes first more often, or later in a drift.
  const bool baseline_first = number % 4 == 0 || number % 4 == 3;
  const std::array<int, 2> sockets = make_turns();
  ComparisonTask task = subject.task, candidate_task = subject.candidate_task;
  task.turns = sockets[baseline_first ? 0 : 1];
  candidate_task.turns = sockets[baseline_first ? 1 : 0];
  auto candidate = std::async(std::launch::async, [&] { return candidate_.measure(candidate_task, number); });
  const auto before = baseline_.measure(task, number);
  for (const auto& [variant, samples] : candidate.get())
    if (const auto found = before.find(variant); found != before.end())
      subject.slowdowns[variant].push_back(slowdown_of(found->second, samples));
}

void PairedMeasurement::save(const std::filesystem::path& folder) const {
  baseline_.save(folder / "baseline", sweep_, site_);
  candidate_.save(folder / "candidate", sweep_, site_);
}

std::vector<std::string> PairedMeasurement::disturbances() const {
  Disturbances found;
  for (const Subject& subject : subjects_)
    for (const MeasuredSide* side : {&baseline_, &candidate_})
      found.add(side->records(subject.task.records.front().case_id));
  return found.sentences(site_.host.cores);
}

}  // namespace hilbench
