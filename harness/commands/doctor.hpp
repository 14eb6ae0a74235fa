// `hilbench doctor`: which optional parts work on this machine.
#pragma once

#include <string>

namespace hilbench {

// A line for each part: works, or why not and what to do. Foreign libraries are loaded in a child process
// with a time limit, so that one that crashes or hangs becomes a line too. Throws nothing but std::bad_alloc.
std::string doctor_report();

}  // namespace hilbench
