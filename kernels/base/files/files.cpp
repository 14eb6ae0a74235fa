#include "kernels/base/files/files.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <random>
#include <system_error>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// errno after a failed call; EIO if the call did not set it.
int last_error() {
  return errno != 0 ? errno : EIO;
}

// Writes and closes the file. Returns 0 or an errno value.
int write_to(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) return last_error();
  write(out);
  out.close();
  return out ? 0 : last_error();
}

// A new name beside the file, which fits wherever the file's own name fits.
fs::path part_of(const fs::path& file) {
  constexpr std::size_t kKept = 100;  // bytes; most file systems take 255
  return file.parent_path() /
         fmt::format("{}.{:08x}.part", file.filename().string().substr(0, kKept), std::random_device{}());
}

}  // namespace

std::string read_text(const fs::path& file, std::string_view kind, std::size_t most_bytes) {
  const auto problem = [&](const std::string& what, const std::string& why = "") {
    return Problem{what, file.string(), why, ""};
  };
  const auto fail_to_read = [&](int error) {
    throw_file_error(error, problem(fmt::format("{} cannot be read", kind)));
  };
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::status_known(status)) fail_to_read(error.value());
  if (!fs::exists(status)) throw UsageError(problem(fmt::format("no such {}", kind)));
  if (!fs::is_regular_file(status))
    throw UsageError(problem(fmt::format("not a {}", kind), "a directory or a device"));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail_to_read(last_error());
  std::string text, part(std::min(most_bytes + 1, std::size_t{1} << 20), '\0');
  while (text.size() <= most_bytes && in) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) fail_to_read(last_error());
  if (text.size() > most_bytes)
    throw UsageError(
        problem(fmt::format("{} too large", kind), fmt::format("at most {} MiB are read", most_bytes >> 20)));
  return text;
}

std::uint64_t hash_file(const fs::path& file) {
  constexpr std::size_t kWords = std::size_t{1} << 17;
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::vector<std::int64_t> words(kWords);
  std::uint64_t hash = kFnvBasis;
  while (in) {
    std::fill(words.begin(), words.end(), 0);
    in.read(reinterpret_cast<char*>(words.data()), kWords * sizeof(std::int64_t));
    for (const std::int64_t word : words) hash = hash_integer(hash, word);
  }
  if (!in.eof()) throw_file_error(last_error(), {"cannot be read", file.string(), "", ""});
  return hash;
}

void write_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  std::error_code error, ignored;
  const bool special = fs::exists(file, error) && !fs::is_regular_file(file, error);
  const fs::path part = special ? file : part_of(file);
  try {
    error.assign(write_to(part, write), std::generic_category());
  } catch (...) {
    if (!special) fs::remove(part, ignored);
    throw;
  }
  if (!error && !special) fs::rename(part, file, error);
  if (!error) return;
  if (!special) fs::remove(part, ignored);
  const bool no_space = error == std::errc::no_space_on_device || error.value() == EDQUOT;
  throw_file_error(error.value(),
                   {.what = "cannot write the file",
                    .where = file.string(),
                    .remedy = no_space ? "free some space, or give another path" : "give another path"});
}

void write_file(const fs::path& file, std::string_view text) {
  write_file(file, [text](std::ostream& out) { out << text; });
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string pattern = (parent / "hilbench-XXXXXX").string();
  if (!error && ::mkdtemp(pattern.data()) == nullptr) error.assign(errno, std::generic_category());
  if (error)
    throw_file_error(error.value(), {"no temporary folder", parent.string(), error.message(),
                                     "set TMPDIR to a writable folder"});
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what stays there is in the way of nobody
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hilbench
