// Marks for callgrind, valgrind's counter of instructions. They do nothing outside of valgrind.
#pragma once

#include <functional>
#include <string>

namespace hilbench {

// Why this build has no marks; empty if it has them.
std::string callgrind_absence();

// Runs `body` with counting switched on, and has callgrind (started with --instr-atstart=no) write what it
// counted to a part of its output: part 1 for the first call in this process, part 2 for the second, and so
// on.
void count_by_callgrind(const std::function<void()>& body);

}  // namespace hilbench
