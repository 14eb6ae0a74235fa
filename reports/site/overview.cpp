#include "reports/site/overview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "kernels/base/text/text.hpp"
#include "reports/findings/linear_pairs.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/records/counts.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

void add_new(std::vector<std::string>& values, const std::string& value) {
  if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
    values.push_back(value);
}

// An answer over all cases counts only in the sweep of the claim: elsewhere the cases are others.
bool is_told(const ClaimAnswer& answer, const View& view) {
  return answer.verdict != ClaimVerdict::not_testable &&
         (answer.where != nullptr || view.sweep == answer.claim->claim_id);
}

bool has_few_counts(const ClaimAnswer& answer) {
  return std::ranges::any_of(
      answer.levels, [](const LevelAnswer& level) { return level.measured && level.counts < kFewestCounts; });
}

// "4096 positions, 512/64".
std::string words_of(const Case& work) {
  const std::string text = pattern_text(work), length = fmt::format("n {}, ", work.sequence_length);
  if (!text.starts_with(length)) return text;
  return fmt::format("{} positions, {}", work.sequence_length, text.substr(length.size()));
}

std::vector<ClaimEntry> claim_entries(const View& view, const std::vector<ClaimAnswer>& answers) {
  std::vector<ClaimEntry> entries;
  for (const ClaimAnswer& answer : answers) {
    if (!is_told(answer, view)) continue;
    ClaimEntry entry{.claim = answer.claim->claim_id,
                     .title = of_paper(*answer.claim) ? answer.claim->says : answer.claim->title,
                     .compares = compared(answer),
                     .about = answer.where ? answer.where->case_id : answer.claim->stated,
                     .metric = answer.claim->metric,
                     .verdict = answer.verdict,
                     .of_paper = of_paper(*answer.claim),
                     .gain = is_about_a_gain(answer),
                     .dtype = dtype_name(answer),
                     .other_dtype = answer.other_dtype,
                     .own_sweep = view.sweep == answer.claim->claim_id,
                     .few_counts = has_few_counts(answer)};
    if (answer.random) entry.random = answer.random->ratio;
    entry.claimed = answer.claim->claimed;
    if (answer.where != nullptr) entry.case_words = words_of(*answer.where->work);
    if (answer.measured) {
      entry.measured = answer.measured->ratio;
      entry.ci = answer.measured->ci;
    }
    if (answer.against_random) entry.against_random = answer.against_random->verdict;
    entry.evidence = evidence_address(answer);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<RivalEntry> rival_entries(const View& view) {
  std::map<std::tuple<std::string, std::string, std::string>, RivalEntry> entries;
  for (const RivalPair& pair : rival_pairs(view)) {
    const std::string dtype(to_string(pair.where->work->dtype));
    RivalEntry& entry = entries[{pair.kernel->kernel, dtype, pair.rival->variant_id}];
    if (entry.cases == 0 || pair.ratio.ratio < entry.low)
      entry.evidence = record_address(pair.where->case_id, pair.kernel->variant_id);
    entry.low = entry.cases == 0 ? pair.ratio.ratio : std::min(entry.low, pair.ratio.ratio);
    entry.high = std::max(entry.high, pair.ratio.ratio);
    entry.kernel = pair.kernel->kernel;
    entry.rival = pair.rival->variant_id;
    entry.dtype = dtype;
    ++entry.cases;
    entry.faster += pair.ratio.verdict == Verdict::faster;
    entry.slower += pair.ratio.verdict == Verdict::slower;
  }
  std::vector<RivalEntry> sorted;
  for (auto& [key, entry] : entries) sorted.push_back(std::move(entry));
  return sorted;
}

std::vector<OrderEntry> order_entries(const View& view) {
  std::map<std::pair<bool, std::string>, OrderEntry> entries;
  for (const LinearPair& pair : linear_pairs(view)) {
    const bool windows = has_windows(*pair.where->work);
    const std::string& order = pair.ordered->variant.kernel().order;
    const std::string family = order.substr(0, order.find('.'));
    OrderEntry& entry = entries[{windows, family}];
    entry.family = family;
    entry.windows = windows;
    entry.ratios.push_back(pair.ratio.ratio);
    entry.tally.add(pair.ratio);
  }
  std::vector<OrderEntry> sorted;
  for (auto& [key, entry] : entries) sorted.push_back(std::move(entry));
  return sorted;
}

std::int64_t cores_of(const Record& record) {
  const nlohmann::json& environment = *record.environment;
  const auto host = environment.is_object() ? environment.find("host") : environment.end();
  if (host == environment.end() || !host->is_object()) return 0;
  const auto cores = host->find("cores");
  return cores != host->end() && cores->is_number_integer() ? cores->get<std::int64_t>() : 0;
}

void add_surroundings(SweepOverview& made, const View& view) {
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      add_new(made.processors, environment_text(*record, "host", "cpu"));
      add_new(made.devices, environment_text(*record, "device", "name"));
      add_new(made.drivers, environment_text(*record, "device_state", "driver"));
      if (record->kind == ImplementationKind::kernel) add_new(made.kernels, record->kernel);
      made.cores = std::max(made.cores, cores_of(*record));
      if (!record->environment->is_object()) continue;
      if (const auto time = record->environment->find("time");
          time != record->environment->end() && time->is_string())
        add_new(made.days, one_line(time->get<std::string>()).substr(0, 10));
    }
}

}  // namespace

