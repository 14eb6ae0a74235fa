#include "harness/library.hpp"

#include <dlfcn.h>

namespace hilbench {

LoadedLibrary::LoadedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    name_ = name;
    if (handle_ != nullptr) return;
    if (const char* error = dlerror(); error != nullptr && why_.empty()) why_ = error;
  }
}

void* LoadedLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace hilbench
