// The folder that holds the store: created if it is missing, and locked while the store is written.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {

// An flock on the folder itself, held as long as the descriptor is open. A forked child shares it, so it is
// never unlocked explicitly.
class FolderLock {
 public:
  FolderLock() = default;
  // Throws UsageError if another hilbench holds the lock, and an error of the file system if locking fails.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

// What is said of a file system, or a network, without locks.
Problem no_locks(const std::filesystem::path& where);

// Creates the folder and its parents as needed, and returns those created, the innermost first. Throws if it
// cannot be written; `option` is the option of the command line that names the folder.
std::vector<std::filesystem::path> make_writable_folder(const std::filesystem::path& folder,
                                                        std::string_view option = "-o");

}  // namespace hilbench
