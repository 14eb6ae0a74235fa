#include "reports/page/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

#include "reports/records/stats.hpp"
#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// Whole numbers exactly, others to six digits: a page is read, tables/*.csv are computed with.
json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

json interval(double value, const Interval& ci) {
  return {number(value), number(ci.low), number(ci.high)};
}

json measured(const std::optional<Measured>& ratio) {
  return ratio ? interval(ratio->ratio, ratio->ci) : json();
}

void put(json& into, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) into[key] = number(*value);
}
void put(json& into, const char* key, const std::string& text) {
  if (!text.empty()) into[key] = text;
}

// Values that many records share, each held once: a record names it by its place.
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

// What a case is but for its ring size.
std::string family_text(const Case& work) {
  return case_text(work) + (work.mask == Mask::causal ? ", causal" : "");
}

json case_json(const CaseView& of_case) {
  const Case& work = *of_case.work;
  std::int64_t segment = 0, dilation = 1;
  for (const Branch& branch : work.pattern) {
    segment = std::max(segment, branch.segment_length);
    dilation = std::max(dilation, branch.dilation);
  }
  const std::string family = family_text(work);
  json made = {{"id", of_case.case_id},
               {"word", repeat_word(of_case.case_id)},
               {"family", family},
               {"label", family + (work.ring_size > 1 ? fmt::format(", ring of {}", work.ring_size) : "")},
               {"n", work.sequence_length},
               {"w", segment},
               {"r", dilation},
               {"dtype", to_string(work.dtype)},
               {"ring", work.ring_size},
               {"kv", 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.sequence_length) *
                          static_cast<double>(work.kv_heads) * static_cast<double>(work.head_dim) *
                          static_cast<double>(dtype_bytes(work.dtype))}};
  put(made, "peak", of_case.peak_flops_per_s);
  put(made, "copy", of_case.copy_bytes_per_s);
  return made;
}

json verification(const Verification& verify) {
  return {{"max_abs", number(verify.max_abs)},
          {"tolerance", number(verify.tolerance)},
          {"rel_l2", number(verify.rel_l2)},
          {"lse_max_abs", number(verify.lse_max_abs)},
          {"rows", verify.rows}};
}

json timing(const Timing& time, bool samples) {
  json made = {{"ns", interval(time.median_ns, time.ci_ns)}, {"timer", time.timer}};
  made["rounds"] = time.process_rounds;
  if (samples) {
    json& held = made["samples"] = json::array();
    for (const double sample : time.samples_ns) held.push_back(number(sample));
  } else if (std::vector<double> sorted = time.samples_ns; !sorted.empty()) {
    std::sort(sorted.begin(), sorted.end());
    json& quartiles = made["quartiles"] = json::array();
    for (const std::size_t quarter : {0, 1, 2, 3, 4})
      quartiles.push_back(number(sorted[(sorted.size() - 1) * quarter / 4]));
  }
  return made;
}

// What changes from record to record, apart from what does not.
std::pair<json, json> environment_parts(const json& environment) {
  json lasting = environment, passing = json::object();
  if (!lasting.is_object()) return {lasting, passing};
  for (const char* key : {"time", "device_state"})
    if (const auto found = lasting.find(key); found != lasting.end()) {
      passing[key] = *found;
      lasting.erase(found);
    }
  if (const auto host = lasting.find("host"); host != lasting.end() && host->is_object())
    for (const char* key : {"load_average", "available_memory_bytes"})
      if (const auto found = host->find(key); found != host->end()) {
        passing["host"][key] = *found;
        host->erase(found);
      }
  return {lasting, passing};
}

