#include "reports/tables/summary.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "reports/records/stats.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// One variant in all cases.
struct Sum {
  std::string variant;
  std::size_t faster = 0, slower = 0, equivalent = 0, inconclusive = 0;
  bool other_function = false;
  std::vector<double> ratios;
};

std::vector<Sum> sums_of(const View& view) {
  std::vector<Sum> sums;
  std::map<std::string, std::size_t> places;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!record->speedup || record->status != Status::ok) continue;
      const auto [place, fresh] = places.try_emplace(record->variant_id, sums.size());
      if (fresh) sums.push_back({.variant = record->variant_id});
      Sum& sum = sums[place->second];
      sum.ratios.push_back(record->speedup->ratio);
      sum.other_function |= record->speedup->verdict == Verdict::different_function;
      const Verdict verdict = record->speedup->verdict;
      sum.faster += verdict == Verdict::faster;
      sum.slower += verdict == Verdict::slower;
      sum.equivalent += verdict == Verdict::equivalent;
      sum.inconclusive += verdict == Verdict::inconclusive;
    }
  return sums;
}

}  // namespace

Table summary_table(const View& view) {
  using S = const Sum&;
  const auto count = [](std::size_t cases, Tone tone) {
    return text_cell(std::to_string(cases), cases > 0 ? tone : Tone::plain);
  };
  const std::vector<ColumnOf<Sum>> columns = {
      {{"variant", "variant"}, [](S s) { return text_cell(s.variant); }},
      {{"median_speedup", "median speedup", Align::right, Show::page},
       [](S s) { return text_cell(number_text(median(s.ratios))); }},
      {{"cases", "cases", Align::right}, [](S s) { return text_cell(std::to_string(s.ratios.size())); }},
      {{"faster", "faster", Align::right}, [=](S s) { return count(s.faster, Tone::good); }},
      {{"slower", "slower", Align::right}, [=](S s) { return count(s.slower, Tone::bad); }},
      {{"equivalent", "equivalent", Align::right},
       [](S s) { return text_cell(std::to_string(s.equivalent)); }},
      {{"inconclusive", "inconclusive", Align::right},
       [](S s) { return text_cell(std::to_string(s.inconclusive)); }},
      {{"smallest", "smallest speedup", Align::right},
       [](S s) { return text_cell(number_text(*std::min_element(s.ratios.begin(), s.ratios.end()))); }},
      {{"median", "", Align::right, Show::data},
       [](S s) { return text_cell(number_text(median(s.ratios))); }},
      {{"largest", "largest speedup", Align::right},
       [](S s) { return text_cell(number_text(*std::max_element(s.ratios.begin(), s.ratios.end()))); }},
      {{"remark", "remark"},
       [](S s) {
         return text_cell(s.other_function ? "computes a different function: no speedup" : "", Tone::muted);
       }},
  };
  return make_table<Sum>("summary", "", columns, sums_of(view));
}

}  // namespace hilbench
