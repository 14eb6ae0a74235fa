// Parts of the data of a page that figures draw.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Claims about kernel time with what was measured; of the first kMostRivalRows kernels the ratios to rivals;
// predictions of rings.
nlohmann::json claims_json(const std::vector<ClaimAnswer>& answers);
nlohmann::json rivals_json(const View& view);
nlohmann::json predictions_json(const View& view);
// The panels of rate_panels(). A bar is its rate in the unit of the panel, and the name of its record.
nlohmann::json rates_json(const View& view);
// For each case of a chain its steps: {variant, change, factor, so_far}, the ratios as [value, low, high] or
// null.
// Also `of`, and `protocols`: {how, reported, trials, ratio}, the ratio as [median, lowest, highest].
nlohmann::json chains_json(const View& view);

}  // namespace hilbench
