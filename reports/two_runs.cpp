#include "reports/two_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/base/text.hpp"
#include "reports/records/stats.hpp"
#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

constexpr std::uint64_t kBootstrapSeed = 1;

std::string id_of(const Record& record) {
  return record.case_id + "/" + record.variant_id;
}

// Why the record has no time to compare; empty where it has one.
std::string untimed(const Record& record, std::string_view run) {
  if (record.status != Status::ok) return fmt::format("{} in {}", to_string(record.status), run);
  if (!record.time || !(record.time->median_ns > 0) || record.time->samples_ns.empty())
    return fmt::format("no time in {}", run);
  if (foreign_processes(record) > 0) return fmt::format("withheld: another process used the GPU in {}", run);
  return "";
}

std::string differences(const Record& a, const Record& b) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const auto& of_a, const auto& of_b) {
    if (of_a != of_b) parts.push_back(fmt::format("{} {} / {}", name, of_a, of_b));
  };
  add("kernel", a.kernel, b.kernel);
  add("threads", a.threads, b.threads);
  add("chunk", a.order_chunk, b.order_chunk);
  add("cache", a.cache, b.cache);
  add("algorithm", a.ring_algorithm, b.ring_algorithm);
  add("transport", a.transport, b.transport);
  if (a.time && b.time) add("timer", a.time->timer, b.time->timer);
  return fmt::format("{}", fmt::join(parts, ", "));
}

RunPair pair_of(const Record& a, const Record& b) {
  RunPair pair{.a = &a, .b = &b, .withheld = untimed(a, "A"), .differs = differences(a, b)};
  if (pair.withheld.empty()) pair.withheld = untimed(b, "B");
  if (!pair.withheld.empty()) return pair;
  const Ratio ratio = unpaired_ratio({a.time->samples_ns, a.time->process_rounds},
                                     {b.time->samples_ns, b.time->process_rounds}, kBootstrapSeed);
  const std::size_t processes = std::min(a.time->process_rounds.size(), b.time->process_rounds.size());
  pair.ratio = Measured{ratio.value, ratio.ci, processes};
  return pair;
}

bool changes_with_every_record(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys = {"time",
                                                     "host.load_average",
                                                     "host.available_memory_bytes",
                                                     "device_state.sm_mhz",
                                                     "device_state.memory_mhz",
                                                     "device_state.temperature_c",
                                                     "device_state.power_w"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::vector<TwoRuns::Difference> environment_differences(const View& a, const View& b) {
  const EnvironmentValues of_a = environment_values(a), of_b = environment_values(b);
  std::vector<TwoRuns::Difference> found;
  EnvironmentValues keys = of_a;
  keys.insert(of_b.begin(), of_b.end());
  const auto values = [](const EnvironmentValues& from, const std::string& key) {
    const auto at = from.find(key);
    std::vector<std::string> sorted = at == from.end() ? std::vector<std::string>{"unknown"} : at->second;
    std::replace(sorted.begin(), sorted.end(), std::string(), std::string("none"));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  for (const auto& [key, ignored] : keys) {
    const auto in_a = values(of_a, key), in_b = values(of_b, key);
    if (in_a != in_b && !changes_with_every_record(key))
      found.push_back({key, values_text(in_a), values_text(in_b)});
  }
  const auto importance = [](const TwoRuns::Difference& difference) {
    return difference.key == "host.cpu" ? 0 : difference.key == "device.name" ? 1 : 2;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& x, const auto& y) { return importance(x) < importance(y); });
  return found;
}

std::string verdict(const RunPair& pair) {
  if (!pair.ratio) return pair.withheld;
  const Verdict said = verdict_of(pair.ratio->ci);
  if (said == Verdict::no_difference) return std::string(to_string(said));
  std::string text = said == Verdict::faster ? "B is faster" : "B is slower";
  if (!sign_settled(pair.ratio->ci, pair.ratio->processes)) text += fmt::format("; {}", kUnsettled);
  return text;
}

Tone tone(const RunPair& pair) {
  if (!pair.ratio || !sign_settled(pair.ratio->ci, pair.ratio->processes)) return Tone::muted;
  const Verdict said = verdict_of(pair.ratio->ci);
  return said == Verdict::faster ? Tone::good : said == Verdict::slower ? Tone::bad : Tone::neutral;
}

Table environment_differences_table(const TwoRuns& runs) {
  using D = TwoRuns::Difference;
  const std::vector<ColumnOf<D>> columns = {
      {{"key", "what"}, [](const D& d) { return Cell{d.key}; }},
      {{"a", "A", Align::wrapped}, [](const D& d) { return Cell{d.a}; }},
      {{"b", "B", Align::wrapped}, [](const D& d) { return Cell{d.b}; }},
  };
  return make_table<D>("environment", "", columns, runs.environment);
}

Table lone_table(const std::vector<const Record*>& records) {
  using R = const Record* const&;
  const std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"status", "status"}, [](R r) { return Cell{std::string(to_string(r->status))}; }},
  };
  return make_table<const Record*>("lone", "", columns, records);
}

