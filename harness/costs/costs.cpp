#include "harness/costs/costs.hpp"

namespace hilbench {

std::filesystem::path costs_file_of(const std::filesystem::path& sweep) {
  return std::filesystem::path(sweep).replace_extension(".costs.json");
}

}  // namespace hilbench