SweepOverview overview_of(const std::string& name, const View& view, const std::vector<ClaimAnswer>& answers,
                          const Document& document) {
  SweepOverview made{.name = name,
                     .sweep = view.sweep,
                     .subject = subject_of(view),
                     .machine = view.machine,
                     .answer = document.answer.empty() ? "" : document.answer.front(),
                     .cases = view.cases.size(),
                     .records = view.record_count,
                     .claims = claim_entries(view, answers),
                     .rivals = rival_entries(view),
                     .orders = order_entries(view),
                     .rings = rings_sentence(view),
                     .window_orders = window_outcomes(view),
                     .against_rivals = rival_outcomes(view),
                     .reported = reported_cases(view)};
  add_surroundings(made, view);
  const auto judged = std::count_if(view.twins.begin(), view.twins.end(),
                                    [](const Record* twin) { return twin->speedup.has_value(); });
  if (static_cast<std::size_t>(judged) >= kFewestTwins)
    made.twins = {twins_sentence(view), twins_distances_sentence(view)};
  return made;
}

std::string range_text(const std::vector<double>& values, int digits) {
  if (values.empty()) return "";
  const auto [least, most] = std::ranges::minmax(values);
  const std::string low = fmt::format("{:.{}f}", least, digits), high = fmt::format("{:.{}f}", most, digits);
  return low == high ? low : low + " to " + high;
}

bool on_processor(const MachineOverview& machine) {
  return std::ranges::all_of(machine.sweeps,
                             [](const SweepOverview& sweep) { return sweep.devices.empty(); });
}

std::string sweep_address(const SweepOverview& sweep) {
  return address_of(sweep.name) + "/index.html";
}

std::string page_of(const MachineOverview& machine, const SweepOverview& sweep) {
  return machine.address + "/" + sweep_address(sweep);
}

namespace {

// All answers about kernel time, counted.
struct TimeAnswers {
  std::map<Verdict, std::size_t> beside;  // random order, the control
  std::size_t controlled = 0, gains = 0, reproduced = 0;
  std::vector<double> speedups;
  std::map<std::string, std::vector<double>> others;  // speedups by dtype, if it is not the claim's

  void add(const ClaimEntry& entry) {
    if (entry.of_paper || entry.compares != kKernelTime) return;
    if (entry.other_dtype) {
      if (entry.measured) others[entry.dtype].push_back(*entry.measured);
      return;
    }
    if (entry.measured) speedups.push_back(*entry.measured);
    if (entry.against_random && entry.gain) {
      ++beside[*entry.against_random];
      ++controlled;
    }
    gains += entry.gain;
    reproduced += entry.gain && entry.verdict == ClaimVerdict::reproduced;
  }
};

TimeAnswers time_answers(const std::vector<MachineOverview>& machines) {
  TimeAnswers tests;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps)
      for (const ClaimEntry& entry : sweep.claims) tests.add(entry);
  return tests;
}

std::string gains_sentence(const TimeAnswers& tests) {
  return fmt::format("{} {} of a claim that Hilbert order makes a kernel faster: {} {} it.", tests.gains,
                     tests.gains == 1 ? "test is" : "tests are",
                     tests.reproduced == 0 ? "none" : std::to_string(tests.reproduced),
                     tests.reproduced <= 1 ? "reproduces" : "reproduce");
}