class Builder {
 public:
  Builder(const View& view, const std::vector<ClaimAnswer>& answers) : view_(view), answers_(answers) {
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
      cases.push_back(case_json(of_case));
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
                 {"claims", claims()},
                 {"rivals", rivals()},
                 {"forecasts", forecasts()},
                 {"figures", figures_}};
    data["cases"] = std::move(cases);
    data["records"] = std::move(records);
    data["variants"] = variants_.values();
    data["environments"] = environments_.values();
    data["counters"] = counters_.values();
    data["reasons"] = reasons_.values();
    return data;
  }

 private:
  json record_json(const CaseView& of_case, const Record& record) {
    if (!last_environment_ || *last_environment_ != record.environment) {
      last_environment_ = &record.environment;
      auto [lasting, passing] = environment_parts(record.environment);
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
    put(made, "why", record.reason);
    put(made, "ring_algorithm", record.ring_algorithm);
    put(made, "transport", record.transport);
    put(made, "cache", record.cache);
    if (record.threads > 0) made["threads"] = record.threads;
    if (record.time) made["time"] = timing(*record.time, samples_);
    if (record.verify) made["verify"] = verification(*record.verify);
    if (record.speedup) {
      made["speedup"] = interval(record.speedup->ratio, record.speedup->ci);
      made["against"] = record.speedup->against;
    }
    put(made, "verdict", verdict_text(record));
    put(made, "permute_ns", record.permute_ns);
    json uses = json::array();
    for (const double k : {1, 10, 100})
      if (const auto ratio = amortised_speedup(record, k)) uses.push_back(number(*ratio));
    if (!uses.empty()) made["amortised"] = uses;
    put(made, "flops", record.flops);
    put(made, "min_bytes", record.min_bytes);
    put(made, "tflops", record.tflops);
    put(made, "of_peak", peak_fraction(of_case, record));
    put(made, "memory", record.memory_bytes);
    put(made, "comm_bytes", record.comm_bytes);
    add_counters(made, of_case, record);
    return made;
  }

  void add_counters(json& made, const CaseView& of_case, const Record& record) {
    json held = json::object(), missing = json::object();
    for (const auto& [name, counter] : record.counters) {
      const json about = {
          {"name", name}, {"unit", counter.unit}, {"source", counter.source}, {"passes", counter.passes}};
      const std::string place = std::to_string(counters_.place(
          fmt::format("{}\n{}\n{}\n{}", name, counter.unit, counter.source, counter.passes), about));
      if (counter.value)
        held[place] = number(*counter.value);
      else
        missing[place] = reasons_.place(counter.reason, counter.reason);
    }
    if (!held.empty()) made["counters"] = std::move(held);
    if (!missing.empty()) made["unread"] = std::move(missing);
    json told = json::object();
    for (const CounterFigure& figure : counter_figures(of_case, record)) {
      if (!figure.value) continue;
      const std::string key(figure.key);
      told[key] = number(*figure.value);
      figures_[key] = figure.title;
    }
    if (!told.empty()) made["figures"] = std::move(told);
  }

  json claims() const {
    json rows = json::array();
    for (const ClaimAnswer& answer : answers_) {
      if (answer.claim->quantity != Quantity::speedup || !answer.measured) continue;
      rows.push_back({{"id", answer.claim->claim_id},
                      {"title", answer.claim->title},
                      {"work", answer.where ? case_text(*answer.where->work) : "all cases here"},
                      {"provenance", answer.claim->provenance},
                      {"verdict", to_string(answer.verdict)},
                      {"claimed", number(answer.claim->claimed.value_or(1))},
                      {"measured", measured(answer.measured)},
                      {"control", measured(answer.control)},
                      {"tokens", measured(answer.tokens)}});
    }
    return rows;
  }

  json rivals() const {
    json rows = json::array();
    for (const RivalPair& duel : duels_of(view_, kMostDuelRows))
      rows.push_back({{"kernel", kernel_text(*duel.kernel)},
                      {"work", case_text(*duel.where->work) +
                                   (duel.where->work->mask == Mask::causal ? ", causal" : "")},
                      {"rival", duel.rival->variant_id},
                      {"ratio", measured(duel.ratio)}});
    return rows;
  }

  json forecasts() const {
    json rows = json::array();
    for (const RingForecast& one : view_.forecasts) {
      json made = {{"family", family_text(one.work)}, {"variant", one.variant_id},
                   {"ring", one.work.ring_size},      {"ns", interval(one.ns, one.ci_ns)},
                   {"bytes", number(one.sent_bytes)}, {"fitted", one.fitted}};
      put(made, "hidden", one.hidden);
      rows.push_back(std::move(made));
    }
    return rows;
  }

  static constexpr auto replace = json::error_handler_t::replace;

  const View& view_;
  const std::vector<ClaimAnswer>& answers_;
  bool samples_ = true;
  Pool variants_, environments_, counters_, reasons_;
  const json* last_environment_ = nullptr;  // of the record before, which the next one often shares
  std::size_t lasting_place_ = 0;
  json passing_;
  json figures_ = json::object();
};

}  // namespace

json page_data(const View& view, const std::vector<ClaimAnswer>& answers) {
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
