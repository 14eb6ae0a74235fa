#include "reports/site/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "kernels/base/text/text.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kKernelTime = "kernel time";

void add_new(std::vector<std::string>& values, const std::string& value) {
  if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
    values.push_back(value);
}

// An answer over all cases counts only in the sweep of the claim: elsewhere the cases are others.
bool is_told(const ClaimAnswer& answer, const View& view) {
  return answer.verdict != ClaimVerdict::not_testable &&
         (answer.where != nullptr || view.sweep == answer.claim->claim_id);
}

std::vector<ClaimEntry> claim_entries(const View& view, const std::vector<ClaimAnswer>& answers) {
  std::vector<ClaimEntry> entries;
  for (const ClaimAnswer& answer : answers) {
    if (!is_told(answer, view) || answer.other_dtype) continue;
    ClaimEntry entry{.claim = answer.claim->claim_id,
                     .title = of_paper(*answer.claim) ? answer.claim->says : answer.claim->title,
                     .compares = compared(answer),
                     .verdict = answer.verdict,
                     .of_paper = of_paper(*answer.claim),
                     .gain = is_about_a_gain(answer)};
    if (answer.measured) entry.measured = answer.measured->ratio;
    if (answer.against_random) entry.against_random = answer.against_random->verdict;
    entry.evidence = evidence_address(answer);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<OtherDtype> other_dtypes(const View& view, const std::vector<ClaimAnswer>& answers) {
  std::map<std::string, OtherDtype> dtypes;
  for (const ClaimAnswer& answer : answers) {
    if (!is_told(answer, view) || !answer.other_dtype || !answer.measured) continue;
    if (of_paper(*answer.claim) || compared(answer) != kKernelTime) continue;
    const double ratio = answer.measured->ratio;
    const std::string dtype = dtype_name(answer);
    OtherDtype& known = dtypes.try_emplace(dtype, OtherDtype{dtype, ratio, ratio}).first->second;
    known.low = std::min(known.low, ratio);
    known.high = std::max(known.high, ratio);
  }
  std::vector<OtherDtype> all;
  for (auto& [name, dtype] : dtypes) all.push_back(std::move(dtype));
  return all;
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

std::vector<Reported> reported_ratios(const View& view) {
  const Table table = reported_table(view);
  std::vector<Reported> ratios;
  const std::vector<MeasuredChain> chains = measured_chains(view);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const std::vector<Cell>& row = table.rows[i];
    if (chains[i].claimed)
      ratios.push_back({*chains[i].claimed, row[0].text, row[1].text, row[2].text, row[3].text, row[4].text});
  }
  return ratios;
}

void add_surroundings(SweepOverview& made, const View& view) {
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      add_new(made.processors, environment_text(*record, "host", "cpu"));
      add_new(made.devices, environment_text(*record, "device", "name"));
      add_new(made.drivers, environment_text(*record, "device_state", "driver"));
      if (record->kind == ImplementationKind::kernel) add_new(made.kernels, record->kernel);
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
                     .other_dtypes = other_dtypes(view, answers),
                     .rivals = rival_entries(view),
                     .rings = rings_sentence(view),
                     .windows = windows_sentence(view)};
  made.reported = reported_ratios(view);
  add_surroundings(made, view);
  const auto judged = std::count_if(view.twins.begin(), view.twins.end(),
                                    [](const Record* twin) { return twin->speedup.has_value(); });
  if (static_cast<std::size_t>(judged) >= kFewestTwins)
    made.twins = {twins_sentence(view), twins_distances_sentence(view)};
  return made;
}

std::string sweep_address(const SweepOverview& sweep) {
  return address_of(sweep.name) + "/index.html";
}

namespace {

// All answers about kernel time, counted.
struct Tests {
  std::map<Verdict, std::size_t> beside;  // random order, the control
  std::size_t controlled = 0, controlled_losses = 0, gains = 0, reproduced = 0;
  std::vector<double> speedups;
  std::map<std::string, std::vector<double>> others;  // speedups by dtype, if it is not the claim's

  void add(const ClaimEntry& entry) {
    if (entry.of_paper || entry.compares != kKernelTime) return;
    if (entry.measured) speedups.push_back(*entry.measured);
    if (entry.against_random) {
      ++beside[*entry.against_random];
      ++controlled;
      controlled_losses += !entry.gain;
    }
    gains += entry.gain;
    reproduced += entry.gain && entry.verdict == ClaimVerdict::reproduced;
  }
};

Tests tests_of(const std::vector<MachineOverview>& machines) {
  Tests tests;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps) {
      for (const ClaimEntry& entry : sweep.claims) tests.add(entry);
      for (const OtherDtype& other : sweep.other_dtypes)
        tests.others[other.dtype].insert(tests.others[other.dtype].end(), {other.low, other.high});
    }
  return tests;
}

std::string gains_sentence(const Tests& tests) {
  return fmt::format("{} {} of a claim that Hilbert order makes a kernel faster: {} {} it.", tests.gains,
                     tests.gains == 1 ? "test is" : "tests are",
                     tests.reproduced == 0 ? "none" : std::to_string(tests.reproduced),
                     tests.reproduced <= 1 ? "reproduces" : "reproduce");
}

std::string random_sentence(const Tests& tests) {
  const auto count = [&](Verdict verdict) {
    const auto found = tests.beside.find(verdict);
    return found == tests.beside.end() ? std::size_t{0} : found->second;
  };
  const std::size_t open = count(Verdict::inconclusive);
  return fmt::format(
      "Compared with random order, the control, Hilbert order is shown to be as fast in {} of {}{}, faster "
      "in "
      "{} and slower in {}; {} inconclusive.",
      count(Verdict::equivalent), plural(tests.controlled, "test", "tests"),
      tests.controlled_losses > 0 ? " (with claims of a loss)" : "", count(Verdict::faster),
      count(Verdict::slower), open == 1 ? "1 is" : fmt::format("{} are", open));
}

std::string range_text(const std::vector<double>& ratios) {
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format("{:.3f} to {:.3f}", *least, *most);
}

std::string range_sentence(const Tests& tests) {
  std::string said =
      fmt::format("In the dtype of the claim, time of linear order / time of Hilbert order is {}",
                  range_text(tests.speedups));
  for (const auto& [dtype, ratios] : tests.others)
    said += fmt::format("; in {}, which is not that of the claim, {}", dtype, range_text(ratios));
  return said + ".";
}

}  // namespace

std::vector<std::string> answer_sentences(const std::vector<MachineOverview>& machines) {
  const Tests tests = tests_of(machines);
  if (tests.controlled == 0 && tests.gains == 0)
    return {"These results test no claim that an order makes a kernel faster."};
  std::vector<std::string> said;
  if (tests.gains > 0) said.push_back(gains_sentence(tests));
  if (tests.controlled > 0) said.push_back(random_sentence(tests));
  if (!tests.speedups.empty()) said.push_back(range_sentence(tests));
  return said;
}

}  // namespace hilbench
