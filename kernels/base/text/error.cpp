#include "kernels/base/text/error.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

std::string compose(const Problem& problem) {
  std::string text = one_line(problem.what);
  if (!problem.where.empty()) text += " (" + one_line(problem.where) + ")";
  if (!problem.why.empty()) text += ": " + one_line(problem.why, 1000);
  if (!problem.remedy.empty()) text += "; " + one_line(problem.remedy, 1000);
  return text;
}

}  // namespace

Error::Error(ExitCode code, const Problem& problem) : std::runtime_error(compose(problem)), code_(code) {}

bool is_of_the_machine(int error) {
  constexpr std::array kOfTheMachine = {EACCES, EPERM, EROFS,  ENOSPC, EDQUOT,
                                        EFBIG,  EIO,   ENFILE, EMFILE, ENOMEM};
  return std::find(kOfTheMachine.begin(), kOfTheMachine.end(), error) != kOfTheMachine.end();
}

bool no_inodes_at(const std::string& file) {
  struct statvfs found = {};
  for (std::filesystem::path at = file;; at = at.parent_path()) {
    if (at.empty()) at = ".";
    if (::statvfs(at.c_str(), &found) == 0) return found.f_files > 0 && found.f_favail == 0;
    if (at == at.parent_path() || at == ".") return false;
  }
}

void throw_file_error(int error, Problem problem) {
  if (problem.why.empty()) problem.why = std::strerror(error);
  if (error == ENOSPC && no_inodes_at(problem.where)) {
    problem.why = "the file system has no inode left, that is no place for one more file";
    problem.remedy = "remove files there: many small ones, not large ones";
  }
  if (is_of_the_machine(error)) throw EnvironmentError(problem);
  throw UsageError(problem);
}

void throw_errno(std::string what) {
  throw EnvironmentError({.what = std::move(what), .why = std::strerror(errno)});
}

}  // namespace hilbench
