#include "reports/figures/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "reports/figures/case_axes.hpp"
#include "reports/figures/data_values.hpp"
#include "reports/figures/shared_rows.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/ring_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// Values that many records share. Each is held once; a record holds its place in the list.
class Pool {
 public:
  std::size_t place(const std::string& key, const json& value) {
    const auto [found, fresh] = places_.try_emplace(key, values_.size());
    if (fresh) values_.push_back(value);
    return found->second;
  }
  json values() { return std::move(values_); }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  json values_ = json::array();
};

json case_json(const CaseView& of_case, const json& axes) {
  const Case& work = *of_case.work;
  std::int64_t segment = 0, dilation = 1;
  for (const Branch& branch : work.pattern) {
    segment = std::max(segment, branch.segment_length);
    dilation = std::max(dilation, branch.dilation);
  }
  const std::string family = whole_case_text(work);  // all but its ring size
  json made = {{"id", of_case.case_id},
               {"word", repeat_word(of_case.case_id)},
               {"family", family},
               {"label", family + (work.ring_size > 1 ? fmt::format(", ring of {}", work.ring_size) : "")},
               {"n", work.sequence_length},
               {"w", segment},
               {"r", dilation},
               {"dtype", to_string(work.dtype)},
               {"pages", to_string(work.pages)},
               {"ring", work.ring_size},
               {"kv", 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.sequence_length) *
                          static_cast<double>(work.kv_heads) * static_cast<double>(work.head_dim) *
                          static_cast<double>(dtype_bytes(work.dtype))}};
  made["at"] = case_places(work, axes);
  if (has_windows(work)) made["windows"] = true;
  put_known(made, "peak", of_case.peak_flops_per_s);
  put_known(made, "copy", of_case.copy_bytes_per_s);
  return made;
}

class Builder {
 public:
  Builder(const View& view, const std::vector<ClaimAnswer>& answers)
      : view_(view), answers_(answers_of(ClaimOrigin::report, answers)), axes_(case_axes(view)) {
    for (const RingRow& row : ring_rows(view))
      if (row.speedup) over_one_.emplace(row.record, *row.speedup);
    std::size_t samples = 0;
    for (const CaseView& of_case : view.cases)
      for (const Record* record : of_case.records)
        if (record->time) samples += record->time->samples_ns.size();
    samples_ = samples <= kMostSamplesOnPage;
  }

  json build() {
    json cases = json::array(), records = json::array();
    for (const CaseView& of_case : view_.cases) {
      if (records.size() == kMostRecordsOnPage) break;
      for (const Record* record : of_case.records) {
        if (records.size() == kMostRecordsOnPage) break;
        records.push_back(record_json(of_case, *record));
        records.back()["case"] = cases.size();
      }
      cases.push_back(case_json(of_case, axes_));
    }
    const RepeatCommand command = repeat_command(view_.sweep, view_);
    json data = {{"sweep", view_.sweep},
                 {"machine", view_.machine},
                 {"held",
                  {{"records", records.size()},
                   {"of", view_.record_count},
                   {"samples", samples_},
                   {"most_samples", kMostSamplesOnPage}}},
                 {"command", {{"head", command.head}, {"tail", command.tail}}},
                 {"claims", claims_json(answers_)},
                 {"rivals", rivals_json(view_)},
                 {"rates", rates_json(view_)},
                 {"chains", chains_json(view_)},
                 {"forecasts", predictions_json(view_)},
                 {"figures", figures_}};
    data["cases"] = std::move(cases);
    data["records"] = std::move(records);
    data["variants"] = variants_.values();
    data["axes"] = std::move(axes_);
    data["environments"] = environments_.values();
    data["counters"] = counters_.values();
    data["reasons"] = reasons_.values();
    return data;
  }

