// A folder that appears as a whole or not at all.
#pragma once

#include <filesystem>
#include <functional>

namespace hilbench {

// Fills a new folder beside `target`, then gives it that name. `target` may be absent, empty, or what an
// earlier call left, which `is_ours` recognises and which is replaced. Throws UsageError if `target` holds
// something else; UsageError or EnvironmentError if it cannot be written. Leaves nothing behind if `fill`
// throws.
void replace_folder(const std::filesystem::path& target,
                    const std::function<bool(const std::filesystem::path&)>& is_ours,
                    const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace hilbench
