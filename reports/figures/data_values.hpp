// Parts of a record in the form that the data of the page has.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "reports/records/record.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

// Whole numbers are exact, others have six digits: tables/*.csv have all digits. Null if `value`
// is not finite.
nlohmann::json number_json(double value);
nlohmann::json interval_json(double value, const Interval& ci);      // [value, low, high]
nlohmann::json measured_json(const std::optional<Measured>& ratio);  // the same; null if there is none
// Adds a value if there is one: a finite number, or a text that is not empty.
void put_known(nlohmann::json& into, const char* key, const std::optional<double>& value);
void put_known(nlohmann::json& into, const char* key, const std::string& text);

nlohmann::json verification_json(const Verification& verify);
nlohmann::json timing_json(const Timing& time, bool samples);  // without samples: with their quartiles
// First: members that records share. Second: members that change from record to record.
std::pair<nlohmann::json, nlohmann::json> environment_parts(const nlohmann::json& environment);

}  // namespace hilbench