std::vector<std::string> sentences(const TwoRuns& runs) {
  std::size_t faster = 0, slower = 0, undecided = 0, none = 0;
  for (const RunPair& pair : runs.pairs) {
    if (!pair.ratio)
      ++none;
    else if (const Verdict said = verdict_of(pair.ratio->ci); said == Verdict::no_difference)
      ++undecided;
    else
      ++(said == Verdict::faster ? faster : slower);
  }
  std::vector<std::string> said = {fmt::format(
      "{} pairs of one case and variant: B faster in {}, slower in {}, no difference shown in {}, not "
      "compared {}. "
      "Only in A: {}, only in B: {}.",
      runs.pairs.size(), faster, slower, undecided, none, runs.only_a.size(), runs.only_b.size())};
  if (runs.a.machine != runs.b.machine)
    said.push_back(fmt::format("The machines differ: {} against {}.", runs.a.machine, runs.b.machine));
  return said;
}

// Was right in A and is not in B.
bool lost(const RunPair& pair) {
  return pair.a->status == Status::ok &&
         (pair.b->status == Status::failed || pair.b->status == Status::invalid);
}

// One line on the variants that have a time in A and none in B to hold against it; empty where there are
// none. What failed in B is told by itself.
std::string missing_in_b(const TwoRuns& runs) {
  std::vector<std::string> missing;
  for (const RunPair& pair : runs.pairs)
    if (!pair.ratio && !lost(pair) && untimed(*pair.a, "A").empty())
      missing.push_back(fmt::format("{}: {}", id_of(*pair.a), pair.withheld));
  for (const Record* record : runs.only_a)
    if (untimed(*record, "A").empty()) missing.push_back(id_of(*record) + ": absent in B");
  if (missing.empty()) return "";
  return fmt::format("B has no time to compare for {} that A times; the first is {}",
                     plural(missing.size(), "variant", "variants"), missing.front());
}

}  // namespace

TwoRuns pair_runs(const ReportInput& a, const ReportInput& b) {
  TwoRuns runs{.a = view_of(a), .b = view_of(b), .pairs = {}, .only_a = {}, .only_b = {}, .environment = {}};
  std::map<std::pair<std::string_view, std::string_view>, const Record*> left;
  for (const Record& record : b.records) left[{record.case_id, record.variant_id}] = &record;
  for (const Record& record : a.records) {
    const auto other = left.find({record.case_id, record.variant_id});
    if (other == left.end()) {
      runs.only_a.push_back(&record);
    } else {
      runs.pairs.push_back(pair_of(record, *other->second));
      left.erase(other);
    }
  }
  for (const Record& record : b.records)
    if (left.contains({record.case_id, record.variant_id})) runs.only_b.push_back(&record);
  runs.environment = environment_differences(runs.a, runs.b);
  return runs;
}

GateAnswer gate(const TwoRuns& runs, double percent) {
  GateAnswer answer;
  std::size_t compared = 0;
  bool failed = false;
  for (const RunPair& pair : runs.pairs) {
    if (lost(pair)) {
      failed = true;
      answer.reasons.push_back(fmt::format("{}: {} in B: {}", id_of(*pair.b), to_string(pair.b->status),
                                           one_line(pair.b->reason)));
    }
    if (!pair.ratio) continue;
    ++compared;
    // The time of B over that of A, less 1, in percent: least and most that the interval allows.
    const double least = 100 * (1 / pair.ratio->ci.high - 1), most = 100 * (1 / pair.ratio->ci.low - 1);
    if (most <= percent) continue;
    failed = failed || least > percent;
    answer.reasons.push_back(fmt::format("{}: B takes {:+.1f} % ({:+.1f} to {:+.1f}), {} {} %",
                                         id_of(*pair.b), 100 * (1 / pair.ratio->ratio - 1), least, most,
                                         least > percent ? "above" : "which may be above", percent));
  }
  if (const std::string missing = missing_in_b(runs); !missing.empty()) answer.reasons.push_back(missing);
  if (compared == 0) answer.reasons.push_back("no variant has a time in both");
  answer.code = failed ? ExitCode::failed : answer.reasons.empty() ? ExitCode::done : ExitCode::inconclusive;
  return answer;
}

