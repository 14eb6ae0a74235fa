// A host as records hold it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kernels/machine/host.hpp"

namespace hilbench {

// `environment.host` of a record: processor, caches, memory, and how the machine is set now: governor, turbo,
// load, virtualisation, kernel, huge pages, variables of OpenMP and BLAS. Null where unknown.
nlohmann::json host_json(const Host& host);

}  // namespace hilbench
