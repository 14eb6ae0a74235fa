#include "reports/view/bent_rounds.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "reports/view/format.hpp"

namespace hilbench {

std::optional<BentRounds> bent_rounds(const Record& record) {
  if (!record.time || !record.environment.is_object() || !record.environment.contains("processes"))
    return std::nullopt;
  std::optional<BentRounds> bent;
  const nlohmann::json& processes = record.environment.at("processes");
  for (std::size_t i = 0; i < processes.size() && i < record.time->process_rounds.size(); ++i) {
    const auto asked = processes[i].find("rounds_wanted");
    if (asked == processes[i].end() || !asked->is_number_integer()) continue;
    const std::int64_t measured = record.time->process_rounds[i];
    if (!bent || measured < bent->fewest) bent = {measured, asked->get<std::int64_t>()};
  }
  return bent;
}

std::string bent_rounds_text(const Record& record) {
  const auto bent = bent_rounds(record);
  return bent ? fmt::format("{} of {} rounds: the budget was spent", bent->fewest, bent->wanted) : "";
}

std::string bent_rounds_sentence(const View& view) {
  std::size_t cases = 0;
  std::optional<BentRounds> worst;
  for (const CaseView& of_case : view.cases) {
    bool is = false;
    for (const Record* record : of_case.records) {
      const auto bent = bent_rounds(*record);
      is = is || bent;
      if (bent && (!worst || bent->fewest < worst->fewest)) worst = bent;
    }
    cases += is;
  }
  if (cases == 0) return "";
  return fmt::format(
      "In {} of {} the budget was spent before all rounds were measured: a process has {} of {} at worst.",
      cases, plural(view.cases.size(), "case", "cases"), worst->fewest, worst->wanted);
}

}  // namespace hilbench