Table two_runs_table(const TwoRuns& runs) {
  using P = RunPair;
  const auto time = [](const Record& r) { return r.time ? time_text(r.time->median_ns, r.time->ci_ns) : ""; };
  const auto ns = [](const Record& r) { return r.time ? data_text(r.time->median_ns) : ""; };
  const auto ratio = [](const P& p, auto pick) { return p.ratio ? data_text(pick(*p.ratio)) : ""; };
  const std::vector<ColumnOf<P>> columns = {
      {{"case", "case"}, [](const P& p) { return Cell{p.a->case_id}; }},
      {{"variant", "variant"}, [](const P& p) { return Cell{p.a->variant_id}; }},
      {{"a", "A", Align::right, Show::page}, [=](const P& p) { return Cell{time(*p.a)}; }},
      {{"b", "B", Align::right, Show::page}, [=](const P& p) { return Cell{time(*p.b)}; }},
      {{"status_a", "", Align::left, Show::data},
       [](const P& p) { return Cell{std::string(to_string(p.a->status))}; }},
      {{"status_b", "", Align::left, Show::data},
       [](const P& p) { return Cell{std::string(to_string(p.b->status))}; }},
      {{"time_a_ns", "", Align::right, Show::data}, [=](const P& p) { return Cell{ns(*p.a)}; }},
      {{"time_b_ns", "", Align::right, Show::data}, [=](const P& p) { return Cell{ns(*p.b)}; }},
      {{"ratio_text", "A / B", Align::right, Show::page},
       [](const P& p) {
         return Cell{p.ratio ? ratio_text(p.ratio->ratio, p.ratio->ci) : "", tone(p)};
       }},
      {{"ratio", "", Align::right, Show::data},
       [=](const P& p) { return Cell{ratio(p, [](const Measured& m) { return m.ratio; })}; }},
      {{"ratio_low", "", Align::right, Show::data},
       [=](const P& p) { return Cell{ratio(p, [](const Measured& m) { return m.ci.low; })}; }},
      {{"ratio_high", "", Align::right, Show::data},
       [=](const P& p) { return Cell{ratio(p, [](const Measured& m) { return m.ci.high; })}; }},
      {{"verdict", "verdict"},
       [](const P& p) {
         return Cell{verdict(p), tone(p)};
       }},
      {{"differs", "differs (A / B)"}, [](const P& p) { return Cell{p.differs}; }},
  };
  return make_table<P>("compare", "", columns, runs.pairs);
}

Document two_runs_document(const TwoRuns& runs, const std::vector<std::string>& gate_reasons) {
  Document document{.title = "hilbench: two runs compared",
                    .question = "Which cases and variants take longer in B than in A, and which less?",
                    .machine = runs.a.machine == runs.b.machine
                                   ? runs.a.machine
                                   : fmt::format("A: {}; B: {}", runs.a.machine, runs.b.machine),
                    .answer = sentences(runs),
                    .tiles = {},
                    .sections = {}};
  Section& environment = document.sections.emplace_back(
      Section{.id = "environment", .title = "What differs between the runs", .blocks = {}});
  environment.blocks.push_back(Paragraph{fmt::format("A: {}. B: {}.", runs.a.source, runs.b.source)});
  if (runs.environment.empty())
    environment.blocks.push_back(Paragraph{"The records name no difference of machine, build or settings."});
  else
    environment.blocks.push_back(environment_differences_table(runs));
  if (!gate_reasons.empty())
    document.sections.push_back(
        {.id = "gate", .title = "Against the gate", .blocks = {Bullets{gate_reasons}}});
  Section& pairs =
      document.sections.emplace_back(Section{.id = "pairs", .title = "Case by case", .blocks = {}});
  pairs.blocks.push_back(Paragraph{
      "A / B is the time in A over the time in B: above 1, B is faster. The runs are other processes at "
      "other "
      "times, so that no rounds pair: the interval of 95 % comes from resampling each median by itself, and "
      "what is below 1 % belongs to the process."});
  if (!runs.pairs.empty()) pairs.blocks.push_back(two_runs_table(runs));
  for (const auto& [name, records] : {std::pair{"A", &runs.only_a}, std::pair{"B", &runs.only_b}})
    if (!records->empty())
      document.sections.push_back({.id = fmt::format("only-{}", name),
                                   .title = fmt::format("Only in {}", name),
                                   .blocks = {lone_table(*records)}});
  return document;
}

}  // namespace hilbench
