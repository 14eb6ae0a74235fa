// What the processes of a record had of the cores that their threads were ready to use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

inline constexpr double kLeastShare = 0.8;         // of the cores; programs that are let pass take less
inline constexpr double kThrottledAllowed = 0.01;  // core seconds, as a share of the time

// One process that measured a case on a processor.
struct CoresHad {
  std::optional<double> share;      // 0.4: its threads ran for 40 % of the time in which they could have run
  std::optional<double> throttled;  // core seconds that a quota held its cgroup back, a second
  std::optional<double> quota;      // cores; none if there is no quota

  bool known() const { return share || throttled; }
  bool enough() const;
};

// Of each process; empty if the record is of a GPU or has no time.
std::vector<CoresHad> cores_had(const Record& record);

// "a process had only 40 % of its cores (a quota of 0.8 cores throttled it)". For what is not enough.
std::string too_few_cores_text(const CoresHad& had);

}  // namespace hilbench
