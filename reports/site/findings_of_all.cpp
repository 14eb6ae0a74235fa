#include "reports/site/findings_of_all.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <tuple>

#include "reports/site/joint_verdicts.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Tests of claims that Hilbert order makes a kernel faster: those of one machine in one dtype. Answers in
// another dtype than the claim's stand apart.
struct Tests {
  std::string machine, dtype;
  bool other_dtype = false;
  std::vector<const ClaimEntry*> entries;

  std::vector<double> values(std::optional<double> ClaimEntry::*member) const {
    std::vector<double> found;
    for (const ClaimEntry* entry : entries)
      if (entry->*member) found.push_back(*(entry->*member));
    return found;
  }
  std::size_t reproduced() const {
    return static_cast<std::size_t>(
        std::ranges::count(entries, ClaimVerdict::reproduced, &ClaimEntry::verdict));
  }
  std::size_t faster_than_random() const {
    return static_cast<std::size_t>(
        std::ranges::count(entries, std::optional(Verdict::faster), &ClaimEntry::against_random));
  }
};

std::vector<Tests> tests_of(const MachineOverview& machine) {
  std::map<std::tuple<bool, std::string, bool>, Tests> groups;  // fp32 first
  for (const SweepOverview& sweep : machine.sweeps)
    for (const ClaimEntry& entry : sweep.claims) {
      if (entry.of_paper || entry.compares != kKernelTime || !entry.gain) continue;
      Tests& tests = groups[{entry.dtype != "fp32", entry.dtype, entry.other_dtype}];
      tests.machine = short_name(machine), tests.dtype = entry.dtype, tests.other_dtype = entry.other_dtype;
      tests.entries.push_back(&entry);
    }
  std::vector<Tests> sorted;
  for (auto& [key, tests] : groups) sorted.push_back(std::move(tests));
  return sorted;
}

// Processors first.
std::vector<Tests> tests_of_all(const std::vector<MachineOverview>& machines) {
  std::vector<Tests> all;
  for (const bool processors : {true, false})
    for (const MachineOverview& machine : machines)
      if (on_processor(machine) == processors)
        for (Tests& tests : tests_of(machine)) all.push_back(std::move(tests));
  return all;
}

Table machines_table(const std::vector<Tests>& tests) {
  using T = const Tests&;
  const std::vector<ColumnOf<Tests>> columns = {
      {{"machine", "machine"},
       [](T t) {
         return Cell{
             fmt::format("{}, {}{}", t.machine, t.dtype, t.other_dtype ? ", claimed in another dtype" : "")};
       }},
      {{"tests", "tests", Align::right}, [](T t) { return Cell{std::to_string(t.entries.size())}; }},
      {{"reproduced", "reproduced", Align::right}, [](T t) { return Cell{std::to_string(t.reproduced())}; }},
      {{"hilbert", "Hilbert order", Align::right},
       [](T t) { return Cell{range_text(t.values(&ClaimEntry::measured), 3)}; }},
      {{"random", "random order", Align::right},
       [](T t) { return Cell{range_text(t.values(&ClaimEntry::random), 3)}; }},
      {{"faster_than_random", "tests with Hilbert shown faster than random", Align::right},
       [](T t) { return Cell{std::to_string(t.faster_than_random())}; }}};
  return make_table<Tests>("machines", "Tests of claimed gains, machine by machine", columns, tests);
}

// What answers in a dtype that the claims are not about say, if they all say the same.
std::string other_dtype_sentence(const Tests& tests) {
  std::vector<double> speedups = tests.values(&ClaimEntry::measured);
  if (!tests.other_dtype || speedups.empty()) return "";
  const std::string head = fmt::format("In {} on the {}, ", tests.dtype, tests.machine);
  if (std::ranges::max(speedups) >= 1)
    return fmt::format("{}time of linear order / time of Hilbert order is {}.", head,
                       range_text(speedups, 3));
  for (double& speedup : speedups) speedup = 100 - 100 * speedup;
  return fmt::format("{}Hilbert order is {} % slower than linear order.", head, range_text(speedups, 0));
}

// "2 are excluded", "1 shows no gain".
std::string verdict_said(ClaimVerdict verdict, std::size_t count) {
  const bool one = count == 1;
  if (verdict == ClaimVerdict::no_gain) return fmt::format("{} {} no gain", count, one ? "shows" : "show");
  return fmt::format("{} {} {}", count, one ? "is" : "are", verdict_word(to_string(verdict)));
}

