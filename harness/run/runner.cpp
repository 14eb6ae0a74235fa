#include "harness/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/external/fork_server.hpp"
#include "harness/measure/disturbance.hpp"
#include "harness/plan/expected_time.hpp"
#include "harness/run/environment.hpp"
#include "harness/run/keep_masks.hpp"
#include "harness/run/make_task.hpp"
#include "harness/run/resume.hpp"
#include "harness/run/settle.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/process/fail_point.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/host_name.hpp"
#include "kernels/machine/processor_limits.hpp"
#include "reports/gate/disturbances.hpp"
#include "reports/records/store.hpp"
#include "reports/terminal/rows.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

// Records of all variants in the plan's order, measured or skipped.
std::vector<Record> assemble(const Sweep& sweep, const Comparison& comparison,
                             const std::vector<Record>& measured) {
  std::vector<Record> records;
  for (const PlannedVariant& planned : comparison.variants) {
    const auto at = std::find_if(measured.begin(), measured.end(), [&](const Record& record) {
      return record.variant_id == planned.variant_id;
    });
    records.push_back(at != measured.end() ? *at : planned_record(sweep, comparison, planned));
  }
  return records;
}

// Adds the worker's library and device state to the environment that all records share.
void describe_environment(std::vector<Record>& records, const nlohmann::json& environment) {
  for (Record& record : records) {
    const nlohmann::json told = std::exchange(*record.environment, environment);
    (*record.environment)["library"] = nullptr;
    if (told.is_object()) record.environment->update(told);
  }
}

// A twin counts if it failed where its reference did not.
bool counts(const Record& record, const std::vector<Record>& records) {
  if (!record.twin) return true;
  return record.status == Status::failed && std::ranges::none_of(records, [&](const Record& other) {
           return !other.twin && other.variant_id + std::string(kTwinSuffix) == record.variant_id &&
                  other.case_id == record.case_id && other.status == Status::failed;
         });
}

void tally(const std::vector<Record>& records, RunSummary& summary) {
  for (const Record& record : records) {
    if (!counts(record, records)) continue;
    if (record.status != Status::ok) ++summary.reasons[record.status][record.reason];
    switch (record.status) {
      case Status::ok:
        ++summary.ok;
        break;
      case Status::failed:
        ++summary.failed;
        break;
      case Status::invalid:
        ++summary.invalid;
        break;
      case Status::skipped:
        ++summary.skipped;
        break;
    }
  }
}

std::string outcome_text(const std::vector<Record>& records) {
  RunSummary counts;
  tally(records, counts);
  std::string text = fmt::format("{} ok", counts.ok);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.invalid > 0) text += fmt::format(", {} invalid", counts.invalid);
  if (counts.skipped > 0) text += fmt::format(", {} skipped", counts.skipped);
  const bool shared = std::any_of(records.begin(), records.end(),
                                  [](const Record& record) { return foreign_processes(record) > 0; });
  if (shared) text += ", no verdict: another process used the GPU";
  return text;
}

// Stores what the records come from. Called only if records will be added: else the old text stays true.
void describe_run(Store& store, const Sweep& sweep, const RunOptions& options, const std::string& maker) {
  if (!store.meta().contains("sweep"))
    store.set_meta("maker", maker);  // of the first results, if builds are mixed
  store.set_meta("sweep", sweep.name);
  store.set_meta("title", sweep.title);
  store.set_meta("question", sweep.question);
  store.set_meta("description", sweep.description);
  store.set_meta("sweep_file", sweep.file.string());
  store.set_meta("sweep_text", sweep.text);
  store.set_meta("command", options.command);
  store.set_meta("hostname", host_name());  // not in records, which are published
}

// The claims are what is asked of the results, not what was measured: a sweep may name others later.
void note_claims(Store& store, const Sweep& sweep) {
  const std::string claims = fmt::format("{}", fmt::join(sweep.claims, " "));
  const std::map<std::string, std::string> meta = store.meta();
  const auto stored = meta.find("claims");
  if (stored == meta.end() || stored->second != claims) store.set_meta("claims", claims);
}

// The chain too, and what was claimed of the cases, which a run of some of them adds to.
void note_chain(Store& store, const Sweep& sweep, const Plan& plan) {
  const std::map<std::string, std::string> meta = store.meta();
  const auto stored = meta.find("chain");
  if (sweep.chain.steps.empty()) {
    if (stored != meta.end() && !stored->second.empty()) store.set_meta("chain", "");
    return;
  }
  Chain chain = sweep.chain;
  if (stored != meta.end()) chain.claimed = chain_from_text(stored->second).claimed;
  for (const Comparison& comparison : plan.comparisons)
    if (comparison.claimed > 0)
      chain.claimed[comparison.case_id] = comparison.claimed;
    else
      chain.claimed.erase(comparison.case_id);
  const std::string text = chain_text(chain);
  if (stored == meta.end() || stored->second != text) store.set_meta("chain", text);
}

