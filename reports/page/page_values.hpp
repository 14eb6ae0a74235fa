// Parts of a record as the page's data holds them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "reports/records/record.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

// Whole numbers exactly, others to six digits: a page is read, tables/*.csv are computed with. Null where
// `value` is not finite.
nlohmann::json number_json(double value);
nlohmann::json interval_json(double value, const Interval& ci);      // [value, low, high]
nlohmann::json measured_json(const std::optional<Measured>& ratio);  // the same; null where there is none
// Adds what there is: a finite number, a text that is not empty.
void put_known(nlohmann::json& into, const char* key, const std::optional<double>& value);
void put_known(nlohmann::json& into, const char* key, const std::string& text);

nlohmann::json verification_json(const Verification& verify);
nlohmann::json timing_json(const Timing& time, bool samples);  // without samples: their quartiles
// What changes from record to record (second), apart from what does not (first).
std::pair<nlohmann::json, nlohmann::json> environment_parts(const nlohmann::json& environment);

}  // namespace hilbench
