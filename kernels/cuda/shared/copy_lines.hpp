// Copies lines between tensors, also of other GPUs whose memory this one can access. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hilbench::cuda {

// `count` lines of `bytes` bytes, whose begins are from_step and to_step bytes apart.
struct Lines {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t from_step = 0, to_step = 0;
  std::uint32_t bytes = 0, count = 0;
};

// Copies all of them, in any sequence, on `stream` of the current device: by one launch for every
// kLinesOfLaunch elements of `lines`. Words of 16 bytes move if addresses, steps and bytes are multiples of
// 16; else of 4, or single bytes. A block moves about 16 KiB: some lines, or one long line. Throws CudaError
// if a launch is refused.
inline constexpr std::size_t kLinesOfLaunch = 64;
void copy_lines(const std::vector<Lines>& lines, cudaStream_t stream);

}  // namespace hilbench::cuda
