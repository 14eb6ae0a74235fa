#include "reports/tables/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/view/format.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

struct Step {
  const Record* record = nullptr;
  const Record* without_dropout =
      nullptr;  // the same variant of the same case; null: none, or it has no dropout
};

std::vector<Step> steps_of(const View& view) {
  std::vector<Step> steps;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->held_bytes && record->peak_bytes && measured_right(*record))
        steps.push_back({record, without_dropout(view, *record)});
  return steps;
}

}  // namespace

const Record* without_dropout(const View& view, const Record& record) {
  Case usual = record.work;
  usual.dropout = Case{}.dropout, usual.dropout_seed = Case{}.dropout_seed;
  if (usual == record.work) return nullptr;
  const auto same = std::find_if(view.cases.begin(), view.cases.end(),
                                 [&](const CaseView& of_case) { return *of_case.work == usual; });
  if (same == view.cases.end()) return nullptr;
  for (const Record* other : same->records)
    if (other->variant_id == record.variant_id && measured_right(*other)) return other;
  return nullptr;
}

Table training_table(const View& view) {
  using R = const Step&;
  const auto time = [](const Record& record) { return record.time->median_ns; };
  const std::vector<ColumnOf<Step>> columns = {
      {{"case", "case", Align::wrapped}, [](R r) { return Cell{whole_case_text(r.record->work)}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r.record->variant_id}; }},
      {{"time", "time", Align::right, Show::page}, [=](R r) { return Cell{time_text(time(*r.record))}; }},
      {{"time_ns", "", Align::right, Show::data}, [=](R r) { return Cell{data_text(time(*r.record))}; }},
      {{"over_no_dropout", "time / without dropout", Align::right},
       [=](R r) {
         return Cell{r.without_dropout == nullptr
                         ? ""
                         : fmt::format("{:.3f}", time(*r.record) / time(*r.without_dropout))};
       }},
      {{"held", "held between passes", Align::right, Show::page},
       [](R r) { return Cell{bytes_text(*r.record->held_bytes)}; }},
      {{"held_bytes", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r.record->held_bytes)}; }},
      {{"peak", "most at a time", Align::right, Show::page},
       [](R r) { return Cell{bytes_text(*r.record->peak_bytes)}; }},
      {{"peak_bytes", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(r.record->peak_bytes)}; }}};
  return make_table("training", "Steps of a training", columns, steps_of(view));
}

}  // namespace hilbench
