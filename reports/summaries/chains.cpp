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
  if (!ratio) return "";
  const bool exact = ratio->processes == 0;
  return exact ? number_text(ratio->ratio) : ratio_text(ratio->ratio, ratio->ci);
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

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", short_ratio(low), short_ratio(high));
}

// " Timed once, as it was reported ..."; of runs without protocols, what single executions of the paired
// rounds would have given.
std::string scripts_text(const MeasuredChain& chain) {
  if (chain.protocols.empty()) {
    const auto single = of_single_runs(chain);
    return single ? fmt::format(" One timed execution of each would have given {}.",
                                range_text(single->low, single->high))
                  : "";
  }
  double low = chain.protocols.front().ratios.front(), high = low;
  std::string said;
  for (const MeasuredProtocol& one : chain.protocols) {
    low = std::min(low, one.ratios.front());
    high = std::max(high, one.ratios.back());
    if (one.as_claimed)
      said = fmt::format(" A script that times it as {} ({}) gives {} in {}.",
                         chain.claimed ? "it was reported" : "the sweep says", protocol_text(one.protocol),
                         range_text(one.ratios.front(), one.ratios.back()),
                         plural(one.ratios.size(), "trial", "trials"));
  }
  if (chain.claimed && said.empty()) said = " No trial timed it as it was reported.";
  if (chain.protocols.size() > 1 || said.empty())
    said += fmt::format(" Over {} of timing, single ratios are {}.",
                        plural(chain.protocols.size(), "way", "ways"), range_text(low, high));
  return said;
}

// What tells the cases of a chain apart: the pattern, or, if two have the same, all of the case.
std::string case_name(const MeasuredChain& chain, const std::vector<MeasuredChain>& chains) {
  const std::string pattern = pattern_text(*chain.where->work);
  const bool unique = std::ranges::count_if(chains, [&](const MeasuredChain& other) {
                        return other.of == chain.of && pattern_text(*other.where->work) == pattern;
                      }) == 1;
  return unique ? pattern : whole_case_text(*chain.where->work);
}

// Counts have no interval.
bool is_counted_as_claimed(const MeasuredChain& chain) {
  const std::optional<Measured>& whole = chain.whole();
  return chain.claimed && whole && whole->processes == 0 &&
         short_ratio(whole->ratio) == short_ratio(*chain.claimed);
}

std::string chain_sentence(const MeasuredChain& chain, const std::string& name) {
  const std::optional<Measured>& whole = chain.whole();
  const bool timed = chain.of == kOfTime;
  const std::string &first = chain.steps.front().step.variant, &end = chain.steps[chain.end].step.variant;
  const std::string ratio = timed ? fmt::format("time of {} / time of {}", first, end)
                                  : fmt::format("{}, {} / {}", quantity_text(chain.of), first, end);
  std::string said =
      chain.claimed ? fmt::format("{} was reported for {}: {}. ", short_ratio(*chain.claimed), name, ratio)
                    : fmt::format("{}: {}. ", name, ratio);
  if (!whole)
    return said + fmt::format("It was not {} here: one of the two has no {}.", timed ? "measured" : "counted",
                              timed ? "time" : "such amount");
  said += fmt::format("{} {} here{}.", timed ? "The same programs give" : "It is", interval_text(whole),
                      product_text(chain));
  if (timed) said += scripts_text(chain);
  if (!timed && chain.steps.size() > chain.end + 1 && chain.steps.back().so_far)
    said += fmt::format(" With {} it is {}.", chain.steps.back().step.variant,
                        interval_text(chain.steps.back().so_far));
  if (is_counted_as_claimed(chain))
    said += " What was reported is what is counted here.";
  else if (chain.claimed && whole->ci.low <= *chain.claimed && *chain.claimed <= whole->ci.high)
    said += " What was reported lies within the interval.";
  else if (chain.claimed)
    said += fmt::format(" {} / {} = {} is not explained.", short_ratio(*chain.claimed),
                        short_ratio(whole->ratio), short_ratio(*chain.claimed / whole->ratio));
  return said;
}

// What a program says that it holds at most.
std::string peak_memory(const Record* record) {
  if (record == nullptr || record->kind == ImplementationKind::kernel) return "";
  const auto peak = amount_of(*record, kOfMemory);
  return peak ? bytes_text(*peak) : "";
}

std::string amount_text(const MeasuredChain& chain, const Record* record) {
  const auto amount = record == nullptr ? std::nullopt : amount_of(*record, chain.of);
  if (!amount) return "";
  return chain.of == kOfMemory ? bytes_text(*amount) : number_text(*amount);
}

// A row of the table.
struct Row {
  std::string work, step = {}, change = {}, time = {}, memory = {}, factor = {}, so_far = {}, function = {},
                    amount = {};
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
  return {.work = chain_name(chain),
          .step = step.step.variant,
          .change = (beyond ? "beyond the claim: " : "") + step.step.change,
          .time = step.record != nullptr && step.record->time ? time_text(step.record->time->median_ns) : "",
          .memory = peak_memory(step.record),
          .factor = interval_text(step.factor),
          .so_far = interval_text(step.so_far),
          .function = function_of(step.record),
          .amount = chain.of == kOfTime ? "" : amount_text(chain, step.record)};
}

