// Measured limits of the current device. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Units whose rate limits a kernel. Products of bf16 and fp16 are summed in fp32.
enum class PeakUnit : std::int32_t { fp32_fma, bf16_tensor, fp16_tensor };

struct DevicePeak {
  double fp32_fma_flops = 0;     // FLOP/s; a fused multiply-add counts as two
  double bf16_tensor_flops = 0;  // 0, like the next: not measured below compute capability 8.0
  double fp16_tensor_flops = 0;
  double copy_bytes_per_s = 0;  // device to device: bytes read plus bytes written
};

// FLOPs of one run_peak_work() on the current device; 0 if the unit is missing or not measured.
double peak_work_flops(PeakUnit unit);

// Enqueues some milliseconds of work: products of random numbers in registers (for wgmma in shared memory).
// Writes nothing. Does nothing if peak_work_flops() is 0.
void run_peak_work(PeakUnit unit, cudaStream_t stream);

// The best of several short runs, about `seconds` in all, on the legacy default stream. The copy uses two
// arrays of at most 1 GiB, less if little memory is free. Synchronises. Throws CudaError.
DevicePeak measure_device_peak(double seconds);

}  // namespace hilbench::cuda
