#include "reports/site/joint_verdicts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace hilbench {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kVerdictColumns = {
    {{"gain", "gain reproduced"},
     {"no_gain_claimed", "loss or no difference reproduced"},
     {"no_gain", "no gain"},
     {"smaller", "smaller than claimed"},
     {"contradicted", "contradicted"},
     {"excluded", "claim excluded"},
     {"inconclusive", "inconclusive"},
     {"differs", "differs between runs"}}};

// The title of a column.
std::string_view word_of(const ClaimEntry& entry) {
  if (entry.verdict != ClaimVerdict::reproduced) return to_string(entry.verdict);
  return entry.gain ? kVerdictColumns[0].second : kVerdictColumns[1].second;
}

struct VerdictRow {
  std::string compares, dtype;
  std::map<std::string_view, std::size_t> verdicts;
};

std::vector<VerdictRow> verdict_rows(const MachineOverview& machine) {
  using Question = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Question, std::vector<const ClaimEntry*>> runs;
  std::vector<Question> asked;  // as they come first
  for (const SweepOverview& sweep : machine.sweeps)
    for (const ClaimEntry& entry : sweep.claims) {
      if (entry.of_paper) continue;
      const Question question(entry.claim, entry.about, entry.metric, entry.dtype);
      auto& answers = runs[question];
      if (answers.empty()) asked.push_back(question);
      answers.push_back(&entry);
    }
  std::vector<VerdictRow> rows;
  for (const Question& question : asked) {
    const std::vector<const ClaimEntry*>& answers = runs[question];
    const ClaimEntry& first = *answers.front();
    const bool agree = std::ranges::all_of(
        answers, [&](const ClaimEntry* answer) { return answer->verdict == first.verdict; });
    rows.push_back(
        {first.compares, first.dtype, {{agree ? word_of(first) : kVerdictColumns.back().second, 1}}});
  }
  return rows;
}

}  // namespace

Table joint_verdicts_table(const std::vector<MachineOverview>& machines) {
  std::map<std::pair<std::string, std::string>, VerdictRow> kinds;
  for (const MachineOverview& machine : machines)
    for (const VerdictRow& row : verdict_rows(machine)) {
      VerdictRow& kind = kinds[{row.compares, row.dtype}];
      kind.compares = row.compares, kind.dtype = row.dtype;
      for (const auto& [word, count] : row.verdicts) kind.verdicts[word] += count;
    }
  std::vector<VerdictRow> rows;
  for (auto& [key, row] : kinds) rows.push_back(std::move(row));
  using R = const VerdictRow&;
  std::vector<ColumnOf<VerdictRow>> columns = {
      {{"compares", "claims about"}, [](R r) { return Cell{r.compares}; }},
      {{"dtype", "measured in"}, [](R r) { return Cell{r.dtype}; }},
  };
  for (const auto& [key, title] : kVerdictColumns)
    columns.push_back({{std::string(key), std::string(title), Align::right}, [word = title](R r) {
                         const auto found = r.verdicts.find(word);
                         return Cell{std::to_string(found == r.verdicts.end() ? 0 : found->second)};
                       }});
  return make_table<VerdictRow>("verdicts", "Verdicts, if runs that answer one claim count as one", columns,
                                rows);
}

}  // namespace hilbench
