#include "reports/site/new_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(int error, const fs::path& target, std::string why = "") {
  throw_file_error(error,
                   {"the folder cannot be written", target.string(), std::move(why), "give another -o"});
}

// Removed with all that it holds. In a folder near the target, so that a rename is enough to put the content
// in place.
class FolderIn {
 public:
  FolderIn(const fs::path& parent, const fs::path& target) {
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) fail_to_write(error.value(), target);
    std::string pattern = (parent / ".hilbench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail_to_write(errno, target);
    path_ = pattern;
  }
  ~FolderIn() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderIn(const FolderIn&) = delete;
  FolderIn& operator=(const FolderIn&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Absolute, without a symbolic link or a trailing slash.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(target), error);
  if (error) fail_to_write(error.value(), target);
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole;
}

void expect_replaceable(const fs::path& target, const std::function<bool(const fs::path&)>& is_ours) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() != fs::file_type::directory)
    fail_to_write(error ? error.value() : ENOTDIR, target, error ? "" : "it is not a folder");
  const bool empty = fs::is_empty(target, error);
  if (error) fail_to_write(error.value(), target);
  if (!empty && !is_ours(target))
    throw UsageError({"the folder holds something else", target.string(), "it would be replaced",
                      "give a new folder, or one that this command made"});
}

// The outermost folder that has to be made for `place`; empty if there is none.
fs::path first_missing(const fs::path& place) {
  fs::path missing;
  std::error_code ignored;
  for (fs::path folder = place; !fs::exists(folder, ignored); folder = folder.parent_path()) missing = folder;
  return missing;
}

// Nothing is moved if something of another kind is in the way.
void move_files(const fs::path& from, const fs::path& to, const fs::path& target) {
  std::error_code error;
  const std::vector<fs::directory_entry> entries(fs::recursive_directory_iterator(from), {});
  const auto place_of = [&](const fs::path& file) { return to / file.lexically_relative(from); };
  for (const fs::directory_entry& entry : entries) {
    const fs::path place = place_of(entry.path());
    if (fs::exists(place) && fs::is_directory(place) != entry.is_directory())
      fail_to_write(entry.is_directory() ? ENOTDIR : EISDIR, target, place.string() + " is in the way");
  }
  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory())
      fs::create_directory(place_of(entry.path()), error);
    else
      fs::rename(entry.path(), place_of(entry.path()), error);
    if (error) fail_to_write(error.value(), target);
  }
}

}  // namespace

void add_to_folder(const fs::path& target, const std::function<void(const fs::path&)>& fill) {
  const fs::path place = resolved(target), missing = first_missing(place);
  try {
    const FolderIn inside(place, target);
    fill(inside.path());
    move_files(inside.path(), place, target);
  } catch (...) {
    std::error_code ignored;
    if (!missing.empty()) fs::remove_all(missing, ignored);
    throw;
  }
}

void replace_folder(const fs::path& target, const std::function<bool(const fs::path&)>& is_ours,
                    const std::function<void(const fs::path&)>& fill) {
  const fs::path place = resolved(target);
  expect_replaceable(place, is_ours);
  const FolderIn beside(place.parent_path(), place);
  const fs::path made = beside.path() / "made", before = beside.path() / "before";
  std::error_code error;
  if (!fs::create_directory(made, error)) fail_to_write(error.value(), target);
  fill(made);
  const bool replaces = fs::exists(place);
  if (replaces) fs::rename(place, before, error);
  if (error) fail_to_write(error.value(), target);
  fs::rename(made, place, error);
  if (!error) return;
  std::error_code ignored;
  if (replaces) fs::rename(before, place, ignored);
  fail_to_write(error.value(), target);
}

}  // namespace hilbench
