// The Python interpreter that runs the scripts of this build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/process/shared_file.hpp"

namespace hilbench {

// The command that runs `script`, which is written to `file`. HILBENCH_PYTHON names the interpreter; the
// default is python3. Throws EnvironmentError.
std::vector<std::string> python_command(std::string_view script, SharedFile& file);

}  // namespace hilbench
