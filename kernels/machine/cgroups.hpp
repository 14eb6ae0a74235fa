// The cgroups of this process, by which Linux and containers limit memory and processor time.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace hilbench {

enum class CgroupVersion { v1, v2 };

struct CgroupFolder {
  CgroupVersion version = CgroupVersion::v2;
  std::filesystem::path path;
};

// The groups of this process that can limit what `controller` ("memory", "cpu") shares out: each with its
// parents up to the mount. Some may not exist, because a container may see its own group as the mount. `root`
// is used in place of /.
std::vector<CgroupFolder> cgroup_folders(std::string_view controller,
                                         const std::filesystem::path& root = "/");

}  // namespace hilbench
