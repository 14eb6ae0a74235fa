#include "reports/site/new_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(int error, const fs::path& target, std::string why = "") {
  throw_file_error(error,
                   {"the folder cannot be written", target.string(), std::move(why), "give another -o"});
}

// Removed with all that it holds. Beside the target, so that a rename is enough to put the content in place.
class FolderBeside {
 public:
  explicit FolderBeside(const fs::path& target) {
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) fail_to_write(error.value(), target);
    std::string pattern = (target.parent_path() / ".hilbench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail_to_write(errno, target);
    path_ = pattern;
  }
  ~FolderBeside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;
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

}  // namespace

void replace_folder(const fs::path& target, const std::function<bool(const fs::path&)>& is_ours,
                    const std::function<void(const fs::path&)>& fill) {
  const fs::path place = resolved(target);
  expect_replaceable(place, is_ours);
  const FolderBeside beside(place);
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
