#include "kernels/machine/host_json.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "kernels/machine/data_tlb.hpp"
#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

bool is_virtual() {
  return fmt::format(" {} ", cpuinfo("flags")).find(" hypervisor ") != std::string::npos;
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

}  // namespace

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
          {"transparent_hugepages", text_or_null(host.huge_pages.enabled)},
          {"variables", variables_json()}};
}

}  // namespace hilbench
