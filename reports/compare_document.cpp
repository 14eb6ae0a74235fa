#include "reports/compare_document.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "reports/findings/sentences.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string verdict(const RunPair& pair) {
  if (!pair.ratio) return pair.withheld;
  const bool takes_side = pair.ratio->verdict == Verdict::faster || pair.ratio->verdict == Verdict::slower;
  return (takes_side ? "B is " : "") +
         verdict_words(pair.ratio->verdict, pair.ratio->processes, pair.ratio->margin);
}

Tone tone(const RunPair& pair) {
  return pair.ratio ? tone_of(pair.ratio->verdict) : Tone::muted;
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

std::vector<std::string> sentences(const ComparedRuns& runs) {
  std::map<Verdict, std::size_t> counts;
  std::size_t none = 0;
  for (const RunPair& pair : runs.pairs) {
    if (pair.ratio)
      ++counts[pair.ratio->verdict];
    else
      ++none;
  }
  std::vector<std::string> said = {fmt::format(
      "{} pairs of the same case and variant: B is faster in {}, slower in {}, equivalent in {}, "
      "inconclusive {}, not compared {}. Only in A: {}, only in B: {}.",
      runs.pairs.size(), counts[Verdict::faster], counts[Verdict::slower], counts[Verdict::equivalent],
      counts[Verdict::inconclusive], none, runs.only_a.size(), runs.only_b.size())};
  if (runs.a.machine != runs.b.machine)
    said.push_back(fmt::format("The machines differ: A ran on {}, B on {}.", runs.a.machine, runs.b.machine));
  for (const auto& [view, of] : {std::pair{&runs.b, " of B"}, std::pair{&runs.a, " of A"}})
    if (std::string injected = injected_sentence(*view, of); !injected.empty())
      said.insert(said.begin(), std::move(injected));
  return said;
}

}  // namespace

Table environment_differences_table(const ComparedRuns& runs) {
  using D = ComparedRuns::Difference;
  const std::vector<ColumnOf<D>> columns = {
      {{"key", "what"}, [](const D& d) { return Cell{d.key}; }},
      {{"a", "A", Align::wrapped}, [](const D& d) { return Cell{d.a}; }},
      {{"b", "B", Align::wrapped}, [](const D& d) { return Cell{d.b}; }},
  };
  return make_table<D>("environment", "", columns, runs.environment);
}

Table compare_table(const ComparedRuns& runs) {
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

Document compare_document(const ComparedRuns& runs, const std::vector<std::string>& gate_reasons) {
  Document document{.title = "hilbench: two runs compared",
                    .question = "Which variants take more time in B than in A, and which take less?",
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
    environment.blocks.push_back(Paragraph{"The records show no difference of machine, build or settings."});
  else
    environment.blocks.push_back(environment_differences_table(runs));
  if (!gate_reasons.empty())
    document.sections.push_back(
        {.id = "gate", .title = "What the gate objects to", .blocks = {Bullets{gate_reasons}}});
  Section& pairs =
      document.sections.emplace_back(Section{.id = "pairs", .title = "Case by case", .blocks = {}});
  pairs.blocks.push_back(Paragraph{
      "A / B is the time in A / the time in B. Above 1, B is faster. Rounds of different runs do not pair: "
      "the 95 % interval is Welch's, over the processes of each run, and unadjusted. If one process "
      "measured, it says nothing of how processes differ; the verdict then says `within one process` and is "
      "never `equivalent`."});
  if (!runs.pairs.empty()) pairs.blocks.push_back(compare_table(runs));
  for (const auto& [name, records] : {std::pair{"A", &runs.only_a}, std::pair{"B", &runs.only_b}})
    if (!records->empty())
      document.sections.push_back({.id = fmt::format("only-{}", name),
                                   .title = fmt::format("Only in {}", name),
                                   .blocks = {lone_table(*records)}});
  return document;
}

}  // namespace hilbench
