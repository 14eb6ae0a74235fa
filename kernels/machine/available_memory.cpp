#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/machine/cgroups.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// File names of one cgroup version.
struct CgroupFiles {
  std::string limit, usage, reclaimable;
};
const CgroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
const CgroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// Bytes that one group leaves; nothing if it sets no limit ("max", or the huge number of version 1).
std::optional<std::int64_t> left_in(const fs::path& group, const CgroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  const auto usage = number_in(group / files.usage);
  if (!limit || !usage || *limit >= std::int64_t{1} << 60) return std::nullopt;
  const std::int64_t reclaimable = number_in(group / "memory.stat", files.reclaimable).value_or(0);
  return std::max<std::int64_t>(0, *limit - *usage + reclaimable);
}

}  // namespace

std::int64_t available_memory(const fs::path& root) {
  const auto free_kib = number_in(root / "proc/meminfo", "MemAvailable:");
  std::int64_t available = free_kib ? *free_kib * 1024 : std::numeric_limits<std::int64_t>::max();
  for (const CgroupFolder& group : cgroup_folders("memory", root))
    available = std::min(
        available,
        left_in(group.path, group.version == CgroupVersion::v1 ? kVersion1 : kVersion2).value_or(available));
  return available == std::numeric_limits<std::int64_t>::max() ? 0 : available;
}

}  // namespace hilbench
