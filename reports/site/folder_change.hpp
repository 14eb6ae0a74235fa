// Changes of the files of a folder that can be taken back.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace hilbench {

// What makes way is kept in `aside`, an empty folder on the same file system. Each function returns what
// failed.
class FolderChange {
 public:
  explicit FolderChange(std::filesystem::path aside) : aside_(std::move(aside)) {}

  std::error_code make_folder(const std::filesystem::path& folder);  // nothing if it is there
  // Moves a file, over what has its new name.
  std::error_code put(const std::filesystem::path& file, const std::filesystem::path& to);
  std::error_code remove(const std::filesystem::path& file);
  // Brings back what was there before, as far as it can. False if some of it is still in `aside`.
  bool take_back();

 private:
  struct Step {
    std::filesystem::path place;
    std::filesystem::path before;  // what was there; empty if nothing was
  };
  std::filesystem::path next_aside() const { return aside_ / std::to_string(steps_.size()); }

  std::filesystem::path aside_;
  std::vector<Step> steps_;
};

}  // namespace hilbench
