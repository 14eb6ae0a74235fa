#include "kernels/base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <vector>

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

void throw_file_error(int error, Problem problem) {
  if (problem.why.empty()) problem.why = std::strerror(error);
  if (is_of_the_machine(error)) throw EnvironmentError(problem);
  throw UsageError(problem);
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : text.substr(0, limit))
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (text.size() > limit) line += "...";
  return line;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace hilbench