// Launchers bind each process to a core or a socket by default.
constexpr const char* kBoundNote =
    "note: rank 0 may use fewer cores than `threads`: mpirun --bind-to none, or srun --cpu-bind=none, lets "
    "it";

// The most threads that a case of the processor asks for; 0 if nothing is measured there.
int most_threads(const Plan& plan) {
  std::int64_t most = 0;
  for (const Comparison& comparison : plan.comparisons) {
    if (comparison.work.device != DeviceKind::cpu || !comparison.runnable()) continue;
    most = std::max(most, comparison.threads);
  }
  return static_cast<int>(most);
}

// On standard error, once for the whole run: its workers say nothing of it.
void warn_of_cores(const Plan& plan, Host host, bool launched) {
  const int threads = most_threads(plan);
  if (threads == 0) return;
  if (launched) host.allowed_cores = host.threads;  // each rank has a mask of its own
  for (const std::string& warning : {processor_warning(host, launched ? 0 : threads), spinning_warning()})
    if (!warning.empty()) fmt::print(stderr, "hilbench: warning: {}\n", warning);
}

// Workers need as many, and OpenMP ends a program that it cannot give a thread.
void expect_startable(int threads) {
  std::latch all_started(1);
  std::vector<std::jthread> started;
  std::string why;
  try {
    for (int i = 0; i < threads; ++i) started.emplace_back([&] { all_started.wait(); });
  } catch (const std::system_error& error) {
    why = error.code().message();
  }
  all_started.count_down();
  if (why.empty()) return;
  throw EnvironmentError(
      {.what = fmt::format("cannot start {} threads", threads), .why = why, .remedy = kMoreProcesses});
}

// A note that other programs use the processor, which makes every interval wider; empty on a quiet machine.
std::string busy_note(const Host& host) {
  constexpr std::chrono::milliseconds kLooked{250};
  const Disturbance disturbance;  // the load average still holds what has just ended, such as a build
  std::this_thread::sleep_for(kLooked);
  const nlohmann::json busy = disturbance.seen().at("other_busy_cores");
  if (!busy.is_number() || busy.get<double>() <= kOthersAllowed * host.cores) return "";
  return fmt::format("note: other programs keep {:.1f} of {} cores busy: expect wide intervals",
                     busy.get<double>(), host.cores);
}

bool all_done(const std::vector<Standing>& standings) {
  return std::all_of(standings.begin(), standings.end(), [](const Standing& each) { return each.done(); });
}

// Of comparisons of which something can be measured; 0 if there is none.
std::int64_t fewest_processes(const Plan& plan, const std::vector<Standing>& standings) {
  std::optional<std::int64_t> fewest;
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (plan.comparisons[i].runnable())
      fewest = std::min(fewest.value_or(standings[i].measured), standings[i].measured);
  return fewest.value_or(0);
}

// Calls `step` with the index of each comparison that is not done: for its first process, then for the second
// ... `standings` is a copy: step() may count on in the original.
template <class Step>
void for_each_step(std::vector<Standing> standings, const Step& step) {
  for (std::int64_t process = 0; !all_done(standings); ++process)
    for (std::size_t i = 0; i < standings.size(); ++i) {
      if (standings[i].done() || standings[i].measured != process) continue;
      step(i);
      ++standings[i].measured;
    }
}

// Prints what is to come, and what may disturb it.
void announce(const Sweep& sweep, const Plan& plan, const Site& site, const std::vector<Standing>& standings,
              Progress& progress) {
  std::vector<ExpectedTime> steps;
  bool measures = false;
  for_each_step(standings, [&](std::size_t i) {
    steps.push_back(expected_time(sweep.measure, sweep.counters.size(), plan.comparisons[i]));
    measures = measures || plan.comparisons[i].runnable();
  });
  if (measures && !progress.silent()) warn_of_cores(plan, site.host, site.processes > 1);
  if (measures) expect_startable(most_threads(plan));
  progress.begin(std::move(steps));
  if (const std::string busy = measures && !progress.silent() ? busy_note(site.host) : ""; !busy.empty())
    progress.note(busy);
  const bool bound = most_threads(plan) > site.host.cores || asked_threads() > usable_cores(site.host);
  if (site.processes > 1 && most_threads(plan) > 0 && bound) progress.note(kBoundNote);
}

