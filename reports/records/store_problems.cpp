#include "reports/records/store_problems.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "reports/records/store_folder.hpp"

namespace hilbench {

namespace {

// Whether a lock of the file could be asked for. It closes the file, which gives up all locks of this process
// on it: for what is not used any more.
bool has_locks(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  struct flock asked = {};
  asked.l_type = F_RDLCK;
  const bool asks = ::fcntl(descriptor, F_GETLK, &asked) == 0 ||
                    (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP);
  ::close(descriptor);
  return asks;
}

}  // namespace

bool is_without_room(const SqliteError& error, const std::filesystem::path& file) {
  // SQLite tries once more, to read alone, and then says that there is no such file.
  return error.code() == SQLITE_FULL || error.system_error() == ENOSPC ||
         (error.code() == SQLITE_CANTOPEN && no_inodes_at(file.string()));
}

Problem explain(const SqliteError& error, const std::filesystem::path& file) {
  Problem problem{.what = "the store cannot be used", .where = file.string(), .why = error.what()};
  if (is_without_room(error, file)) {
    problem.what = "no room for the store";
    problem.remedy = no_inodes_at(file.string())
                         ? "no inode is left: remove files there, many small ones"
                         : "make room on that disk; a run that is started again resumes";
  } else if (error.code() == SQLITE_NOTADB) {
    problem.what = "not a store of hilbench";
    problem.remedy = "move the file away, or give another folder";
  } else if (error.code() == SQLITE_CORRUPT || error.code() == SQLITE_CONSTRAINT ||
             error.code() == SQLITE_ERROR) {  // ERROR: no such table or column
    problem.what = "the store is damaged";
    problem.remedy = "move the file away and run again";
  } else if (error.extended_code() == SQLITE_READONLY_DBMOVED) {
    problem.what = "the store was moved or removed while it was open";
    problem.remedy = "run again";
  } else if (error.extended_code() == SQLITE_READONLY_ROLLBACK) {
    problem.what = "the store holds an unfinished commit, and rolling it back needs a writable folder";
    problem.remedy = "copy the folder, journal file included, to a place where you can write";
  } else if (error.code() == SQLITE_READONLY || error.code() == SQLITE_CANTOPEN ||
             error.code() == SQLITE_PERM) {
    problem.remedy = "check the permissions of the folder and of the file";
  } else if (error.code() == SQLITE_BUSY) {
    if (!has_locks(file)) return no_locks(file);  // SQLite gives the same status for both
    problem.what = "another program holds the store";
    problem.remedy = "close it and run again";
  } else if (error.code() == SQLITE_IOERR) {
    problem.remedy = "check that the disk works and has room; a run that is started again resumes";
  }
  return problem;
}

void refuse_damaged(const std::filesystem::path& file, const std::string& why) {
  throw UsageError({.what = "the store is damaged",
                    .where = file.string(),
                    .why = why,
                    .remedy = "move the file away and run again"});
}

}  // namespace hilbench
