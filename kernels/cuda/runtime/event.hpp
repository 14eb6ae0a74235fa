// Owner of a CUDA event on the default stream. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {

// Functions throw CudaError.
class Event {
 public:
  Event() { HILBENCH_CUDA(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { report(cudaEventDestroy(event_), "cudaEventDestroy"); }

  void record() { HILBENCH_CUDA(cudaEventRecord(event_, nullptr)); }
  // From `start` to this event, both recorded; waits for this one.
  double ns_since(const Event& start) const {
    float ms = 0;
    HILBENCH_CUDA(cudaEventSynchronize(event_));
    HILBENCH_CUDA(cudaEventElapsedTime(&ms, start.event_, event_));
    return 1e6 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace hilbench::cuda
