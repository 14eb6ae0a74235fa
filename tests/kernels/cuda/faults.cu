#include <chrono>
#include <cmath>

#include "kernels/cuda/runtime/status.hpp"
#include "tests/kernels/cuda/faults.hpp"

namespace hilbench::cuda {
namespace {

__global__ void write(float* to, float value) {
  *to = value;
}

// Ends when `flag` is set, which nobody does.
__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void wait_cycles(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace

void write_where_nothing_is() {
  write<<<1, 1>>>(reinterpret_cast<float*>(16), 1.0f);
  HILBENCH_CUDA(cudaGetLastError());
}

void write_nan(float* to) {
  write<<<1, 1>>>(to, std::nanf(""));
  HILBENCH_CUDA(cudaGetLastError());
}

void spin_without_end() {
  int* flag = nullptr;
  HILBENCH_CUDA(cudaMalloc(reinterpret_cast<void**>(&flag), sizeof *flag));
  HILBENCH_CUDA(cudaMemset(flag, 0, sizeof *flag));
  spin<<<1, 1>>>(flag);
  HILBENCH_CUDA(cudaGetLastError());
}

void keep_busy(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::duration<double>(seconds)) {
    wait_cycles<<<1, 32>>>(100000);
    HILBENCH_CUDA(cudaGetLastError());
    HILBENCH_CUDA(cudaDeviceSynchronize());
  }
}

void fill_memory_but(std::size_t left) {
  std::size_t free = 0, total = 0;
  HILBENCH_CUDA(cudaMemGetInfo(&free, &total));
  void* taken = nullptr;
  if (free > left) HILBENCH_CUDA(cudaMalloc(&taken, free - left));
}

}  // namespace hilbench::cuda
