// A shared library that is loaded on first use.
#pragma once

#include <string>

namespace hilbench {

struct SharedLibrary {
  void* handle = nullptr;  // stays loaded until the process ends
  std::string absence;     // why handle is null
};

// Looks for `name` where the dynamic loader looks, then in the folders that the build found CUDA and its
// libraries in. `remedy`: what to do where it is missing.
SharedLibrary load_library(const std::string& name, const std::string& remedy);

}  // namespace hilbench
