#include "reports/tables/window_pairs.hpp"

#include <fmt/format.h>

#include <vector>

#include "reports/view/format.hpp"

namespace hilbench {

Table window_pairs_table(const View& view) {
  std::vector<const Record*> rows;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->pairs) rows.push_back(record);
  using R = const Record* const&;
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  const std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"needed", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->needed)}; }},
      {{"computed", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->computed)}; }},
      {{"computed_over_needed", "computed / needed", Align::right},
       [](R r) { return Cell{fmt::format("{:.3f}", r->pairs->computed / r->pairs->needed)}; }},
      {{"density", "", Align::right, Show::data}, [](R r) { return Cell{data_text(r->pairs->density)}; }},
      {{"computed_share", "computed, of all pairs", Align::right, Show::page},
       [percent](R r) { return Cell{percent(r->pairs->density)}; }},
      {{"partial_blocks", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r->pairs->partial_blocks)}; }},
      {{"masked", "blocks of keys with a mask", Align::right, Show::page},
       [percent](R r) { return Cell{percent(r->pairs->partial_blocks)}; }},
      {{"time", "time", Align::right, Show::page},
       [](R r) { return Cell{r->time ? time_text(r->time->median_ns) : ""}; }}};
  return make_table("window_pairs", "Pairs of windows", columns, rows);
}

}  // namespace hilbench
