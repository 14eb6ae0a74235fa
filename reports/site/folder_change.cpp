#include "reports/site/folder_change.hpp"

namespace hilbench {

namespace fs = std::filesystem;

std::error_code FolderChange::make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::create_directory(folder, error)) steps_.push_back({folder, {}});
  return error;
}

std::error_code FolderChange::put(const fs::path& file, const fs::path& to) {
  std::error_code error;
  const bool replaces = fs::exists(fs::symlink_status(to, error));
  if (!replaces) {
    fs::rename(file, to, error);
    if (!error) steps_.push_back({to, {}});
    return error;
  }
  const fs::path before = next_aside();
  fs::create_hard_link(to, before, error);   // so that the place is never empty
  if (error) fs::rename(to, before, error);  // this file system has no hard links
  if (error) return error;
  steps_.push_back({to, before});
  fs::rename(file, to, error);
  return error;
}

std::error_code FolderChange::remove(const fs::path& file) {
  std::error_code error;
  const fs::path before = next_aside();
  fs::rename(file, before, error);
  if (!error) steps_.push_back({file, before});
  return error;
}

bool FolderChange::take_back() {
  bool all = true;
  for (; !steps_.empty(); steps_.pop_back()) {
    const Step& step = steps_.back();
    std::error_code error, ignored;
    if (step.before.empty())
      fs::remove(step.place, ignored);  // of a folder only if it is empty
    else
      fs::rename(step.before, step.place, error);
    if (error) all = false;
  }
  return all;
}

}  // namespace hilbench
