// Data files that are built into the program (see .cmake/embed.cmake).
#pragma once

#include <string_view>

namespace hilbench {

std::string_view embedded_claims();        // reports/claims.yaml
std::string_view embedded_torch_sdpa();    // baselines/external/torch_sdpa.py
std::string_view embedded_counter_perf();  // harness/counters/sets/perf.yaml

}  // namespace hilbench
