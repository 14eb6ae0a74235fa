// Environments in the store: members that change from record to record are kept apart, so that records
// share the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hilbench {

// Removes the varying members (time, load average, free memory) from `environment` and returns them
// by JSON pointer.
nlohmann::json take_varying(nlohmann::json& environment);
// The environment that take_varying() was given.
nlohmann::json put_back(nlohmann::json environment, const nlohmann::json& varying);

}  // namespace hilbench
