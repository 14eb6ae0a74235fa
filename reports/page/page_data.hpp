// What report.html draws from, as one JSON object: summaries of the records, nothing made for people.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// The first records of a larger run are held; samples only where all records together have few enough. `held`
// says both. Every text of it may be hostile: it is data to whoever shows it.
inline constexpr std::size_t kMostRecordsOnPage = 10'000;
inline constexpr std::size_t kMostSamplesOnPage = 60'000;

nlohmann::json page_data(const View& view, const std::vector<ClaimAnswer>& answers);

// As the text of a <script> element: no `<` in it, and no byte that is not UTF-8.
std::string script_safe(const nlohmann::json& data);

}  // namespace hilbench