 private:
  json record_json(const CaseView& of_case, const Record& record) {
    if (!last_environment_ || *last_environment_ != *record.environment) {
      last_environment_ = &*record.environment;
      auto [lasting, passing] = environment_parts(*record.environment);
      lasting_place_ = environments_.place(lasting.dump(-1, ' ', false, replace), lasting);
      passing_ = std::move(passing);
    }
    json made = {{"variant", variants_.place(record.variant_id, {{"id", record.variant_id},
                                                                 {"word", repeat_word(record.variant_id)}})},
                 {"kernel", record.kernel},
                 {"status", to_string(record.status)},
                 {"environment", lasting_place_},
                 {"passing", passing_}};
    if (record.kind == ImplementationKind::baseline) made["baseline"] = true;
    put_known(made, "why", record.reason);
    put_known(made, "ring_algorithm", record.ring_algorithm);
    put_known(made, "transport", record.transport);
    put_known(made, "cache", record.cache);
    if (record.steady_s > 0) made["steady_s"] = number_json(record.steady_s);
    if (record.energy && !record.energy->samples_j.empty())
      made["joules"] = number_json(record.energy->median_j);
    else if (record.energy)
      made["no_joules"] = record.energy->reason;
    if (record.threads > 0) made["threads"] = record.threads;
    if (record.time) made["time"] = timing_json(*record.time, samples_);
    if (record.verify) made["verify"] = verification_json(*record.verify);
    add_speedup(made, record);
    put_known(made, "flops", record.flops);
    put_known(made, "min_bytes", record.min_bytes);
    put_known(made, "tflops", record.tflops);
    put_known(made, "of_peak", peak_fraction(of_case, record));
    if (is_above_peak(of_case, record)) made["above_peak"] = true;
    if (record.pairs && record.pairs->needed > 0)
      put_known(made, "pairs", record.pairs->computed / record.pairs->needed);
    if (const auto found = over_one_.find(&record); found != over_one_.end())
      made["over_one"] = measured_json(found->second);
    put_known(made, "memory", record.memory_bytes);
    put_known(made, "held_bytes", record.held_bytes);
    put_known(made, "peak_bytes", record.peak_bytes);
    put_known(made, "comm_bytes", record.comm_bytes);
    put_known(made, "comm_bytes_between", record.comm_bytes_between);
    add_counters(made, of_case, record);
    return made;
  }

  static void add_speedup(json& made, const Record& record) {
    if (record.speedup) {
      made["speedup"] = interval_json(record.speedup->ratio, record.speedup->ci);
      made["against"] = record.speedup->against;
    }
    put_known(made, "verdict", verdict_text(record));
    put_known(made, "permute_ns", record.permute_ns);
    json uses = json::array();
    for (const double k : {1, 10, 100})
      if (const auto ratio = amortised_speedup(record, k)) uses.push_back(number_json(*ratio));
    if (!uses.empty()) made["amortised"] = uses;
  }

  void add_counters(json& made, const CaseView& of_case, const Record& record) {
    json held = json::object(), missing = json::object();
    for (const auto& [name, counter] : record.counters) {
      const json about = {
          {"name", name}, {"unit", counter.unit}, {"source", counter.source}, {"passes", counter.passes}};
      const std::string place = std::to_string(counters_.place(
          fmt::format("{}\n{}\n{}\n{}", name, counter.unit, counter.source, counter.passes), about));
      if (counter.value)
        held[place] = number_json(*counter.value);
      else
        missing[place] = reasons_.place(counter.reason, counter.reason);
    }
    if (!held.empty()) made["counters"] = std::move(held);
    if (!missing.empty()) made["unread"] = std::move(missing);
    json told = json::object();
    for (const CounterFigure& figure : counter_figures(of_case, record)) {
      if (!figure.value) continue;
      const std::string key(figure.key);
      told[key] = number_json(*figure.value);
      figures_[key] = figure.title;
    }
    if (!told.empty()) made["figures"] = std::move(told);
  }

  static constexpr auto replace = json::error_handler_t::replace;

  const View& view_;
  const std::vector<ClaimAnswer> answers_;
  json axes_;
  std::unordered_map<const Record*, Measured> over_one_;  // speedups of rings over one rank
  bool samples_ = true;
  Pool variants_, environments_, counters_, reasons_;
  const json* last_environment_ = nullptr;  // of the previous record, which often has the same
  std::size_t lasting_place_ = 0;
  json passing_;
  json figures_ = json::object();
};

}  // namespace

json report_data(const View& view, const std::vector<ClaimAnswer>& answers) {
  return Builder(view, answers).build();
}

std::string script_safe(const json& data) {
  std::string safe;
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace hilbench
