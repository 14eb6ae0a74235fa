// Shared libraries loaded on first use.
#pragma once

#include <string>
#include <vector>

namespace hilbench {

// A library loaded on first use; false where none of `names` is found. Never unloaded.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::vector<std::string>& names);
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }  // that was found
  const std::string& why() const { return why_; }    // what the loader said of the first name
  void* handle() const { return handle_; }
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }

 private:
  void* address(const char* symbol) const;  // null where there is no such symbol
  void* handle_ = nullptr;
  std::string name_, why_;
};

// `name` where the dynamic loader looks, then in the folders in which the build found CUDA and its libraries.
std::vector<std::string> toolkit_names(const std::string& name);

}  // namespace hilbench
