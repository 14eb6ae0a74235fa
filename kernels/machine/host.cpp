#include "harness/host.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <hwy/highway.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "harness/build_info.hpp"
#include "harness/data_tlb.hpp"

namespace hilbench {
namespace {

constexpr int kMostThreads = 4096;  // as in a sweep

using nlohmann::json;

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The value after "name :" in /proc/cpuinfo, of the first processor.
std::string cpuinfo(const std::string& name) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "";
}

bool is_virtual() {
  return (" " + cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos;
}

double nominal_ghz() {
  for (const char* name : {"base_frequency", "cpuinfo_max_freq"}) {
    const double khz =
        std::atof(first_line(std::string("/sys/devices/system/cpu/cpu0/cpufreq/") + name).c_str());
    if (khz > 0) return khz / 1e6;
  }
  return std::atof(cpuinfo("cpu MHz").c_str()) / 1e3;
}

int affinity_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// CPUs' worth of time that the cgroup grants, or a large number. Nested groups show their own limit only.
int cgroup_cpus() {
  constexpr int kNoLimit = 1 << 20;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(v2 >> quota >> period)) {
    quota = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str());
    period = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str());
  }
  if (quota <= 0 || period <= 0) return kNoLimit;
  return std::max(1, static_cast<int>(quota / period + 0.5));
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

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json turbo_json() {
  if (const std::string off = first_line("/sys/devices/system/cpu/intel_pstate/no_turbo"); !off.empty())
    return off == "0";
  if (const std::string on = first_line("/sys/devices/system/cpu/cpufreq/boost"); !on.empty())
    return on == "1";
  return nullptr;
}

// "always [madvise] never" -> "madvise"
json hugepages_json() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return nullptr;
  return line.substr(open + 1, close - open - 1);
}

json load_json() {
  double load[3] = {};
  if (getloadavg(load, 3) != 3) return nullptr;
  return json::array({load[0], load[1], load[2]});
}

// Variables that change how OpenMP and BLAS use the processor.
json variables_json() {
  json values = json::object();
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OPENBLAS_CORETYPE"})
    if (const char* value = std::getenv(name)) values[name] = value;
  return values;
}

json host_json(const Host& host) {
  utsname system{};
  const bool known = uname(&system) == 0;
  json caches = json::array();
  for (const CacheLevel& cache : host.data_caches)
    caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  const std::int64_t tlb = data_tlb_entries();
  return {{"cpu", host.cpu},
          {"sockets", host.sockets},
          {"cores", host.cores},
          {"caches", std::move(caches)},
          {"data_tlb_entries", tlb > 0 ? json(tlb) : json(nullptr)},
          {"memory_bytes", host.memory_bytes},
          {"available_memory_bytes", available_memory()},
          {"simd", host.simd},
          {"nominal_ghz", host.nominal_ghz > 0 ? json(host.nominal_ghz) : json(nullptr)},
          {"governor", text_or_null(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
          {"turbo", turbo_json()},
          {"load_average", load_json()},
          {"virtual", is_virtual()},
          {"kernel", known ? json(fmt::format("{} {} {}", system.sysname, system.release, system.machine))
                           : json(nullptr)},
          {"transparent_hugepages", hugepages_json()},
          {"variables", variables_json()}};
}

json build_json() {
  const BuildInfo& build = build_info();
  return {{"version", build.version},
          {"commit", build.commit},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"build_type", build.build_type},
          {"sanitizers", text_or_null(std::string(build.sanitizers))},
          {"libraries",
           {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
            {"yaml-cpp", build.yaml_cpp},
            {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                          NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
            {"sqlite", sqlite3_libversion()},
            {"benchmark", build.benchmark},
            {"highway", build.highway},
            {"hwloc", build.hwloc}}}};
}

}  // namespace

Host inspect_host() {
  Host host;
  host.cpu = cpuinfo("model name");
  if (host.cpu.empty()) host.cpu = "unknown processor";
  host.cores = affinity_count();
  if (const Topology topology; topology.loaded()) {
    host.sockets = std::max(1, topology.count(HWLOC_OBJ_PACKAGE));
    if (const int cores = topology.bound_cores(); cores > 0) host.cores = cores;
    host.data_caches = hwloc_caches(topology);
  }
  host.cores = std::min(host.cores, cgroup_cpus());
  if (host.data_caches.empty()) host.data_caches = kernel_caches();
  host.memory_bytes = sysconf(_SC_PHYS_PAGES) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  host.available_memory_bytes = available_memory();
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;  // the lowest bit is the best target
  host.simd = hwy::TargetName(targets & -targets);
  host.nominal_ghz = nominal_ghz();
  return host;
}

int default_threads(const Host& host) {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const std::string_view value(text);  // "4" or one number for each level of nesting, "4,2"
    int threads = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    const bool whole = end == value.data() + value.size() || *end == ',';
    if (error == std::errc() && whole && threads > 0) return std::min(threads, kMostThreads);
  }
  return host.cores;
}

json environment_json(const Host& host, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::cuda && host.gpu;
  return {{"host", host_json(host)},
          {"device", on_gpu ? to_json(*host.gpu) : json()},
          {"build", build_json()},
          {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
}

std::string version_text() {
  return fmt::format("hilbench {} (commit {})", build_info().version, build_info().commit);
}

}  // namespace hilbench
