// `hilbench doctor`: which optional parts work on this machine.
#pragma once

#include <string>

namespace hilbench {

// "times yes, counters no: REASON": what can be measured on a GPU that cannot be counted on. `why_no_times`:
// empty if times can be measured.
std::string without_counters(const std::string& why_no_times, const std::string& why_no_counters);

// One line for each part: it works, or why not and what to do. Libraries of others are loaded in a
// child process with a time limit, so that a library that crashes or hangs gets its line too.
// Throws only std::bad_alloc.
std::string doctor_report();

}  // namespace hilbench
