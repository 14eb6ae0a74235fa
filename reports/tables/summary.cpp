#include "reports/tables/summary.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/records/stats.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// One variant in all cases of windows, or in all others, where it computes another function.
struct Sum {
  std::string variant;
  bool windows = false;
  std::size_t faster = 0, slower = 0, equivalent = 0, inconclusive = 0;
  bool other_function = false, of_reference = false;  // that of the reference
  std::vector<double> ratios;
};

std::vector<Sum> sums_of(const View& view) {
  std::vector<Sum> sums;
  std::map<std::pair<bool, std::string>, std::size_t> places;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!record->speedup || record->status != Status::ok) continue;
      const bool windows = has_windows(*of_case.work);
      const auto [place, fresh] = places.try_emplace({windows, record->variant_id}, sums.size());
      if (fresh) sums.push_back({.variant = record->variant_id, .windows = windows});
      Sum& sum = sums[place->second];
      sum.ratios.push_back(record->speedup->ratio);
      sum.other_function |= record->speedup->verdict == Verdict::different_function;
      sum.of_reference |= sum.other_function && !computes_other_function(*record);
      const Verdict verdict = record->speedup->verdict;
      sum.faster += verdict == Verdict::faster;
      sum.slower += verdict == Verdict::slower;
      sum.equivalent += verdict == Verdict::equivalent;
      sum.inconclusive += verdict == Verdict::inconclusive;
    }
  std::stable_partition(sums.begin(), sums.end(), [](const Sum& sum) { return sum.windows; });
  return sums;
}

std::string remark_of(const Sum& sum) {
  if (!sum.other_function) return "";
  return sum.of_reference ? "the reference computes another function: no speedup"
                          : "computes another function: no speedup";
}

// A speedup for readers; none if two functions were compared.
Cell speedup_cell(const Sum& sum, double speedup) {
  return text_cell(sum.other_function ? "" : number_text(speedup));
}

double least(const Sum& sum) {
  return *std::ranges::min_element(sum.ratios);
}

double most(const Sum& sum) {
  return *std::ranges::max_element(sum.ratios);
}

}  // namespace

bool sums_windows_apart(const View& view) {
  const auto windowed = [](const CaseView& of_case) { return has_windows(*of_case.work); };
  return std::any_of(view.cases.begin(), view.cases.end(), windowed) &&
         !std::all_of(view.cases.begin(), view.cases.end(), windowed);
}

Table summary_table(const View& view) {
  using S = const Sum&;
  const auto count = [](std::size_t cases, Tone tone) {
    return text_cell(std::to_string(cases), cases > 0 ? tone : Tone::plain);
  };
  const std::vector<ColumnOf<Sum>> columns = {
      {{"variant", "variant"}, [](S s) { return text_cell(s.variant); }},
      {{"pattern", "pattern", Align::left, sums_windows_apart(view) ? Show::everywhere : Show::data},
       [](S s) { return text_cell(s.windows ? "windows" : "segments"); }},
      {{"median_speedup", "median speedup", Align::right, Show::page},
       [](S s) { return speedup_cell(s, median(s.ratios)); }},
      {{"cases", "cases", Align::right}, [](S s) { return text_cell(std::to_string(s.ratios.size())); }},
      {{"faster", "faster", Align::right}, [=](S s) { return count(s.faster, Tone::good); }},
      {{"slower", "slower", Align::right}, [=](S s) { return count(s.slower, Tone::bad); }},
      {{"equivalent", "equivalent", Align::right},
       [](S s) { return text_cell(std::to_string(s.equivalent)); }},
      {{"inconclusive", "inconclusive", Align::right},
       [](S s) { return text_cell(std::to_string(s.inconclusive)); }},
      {{"smallest_speedup", "smallest speedup", Align::right, Show::page},
       [](S s) { return speedup_cell(s, least(s)); }},
      {{"largest_speedup", "largest speedup", Align::right, Show::page},
       [](S s) { return speedup_cell(s, most(s)); }},
      {{"smallest", "", Align::right, Show::data}, [](S s) { return text_cell(number_text(least(s))); }},
      {{"median", "", Align::right, Show::data},
       [](S s) { return text_cell(number_text(median(s.ratios))); }},
      {{"largest", "", Align::right, Show::data}, [](S s) { return text_cell(number_text(most(s))); }},
      {{"remark", "remark"}, [](S s) { return text_cell(remark_of(s), Tone::muted); }},
  };
  return make_table<Sum>("summary", "", columns, sums_of(view));
}

}  // namespace hilbench
