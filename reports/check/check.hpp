// Whether a folder of results may be published: what its owner sees before sending it, and a reviewer after.
#pragma once

#include <string>
#include <vector>

#include "reports/view/input.hpp"

namespace hilbench {

enum class CheckKind { ok, not_ok, note };

struct CheckLine {
  CheckKind kind = CheckKind::ok;
  std::string text;   // "processes: 4 of 12 records have fewer ...; measure again with --processes 10"
  std::string limit;  // what the results cannot show for it, short: "one process alone"; may be empty
};

// Names that must not be in results that are sent. Empty: not looked for.
struct PrivateNames {
  std::string host;  // as `hostname` prints it
  std::string home;  // "/home/mary"
};

inline constexpr std::size_t kProcessesOnGpu = 5;
inline constexpr std::size_t kProcessesOnCpu = 10;
inline constexpr double kTwinRate = 0.05;    // of 95 % intervals exclude 1 although nothing differs
inline constexpr double kTwinAlarm = 0.001;  // twins that are less probable than this are not ok

// One line a rule, in a fixed sequence, and notes beside them. The rules: schema, failed, verification,
// twins, controls, processes, injected, build, machine, fake, quiet, noise, private. `input`: as
// read_results() gives it, so judged, with one record or more.
std::vector<CheckLine> check_results(const ReportInput& input, const PrivateNames& names);

// What limits what the records show, by the same rules, most important first: "one process, where 10 show how
// processes differ". Empty if nothing does.
std::vector<std::string> limits_of(const std::vector<Record>& records);

// How sure one can be of times, in a few words each: "5 processes", then what speaks against them: "1 of 6
// rounds", "busy machine", "injected work". Empty without times.
std::vector<std::string> doubts_of(const std::vector<Record>& records);

bool may_be_published(const std::vector<CheckLine>& lines);
// Each on a line, then the verdict on `source`.
std::string check_text(const std::vector<CheckLine>& lines, const std::string& source);

}  // namespace hilbench
