// The folder that holds the store: made where it is missing, and locked while it is written to.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

namespace hilbench {

// The folder's lock: an flock on the folder itself, held as long as the descriptor is open. A forked child
// shares it, so it is never unlocked explicitly.
class FolderLock {
 public:
  FolderLock() = default;
  // Throws UsageError where another hilbench holds it, EnvironmentError where it cannot be locked.
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

// The folders that had to be made, the innermost first.
std::vector<std::filesystem::path> make_writable_folder(const std::filesystem::path& folder);

}  // namespace hilbench
