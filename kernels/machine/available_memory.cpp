#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "kernels/machine/host.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// The number after `key` in a file of lines "key number", or the file's only number if `key` is empty.
std::optional<std::int64_t> number_in(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  std::string name;
  std::int64_t value = 0;
  if (key.empty()) return in >> value ? std::optional(value) : std::nullopt;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

// File names of one cgroup version.
struct CgroupFiles {
  std::string limit, usage, reclaimable;
};
const CgroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
const CgroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// Bytes that one group leaves; nothing if it sets no limit ("max", or the huge number of version 1).
std::optional<std::int64_t> left_in(const fs::path& group, const CgroupFiles& files) {
  const auto limit = number_in(group / files.limit, "");
  const auto usage = number_in(group / files.usage, "");
  if (!limit || !usage || *limit >= std::int64_t{1} << 60) return std::nullopt;
  const std::int64_t reclaimable = number_in(group / "memory.stat", files.reclaimable).value_or(0);
  return std::max<std::int64_t>(0, *limit - *usage + reclaimable);
}

// The least that a group from `path` up to the mount leaves. A container may see its own group as the mount.
std::int64_t left_in_tree(const fs::path& mount, const std::string& path, const CgroupFiles& files) {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  for (fs::path group = fs::path(path).relative_path();; group = group.parent_path()) {
    left = std::min(left, left_in(mount / group, files).value_or(left));
    if (group.empty()) return left;
  }
}

}  // namespace

std::int64_t available_memory(const fs::path& root) {
  const auto free_kib = number_in(root / "proc/meminfo", "MemAvailable:");
  std::int64_t available = free_kib ? *free_kib * 1024 : std::numeric_limits<std::int64_t>::max();
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");  // lines "4:memory:/path" or "0::/path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers == "memory")
      available = std::min(available, left_in_tree(mounts / "memory", path, kVersion1));
    if (controllers.empty()) available = std::min(available, left_in_tree(mounts, path, kVersion2));
  }
  return available == std::numeric_limits<std::int64_t>::max() ? 0 : available;
}

}  // namespace hilbench
