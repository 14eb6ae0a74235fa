// Transparent huge pages: whether a processor's buffers can have pages of a chosen size here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// What the system says. A default one has no huge pages.
struct HugePages {
  std::string enabled;  // always, madvise or never (transparent_hugepage/enabled); empty: the kernel has none
  std::string of_2m;    // the setting for 2 MiB alone, or inherit; empty: the kernel has one setting for all
  std::string defrag;   // whether an allocation waits for memory to be made contiguous; empty: unknown
  std::int64_t bytes = 0;              // of a huge page; 0: unknown
  std::int64_t ordinary_bytes = 4096;  // of an ordinary page
  bool process_may = true;             // false: forbidden to this process (prctl PR_SET_THP_DISABLE)
};
// `root` is used in place of /.
HugePages inspect_huge_pages(const std::filesystem::path& root = "/");

// Why no buffer can have pages of this size here, "pages 2m: ..."; nothing if it can.
Refusal why_not_pages(PageSize pages, const HugePages& system);

}  // namespace hilbench
