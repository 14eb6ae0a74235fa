#include "harness/gate/figures.hpp"

namespace hilbench {

std::filesystem::path figures_file_of(const std::filesystem::path& sweep) {
  return std::filesystem::path(sweep).replace_extension(".figures.json");
}

}  // namespace hilbench
