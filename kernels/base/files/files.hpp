// Whole files: reading texts of bounded size, and writing so that no reader ever sees half a file; and
// folders for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace hilbench {

inline constexpr std::size_t kMostInputBytes = std::size_t{64} << 20;  // of a text that is not a sweep

// The content of a regular file of at most `most_bytes`. Messages call the file a `kind` ("sweep file").
// Throws UsageError if it is absent, too large, a folder or a device; EnvironmentError if it cannot be read
// because of a permission or the disk.
std::string read_text(const std::filesystem::path& file, std::string_view kind, std::size_t most_bytes);

// Writes under a temporary name in the same folder and then renames, so that one of two writers wins. A
// device (/dev/stdout) is written directly. Throws UsageError or EnvironmentError on failure, and leaves no
// file behind then.
void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& file, std::string_view text);

// A hash of the content, a word at a time (hash_integer); the same for the same bytes. Throws UsageError or
// EnvironmentError, as throw_file_error() does, if the file cannot be read.
std::uint64_t hash_file(const std::filesystem::path& file);

// A new folder where the system keeps temporary files, removed with all that it holds by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws as throw_file_error() if there can be none
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hilbench
