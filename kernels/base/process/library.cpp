#include "kernels/base/process/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace hilbench {
namespace {

// The loader would wait for a writer of a pipe. Names without a slash are those that it searches for.
bool is_special_file(const std::string& name) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(name, error);
  return name.find('/') != std::string::npos && std::filesystem::exists(status) &&
         !std::filesystem::is_regular_file(status);
}

}  // namespace

LoadedLibrary::LoadedLibrary(const std::vector<std::string>& names, SymbolScope scope) {
  const int visible = scope == SymbolScope::everyone ? RTLD_GLOBAL : RTLD_LOCAL;
  for (const std::string& name : names) {
    name_ = name;
    if (is_special_file(name)) {
      if (why_.empty()) why_ = name + ": not a file, but a folder, a pipe or a device";
      continue;
    }
    handle_ = dlopen(name.c_str(), RTLD_NOW | visible);
    if (handle_ != nullptr) return;
    if (const char* error = dlerror(); error != nullptr && why_.empty()) why_ = error;
  }
}

void* LoadedLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

std::string LoadedLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return "";
  return map->l_name;
}

std::vector<std::string> toolkit_names(const std::string& name) {
  std::vector<std::string> names = {name};
  std::istringstream folders(HILBENCH_LIBRARY_FOLDERS);  // separated by colons
  for (std::string folder; std::getline(folders, folder, ':');) names.push_back(folder + "/" + name);
  return names;
}

std::string named_cupti() {
  const char* name = std::getenv("HILBENCH_CUPTI");
  return name == nullptr ? "" : name;
}

std::vector<std::string> cupti_names(std::initializer_list<int> cuda_majors) {
  if (!named_cupti().empty()) return {named_cupti()};
  std::vector<std::string> names;
  for (const int major : cuda_majors)
    for (std::string& name : toolkit_names("libcupti.so." + std::to_string(major)))
      names.push_back(std::move(name));
  names.insert(names.end(), {"libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                             "/usr/local/cuda/lib64/libcupti.so"});
  return names;
}

}  // namespace hilbench
