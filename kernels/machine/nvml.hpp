// NVIDIA's management library (NVML API Reference). It is part of the driver; it is loaded and started on
// first use.
#pragma once

#include <string>

#include "kernels/base/process/library.hpp"

namespace hilbench {

// Of NVML's stable C interface. Every function that is used returns an nvmlReturn_t, 0 for success.
using NvmlHandle = struct nvmlDevice_st*;
inline constexpr int kNvmlNotSupported = 3, kNvmlInsufficientSize = 7;

class Nvml {
 public:
  static const Nvml& get();
  bool is_here() const { return static_cast<bool>(library_); }
  const std::string& absence() const {
    return absence_;
  }  // why it is not here, or does not start, and what to do
  // Null if the driver's NVML has no such function.
  template <class Function>
  Function* find(const char* symbol) const {
    return library_ ? library_.find<Function>(symbol) : nullptr;
  }

 private:
  Nvml();

  LoadedLibrary library_{{"libnvidia-ml.so.1"}};
  std::string absence_;
};

// The version of NVIDIA's driver: "580.65.06"; "" if NVML does not give it.
std::string nvml_driver_version();

}  // namespace hilbench
