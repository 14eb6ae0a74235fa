#include "reports/view/bent_rounds.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

namespace hilbench {

std::optional<BentRounds> bent_rounds(const Record& record) {
  if (!record.time || !record.environment->is_object() || !record.environment->contains("processes"))
    return std::nullopt;
  std::optional<BentRounds> bent;
  const nlohmann::json& processes = record.environment->at("processes");
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

}  // namespace hilbench
