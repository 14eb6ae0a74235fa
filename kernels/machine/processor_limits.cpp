#include "kernels/machine/processor_limits.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "kernels/machine/cgroups.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// The quota of one group; nothing if it sets none ("max", or -1 in version 1).
std::optional<double> quota_of(const CgroupFolder& group) {
  double quota_us = 0, period_us = 0;
  if (group.version == CgroupVersion::v2) {
    std::ifstream in(group.path / "cpu.max");  // "150000 100000"
    if (!(in >> quota_us >> period_us)) return std::nullopt;
  } else {
    quota_us = number_in(group.path / "cpu.cfs_quota_us").value_or(0);
    period_us = number_in(group.path / "cpu.cfs_period_us").value_or(0);
  }
  return quota_us > 0 && period_us > 0 ? std::optional(quota_us / period_us) : std::nullopt;
}

// What the mask and the quota leave of the machine.
double cores_left(const Host& host) {
  double left = host.threads;
  if (host.allowed_cores > 0) left = std::min<double>(left, host.allowed_cores);
  return host.quota_cores > 0 ? std::min(left, host.quota_cores) : left;
}

std::string number_text(double cores) {
  return fmt::format("{}", std::round(cores * 100) / 100);
}

}  // namespace

std::vector<int> allowed_core_numbers() {
  std::vector<int> numbers;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return numbers;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) numbers.push_back(core);
  return numbers;
}

int allowed_cores() {
  if (const std::vector<int> numbers = allowed_core_numbers(); !numbers.empty())
    return static_cast<int>(numbers.size());
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<double> quota_cores(const fs::path& root) {
  std::optional<double> smallest;
  for (const CgroupFolder& group : cgroup_folders("cpu", root))
    if (const std::optional<double> quota = quota_of(group))
      smallest = std::min(smallest.value_or(*quota), *quota);
  return smallest;
}

std::vector<double> throttled_s(const fs::path& root) {
  std::vector<double> seconds;
  for (const CgroupFolder& group : cgroup_folders("cpu", root)) {
    const bool v2 = group.version == CgroupVersion::v2;
    if (const auto count = number_in(group.path / "cpu.stat", v2 ? "throttled_usec" : "throttled_time"))
      seconds.push_back(static_cast<double>(*count) * (v2 ? 1e-6 : 1e-9));
  }
  return seconds;
}

std::string limited_cores_text(const Host& host) {
  if (cores_left(host) >= host.threads) return "";
  const bool by_mask = host.allowed_cores > 0 && host.allowed_cores <= cores_left(host);
  return fmt::format("{} of {} cores ({})", number_text(cores_left(host)), host.threads,
                     by_mask ? "affinity mask" : "quota of a cgroup");
}

std::string spinning_warning() {
  const auto is = [](const char* name, std::string_view value) {
    const char* const text = std::getenv(name);
    return text != nullptr && std::ranges::equal(std::string_view(text), value,
                                                 [](char a, char b) { return std::tolower(a) == b; });
  };
  const bool active = is("OMP_WAIT_POLICY", "active");
  if (!active && !is("GOMP_SPINCOUNT", "infinite") && !is("GOMP_SPINCOUNT", "infinity") &&
      !is("KMP_BLOCKTIME", "infinite"))
    return "";
  return fmt::format(
      "{} lets threads that have no work keep their cores, also while programs of others are timed",
      active ? "OMP_WAIT_POLICY=active" : "an endless wait of OpenMP's threads");
}

std::string processor_warning(const Host& host, int threads) {
  const std::string limited = limited_cores_text(host);
  const bool too_many = threads > usable_cores(host);
  if (limited.empty() && !too_many) return "";
  const std::string cores = limited.empty() ? fmt::format("{} cores, all there are", host.threads) : limited;
  if (too_many) return fmt::format("this process may use {}; {} threads wait for each other", cores, threads);
  return fmt::format("this process may use {}; times are those of {} {}", cores,
                     number_text(cores_left(host)), cores_left(host) == 1 ? "core" : "cores");
}

}  // namespace hilbench
