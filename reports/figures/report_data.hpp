// The data of report.html as one JSON object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Limits of the data: of more records only the first are held; samples are held only if all records together
// have few enough. The member `held` says so. Texts in the data come from outside and may be hostile: show
// them as text only.
inline constexpr std::size_t kMostRecordsOnPage = 10'000;
inline constexpr std::size_t kMostSamplesOnPage = 60'000;

nlohmann::json report_data(const View& view, const std::vector<ClaimAnswer>& answers);

// The data as text of a <script> element: it has no `<`, and every byte is UTF-8.
std::string script_safe(const nlohmann::json& data);

}  // namespace hilbench