// "none is reproduced, 8 are excluded, 3 are inconclusive": every verdict, so that they add up.
std::string verdicts_text(const std::vector<const ClaimEntry*>& entries) {
  std::vector<std::pair<ClaimVerdict, std::size_t>> counts;
  std::size_t won = 0;
  for (const ClaimEntry* entry : entries) {
    if (entry->verdict == ClaimVerdict::reproduced) {
      ++won;
      continue;
    }
    const auto known =
        std::ranges::find(counts, entry->verdict, &std::pair<ClaimVerdict, std::size_t>::first);
    if (known == counts.end())
      counts.emplace_back(entry->verdict, 1);
    else
      ++known->second;
  }
  std::ranges::stable_sort(counts, std::greater<>(), &std::pair<ClaimVerdict, std::size_t>::second);
  std::string text =
      fmt::format("{} {} reproduced", won == 0 ? "none" : std::to_string(won), won <= 1 ? "is" : "are");
  for (const auto& [verdict, count] : counts) text += ", " + verdict_said(verdict, count);
  return text;
}

// What hardware counters of a machine answer, each claim by its own sweep.
std::string misses_sentence(const MachineOverview& machine) {
  std::vector<const ClaimEntry*> own, other;
  std::size_t few = 0;
  for (const SweepOverview& sweep : machine.sweeps)
    for (const ClaimEntry& entry : sweep.claims) {
      if (entry.of_paper || !entry.own_sweep || entry.compares.find("misses") == std::string::npos) continue;
      (entry.other_dtype ? other : own).push_back(&entry);
      few += entry.few_counts;
    }
  if (own.empty() && other.empty()) return "";
  std::string name = short_name(machine);
  if (name.starts_with("NVIDIA ")) name.erase(0, 7);
  std::string said = fmt::format("Hardware counters of the {} answer {} of fewer cache misses: {}", name,
                                 plural(own.size(), "claim", "claims"), verdicts_text(own));
  if (!other.empty())
    said += fmt::format("; in another dtype than the claim's, {}: {}", other.size(), verdicts_text(other));
  said += ".";
  if (few > 0)
    said += fmt::format(" {} of them {} inconclusive because each variant was counted less than five times.",
                        few, few == 1 ? "is" : "are");
  return said;
}

// The reported ratios of all runs, the largest first. Each links to the page that takes it apart.
Table reported_by_all(const std::vector<MachineOverview>& machines) {
  struct Found {
    const MachineOverview* machine;
    const SweepOverview* sweep;
    ReportedCase of_case;
  };
  std::vector<Found> found;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps)
      for (const ReportedCase& of_case : sweep.reported)
        if (of_case.reported) found.push_back({&machine, &sweep, of_case});
  std::ranges::stable_sort(found, std::greater<>(), [](const Found& one) { return *one.of_case.reported; });
  std::vector<ReportedCase> cases;
  for (const Found& one : found) cases.push_back(one.of_case);
  Table table = reported_table(cases);
  table.caption = "Reported ratios, measured again";
  if (machines.size() > 1) table.columns.push_back({"machine", "machine"});
  const auto ratio = std::ranges::find(table.columns, "reported", &Column::key) - table.columns.begin();
  for (std::size_t i = 0; i < found.size(); ++i) {
    table.rows[i][static_cast<std::size_t>(ratio)].link = page_of(*found[i].machine, *found[i].sweep);
    if (machines.size() > 1) table.rows[i].push_back({short_name(*found[i].machine)});
  }
  return table;
}

// "Intel(R) Xeon(R) Processor @ 2.70GHz": "Intel Xeon".
std::string short_processor(std::string text) {
  text.erase(std::min(text.find('@'), text.size()));
  for (const std::string_view mark : {"(R)", "(TM)"})
    for (std::size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), " ");
  std::istringstream words(text);
  std::string name;
  for (std::string word; words >> word;)
    if (word != "CPU" && word != "Processor" && !word.ends_with("-Core"))
      name += (name.empty() ? "" : " ") + word;
  return name;
}

}  // namespace

std::string short_name(const MachineOverview& machine) {
  for (const auto member : {&SweepOverview::devices, &SweepOverview::processors})
    for (const SweepOverview& sweep : machine.sweeps) {
      if ((sweep.*member).empty()) continue;
      const std::string& name = (sweep.*member).front();
      if (member == &SweepOverview::devices) return name;
      return fmt::format("{}, {}", short_processor(name), plural(sweep.cores, "core", "cores"));
    }
  return machine.name;
}

std::vector<Finding> findings_of_all(const std::vector<MachineOverview>& machines) {
  std::vector<Finding> findings;
  const auto add = [&](std::string id, std::vector<std::string> sentences, Table table = {}) {
    std::erase(sentences, "");
    if (!sentences.empty() || !table.rows.empty())
      findings.push_back({std::move(id), std::move(sentences), std::move(table)});
  };
  const std::vector<Tests> tests = tests_of_all(machines);
  std::vector<std::string> other_dtypes, misses;
  for (const Tests& each : tests) other_dtypes.push_back(other_dtype_sentence(each));
  for (const MachineOverview& machine : machines) misses.push_back(misses_sentence(machine));
  add("claims", answer_sentences(machines), machines_table(tests));
  add("other_dtypes", std::move(other_dtypes));
  add("misses", std::move(misses));
  add("verdicts", {}, joint_verdicts_table(machines));
  add("reported", {}, reported_by_all(machines));
  return findings;
}

}  // namespace hilbench
