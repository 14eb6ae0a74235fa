#include "reports/tables/locality.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct CounterColumn {
  std::string name, unit;
  bool layout = false;
};

// Counters that at least one record holds, layout counts first.
std::vector<CounterColumn> counter_columns(const View& view) {
  std::vector<CounterColumn> layout, hardware;
  std::set<std::string> seen;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      for (const auto& [name, counter] : record->counters) {
        if (!counter.value || counter.source == "measured" || !seen.insert(name).second) continue;
        const bool exact = counter.source == "layout";
        (exact ? layout : hardware).push_back({name, counter.unit, exact});
      }
  const auto by_name = [](const CounterColumn& a, const CounterColumn& b) { return a.name < b.name; };
  std::sort(layout.begin(), layout.end(), by_name);
  std::sort(hardware.begin(), hardware.end(), by_name);
  layout.insert(layout.end(), hardware.begin(), hardware.end());
  return layout;
}

std::string readable(const CounterColumn& counter) {
  std::string title =
      counter.layout && counter.name.starts_with("layout_") ? counter.name.substr(7) : counter.name;
  std::replace(title.begin(), title.end(), '_', ' ');
  return counter.unit.empty() ? title : fmt::format("{} ({})", title, counter.unit);
}

}  // namespace

Table locality_table(const View& view) {
  const std::vector<CounterColumn> counters = counter_columns(view);
  std::vector<const Record*> rows;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (std::any_of(counters.begin(), counters.end(), [&](const CounterColumn& counter) {
            return counter_value(*record, counter.name).has_value();
          }))
        rows.push_back(record);
  using R = const Record* const&;
  std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"time", "time", Align::right, Show::page},
       [](R r) { return Cell{r->time ? time_text(r->time->median_ns) : ""}; }},
      {{"time_ns", "", Align::right, Show::data},
       [](R r) { return Cell{r->time ? data_text(r->time->median_ns) : ""}; }},
  };
  for (const CounterColumn& counter : counters)
    columns.push_back({{counter.name, readable(counter), Align::right}, [name = counter.name](R r) {
                         const auto value = counter_value(*r, name);
                         return value ? Cell{number_text(*value)} : Cell{};
                       }});
  return make_table<const Record*>("locality", "", columns, rows);
}

Table unavailable_table(const View& view) {
  std::map<std::string, std::pair<std::set<std::string>, std::size_t>> reasons;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      for (const auto& [name, counter] : record->counters) {
        if (counter.value) continue;
        auto& [names, records] = reasons[counter.reason.empty() ? "no reason given" : counter.reason];
        names.insert(name);
        ++records;
      }
  using Reason = std::pair<std::string, std::pair<std::set<std::string>, std::size_t>>;
  const std::vector<ColumnOf<Reason>> columns = {
      {{"counters", "counters"},
       [](const Reason& r) { return Cell{fmt::format("{}", fmt::join(r.second.first, ", "))}; }},
      {{"readings", "readings missing", Align::right},
       [](const Reason& r) { return Cell{std::to_string(r.second.second)}; }},
      {{"reason", "why"}, [](const Reason& r) { return Cell{r.first}; }},
  };
  return make_table<Reason>("unavailable", "", columns, {reasons.begin(), reasons.end()});
}

}  // namespace hilbench
