// Whole files: texts read with a bound, files written so that no reader sees half of one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace hilbench {

inline constexpr std::size_t kMostInputBytes = std::size_t{64} << 20;  // of a text that is no sweep

// The content of a regular file of at most `most_bytes`; `kind` is what messages call it ("sweep file").
// Throws UsageError where it is absent, too large, a folder or a device, EnvironmentError where permission or
// the disk fails.
std::string read_text(const std::filesystem::path& file, std::string_view kind, std::size_t most_bytes);

// Written beside its place under a name of its own and renamed, so that of two writers one wins; a device
// (/dev/stdout) is written as it is. Throws UsageError or EnvironmentError where that fails, and leaves
// nothing behind then.
void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace hilbench