// One run of a plan, with its store.
class PlanRun {
 public:
  PlanRun(const Sweep& sweep, const Site& site, const RunOptions& options, Progress& progress,
          const TaskRunner& runner, Store& store)
      : sweep_(sweep), site_(site), options_(options), progress_(progress), runner_(runner), store_(store) {}

  // Measures the comparison in one more process, and commits it unless more is stored of it.
  void step(const Comparison& comparison, Standing& standing) {
    const std::string of_several =
        standing.wanted > 1 ? fmt::format(", process {} of {}", standing.measured + 1, standing.wanted) : "";
    progress_.comparison(comparison.case_id + of_several);
    std::vector<Record> measured;
    std::vector<Record>& kept = uncommitted_[comparison.case_id];
    if (comparison.runnable()) {
      if (standing.measured > 0) measured = kept.empty() ? stored_records(store_, comparison) : kept;
      ComparisonTask task = make_task(sweep_, comparison, site_, options_.dump);
      if (site_.processes == 1) task.fork_server = fork_server_.socket_for(task);
      measured = measure_process(
          task, std::move(measured), standing.measured,
          [&](const TaskEvent& event) { progress_.event(event); }, runner_);
    }
    std::vector<Record> records = assemble(sweep_, comparison, measured);
    fail_contradictions(records);
    describe_environment(records, environment_json(site_, comparison.work.device));
    ++standing.measured;
    progress_.settled(outcome_text(records));
    if (standing.measured < standing.replaces) {  // what is stored has more processes, and stays until then
      kept = std::move(records);
      return;
    }
    kept.clear();
    fail_point("before_commit", {comparison.case_id});
    store_.commit(comparison.case_id,
                  {.fingerprint = fingerprint(sweep_, comparison),
                   .processes = standing.measured,
                   .retried = standing.retried},
                  records);
    fail_point("after_commit", {comparison.case_id});
    if (standing.done() && comparison.runnable()) show_rows(std::move(records));
  }

 private:
  // Verdicts are corrected within the comparison: what comes is not known yet. The table at the end of a run
  // follows a single comparison at once, and is enough.
  void show_rows(std::vector<Record> records) {
    if (progress_.silent() || progress_.steps() == 1) return;
    judge(records);
    std::string text = comparison_rows_text(rows_of(records), progress_.screen());
    if (text.ends_with('\n')) text.pop_back();
    progress_.note(text);
  }

  const Sweep& sweep_;
  const Site& site_;
  const RunOptions& options_;
  Progress& progress_;
  const TaskRunner& runner_;
  Store& store_;
  ForkServer fork_server_;
  std::map<std::string, std::vector<Record>> uncommitted_;  // of comparisons that are measured again
};

Store open_store(const RunOptions& options) {
  Store store = Store::open_for_writing(options.folder);
  if (options.start == Start::fresh) store.erase_all();
  return store;
}

}  // namespace

RunSummary run_plan(const Sweep& sweep, const Plan& plan, const Site& site, const RunOptions& options,
                    Progress& progress, const TaskRunner& runner,
                    const std::function<void(const Comparison&)>& stepped) {
  Store store = open_store(options);
  if (options.start != Start::fresh) expect_same_sweep(store, sweep.name, options.folder);
  const std::string maker = maker_of(site);
  if (options.start == Start::resume) expect_same_maker(store, maker, options.folder);
  std::vector<Standing> standings =
      find_standing(store, sweep, plan, options.processes, options.retry, options.folder);
  RunSummary summary{.resumed = std::count_if(standings.begin(), standings.end(),
                                              [](const Standing& standing) { return standing.done(); })};
  if (summary.resumed < std::ssize(standings)) {
    describe_run(store, sweep, options, maker);
    keep_masks(store, plan);
  }
  note_claims(store, sweep);
  note_chain(store, sweep, plan);
  announce(sweep, plan, site, standings, progress);
  PlanRun run(sweep, site, options, progress, runner, store);
  for_each_step(standings, [&](std::size_t i) {
    if (stop_signal() != 0) throw Interrupted{};
    run.step(plan.comparisons[i], standings[i]);
    if (stepped) stepped(plan.comparisons[i]);
  });
  for (const Comparison& comparison : plan.comparisons) tally(stored_records(store, comparison), summary);
  summary.processes = fewest_processes(plan, standings);
  store.finish();
  return summary;
}

}  // namespace hilbench
