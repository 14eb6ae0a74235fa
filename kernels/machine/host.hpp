// The machine that a run uses: processor, caches, memory, threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/machine/huge_pages.hpp"

namespace hilbench {

struct CacheLevel {
  int level = 0;           // 1, 2, 3
  std::int64_t bytes = 0;  // of one instance
  int shared_by = 1;       // cores that share one instance
};

struct Host {
  std::string cpu;  // "AMD EPYC 9654 96-Core Processor"
  int sockets = 1;
  int cores = 1;           // that this process may use, limited by affinity and cgroup quota
  int threads = 0;         // of the machine, whoever may use them; 0: unknown
  int allowed_cores = 0;   // hardware threads in the affinity mask; 0: unknown
  double quota_cores = 0;  // the smallest quota of its cgroups; 0: none
  std::vector<CacheLevel> data_caches;
  std::int64_t memory_bytes = 0;            // total
  std::int64_t available_memory_bytes = 0;  // now, limited by cgroups
  std::string simd;                         // Highway's name of the instruction set it uses: "AVX3_DL"
  double nominal_ghz = 0;                   // 0: unknown
  HugePages huge_pages;
};
Host inspect_host();  // topology and caches by hwloc, or by the kernel if hwloc fails

// Bytes of a data or unified cache of that level, for each core that shares it; 0: unknown. Found out once.
std::int64_t data_cache_bytes(int level);

// Numbers of the hardware threads that this process may use: one of every core first, then the others.
// Empty if hwloc fails.
std::vector<int> usable_hardware_threads();

// Host::simd as people know it: "AVX-512 as on Ice Lake" for "AVX3_DL".
std::string simd_text(const std::string& simd);

// Bytes that this process can still allocate: the least of the kernel's MemAvailable and of what each cgroup
// (version 1 or 2) of the process leaves. Reclaimable file pages count as free. 0: unknown. `root` is used in
// place of /.
std::int64_t available_memory(const std::filesystem::path& root = "/");

// Threads that can run at once: hardware threads in the affinity mask, at most the quota, rounded up.
int usable_cores(const Host& host);

// OMP_NUM_THREADS, if it is a positive number.
std::optional<int> asked_threads();
// asked_threads(), else all cores; in any case at most usable_cores().
int default_threads(const Host& host);
// Throws UsageError if OMP_NUM_THREADS is above the machine's threads. They would wait for each other, and
// what they measure says nothing of a kernel.
void expect_threads(const Host& host);

}  // namespace hilbench
