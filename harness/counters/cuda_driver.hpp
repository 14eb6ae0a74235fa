// The few functions of the CUDA driver that counting needs. They are loaded on first use, so every build has
// them, with or without a CUDA toolkit.
#pragma once

#include <string>

#include "harness/counters/counters.hpp"

namespace hilbench {

class CudaDriver {
 public:
  static const CudaDriver& get();
  // Why there is no driver or no device, and what to do; empty if there is one.
  const std::string& unavailable() const { return unavailable_; }
  // The calling thread's current context (a CUcontext); null if it has none.
  void* context() const;
  int device() const;              // the device of that context; 0 without one
  std::string pci_bus_id() const;  // of device(): "0000:1b:00.0"; "" if there is none
  // Compute capability of device(): 10 * major + minor; -1 if no device answers.
  CounterTarget capability() const;
  int cuda_version() const;  // that the driver supports: 13000; 0 if there is no driver
  // If the calling thread has no context, gives it the primary context of device 0. False if that fails.
  bool make_context() const;
  // Waits for all work of the current context. Returns 0, or the CUresult of the failure.
  int synchronize() const;

 private:
  CudaDriver();
  std::string unavailable_;
  int (*get_version_)(int*) = nullptr;
  int (*get_context_)(void**) = nullptr;
  int (*get_device_)(int*) = nullptr;
  int (*get_bus_id_)(char*, int, int) = nullptr;
  int (*get_attribute_)(int*, int, int) = nullptr;
  int (*retain_primary_)(void**, int) = nullptr;
  int (*set_context_)(void*) = nullptr;
  int (*synchronize_)() = nullptr;
};

}  // namespace hilbench
