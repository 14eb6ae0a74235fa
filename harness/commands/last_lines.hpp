// The last lines of a run: what was found, what limits it, and what to run next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/plan/plan.hpp"
#include "harness/run/progress.hpp"
#include "harness/sweep/sweep.hpp"
#include "reports/terminal/screen.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

struct NextRun {
  std::string command;
  double seconds = 0;  // about how long it takes
};

// What is done already.
struct Done {
  std::int64_t processes = 0;  // of the comparison with the fewest
  bool undecided = false;      // Headline::undecided
};

// The same run in as many processes as results need that are sent, or in twice as many as there are if these
// show nothing; priced by what its processes took here. Otherwise none. `command`: of this run, as typed.
std::optional<NextRun> next_run(const std::string& command, const Sweep& sweep, const Plan& plan,
                                const Done& done, const Progress& progress);

// "found: ...", "limits: ...", "next: ..."; `input`: what the folder holds, as read_results() gives it.
std::string last_lines(const ReportInput& input, const std::filesystem::path& folder,
                       const std::optional<NextRun>& next, const Screen& screen);

}  // namespace hilbench
