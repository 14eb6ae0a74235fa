#include "reports/site/results_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "kernels/base/text/error.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// The entries of a folder by name, without hidden ones and links.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (!entry->is_symlink() && entry->path().filename().native().front() != '.')
      entries.push_back(entry->path());
  if (error) throw_file_error(error.value(), {"the folder cannot be read", folder.string(), "", ""});
  std::sort(entries.begin(), entries.end());
  return entries;
}

void collect(const fs::path& folder, std::vector<fs::path>& found) {
  if (has_results(folder)) {
    found.push_back(folder);
    return;  // what lies below belongs to these results
  }
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder))
    if (fs::is_directory(entry, ignored)) collect(entry, found);
}

std::vector<fs::path> findings_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder))
    if (entry.extension() == ".md" && fs::is_regular_file(entry, ignored)) files.push_back(entry);
  std::stable_partition(files.begin(), files.end(),
                        [](const fs::path& file) { return file.filename() == "README.md"; });
  return files;
}

void expect_one_page_each(const MachineFolder& machine) {
  for (std::size_t i = 1; i < machine.sweeps.size(); ++i)
    if (machine.sweeps[i].name == machine.sweeps[i - 1].name)
      throw UsageError(
          {fmt::format("two folders would have the page of '{}'", machine.sweeps[i].name),
           fmt::format("{} and {}", machine.sweeps[i - 1].path.string(), machine.sweeps[i].path.string()),
           "a page is named after the folders of machine and sweep", "rename one"});
}

// The page of a machine that stands for `file`, relative to its folder.
std::optional<fs::path> page_in(const MachineFolder& machine, const fs::path& file) {
  if (file == "." || file == "README.md") return "index.html";
  for (const fs::path& findings : machine.findings)
    if (findings.filename() == file) return file.stem().string() + ".html";
  for (const SweepFolder& sweep : machine.sweeps)
    if (sweep.name == file) return file / "index.html";
  return std::nullopt;
}

}  // namespace

bool has_results(const fs::path& folder) {
  std::error_code ignored;
  return holds_export(folder) || fs::exists(folder / "results.sqlite", ignored);
}

std::optional<fs::path> page_of_link(const std::vector<MachineFolder>& machines, const MachineFolder& from,
                                     std::string_view link) {
  fs::path target = (from.name / fs::path(link.substr(0, link.find('#')))).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  for (const MachineFolder& machine : machines) {
    const fs::path below = target.lexically_relative(machine.name);
    if (const auto page = below.empty() ? std::nullopt : page_in(machine, below)) return machine.name / *page;
  }
  return std::nullopt;
}

std::vector<MachineFolder> machine_folders(const fs::path& folder) {
  std::error_code error;
  const fs::path top = fs::canonical(folder, error);
  if (error) throw_file_error(error.value(), {"the folder cannot be read", folder.string(), "", ""});
  if (!fs::is_directory(top))
    throw UsageError({"the folder cannot be read", folder.string(), "it is not a folder", ""});
  std::vector<fs::path> found;
  collect(top, found);
  if (found.empty())
    throw UsageError({"no results", folder.string(),
                      "neither it nor a folder in it holds a store or records.jsonl",
                      "give a folder that `hilbench run -o` wrote, or one above such folders"});
  std::map<std::string, MachineFolder> machines;
  for (const fs::path& path : found) {
    const fs::path above = path.parent_path(), below = above.lexically_relative(top);
    const bool at_top = path == top || below == ".";
    const std::string name = at_top ? above.filename().string() : below.generic_string();
    MachineFolder& machine = machines[name];
    if (machine.path.empty() && path != top) machine.findings = findings_in(above);
    machine.path = above;
    machine.name = name;
    machine.sweeps.push_back({path, path.filename().string()});
  }
  std::vector<MachineFolder> sorted;
  for (auto& [name, machine] : machines) {
    std::stable_sort(machine.sweeps.begin(), machine.sweeps.end(),
                     [](const SweepFolder& a, const SweepFolder& b) { return a.name < b.name; });
    expect_one_page_each(machine);
    sorted.push_back(std::move(machine));
  }
  return sorted;
}

}  // namespace hilbench
