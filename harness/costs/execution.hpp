// Executes variants once each so that their instructions can be counted: the part that runs in a process of
// its own, for callgrind under valgrind.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hilbench {

// `request`: {"task": a ComparisonTask, "by": "callgrind" or "hardware"}. Each record of the task is prepared,
// executed once to warm up, and executed once more between the marks. Answers
// {"instruction_set", "bf16_products", "variants": [{"variant", "part" or "instructions" or "reason"}]},
// where `part` numbers the parts of callgrind's output from 1. Throws Error if the case cannot be prepared.
nlohmann::json count_executions(const nlohmann::json& request);

}  // namespace hilbench
