#include "reports/tables/claim_levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// One row: an answer, and one of its levels.
struct LevelRow {
  const ClaimAnswer* answer = nullptr;
  const LevelAnswer* level = nullptr;
};
using L = const LevelRow&;

Cell misses_cell(const std::optional<LevelCount>& count) {
  return {data_text(count ? std::optional(count->misses) : std::nullopt)};
}
Cell range_cell(const std::vector<double>& ratios) {
  std::vector<std::string> texts;
  if (ratios.empty()) return {};
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  for (const double end : {*low, *high})
    if (const std::string text = fmt::format("{:+.1f} %", (end - 1) * 100); texts.empty() || texts[0] != text)
      texts.push_back(text);
  return {fmt::format("{}", fmt::join(texts, " to "))};
}

// The case, which names its dtype; "all cases here in bf16" if several answer together.
std::string place_text(const ClaimAnswer& answer) {
  if (answer.where) return case_text(*answer.where->work);
  const std::string dtype = dtype_name(answer);
  return dtype.empty() ? "all cases here" : "all cases here in " + dtype;
}

}  // namespace

Table claim_levels_table(const std::vector<ClaimAnswer>& answers) {
  std::vector<LevelRow> rows;
  for (const ClaimAnswer& answer : answers)
    for (const LevelAnswer& level : answer.levels) rows.push_back({&answer, &level});
  const std::vector<ColumnOf<LevelRow>> columns = {
      {{"claim", "claim"}, [](L l) { return Cell{l.answer->claim->claim_id}; }},
      {{"metric", "metric", Align::left, Show::data}, [](L l) { return Cell{l.answer->claim->metric}; }},
      {{"work", "case (segment/dilation)", Align::wrapped, Show::page},
       [](L l) { return Cell{place_text(*l.answer)}; }},
      {{"case", "", Align::left, Show::data},
       [](L l) { return Cell{l.answer->where ? l.answer->where->case_id : ""}; }},
      {{"claimed", "claimed", Align::right},
       [](L l) { return Cell{fmt::format("{:+.1f} %", (1 / *l.answer->claim->claimed - 1) * 100)}; }},
      {{"level", "level"}, [](L l) { return Cell{std::string(l.level->level->name)}; }},
      {{"against_linear", "misses against linear", Align::right},
       [](L l) { return range_cell(l.level->to_against); }},
      {{"against_control", "against the control", Align::right},
       [](L l) { return range_cell(l.level->to_control); }},
      {{"verdict", "verdict"},
       [](L l) {
         return Cell{std::string(to_string(l.level->verdict)), tone_of(l.level->verdict)};
       }},
      {{"ratio", "", Align::right, Show::data}, [](L l) { return ratio_cell(l.level->measured); }},
      {{"ratio_low", "", Align::right, Show::data},
       [](L l) { return end_cell(l.level->measured, &Interval::low); }},
      {{"ratio_high", "", Align::right, Show::data},
       [](L l) { return end_cell(l.level->measured, &Interval::high); }},
      {{"linear", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->against); }},
      {{"hilbert", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->variant); }},
      {{"control", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->control); }},
      {{"control_variant", "control"}, [](L l) { return Cell{l.level->control_name}; }},
      {{"counts", "counts of each", Align::right},
       [](L l) { return Cell{l.level->counts > 0 ? std::to_string(l.level->counts) : ""}; }},
      {{"counters", "counters"},
       [](L l) { return Cell{l.level->variant ? l.level->variant->counters : ""}; }},
      {{"source", "read by"}, [](L l) { return Cell{l.level->variant ? l.level->variant->source : ""}; }},
      {{"passes", "passes", Align::right},
       [](L l) { return Cell{l.level->variant ? std::to_string(l.level->variant->passes) : ""}; }},
      {{"why", "remark", Align::wrapped}, [](L l) { return Cell{l.level->why}; }},
      {{"dtype", "", Align::left, Show::data}, [](L l) { return Cell{dtype_name(*l.answer)}; }},
  };
  return make_table<LevelRow>("claim_levels", "Claims about caches, level by level", columns, rows);
}

}  // namespace hilbench
