// Shared libraries loaded on first use.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace hilbench {

// Who finds the library's symbols: only who asks it for them, or all libraries that are loaded later.
enum class SymbolScope { asking, everyone };

// The first of `names` that the dynamic loader finds; converts to false if it finds none. Never unloaded.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::vector<std::string>& names, SymbolScope scope = SymbolScope::asking);
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }  // the name that was found
  const std::string& why() const { return why_; }    // the loader's message for the first name
  void* handle() const { return handle_; }
  std::string path() const;  // the file that was loaded, as the loader knows it; "" if none was
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }

 private:
  void* address(const char* symbol) const;  // null if the library has no such symbol
  void* handle_ = nullptr;
  std::string name_, why_;
};

// Names to try for a library of the CUDA toolkit: `name` alone, which the dynamic loader searches for, then
// `name` in each folder in which the build found CUDA and its libraries.
std::vector<std::string> toolkit_names(const std::string& name);
// What HILBENCH_CUPTI names: a file, or a name that the dynamic loader searches for; "" if it is not set.
std::string named_cupti();
// named_cupti() alone if it is set. Otherwise as toolkit_names() for CUPTI of these versions of CUDA, the
// first before the others, then where NVIDIA's installer puts CUPTI.
std::vector<std::string> cupti_names(std::initializer_list<int> cuda_majors);

}  // namespace hilbench
