// A folder, or files in one, that appear as a whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace hilbench {

// Fills a new folder beside `target`, then gives it that name. `target` may be absent, empty, or what an
// earlier call left, which `is_ours` recognises and which is replaced. Throws UsageError if `target` holds
// something else; UsageError or EnvironmentError if it cannot be written. Leaves nothing behind if `fill`
// throws or a signal asks this process to stop, which then waits until all is in order.
void replace_folder(const std::filesystem::path& target,
                    const std::function<bool(const std::filesystem::path&)>& is_ours,
                    const std::function<void(const std::filesystem::path&)>& fill);

// Fills a new folder inside `target`, then moves its files to the same places of `target`, over what has
// their names there. `target` is made if it is absent. Throws as replace_folder(). If anything fails,
// `target` is as it was; what cannot be brought back stays in a folder that the message names. `list`: a file
// of `target` with the names and hashes of what was added. Files that an earlier list names and that are not
// added again are removed, if they still are as they were added.
void add_to_folder(const std::filesystem::path& target,
                   const std::function<void(const std::filesystem::path&)>& fill,
                   const std::string& list = "");

}  // namespace hilbench
