#include "reports/side_by_side_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/compare_document.hpp"
#include "reports/figures/data_values.hpp"
#include "reports/records/stats.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// What cases of unlike machines share: all but the device and the number of its threads.
std::string shared_id(Case work) {
  work.device = DeviceKind::automatic;
  work.threads = 0;
  return case_id(work);
}

struct Place {
  const CaseView* where = nullptr;
  const Record* record = nullptr;
};
using Places = std::map<std::pair<std::string, std::string>, Place>;

template <class Key>
Places places_of(const View& view, Key key) {
  Places places;
  for (const CaseView& where : view.cases)
    for (const Record* record : where.records)
      places.try_emplace({key(*record), record->variant_id}, Place{&where, record});
  return places;
}

bool is_limit(const SideBySide& one) {
  return one.pair.a->variant_id == "peak";
}

std::string time_of(const Record& record) {
  return record.time ? time_text(record.time->median_ns, record.time->ci_ns)
                     : std::string(to_string(record.status));
}

std::string speedup_of(const Record& record) {
  return record.speedup ? ratio_text(record.speedup->ratio, record.speedup->ci) : "";
}

json rate_json(const Record& record) {
  if (!record.tflops || !record.time) return {};
  const Timing& time = *record.time;
  return interval_json(*record.tflops, {*record.tflops * time.median_ns / time.ci_ns.high,
                                        *record.tflops * time.median_ns / time.ci_ns.low});
}

std::string machines_sentence(const ComparedRuns& runs) {
  return fmt::format("A is {}, B is {}. Nothing is judged here.", runs.a.machine, runs.b.machine);
}

std::string times_sentence(const std::vector<SideBySide>& pairs) {
  std::vector<double> ratios;
  for (const SideBySide& one : pairs)
    if (one.pair.ratio && !is_limit(one)) ratios.push_back(one.pair.ratio->ratio);
  if (ratios.empty())
    return "Nothing was timed in both runs: they share no case and variant that has a time.";
  const auto shorter = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 1; });
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format(
      "Both timed {}: time in A / time in B is {} in the median, from {} to {}; above 1, B took "
      "less time, which it did in {}.",
      plural(ratios.size(), "variant of a case", "variants of cases"), number_text(median(ratios), 3),
      number_text(*low, 3), number_text(*high, 3), shorter);
}

// How far what an order gains in one run it gains in the other.
std::string speedups_sentence(const std::vector<SideBySide>& pairs) {
  std::size_t both = 0, same = 0;
  for (const SideBySide& one : pairs) {
    const auto &a = one.pair.a->speedup, &b = one.pair.b->speedup;
    if (!a || !b || a->against != b->against) continue;
    ++both;
    same += (a->ratio > 1) == (b->ratio > 1);
  }
  if (both == 0) return "";
  return fmt::format("Of {} over the same reference in both runs, {} on the same side of 1.",
                     plural(both, "speedup", "speedups"),
                     same == 1 ? std::string("1 lies") : fmt::format("{} lie", same));
}

}  // namespace

std::vector<SideBySide> side_by_side(const ComparedRuns& runs) {
  const auto exact = [](const Record& record) { return record.case_id; };
  const auto shared = [](const Record& record) { return shared_id(record.work); };
  const Places same = places_of(runs.b, exact), alike = places_of(runs.b, shared);
  std::vector<SideBySide> pairs;
  for (const CaseView& where : runs.a.cases)
    for (const Record* record : where.records) {
      auto other = same.find({exact(*record), record->variant_id});
      if (other == same.end()) {
        other = alike.find({shared(*record), record->variant_id});
        if (other == alike.end()) continue;
      }
      pairs.push_back({&where, other->second.where, run_pair(*record, *other->second.record)});
    }
  std::stable_sort(pairs.begin(), pairs.end(), [](const SideBySide& x, const SideBySide& y) {
    return x.where_a->work->sequence_length < y.where_a->work->sequence_length;
  });
  return pairs;
}

