// A kernel of the user as a shared library (kernels/plugin/kernel.h).
#pragma once

#include <filesystem>
#include <string>

#include "kernels/plugin/kernel.h"

namespace hilbench {

class KernelLibrary {
 public:
  // Loads it into this process, whose it is from now on: what it starts at, and what it breaks. It is never
  // unloaded. Throws EnvironmentError if it cannot be loaded (the message names what is missing), exports no
  // hilbench_kernel_table, or has another version of the interface or no launch.
  explicit KernelLibrary(const std::filesystem::path& file);

  const hilbench_kernel& table() const { return *table_; }
  const std::string& name() const { return name_; }        // as it says
  const std::string& version() const { return version_; }  // hash of the file

 private:
  const hilbench_kernel* table_ = nullptr;
  std::string name_, version_;
};

}  // namespace hilbench
