#include "harness/external/python.hpp"

#include <cstdlib>

namespace hilbench {

std::vector<std::string> python_command(std::string_view script, SharedFile& file) {
  file.write(script.data(), script.size());
  const char* python = std::getenv("HILBENCH_PYTHON");
  return {python != nullptr && *python != '\0' ? python : "python3", file.path()};
}

}  // namespace hilbench
