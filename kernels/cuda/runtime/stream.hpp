// A second stream, marks that order streams, and a device that is current for a while. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>

#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {

// A stream of the current device. It and stream 0 do not wait for each other; if blocks of both are ready,
// its own start first. Functions throw CudaError.
class SideStream {
 public:
  SideStream() {
    int least = 0, greatest = 0;
    HILBENCH_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    HILBENCH_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() {
    const cudaError_t status = cudaStreamDestroy(stream_);
    if (status != cudaSuccess) std::fprintf(stderr, "cudaStreamDestroy: %s\n", cudaGetErrorString(status));
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// A point in a stream; null is stream 0. Functions throw CudaError.
class Mark {
 public:
  Mark() { HILBENCH_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() {
    const cudaError_t status = cudaEventDestroy(event_);
    if (status != cudaSuccess) std::fprintf(stderr, "cudaEventDestroy: %s\n", cudaGetErrorString(status));
  }

  void set(cudaStream_t stream) { HILBENCH_CUDA(cudaEventRecord(event_, stream)); }
  // Work that is enqueued on `stream` from now on starts after the mark.
  void hold(cudaStream_t stream) const { HILBENCH_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
  void wait() const { HILBENCH_CUDA(cudaEventSynchronize(event_)); }  // on the host
  // True if the work before the mark is complete.
  bool passed() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    HILBENCH_CUDA(status);
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Makes `device` current while it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    HILBENCH_CUDA(cudaGetDevice(&before_));
    HILBENCH_CUDA(cudaSetDevice(device));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    const cudaError_t status = cudaSetDevice(before_);
    if (status != cudaSuccess) std::fprintf(stderr, "cudaSetDevice: %s\n", cudaGetErrorString(status));
  }

 private:
  int before_ = 0;
};

}  // namespace hilbench::cuda
