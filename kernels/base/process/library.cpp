#include "kernels/base/process/library.hpp"

#include <dlfcn.h>

#include <sstream>

namespace hilbench {

LoadedLibrary::LoadedLibrary(const std::vector<std::string>& names, SymbolScope scope) {
  const int visible = scope == SymbolScope::everyone ? RTLD_GLOBAL : RTLD_LOCAL;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | visible);
    name_ = name;
    if (handle_ != nullptr) return;
    if (const char* error = dlerror(); error != nullptr && why_.empty()) why_ = error;
  }
}

void* LoadedLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

std::vector<std::string> toolkit_names(const std::string& name) {
  std::vector<std::string> names = {name};
  std::istringstream folders(HILBENCH_LIBRARY_FOLDERS);  // separated by colons
  for (std::string folder; std::getline(folders, folder, ':');) names.push_back(folder + "/" + name);
  return names;
}

}  // namespace hilbench