// What was not reproduced, and what a script reports.
std::vector<Row> rows_of_end(const MeasuredChain& chain) {
  std::vector<Row> rows;
  const std::string work = chain_name(chain);
  if (chain.claimed && chain.whole() && !is_counted_as_claimed(chain)) {
    Row rest{.work = work,
             .step = fmt::format("not explained: {} / {}", short_ratio(*chain.claimed),
                                 short_ratio(chain.whole()->ratio))};
    rest.factor = short_ratio(*chain.claimed / chain.whole()->ratio);
    rest.so_far = short_ratio(*chain.claimed) + ", as reported";
    rows.push_back(std::move(rest));
  }
  for (const MeasuredProtocol& one : chain.protocols) {
    if (!one.as_claimed) continue;
    Row script{.work = work,
               .step = "what a script reports",
               .change = fmt::format("nothing ({}, {}; no evidence)", protocol_text(one.protocol),
                                     plural(one.ratios.size(), "trial", "trials"))};
    script.so_far = range_text(one.ratios.front(), one.ratios.back());
    rows.push_back(std::move(script));
  }
  return rows;
}

std::vector<Row> rows_of_chain(const MeasuredChain& chain) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    rows.push_back(row_of(chain, chain.steps[i]));
    if (i != chain.end) continue;
    for (Row& row : rows_of_end(chain)) rows.push_back(std::move(row));
  }
  if (chain.twin) {
    Row again{.work = chain_name(chain),
              .step = chain.steps.front().step.variant + ", again",
              .change = "nothing (its twin)"};
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

std::string quantity_text(const std::string& of) {
  if (of == "layout_token_lines_first_tile") return "lines of the first tile, with keys of 4 bytes";
  if (of == "layout_token_lines_per_tile") return "lines of a tile, with keys of 4 bytes";
  if (of == "layout_lines_64_per_tile") return "lines of a tile";
  std::string words = of;
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string chain_name(const MeasuredChain& chain) {
  const std::string work = whole_case_text(*chain.where->work);
  return chain.of == kOfTime ? work : fmt::format("{}: {}", work, quantity_text(chain.of));
}

std::vector<ReportedCase> reported_cases(const View& view) {
  std::vector<ReportedCase> cases;
  for (const MeasuredChain& chain : measured_chains(view)) {
    if (chain.of != kOfTime) continue;
    ReportedCase made{.work = whole_case_text(*chain.where->work), .reported = chain.claimed};
    made.here = interval_text(chain.whole());
    if (const auto whole = chain.whole()) made.measured = whole->ratio;
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

Table protocols_table(const View& view) {
  struct Timed {
    std::string work, how, ratios, middle, above;
    std::size_t trials = 0;
  };
  std::vector<Timed> rows;
  std::vector<RowGroup> groups;
  const std::vector<MeasuredChain> chains = measured_chains(view);
  for (const MeasuredChain& chain : chains) {
    if (chain.protocols.empty()) continue;
    const std::string work = whole_case_text(*chain.where->work);
    if (chains.size() > 1) groups.push_back({rows.size(), work});
    for (const MeasuredProtocol& one : chain.protocols) {
      const auto above = std::ranges::count_if(one.ratios, [](double ratio) { return ratio > 1; });
      rows.push_back({.work = work,
                      .how = protocol_text(one.protocol) +
                             (one.as_claimed && chain.claimed ? ", as it was reported" : ""),
                      .ratios = range_text(one.ratios.front(), one.ratios.back()),
                      .middle = short_ratio(median(one.ratios)),
                      .above = fmt::format("{}", above),
                      .trials = one.ratios.size()});
    }
    rows.push_back({.work = work, .how = "paired rounds", .ratios = interval_text(chain.whole())});
  }
  using T = const Timed&;
  const std::vector<ColumnOf<Timed>> columns = {
      {{"case", "", Align::wrapped, Show::data}, [](T t) { return Cell{t.work}; }},
      {{"how", "how the ends are timed"}, [](T t) { return Cell{t.how}; }},
      {{"ratios", "ratio", Align::right}, [](T t) { return Cell{t.ratios}; }},
      {{"median", "median", Align::right}, [](T t) { return Cell{t.middle}; }},
      {{"trials", "trials", Align::right},
       [](T t) { return Cell{t.trials == 0 ? "" : fmt::format("{}", t.trials)}; }},
      {{"above", "above 1", Align::right}, [](T t) { return Cell{t.above}; }}};
  Table table = make_table<Timed>("protocols", "", columns, rows);
  table.groups = std::move(groups);
  return table;
}

Table chains_table(const View& view) {
  std::vector<Row> rows;
  std::vector<RowGroup> groups;  // of each chain, if there are several
  const std::vector<MeasuredChain> chains = measured_chains(view);
  for (const MeasuredChain& chain : chains) {
    if (chains.size() > 1) groups.push_back({rows.size(), chain_name(chain)});
    for (Row& row : rows_of_chain(chain)) rows.push_back(std::move(row));
  }
  using R = const Row&;
  const bool counts =
      std::ranges::any_of(chains, [](const MeasuredChain& chain) { return chain.of != kOfTime; });
  const Show shown = counts ? Show::everywhere : Show::data;
  const std::vector<ColumnOf<Row>> columns = {
      {{"case", "", Align::wrapped, Show::data}, [](R r) { return Cell{r.work}; }},
      {{"step", "step"}, [](R r) { return Cell{r.step}; }},
      {{"factor", "factor", Align::right}, [](R r) { return Cell{r.factor}; }},
      {{"so_far", "so far", Align::right}, [](R r) { return Cell{r.so_far}; }},
      {{"change", "what it changes", Align::wrapped}, [](R r) { return Cell{r.change}; }},
      {{"amount", "amount", Align::right, shown}, [](R r) { return Cell{r.amount}; }},
      {{"time", "time", Align::right}, [](R r) { return Cell{r.time}; }},
      {{"memory", "its peak memory", Align::right}, [](R r) { return Cell{r.memory}; }},
      {{"function", "what it computes", Align::wrapped}, [](R r) { return Cell{r.function}; }}};
  Table table = make_table<Row>("chains", "", columns, rows);
  table.groups = std::move(groups);
  return table;
}

}  // namespace hilbench
