#include "baselines/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <sstream>

namespace hilbench {

SharedLibrary load_library(const std::string& name, const std::string& remedy) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return {handle, ""};
  const std::string reason = dlerror();
  std::istringstream folders(HILBENCH_LIBRARY_FOLDERS);  // separated by colons
  for (std::string folder; std::getline(folders, folder, ':');) {
    handle = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return {handle, ""};
  }
  return {nullptr, fmt::format("{} not loaded ({}); {}", name, reason, remedy)};
}

}  // namespace hilbench
