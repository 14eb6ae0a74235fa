// The few functions of the CUDA driver that counting needs, loaded on first use: they are the same in every
// build, with or without a CUDA toolkit.
#pragma once

#include <string>

#include "harness/counters/counters.hpp"

namespace hilbench {

class CudaDriver {
 public:
  static const CudaDriver& get();
  // Why there is no driver or no device, and what to do; empty where there is one.
  const std::string& unavailable() const { return unavailable_; }
  // The calling thread's current context (CUcontext); null where there is none.
  void* context() const;
  int device() const;              // of that context, else 0
  std::string pci_bus_id() const;  // of device(), "0000:1b:00.0"; "" where there is none
  // Of device(): 10 * major + minor; -1 where no device answers.
  CounterTarget capability() const;
  // Makes the primary context of device 0 the calling thread's, where it has none. False where that fails.
  bool make_context() const;
  // Waits for all work of the current context. 0, or the CUresult of the failure.
  int synchronize() const;

 private:
  CudaDriver();
  std::string unavailable_;
  int (*get_context_)(void**) = nullptr;
  int (*get_device_)(int*) = nullptr;
  int (*get_bus_id_)(char*, int, int) = nullptr;
  int (*get_attribute_)(int*, int, int) = nullptr;
  int (*retain_primary_)(void**, int) = nullptr;
  int (*set_context_)(void*) = nullptr;
  int (*synchronize_)() = nullptr;
};

}  // namespace hilbench
