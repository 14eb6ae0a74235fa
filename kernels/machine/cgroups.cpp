#include "kernels/machine/cgroups.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace hilbench {
namespace {

namespace fs = std::filesystem;

bool is_listed(std::string_view controllers, std::string_view controller) {
  return fmt::format(",{},", controllers).find(fmt::format(",{},", controller)) != std::string::npos;
}

void add_up_to(const fs::path& mount, const fs::path& path, CgroupVersion version,
               std::vector<CgroupFolder>& folders) {
  for (fs::path group = path.relative_path();; group = group.parent_path()) {
    folders.push_back({version, mount / group});
    if (group.empty()) return;
  }
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(std::string_view controller, const fs::path& root) {
  std::vector<CgroupFolder> folders;
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");  // lines "4:cpu,cpuacct:/path" or "0::/path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (is_listed(controllers, controller)) {
      std::error_code ignored;
      const bool alone = fs::exists(mounts / controller, ignored);
      add_up_to(mounts / (alone ? fs::path(controller) : fs::path(controllers)), path, CgroupVersion::v1,
                folders);
    }
    if (controllers.empty()) {
      add_up_to(mounts, path, CgroupVersion::v2, folders);
      add_up_to(mounts / "unified", path, CgroupVersion::v2, folders);  // beside version 1
    }
  }
  return folders;
}

}  // namespace hilbench
