// `hilbench doctor`: which optional parts work on this machine.
#pragma once

#include <string>

namespace hilbench {

// One line for each part: it works, or why not and what to do. Libraries of others are loaded in a
// child process with a time limit, so that a library that crashes or hangs gets its line too.
// Throws only std::bad_alloc.
std::string doctor_report();

}  // namespace hilbench