std::string random_sentence(const TimeAnswers& tests) {
  const auto count = [&](Verdict verdict) {
    const auto found = tests.beside.find(verdict);
    return found == tests.beside.end() ? std::size_t{0} : found->second;
  };
  const std::size_t open = count(Verdict::inconclusive);
  return fmt::format(
      "Beside random order, the control, which {} have: Hilbert order is shown to be as fast in {}, faster "
      "in {} "
      "and slower in {}; {} inconclusive.",
      tests.controlled == tests.gains ? "all" : fmt::format("{} of them", tests.controlled),
      count(Verdict::equivalent), count(Verdict::faster), count(Verdict::slower),
      open == 1 ? "1 is" : fmt::format("{} are", open));
}

std::string range_sentence(const TimeAnswers& tests) {
  std::string said =
      fmt::format("In the dtype of the claim, time of linear order / time of Hilbert order is {}",
                  range_text(tests.speedups, 3));
  for (const auto& [dtype, ratios] : tests.others)
    said += fmt::format("; in {}, which is not that of the claim, {}", dtype, range_text(ratios, 3));
  return said + ".";
}

}  // namespace

std::vector<std::string> answer_sentences(const std::vector<MachineOverview>& machines) {
  const TimeAnswers tests = time_answers(machines);
  if (tests.controlled == 0 && tests.gains == 0)
    return {"These results test no claim that an order makes a kernel faster."};
  std::vector<std::string> said;
  if (tests.gains > 0) said.push_back(gains_sentence(tests));
  if (tests.controlled > 0) said.push_back(random_sentence(tests));
  if (!tests.speedups.empty()) said.push_back(range_sentence(tests));
  return said;
}

namespace {

std::string reported_again(const std::vector<MachineOverview>& machines) {
  std::vector<double> reported, measured;
  std::size_t faster = 0;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps)
      for (const ReportedCase& one : sweep.reported) {
        if (!one.reported || !one.measured) continue;
        reported.push_back(*one.reported);
        measured.push_back(*one.measured);
        faster += *one.measured > 1;
      }
  if (reported.empty()) return "";
  return fmt::format(
      "The reports' own programs, run again: {} times as fast where {} was reported; above 1 in {} of {}.",
      range_text(measured, 2), range_text(reported, 2), faster, plural(reported.size(), "case", "cases"));
}

// Outcomes of one name, over all sweeps; the one with the most cases first.
std::vector<std::pair<std::string, Tally>> joined(const std::vector<MachineOverview>& machines,
                                                  std::vector<Outcome> SweepOverview::*member) {
  std::map<std::string, Tally> tallies;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps)
      for (const Outcome& outcome : sweep.*member) tallies[outcome.what].add(outcome.tally);
  std::vector<std::pair<std::string, Tally>> sorted(tallies.begin(), tallies.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& one) { return one.second.cases; });
  return sorted;
}

std::string strongest_window(const std::vector<MachineOverview>& machines) {
  for (const auto& [order, tally] : joined(machines, &SweepOverview::window_orders))
    if (tally.with(Verdict::faster) > tally.with(Verdict::slower))
      return fmt::format(
          "Windows on grids: {} is {} times as fast as raster order, faster in {} of {}, slower in {}.",
          order, tally.ratios(), tally.with(Verdict::faster), plural(tally.cases, "case", "cases"),
          tally.with(Verdict::slower));
  return "";
}

constexpr std::size_t kFewestCases = 20;

std::string strongest_kernels(const std::vector<MachineOverview>& machines) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::string, Tally>> kernels = joined(machines, &SweepOverview::against_rivals);
  std::erase_if(kernels, [](const auto& one) { return one.second.cases < kFewestCases; });
  std::ranges::stable_sort(kernels, std::ranges::greater(), [](const auto& one) {
    return static_cast<double>(one.second.with(Verdict::faster)) / static_cast<double>(one.second.cases);
  });
  if (kernels.size() > kMost) kernels.resize(kMost);
  std::vector<std::string> parts;
  for (const auto& [kernel, tally] : kernels)
    parts.push_back(fmt::format("{} is {} times as fast, faster in {} of {} and slower in {}", kernel,
                                tally.ratios(), tally.with(Verdict::faster),
                                plural(tally.cases, "case", "cases"), tally.with(Verdict::slower)));
  return parts.empty()
             ? ""
             : fmt::format("Against the strongest library of each sweep {}.", fmt::join(parts, "; "));
}

}  // namespace

std::vector<std::string> strongest_sentences(const std::vector<MachineOverview>& machines) {
  std::vector<std::string> said = {reported_again(machines), strongest_window(machines),
                                   strongest_kernels(machines)};
  std::erase(said, "");
  return said;
}

}  // namespace hilbench
