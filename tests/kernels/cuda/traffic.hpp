// Kernels whose memory traffic is known exactly, to check hardware counters. C++17 and no fmt.
//
// Every load is by a whole warp: one request. L1 counts its 32-byte sectors, hit or miss; global loads of
// these kernels never hit L1, so L2 counts the same sectors as reads from L1. DRAM bytes are those read with
// a cold L2, at the default fetch granularity.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

struct Traffic {
  double l1_requests = 0;
  double l1_sectors = 0;
  double l2_sectors = 0;
  double dram_bytes = 0;
};

// All read `buffer` of `bytes` bytes (a multiple of kTrafficBlockBytes, 128-byte aligned)
// and enqueue one launch.
constexpr std::int64_t kTrafficBlockBytes = 32 * 1024;

// Every byte once, 16 bytes per lane. With `bytes` many times the L2, or a cold L2: requests = bytes / 512,
// L1 sectors = L2 sectors = bytes / 32, DRAM bytes = bytes.
Traffic streaming_read(const void* buffer, std::int64_t bytes, cudaStream_t stream);

// Every byte `times` times, 16 bytes per lane, bypassing L1 (ld.global.cg), each byte by one multiprocessor.
// With `bytes` a few MiB, well inside L2 (inside one half if it has two): requests = times bytes / 512, L1
// sectors = L2 sectors = times bytes / 32, DRAM bytes = bytes.
Traffic repeated_read(const void* buffer, std::int64_t bytes, int times, cudaStream_t stream);

// The first 4 bytes of every 128-byte line once, one line per lane: a request reads 32 sectors in 32 lines.
// requests = bytes / 4096, L1 sectors = L2 sectors = bytes / 128; DRAM is read `dram_granule` bytes (32 or
// 64, as the device's memory has it) for each sector: DRAM bytes = dram_granule bytes / 128.
Traffic strided_read(const void* buffer, std::int64_t bytes, int dram_granule, cudaStream_t stream);

}  // namespace hilbench::cuda
