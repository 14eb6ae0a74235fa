#include "reports/export/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/export/digits.hpp"
#include "reports/export/formats.hpp"
#include "reports/view/format.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

std::string metric_of(const Record& record) {
  return one_line(record.case_id + "/" + record.variant_id);
}

// When its first record was measured; "" if none says so. Texts of ISO 8601 in UTC sort by time.
std::string time_of(const HistoryRun& run) {
  std::string first;
  for (const Record& record : run.records) {
    const auto time = record.environment->find("time");
    if (time == record.environment->end() || !time->is_string()) continue;
    if (first.empty() || time->get<std::string>() < first) first = time->get<std::string>();
  }
  return first;
}

std::string commit_of(const HistoryRun& run) {
  return run.records.empty() ? "" : environment_text(run.records.front(), "build", "commit");
}

std::map<std::string, double> times_of(const HistoryRun& run) {
  std::map<std::string, double> times;
  for (const Record& record : run.records)
    if (compared_by_others(record)) times.emplace(metric_of(record), record.time->median_ns);
  return times;
}

// As the first run lists them.
void find_metrics(History& history) {
  std::map<std::string, std::size_t> counts;
  for (const HistoryRun& run : history.runs)
    for (const auto& [name, time] : times_of(run)) ++counts[name];
  for (const Record& record : history.runs.front().records) {
    const std::string name = metric_of(record);
    if (compared_by_others(record) && counts[name] == history.runs.size()) history.metrics.push_back(name);
  }
  if (history.metrics.empty())
    throw UsageError({.what = "no variant was timed in all runs",
                      .why = fmt::format("there are {}", plural(history.runs.size(), "run", "runs")),
                      .remedy = "run the same sweep each time"});
  if (const std::size_t left_out = counts.size() - history.metrics.size(); left_out > 0)
    history.notes.push_back(
        fmt::format("{} left out: not timed in every run", plural(left_out, "variant is", "variants are")));
}

// What looks like a change of the program, and is none.
void note_machines(History& history) {
  for (const auto& [part, key, what] :
       {std::tuple{"host", "cpu", "processors"}, std::tuple{"device", "name", "devices"},
        std::tuple{"build", "compiler", "compilers"}}) {
    std::set<std::string> values;
    for (const HistoryRun& run : history.runs)
      if (!run.records.empty()) values.insert(environment_text(run.records.front(), part, key));
    if (values.size() > 1)
      history.notes.push_back(fmt::format("the runs have {} {}: a change there is no change of the program",
                                          values.size(), what));
  }
}

}  // namespace

History history_of(std::vector<HistoryRun> runs) {
  std::set<std::string> sweeps;
  for (const HistoryRun& run : runs) {
    if (time_of(run).empty())
      throw UsageError({.what = "no record says when it was measured", .where = run.name});
    for (const Record& record : run.records) sweeps.insert(record.sweep);
  }
  if (sweeps.size() > 1)
    throw UsageError(
        {.what = "the runs are of several sweeps",
         .why = fmt::format("'{}' and '{}'", one_line(*sweeps.begin(), 60), one_line(*sweeps.rbegin(), 60)),
         .remedy = "give a folder with the runs of one sweep"});
  History history{.runs = std::move(runs), .metrics = {}, .notes = {}};
  std::ranges::stable_sort(history.runs, {}, time_of);
  find_metrics(history);
  note_machines(history);
  return history;
}

void export_otava(const History& history, std::ostream& out) {
  out << "time,run,commit";
  for (const std::string& metric : history.metrics) out << ',' << csv_field(metric);
  out << "\n";
  for (const HistoryRun& run : history.runs) {
    const std::map<std::string, double> times = times_of(run);
    out << csv_field(one_line(time_of(run))) << ',' << csv_field(one_line(run.name)) << ','
        << csv_field(commit_of(run));
    for (const std::string& metric : history.metrics) out << ',' << data_text(times.at(metric));
    out << "\n";
  }
}

// JSON is YAML, and escapes what names may hold.
void export_otava_config(const History& history, const std::filesystem::path& csv, std::ostream& out) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::object();
  for (const std::string& metric : history.metrics) metrics[metric] = {{"column", metric}, {"direction", -1}};
  const nlohmann::ordered_json config = {{"tests",
                                          {{"hilbench",
                                            {{"type", "csv"},
                                             {"file", csv.string()},
                                             {"time_column", "time"},
                                             {"attributes", {"run", "commit"}},
                                             {"metrics", metrics}}}}}};
  out << config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

}  // namespace hilbench
