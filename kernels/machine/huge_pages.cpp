#include "kernels/machine/huge_pages.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>

#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

constexpr const char* kFolder = "sys/kernel/mm/transparent_hugepage";

// "always [madvise] never" -> "madvise"
std::string chosen_in(const std::filesystem::path& file) {
  const std::string line = first_line(file.string());
  const std::size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return line.substr(open + 1, close - open - 1);
}

// PR_GET_THP_DISABLE has further bits if regions that ask for huge pages still get them (Linux 6.18).
bool process_may_have_them() {
  return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1;
}

std::optional<std::string> why_no_huge_pages(const HugePages& system) {
  constexpr std::int64_t kBytes = std::int64_t{2} << 20;
  if (system.enabled.empty()) return "this kernel has no transparent huge pages";
  if (system.bytes != kBytes && system.bytes != 0)
    return fmt::format("huge pages have {} KiB on this processor", system.bytes / 1024);
  const bool of_its_own = !system.of_2m.empty() && system.of_2m != "inherit";
  if ((of_its_own ? system.of_2m : system.enabled) == "never")
    return fmt::format("/{}/{}enabled is never; set it to madvise or always", kFolder,
                       of_its_own ? "hugepages-2048kB/" : "");
  if (!system.process_may) return "huge pages are forbidden to this process (PR_SET_THP_DISABLE)";
  return std::nullopt;
}

}  // namespace

HugePages inspect_huge_pages(const std::filesystem::path& root) {
  const std::filesystem::path folder = root / kFolder;
  return {.enabled = chosen_in(folder / "enabled"),
          .of_2m = chosen_in(folder / "hugepages-2048kB/enabled"),
          .defrag = chosen_in(folder / "defrag"),
          .bytes = std::atoll(first_line((folder / "hpage_pmd_size").string()).c_str()),
          .ordinary_bytes = sysconf(_SC_PAGESIZE),
          .process_may = process_may_have_them()};
}

Refusal why_not_pages(PageSize pages, const HugePages& system) {
  std::optional<std::string> reason;
  if (pages == PageSize::of_2m) reason = why_no_huge_pages(system);
  if (pages == PageSize::of_4k && system.ordinary_bytes != 4096)
    reason = fmt::format("ordinary pages have {} KiB on this processor", system.ordinary_bytes / 1024);
  if (!reason) return std::nullopt;
  return fmt::format("pages {}: {}", to_string(pages), *reason);
}

}  // namespace hilbench
