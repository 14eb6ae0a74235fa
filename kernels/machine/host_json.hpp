// A host as JSON, for records.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kernels/machine/host.hpp"

namespace hilbench {

// `environment.host` of a record: processor, caches, memory, and the present settings: governor, turbo, load,
// virtualisation, kernel, huge pages, variables of OpenMP and BLAS. Unknown values are null.
nlohmann::json host_json(const Host& host);

}  // namespace hilbench
