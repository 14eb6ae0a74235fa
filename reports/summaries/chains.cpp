#include "reports/summaries/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reports/claims/claim_records.hpp"
#include "reports/claims/claims.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string short_ratio(double ratio) {
  return number_text(ratio, 3);
}

std::string interval_text(const std::optional<Measured>& ratio) {
  return ratio ? ratio_text(ratio->ratio, ratio->ci) : "";
}

// " = 1.03 (without biases) x 0.48 (their map)"; what is missing if a factor is.
std::string product_text(const MeasuredChain& chain) {
  std::string factors;
  for (std::size_t i = 1; i <= chain.end; ++i) {
    const MeasuredStep& step = chain.steps[i];
    if (!step.factor)
      return fmt::format(" (no factors: {} was not measured beside the step before)", step.step.variant);
    factors +=
        fmt::format("{}{} ({})", i == 1 ? " = " : " x ", short_ratio(step.factor->ratio), step.step.change);
  }
  return factors;
}

// The middle 95 % of the ratios that one execution of the first step and one of the last give.
std::optional<Interval> of_single_runs(const MeasuredChain& chain) {
  constexpr std::size_t kFewest = 20;
  const Record *first = chain.steps.front().record, *last = chain.steps[chain.end].record;
  const std::vector<double>&a = first->time->samples_ns, &b = last->time->samples_ns;
  if (a.size() < kFewest || a.size() != b.size()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  std::ranges::sort(ratios);
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(std::llround(share * static_cast<double>(ratios.size() - 1)))];
  };
  return Interval{at(0.025), at(0.975)};
}

// What tells the cases of a chain apart: the pattern, or, if two have the same, all of the case.
std::string case_name(const MeasuredChain& chain, const std::vector<MeasuredChain>& chains) {
  const std::string pattern = pattern_text(*chain.where->work);
  const bool unique = std::ranges::count_if(chains, [&](const MeasuredChain& other) {
                        return pattern_text(*other.where->work) == pattern;
                      }) == 1;
  return unique ? pattern : whole_case_text(*chain.where->work);
}

std::string chain_sentence(const MeasuredChain& chain, const std::string& name) {
  const std::optional<Measured>& whole = chain.whole();
  const std::string ratio = fmt::format("time of {} / time of {}", chain.steps.front().step.variant,
                                        chain.steps[chain.end].step.variant);
  std::string said =
      chain.claimed ? fmt::format("{} was reported for {}: {}. ", short_ratio(*chain.claimed), name, ratio)
                    : fmt::format("{}: {}. ", name, ratio);
  if (!whole) return said + "It was not measured here: one of the two has no time.";
  said += fmt::format("The same programs give {} here{}.", interval_text(whole), product_text(chain));
  if (const auto single = of_single_runs(chain))
    said += fmt::format(" One timed execution of each would have given {} to {}.", short_ratio(single->low),
                        short_ratio(single->high));
  if (chain.claimed && whole->ci.low <= *chain.claimed && *chain.claimed <= whole->ci.high)
    said += " What was reported lies within the interval.";
  else if (chain.claimed)
    said += fmt::format(" {} / {} = {} is not explained.", short_ratio(*chain.claimed),
                        short_ratio(whole->ratio), short_ratio(*chain.claimed / whole->ratio));
  return said;
}

// What a program says that it holds at most.
std::string peak_memory(const Record* record) {
  if (record == nullptr) return "";
  const auto library = record->environment->find("library");
  if (library == record->environment->end() || !library->is_object()) return "";
  const auto peak = library->find("peak_bytes");
  return peak != library->end() && peak->is_number() ? bytes_text(peak->get<double>()) : "";
}

// A row of the table.
struct Row {
  std::string work, step = {}, change = {}, time = {}, memory = {}, factor = {}, so_far = {}, function = {};
};

std::string function_of(const Record* record) {
  if (record == nullptr) return "not measured";
  if (record->status != Status::ok) return fmt::format("{}: {}", to_string(record->status), record->reason);
  if (record->variant.kernel().order_scope == OrderScope::tokens) return "another: the tokens are permuted";
  if (record->variant.kernel().order_scope == OrderScope::keys)
    return "another: K and V are permuted, Q is not";
  const std::string& other = record->verify ? record->verify->other_function : std::string();
  return other.empty() ? "as asked, verified" : "another: " + other;
}

Row row_of(const MeasuredChain& chain, const MeasuredStep& step) {
  const bool beyond = &step > &chain.steps[chain.end];
  return {.work = whole_case_text(*chain.where->work),
          .step = step.step.variant,
          .change = (beyond ? "beyond the claim: " : "") + step.step.change,
          .time = step.record != nullptr && step.record->time ? time_text(step.record->time->median_ns) : "",
          .memory = peak_memory(step.record),
          .factor = interval_text(step.factor),
          .so_far = interval_text(step.so_far),
          .function = function_of(step.record)};
}

