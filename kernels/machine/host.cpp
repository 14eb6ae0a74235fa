#include "kernels/machine/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwy/highway.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/machine/processor_limits.hpp"
#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

constexpr int kMostThreads = 4096;  // also the limit in a sweep

double nominal_ghz() {
  for (const char* name : {"base_frequency", "cpuinfo_max_freq"}) {
    const double khz =
        std::atof(first_line(std::string("/sys/devices/system/cpu/cpu0/cpufreq/") + name).c_str());
    if (khz > 0) return khz / 1e6;
  }
  return std::atof(cpuinfo("cpu MHz").c_str()) / 1e3;
}

// Owner of a loaded topology.
class Topology {
 public:
  Topology() {
    if (hwloc_topology_init(&topology_) != 0) topology_ = nullptr;
    if (topology_ != nullptr && hwloc_topology_load(topology_) != 0) {
      hwloc_topology_destroy(topology_);
      topology_ = nullptr;
    }
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  ~Topology() {
    if (topology_ != nullptr) hwloc_topology_destroy(topology_);
  }
  bool loaded() const { return topology_ != nullptr; }

  int count(hwloc_obj_type_t type) const { return hwloc_get_nbobjs_by_type(topology_, type); }
  hwloc_obj_t first(hwloc_obj_type_t type) const { return hwloc_get_obj_by_type(topology_, type, 0); }
  int cores_inside(hwloc_const_cpuset_t set) const {
    return hwloc_get_nbobjs_inside_cpuset_by_type(topology_, set, HWLOC_OBJ_CORE);
  }
  // Cores with a hardware thread that this process may run on; 0: unknown.
  int bound_cores() const {
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    int cores = 0;
    if (hwloc_get_cpubind(topology_, bound, HWLOC_CPUBIND_PROCESS) == 0)
      for (hwloc_obj_t core = nullptr;
           (core = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_CORE, core)) != nullptr;)
        cores += hwloc_bitmap_intersects(core->cpuset, bound);
    hwloc_bitmap_free(bound);
    return cores;
  }
  // Numbers of the hardware threads that this process may run on, one of every core first.
  std::vector<int> hardware_threads() const {
    std::vector<std::vector<int>> rounds;  // the first, second, ... hardware thread of each core
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology_, bound, HWLOC_CPUBIND_PROCESS) == 0)
      for (hwloc_obj_t core = nullptr;
           (core = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_CORE, core)) != nullptr;) {
        hwloc_bitmap_t usable = hwloc_bitmap_alloc();
        hwloc_bitmap_and(usable, core->cpuset, bound);
        std::size_t round = 0;
        for (int number = hwloc_bitmap_first(usable); number >= 0;
             number = hwloc_bitmap_next(usable, number), ++round) {
          if (round == rounds.size()) rounds.emplace_back();
          rounds[round].push_back(number);
        }
        hwloc_bitmap_free(usable);
      }
    hwloc_bitmap_free(bound);
    std::vector<int> numbers;
    for (const std::vector<int>& round : rounds) numbers.insert(numbers.end(), round.begin(), round.end());
    return numbers;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
};

std::vector<CacheLevel> hwloc_caches(const Topology& topology) {
  std::vector<CacheLevel> caches;
  for (const auto& [level, type] :
       {std::pair{1, HWLOC_OBJ_L1CACHE}, std::pair{2, HWLOC_OBJ_L2CACHE}, std::pair{3, HWLOC_OBJ_L3CACHE}}) {
    const hwloc_obj_t cache = topology.first(type);
    if (cache == nullptr || cache->attr->cache.size == 0) continue;
    caches.push_back({.level = level,
                      .bytes = static_cast<std::int64_t>(cache->attr->cache.size),
                      .shared_by = std::max(1, topology.cores_inside(cache->cpuset))});
  }
  return caches;
}

std::vector<CacheLevel> kernel_caches() {
  std::vector<CacheLevel> caches;
  for (const auto& [level, name] : {std::pair{1, _SC_LEVEL1_DCACHE_SIZE}, std::pair{2, _SC_LEVEL2_CACHE_SIZE},
                                    std::pair{3, _SC_LEVEL3_CACHE_SIZE}})
    if (const long bytes = sysconf(name); bytes > 0) caches.push_back({.level = level, .bytes = bytes});
  return caches;
}

}  // namespace

Host inspect_host() {
  Host host;
  host.cpu = cpuinfo("model name");
  if (host.cpu.empty()) host.cpu = "unknown processor";
  host.allowed_cores = allowed_cores();
  host.quota_cores = quota_cores().value_or(0);
  host.cores = host.allowed_cores;
  host.threads = static_cast<int>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (const Topology topology; topology.loaded()) {
    host.sockets = std::max(1, topology.count(HWLOC_OBJ_PACKAGE));
    if (const int cores = topology.bound_cores(); cores > 0) host.cores = cores;
    host.data_caches = hwloc_caches(topology);
  }
  host.cores = std::min(host.cores, usable_cores(host));
  if (host.data_caches.empty()) host.data_caches = kernel_caches();
  host.memory_bytes = sysconf(_SC_PHYS_PAGES) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  host.available_memory_bytes = available_memory();
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;  // the lowest bit is the best target
  host.simd = hwy::TargetName(targets & -targets);
  host.nominal_ghz = nominal_ghz();
  host.huge_pages = inspect_huge_pages();
  return host;
}

std::int64_t data_cache_bytes(int level) {
  static const std::vector<CacheLevel> caches = inspect_host().data_caches;
  for (const CacheLevel& cache : caches)
    if (cache.level == level) return cache.bytes / cache.shared_by;
  return 0;
}

std::vector<int> usable_hardware_threads() {
  const Topology topology;
  return topology.loaded() ? topology.hardware_threads() : std::vector<int>();
}

std::string simd_text(const std::string& simd) {
  if (simd == "AVX3") return "AVX-512";
  if (simd == "AVX3_DL") return "AVX-512 as on Ice Lake";
  if (simd == "AVX3_ZEN4") return "AVX-512 as on Zen 4";
  if (simd == "AVX3_SPR") return "AVX-512 as on Sapphire Rapids";
  return simd;
}

int usable_cores(const Host& host) {
  int usable = host.threads > 0 ? std::min(host.threads, kMostThreads) : kMostThreads;
  if (host.allowed_cores > 0) usable = std::min(usable, host.allowed_cores);
  if (host.quota_cores > 0) usable = std::min(usable, static_cast<int>(std::ceil(host.quota_cores)));
  return usable;
}

// "4", or one number for each level of nesting, "4,2".
std::optional<int> asked_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return std::nullopt;
  const std::string_view value(text);
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (end != value.data() + value.size() && *end != ',') return std::nullopt;
  if (error == std::errc::result_out_of_range && value.front() != '-') return std::numeric_limits<int>::max();
  return error == std::errc() && threads > 0 ? std::optional(threads) : std::nullopt;
}

int default_threads(const Host& host) {
  return std::min(asked_threads().value_or(host.cores), usable_cores(host));
}

void expect_threads(const Host& host) {
  const std::optional<int> asked = asked_threads();
  if (!asked || host.threads == 0 || *asked <= host.threads) return;
  throw UsageError(
      {.what = fmt::format("OMP_NUM_THREADS asks for more threads than this machine has, {}", host.threads),
       .where = fmt::format("OMP_NUM_THREADS={}", one_line(std::getenv("OMP_NUM_THREADS"), 40)),
       .remedy = fmt::format("set it to at most {}, or unset it", host.threads)});
}

}  // namespace hilbench
