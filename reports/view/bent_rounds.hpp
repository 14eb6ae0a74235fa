// Rounds that a process did not measure, because the budget was spent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/records/record.hpp"

namespace hilbench {

struct BentRounds {
  std::int64_t fewest = 0;  // of all processes
  std::int64_t wanted = 0;  // by that process
};
// Null if every process measured the rounds that it should.
std::optional<BentRounds> bent_rounds(const Record& record);

// "2 of 6 rounds: the budget was spent"; "" if there were as many as wanted.
std::string bent_rounds_text(const Record& record);

}  // namespace hilbench