Table side_by_side_table(const std::vector<SideBySide>& pairs) {
  using S = const SideBySide&;
  const auto number = [](const std::optional<double>& value) { return Cell{data_text(value)}; };
  const std::vector<ColumnOf<SideBySide>> columns = {
      {{"case", "case (segment/dilation)"}, [](S s) { return Cell{whole_case_text(*s.where_a->work)}; }},
      {{"case_a", "", Align::left, Show::data}, [](S s) { return Cell{s.pair.a->case_id}; }},
      {{"case_b", "", Align::left, Show::data}, [](S s) { return Cell{s.pair.b->case_id}; }},
      {{"variant", "variant"}, [](S s) { return Cell{s.pair.a->variant_id}; }},
      {{"time_a", "time in A", Align::right}, [](S s) { return Cell{time_of(*s.pair.a)}; }},
      {{"time_b", "time in B", Align::right}, [](S s) { return Cell{time_of(*s.pair.b)}; }},
      {{"ratio_text", "A / B", Align::right, Show::page},
       [](S s) {
         if (is_limit(s)) return Cell{};
         return Cell{s.pair.ratio ? ratio_text(s.pair.ratio->ratio, s.pair.ratio->ci) : s.pair.withheld};
       }},
      {{"ratio", "", Align::right, Show::data},
       [=](S s) { return number(s.pair.ratio ? std::optional(s.pair.ratio->ratio) : std::nullopt); }},
      {{"rate_a", "rate in A", Align::right},
       [](S s) { return Cell{rate_of_record(*s.where_a, *s.pair.a)}; }},
      {{"rate_b", "rate in B", Align::right},
       [](S s) { return Cell{rate_of_record(*s.where_b, *s.pair.b)}; }},
      {{"of_peak_a", "share of peak in A", Align::right},
       [](S s) { return Cell{peak_share_text(*s.where_a, *s.pair.a)}; }},
      {{"of_peak_b", "share of peak in B", Align::right},
       [](S s) { return Cell{peak_share_text(*s.where_b, *s.pair.b)}; }},
      {{"speedup_a", "speedup in A", Align::right}, [](S s) { return Cell{speedup_of(*s.pair.a)}; }},
      {{"speedup_b", "speedup in B", Align::right}, [](S s) { return Cell{speedup_of(*s.pair.b)}; }},
      {{"differs", "differs (A / B)"}, [](S s) { return Cell{s.pair.differs}; }},
  };
  return make_table<SideBySide>("side_by_side", "", columns, pairs);
}

json side_by_side_data(const ComparedRuns& runs, const std::vector<SideBySide>& pairs) {
  json rows = json::array(), variants = json::array();
  for (const SideBySide& one : pairs) {
    if (is_limit(one) || !one.pair.a->time || !one.pair.b->time) continue;
    const auto ratio = [](const Record& record) { return measured_json(record.speedup); };
    const bool same = one.pair.a->speedup && one.pair.b->speedup &&
                      one.pair.a->speedup->against == one.pair.b->speedup->against;
    rows.push_back({{"work", whole_case_text(*one.where_a->work)},
                    {"variant", one.pair.a->variant_id},
                    {"rates", {rate_json(*one.pair.a), rate_json(*one.pair.b)}},
                    {"speedups", same ? json{ratio(*one.pair.a), ratio(*one.pair.b)} : json()}});
    const json variant = {{"id", one.pair.a->variant_id}};
    if (std::find(variants.begin(), variants.end(), variant) == variants.end()) variants.push_back(variant);
  }
  json data = {
      {"machine", fmt::format("A: {}; B: {}", runs.a.machine, runs.b.machine)},
      {"variants", std::move(variants)},
      {"environments", json::array()},
      {"figures", json::object()},
      {"beside", {{"a", "A: " + runs.a.machine}, {"b", "B: " + runs.b.machine}, {"rows", std::move(rows)}}}};
  for (const char* none :
       {"cases", "records", "claims", "rivals", "rates", "chains", "forecasts", "counters", "axes"})
    data[none] = json::array();
  return data;
}

Document side_by_side_document(const ComparedRuns& runs, const std::vector<SideBySide>& pairs,
                               const std::vector<Picture>& pictures, const std::vector<std::string>& notes) {
  Document document{.title = "hilbench: two runs side by side",
                    .question = "What did each of the two machines or builds measure of the same cases?",
                    .machine = fmt::format("A: {}; B: {}", runs.a.machine, runs.b.machine),
                    .answer = {machines_sentence(runs), times_sentence(pairs)},
                    .tiles = {},
                    .sections = {}};
  if (std::string said = speedups_sentence(pairs); !said.empty()) document.answer.push_back(std::move(said));
  if (!pictures.empty()) {
    Section& drawn =
        document.sections.emplace_back(Section{.id = "figures", .title = "Figures", .blocks = {}});
    drawn.blocks.insert(drawn.blocks.end(), pictures.begin(), pictures.end());
  }
  Section& table =
      document.sections.emplace_back(Section{.id = "pairs", .title = "Case by case", .blocks = {}});
  table.blocks.push_back(Paragraph{
      "A / B is the time in A / the time in B, with Welch's 95 % interval over the processes of both runs. "
      "Speedups "
      "are those of each run over its own reference. A rate counts each needed (query, key) pair once."});
  if (!pairs.empty()) table.blocks.push_back(side_by_side_table(pairs));
  Section& differences = document.sections.emplace_back(
      Section{.id = "differences", .title = "What differs between the runs", .blocks = {}});
  differences.blocks.push_back(Paragraph{fmt::format("A: {}. B: {}.", runs.a.source, runs.b.source)});
  if (!runs.environment.empty()) differences.blocks.push_back(environment_differences_table(runs));
  if (!notes.empty())
    document.sections.push_back({.id = "notes", .title = "What is missing", .blocks = {Bullets{notes}}});
  return document;
}

}  // namespace hilbench
