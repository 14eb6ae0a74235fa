// CUPTI's host library: which metrics a chip has, and how they are split into passes. Needs no GPU.
#pragma once

#include <cupti_profiler_host.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/process/library.hpp"

namespace hilbench {

// The library that holds the Range Profiler; false if it is not found.
const LoadedLibrary& cupti_range_library();

// The metrics of one chip, split into passes. All functions throw CuptiError.
class CuptiHost {
 public:
  // `availability`: the device's counter availability image; null if the chip is not in this machine.
  CuptiHost(const std::string& chip, const std::uint8_t* availability);
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;
  ~CuptiHost();

  bool has(const std::string& metric) const;
  void schedule(const std::vector<const char*>& metrics);  // once
  std::vector<std::uint8_t>& config() { return config_; }
  int passes() const { return passes_; }
  // The values of `metrics` in range 0 of a decoded counter data image.
  std::vector<double> evaluate(const std::vector<std::uint8_t>& counter_data,
                               std::vector<const char*> metrics) const;

 private:
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> config_;
  int passes_ = 0;
};

}  // namespace hilbench
