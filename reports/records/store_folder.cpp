#include "reports/records/store_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kernels/base/text/error.hpp"

namespace hilbench {

namespace fs = std::filesystem;

Problem no_locks(const fs::path& where) {
  return {.what = "the file system has no locks, or cannot reach who keeps them",
          .where = where.string(),
          .remedy = "give a folder on a disk of this machine with -o"};
}

FolderLock::FolderLock(const fs::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const bool locked = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  if (locked) return;
  const int error = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (error == EWOULDBLOCK)
    throw UsageError({.what = "another hilbench writes to this folder",
                      .where = folder.string(),
                      .remedy = "wait until it is done, or give another folder with -o"});
  // Over some networks EBADF says so: a folder cannot be opened for writing, which locks need there.
  if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EBADF)
    throw EnvironmentError(no_locks(folder));
  throw_file_error(error, {.what = "cannot lock the folder", .where = folder.string()});
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::vector<fs::path> make_writable_folder(const fs::path& folder, std::string_view option) {
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::path each = fs::absolute(folder, error);
       !error && !fs::exists(each, error) && each.has_relative_path(); each = each.parent_path())
    made.push_back(each);
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
  if (error)
    throw_file_error(error.value(), {.what = "cannot write to the output folder",
                                     .where = folder.string(),
                                     .remedy = fmt::format("give another folder with {}", option)});
  return made;
}

}  // namespace hilbench
