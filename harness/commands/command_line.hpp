// The command line: one function a command.
#pragma once

namespace hilbench {

// Parses and runs; prints errors as `hilbench: error: ...` on standard error. Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace hilbench
