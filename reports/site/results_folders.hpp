// Where results are: the folders of sweeps below a folder, by machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

struct SweepFolder {
  std::filesystem::path path;  // holds a store or exported records
  std::string name;            // of the folder
};

// The folder above those of sweeps stands for a machine: reports/published/h200.
struct MachineFolder {
  std::filesystem::path path;
  std::string name;                             // below the folder that was searched; its own name at the top
  std::vector<SweepFolder> sweeps;              // by name
  std::vector<std::filesystem::path> findings;  // Markdown files, README.md first
};

// The file of the site, relative to the folder of all machines' pages, that stands for `link`, the address of
// a link in a Markdown file of `from`: a page of findings, of a sweep or of a machine. Without its #fragment;
// nothing if the site has none.
std::optional<std::filesystem::path> page_of_link(const std::vector<MachineFolder>& machines,
                                                  const MachineFolder& from, std::string_view link);

// Whether a folder holds a store or exported records itself.
bool has_results(const std::filesystem::path& folder);

// Every folder below `folder` with results, and `folder` itself if it has any; by name. Hidden folders and
// links are not entered. Throws UsageError if `folder` is no folder, none has results, or two machines or
// two sweeps of a machine would have the same page; EnvironmentError if a folder cannot be read.
std::vector<MachineFolder> machine_folders(const std::filesystem::path& folder);

}  // namespace hilbench
