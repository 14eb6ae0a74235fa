#include "reports/records/store_problems.hpp"

namespace hilbench {

Problem explain(const SqliteError& error, const std::filesystem::path& file) {
  Problem problem{.what = "the store cannot be used", .where = file.string(), .why = error.what()};
  if (error.code() == SQLITE_FULL) {
    problem.what = "no room for the store";
    problem.remedy = "make room on that disk; a run that is started again resumes";
  } else if (error.code() == SQLITE_NOTADB) {
    problem.what = "not a store of hilbench";
    problem.remedy = "move the file away, or give another folder";
  } else if (error.code() == SQLITE_CORRUPT ||
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
