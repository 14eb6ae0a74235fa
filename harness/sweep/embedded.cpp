#include "harness/sweep/embedded.hpp"

namespace hilbench {

std::string_view embedded_sweep_schema();

std::string_view EmbeddedSweep::path() const {
  constexpr std::string_view kFolder = "sweeps/", kEnding = ".yaml";
  return file.substr(kFolder.size(), file.size() - kFolder.size() - kEnding.size());
}

std::string_view EmbeddedSweep::folder() const {
  return file.substr(0, file.rfind('/'));
}

std::string_view EmbeddedSweep::name() const {
  return path().substr(path().rfind('/') + 1);  // npos + 1 is 0
}

const EmbeddedSweep* find_embedded_sweep(std::string_view path_or_name) {
  for (const EmbeddedSweep& sweep : embedded_sweeps())
    if (sweep.path() == path_or_name || sweep.name() == path_or_name) return &sweep;
  return nullptr;
}

std::string_view sweep_schema() {
  return embedded_sweep_schema();
}

}  // namespace hilbench
