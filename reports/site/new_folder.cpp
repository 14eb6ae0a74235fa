#include "reports/site/new_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "reports/site/folder_change.hpp"

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
    for (const fs::path& inner : {made(), before()})
      if (!error) fs::create_directory(inner, error);
    if (!error) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fail_to_write(error.value(), target);
  }
  ~FolderIn() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  FolderIn(const FolderIn&) = delete;
  FolderIn& operator=(const FolderIn&) = delete;
  fs::path made() const { return path_ / "made"; }      // what is new
  fs::path before() const { return path_ / "before"; }  // what made way
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool kept_ = false;
};

// Absolute, without a symbolic link or a trailing slash.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  fs::path whole = fs::absolute(target, error);
  if (!error) whole = fs::weakly_canonical(whole, error);
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

// Removes the folders from `place` up to `outermost` that are empty.
void remove_empty(fs::path place, const fs::path& outermost) {
  std::error_code error;
  while (fs::remove(place, error) && place != outermost) place = place.parent_path();
}

// The file system's own words become this program's.
template <class Body>
void in_one_line(const fs::path& target, const Body& body) {
  try {
    body();
  } catch (const fs::filesystem_error& error) {
    fail_to_write(error.code().value(), target);
  }
}

using Hashes = std::map<std::string, std::string>;  // by path inside the folder

std::string hash_of(const fs::path& file) {
  return hash_text(read_text(file, "file of a report", kMostInputBytes));
}

// What an earlier call listed; empty if it listed nothing that can be read.
Hashes listed_in(const fs::path& list) {
  Hashes hashes;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(list, error))) return hashes;
  const std::string text = read_text(list, "list of files", kMostInputBytes);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (const std::size_t space = text.find(' ', begin); space < end)
      hashes[text.substr(space + 1, end - space - 1)] = text.substr(begin, space - begin);
  return hashes;
}

std::string text_of(const Hashes& hashes) {
  std::string text;
  for (const auto& [path, hash] : hashes) text += fmt::format("{} {}\n", hash, path);
  return text;
}

// Whether the file is inside `place`, no link leads to it, and it is as it was when it was added.
bool is_unchanged(const fs::path& place, const fs::path& path, const std::string& hash) {
  std::error_code error;
  const fs::path file = place / path;
  if (path.is_absolute() || fs::weakly_canonical(file, error) != file.lexically_normal() || error)
    return false;
  if (*file.lexically_normal().lexically_relative(place).begin() == "..") return false;
  try {
    return fs::is_regular_file(fs::symlink_status(file, error)) && hash_of(file) == hash;
  } catch (const Error&) {
    return false;  // it cannot be read, or is too large
  }
}

// What fill() made, on its way into the folder.
class Addition {
 public:
  Addition(const FolderIn& inside, const fs::path& place, const fs::path& target)
      : made_(inside.made()), place_(place), target_(target), change_(inside.before()) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(made_))
      entries_.push_back(entry);
    std::sort(entries_.begin(), entries_.end());  // a folder stands before what it holds
  }

  // Nothing may be moved if something of another kind is in the way.
  void expect_room(const std::string& list) const {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(place_ / list, ignored);
    if (!list.empty() && fs::exists(status) && !fs::is_regular_file(status))
      fail_to_write(EISDIR, target_, (place_ / list).string() + " is in the way");
    for (const fs::directory_entry& entry : entries_) {
      const fs::path place = place_of(entry);
      std::error_code error;
      if (fs::exists(place, error) && fs::is_directory(place, error) != entry.is_directory())
        fail_to_write(entry.is_directory() ? ENOTDIR : EISDIR, target_, place.string() + " is in the way");
    }
  }

  void move() {
    for (const fs::directory_entry& entry : entries_)
      expect(entry.is_directory() ? change_.make_folder(place_of(entry))
                                  : change_.put(entry.path(), place_of(entry)));
  }

  Hashes hashes() const {
    Hashes hashes;
    for (const fs::directory_entry& entry : entries_)
      if (!entry.is_directory() && entry.file_size() <= kMostInputBytes)
        hashes[entry.path().lexically_relative(made_).string()] = hash_of(entry.path());
    return hashes;
  }

  void remove_stale(const Hashes& before, const Hashes& now) {
    for (const auto& [path, hash] : before)
      if (!now.contains(path) && is_unchanged(place_, path, hash)) expect(change_.remove(place_ / path));
  }

  void add_list(const std::string& list, const Hashes& now) {
    write_file(made_ / list, text_of(now));
    expect(change_.put(made_ / list, place_ / list));
  }

  bool take_back() { return change_.take_back(); }

 private:
  fs::path place_of(const fs::directory_entry& entry) const {
    return place_ / entry.path().lexically_relative(made_);
  }
  void expect(const std::error_code& error) const {
    if (error) fail_to_write(error.value(), target_);
  }

  fs::path made_, place_, target_;
  FolderChange change_;
  std::vector<fs::directory_entry> entries_;
};

// Moves what is made into the folder, or leaves the folder as it is.
void add(FolderIn& inside, const fs::path& place, const fs::path& target, const std::string& list) {
  Addition addition(inside, place, target);
  addition.expect_room(list);
  try {
    const Hashes now = list.empty() ? Hashes{} : addition.hashes();
    addition.move();
    if (list.empty()) return;
    addition.remove_stale(listed_in(place / list), now);
    addition.add_list(list, now);
  } catch (const std::exception& error) {
    if (addition.take_back()) throw;
    inside.keep();
    fail_to_write(EIO, target,
                  fmt::format("{}; what stood there is in {}", error.what(), inside.before().string()));
  }
}

}  // namespace

void add_to_folder(const fs::path& target, const std::function<void(const fs::path&)>& fill,
                   const std::string& list) {
  const HeldSignals held;  // outlives the folder
  in_one_line(target, [&] {
    const fs::path place = resolved(target), missing = first_missing(place);
    try {
      FolderIn inside(place, target);
      fill(inside.made());
      stop_if_asked();
      add(inside, place, target, list);
    } catch (...) {
      if (!missing.empty()) remove_empty(place, missing);
      throw;
    }
  });
}

void replace_folder(const fs::path& target, const std::function<bool(const fs::path&)>& is_ours,
                    const std::function<void(const fs::path&)>& fill) {
  const HeldSignals held;  // outlives the folder
  in_one_line(target, [&] {
    const fs::path place = resolved(target);
    expect_replaceable(place, is_ours);
    FolderIn beside(place.parent_path(), place);
    fill(beside.made());
    stop_if_asked();
    std::error_code error, again;
    const fs::path before = beside.before() / "folder";
    const bool replaces = fs::exists(place);
    if (replaces) fs::rename(place, before, error);
    if (error) fail_to_write(error.value(), target);
    fs::rename(beside.made(), place, error);
    if (!error) return;
    if (replaces) fs::rename(before, place, again);
    if (!again) fail_to_write(error.value(), target);
    beside.keep();
    fail_to_write(error.value(), target, fmt::format("what stood there is in {}", before.string()));
  });
}

}  // namespace hilbench
