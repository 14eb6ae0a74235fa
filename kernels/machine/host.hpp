// The machine that a run stands on: processor, caches, memory, threads, and how it was set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hilbench {

struct CacheLevel {
  int level = 0;           // 1, 2, 3
  std::int64_t bytes = 0;  // of one instance
  int shared_by = 1;       // cores that share an instance
};

struct Host {
  std::string cpu;  // "AMD EPYC 9654 96-Core Processor"
  int sockets = 1;
  int cores = 1;  // usable by this process: affinity and cgroup quota counted in
  std::vector<CacheLevel> data_caches;
  std::int64_t memory_bytes = 0;            // total
  std::int64_t available_memory_bytes = 0;  // now, cgroup limits counted in
  std::string simd;                         // what Highway dispatches to: "AVX3_DL"
  double nominal_ghz = 0;                   // 0: unknown
};
Host inspect_host();  // hwloc for topology and caches; falls back to what the kernel tells

// Bytes that this process can still have: the kernel's MemAvailable, and what every cgroup (version 1 or 2)
// above the process leaves, reclaimable file pages counted as free. 0: unknown. `root` stands for /.
std::int64_t available_memory(const std::filesystem::path& root = "/");

// OMP_NUM_THREADS if it is a positive number, else all usable cores.
int default_threads(const Host& host);

}  // namespace hilbench
