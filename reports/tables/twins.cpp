#include "reports/tables/twins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/records/student.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

double distance(const Record* twin) {
  return std::abs(std::log(twin->speedup->ratio));
}

// Those that were judged, by falling distance.
std::vector<const Record*> judged_twins(const View& view) {
  std::vector<const Record*> twins;
  for (const Record* twin : view.twins)
    if (twin->speedup) twins.push_back(twin);
  std::stable_sort(twins.begin(), twins.end(),
                   [](const Record* a, const Record* b) { return distance(a) > distance(b); });
  return twins;
}

// The smallest distance that all but `share` of the twins do not exceed (nearest rank).
std::string exceeded_by(const std::vector<const Record*>& twins, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(twins.size()));
  return fmt::format("{:.2g} %", 100 * std::expm1(distance(twins[place])));
}

std::size_t with(const std::vector<const Record*>& twins, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      twins.begin(), twins.end(), [&](const Record* twin) { return twin->speedup->verdict == verdict; }));
}

}  // namespace

Table twins_table(const View& view) {
  using Twin = const Record*;
  const std::vector<ColumnOf<Twin>> columns = {
      {{"case", "case"}, [](Twin twin) { return Cell{twin->case_id}; }},
      {{"variant", "variant"}, [](Twin twin) { return Cell{twin->variant_id}; }},
      {{"ratio", "ratio", Align::right, Show::data},
       [](Twin twin) { return Cell{data_text(twin->speedup->ratio)}; }},
      {{"ratio_low", "low", Align::right, Show::data},
       [](Twin twin) { return Cell{data_text(twin->speedup->ci.low)}; }},
      {{"ratio_high", "high", Align::right, Show::data},
       [](Twin twin) { return Cell{data_text(twin->speedup->ci.high)}; }},
      {{"ratio_interval", "reference / twin [95 %]", Align::right, Show::page},
       [](Twin twin) {
         const Measured& speedup = *twin->speedup;
         return Cell{ratio_text(speedup.ratio, speedup.ci)};
       }},
      {{"processes", "processes", Align::right},
       [](Twin twin) { return Cell{std::to_string(twin->speedup->processes)}; }},
      {{"verdict", "verdict", Align::left, Show::data},
       [](Twin twin) { return Cell{std::string(to_string(twin->speedup->verdict))}; }},
      {{"verdict_text", "verdict", Align::left, Show::page}, [](Twin twin) {
         const Measured& speedup = *twin->speedup;
         return Cell{verdict_words(speedup.verdict, speedup.processes, speedup.margin)};
       }}};
  return make_table("twins", "Twins, those that differ most first", columns, judged_twins(view));
}

std::string twins_sentence(const View& view) {
  const std::vector<const Record*> twins = judged_twins(view);
  if (twins.empty()) return "";
  const auto outside = std::count_if(twins.begin(), twins.end(), [](const Record* twin) {
    return twin->speedup->ci.low > 1 || twin->speedup->ci.high < 1;
  });
  const bool several = std::all_of(twins.begin(), twins.end(),
                                   [](const Record* twin) { return twin->speedup->processes > 1; });
  const Interval rate = rate_interval(static_cast<std::size_t>(outside), twins.size());
  return fmt::format(
      "A twin is the reference measured once more, so it differs by noise alone: the 95 % interval excludes "
      "1 for {} of {} (with 95 % probability {:.2g} % to {:.2g} %; {}). Each judged by itself: {} faster, {} "
      "slower, {} equivalent, {} inconclusive.",
      outside, plural(twins.size(), "twin", "twins"), 100 * rate.low, 100 * rate.high,
      several ? "5 % are expected" : "more than 5 % are expected within one process",
      with(twins, Verdict::faster), with(twins, Verdict::slower), with(twins, Verdict::equivalent),
      with(twins, Verdict::inconclusive));
}

std::string twins_distances_sentence(const View& view) {
  const std::vector<const Record*> twins = judged_twins(view);
  if (twins.empty()) return "";
  return fmt::format(
      "Twin and reference differ by at most {} in half of the cases, in 95 % of all cases by at most {}.",
      exceeded_by(twins, 0.5), exceeded_by(twins, 0.05));
}

}  // namespace hilbench