std::vector<Row> rows_of_chain(const MeasuredChain& chain) {
  std::vector<Row> rows;
  const std::string work = whole_case_text(*chain.where->work);
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    rows.push_back(row_of(chain, chain.steps[i]));
    if (i != chain.end || !chain.claimed || !chain.whole()) continue;
    Row rest{.work = work,
             .step = fmt::format("not explained: {} / {}", short_ratio(*chain.claimed),
                                 short_ratio(chain.whole()->ratio))};
    rest.factor = short_ratio(*chain.claimed / chain.whole()->ratio);
    rest.so_far = short_ratio(*chain.claimed) + ", as reported";
    rows.push_back(std::move(rest));
  }
  if (chain.twin) {
    Row again{
        .work = work, .step = chain.steps.front().step.variant + ", again", .change = "nothing (its twin)"};
    again.factor = interval_text(chain.twin);
    rows.push_back(std::move(again));
  }
  return rows;
}

// Of the steps that the claim is about, the one whose factor is farthest from 1; null if none has a factor.
const MeasuredStep* largest_step(const MeasuredChain& chain) {
  const auto size = [](const MeasuredStep& step) {
    return step.factor ? std::abs(std::log(step.factor->ratio)) : -1;
  };
  const auto last = chain.steps.begin() + static_cast<std::ptrdiff_t>(chain.end) + 1;
  const auto largest = std::ranges::max_element(chain.steps.begin() + 1, last, {}, size);
  return largest->factor ? &*largest : nullptr;
}

// Time of a kernel here in linear order / in Hilbert order; both orders as the claims have them.
std::optional<Measured> own_ratio(const CaseView& of_case) {
  const ClaimRecords records = claim_records(of_case, compared_by_reports());
  if (records.against == nullptr || records.variant == nullptr) return std::nullopt;
  return time_ratio(*records.against, *records.variant);
}

}  // namespace

std::vector<ReportedCase> reported_cases(const View& view) {
  std::vector<ReportedCase> cases;
  for (const MeasuredChain& chain : measured_chains(view)) {
    ReportedCase made{.work = whole_case_text(*chain.where->work), .reported = chain.claimed};
    made.here = interval_text(chain.whole());
    if (const MeasuredStep* step = largest_step(chain))
      made.largest = fmt::format("{}: {}", step->step.change, short_ratio(step->factor->ratio));
    made.own = interval_text(own_ratio(*chain.where));
    cases.push_back(std::move(made));
  }
  return cases;
}

Table reported_table(const std::vector<ReportedCase>& cases) {
  using C = const ReportedCase&;
  const std::vector<ColumnOf<ReportedCase>> columns = {
      {{"case", "case (segment/dilation)", Align::wrapped}, [](C c) { return Cell{c.work}; }},
      {{"reported", "reported", Align::right},
       [](C c) { return Cell{c.reported ? short_ratio(*c.reported) : ""}; }},
      {{"here", "the same programs here", Align::right}, [](C c) { return Cell{c.here}; }},
      {{"largest", "the step that moves it most", Align::wrapped}, [](C c) { return Cell{c.largest}; }},
      {{"own", "Hilbert order in a kernel here", Align::right}, [](C c) { return Cell{c.own}; }}};
  return make_table<ReportedCase>("reported", "", columns, cases);
}

std::vector<std::string> chain_sentences(const View& view) {
  std::vector<std::string> said;
  const std::vector<MeasuredChain> chains = measured_chains(view);
  for (const MeasuredChain& chain : chains) said.push_back(chain_sentence(chain, case_name(chain, chains)));
  return said;
}

Table chains_table(const View& view) {
  std::vector<Row> rows;
  std::vector<RowGroup> groups;  // of each chain, if there are several
  const std::vector<MeasuredChain> chains = measured_chains(view);
  for (const MeasuredChain& chain : chains) {
    if (chains.size() > 1) groups.push_back({rows.size(), whole_case_text(*chain.where->work)});
    for (Row& row : rows_of_chain(chain)) rows.push_back(std::move(row));
  }
  using R = const Row&;
  const std::vector<ColumnOf<Row>> columns = {
      {{"case", "", Align::wrapped, Show::data}, [](R r) { return Cell{r.work}; }},
      {{"step", "step"}, [](R r) { return Cell{r.step}; }},
      {{"factor", "factor", Align::right}, [](R r) { return Cell{r.factor}; }},
      {{"so_far", "so far", Align::right}, [](R r) { return Cell{r.so_far}; }},
      {{"change", "what it changes", Align::wrapped}, [](R r) { return Cell{r.change}; }},
      {{"time", "time", Align::right}, [](R r) { return Cell{r.time}; }},
      {{"memory", "its peak memory", Align::right}, [](R r) { return Cell{r.memory}; }},
      {{"function", "what it computes", Align::wrapped}, [](R r) { return Cell{r.function}; }}};
  Table table = make_table<Row>("chains", "", columns, rows);
  table.groups = std::move(groups);
  return table;
}

}  // namespace hilbench
